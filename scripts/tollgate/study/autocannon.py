"""autocannon, the load generator that JMeter is checked with: `autocannon URL USERS SECONDS FILE`.

plans/study.jmx runs this module for each block of autocannon; it writes an AutocannonResult.

autocannon sends GET over keep-alive connections as fast as answers come, from a single process. By
its source, version 9 counts answers, and connection errors and timeouts beside them, until the
first full second after its duration; hdr-histogram cuts times to whole milliseconds, so that a time
stands for itself up to a millisecond more, hence `step_ms`. It can't leave out its beginning, in
which connections are opened and Node compiles.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tollgate.base import records
from tollgate.base.paths import SUITE
from tollgate.base.processes import TooLongError, run_to_end
from tollgate.base.urls import Url
from tollgate.install import tools
from tollgate.study.model import AUTOCANNON

#: Seconds beyond those of the load in which it must have started, counted and ended.
GRACE_S = 20
PACKAGE = tools.node_package(AUTOCANNON)


class AutocannonError(Exception):
    """One line: what went wrong, and what to do."""


@dataclass(frozen=True)
class AutocannonResult:
    """requests: that were answered or failed; failed: those of them without a 2xx answer. seconds:
    as autocannon measured them. p50_ms: median service time, cut to steps of step_ms (0 if it is
    exact). cpu_s: CPU time of its process.

    Older runs have results of other generators in the same form, with more fields.
    """

    __pydantic_config__ = records.STRICT | {"extra": "ignore"}

    version: str
    requests: int
    failed: int
    seconds: float
    p50_ms: float
    step_ms: float
    cpu_s: float


def installed_version() -> str | None:
    """autocannon's version; None where it is not installed."""
    try:
        return str(json.loads((PACKAGE / "package.json").read_text())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run(url: str, users: int, seconds: int, grace_s: float = GRACE_S) -> AutocannonResult:
    """Run autocannon to its end, over as many connections as there are users.

    Raises AutocannonError if the URL is not on this machine, or autocannon is not installed, fails,
    takes longer than its seconds and grace_s, or prints nothing that can be used.
    """
    if not Url("http", urlsplit(url).hostname or "", 0).is_loopback:
        raise AutocannonError(f"the URL is {url!r}, but autocannon may load this machine alone")
    version = installed_version()
    if version is None:
        raise AutocannonError(f"{AUTOCANNON} is not installed: run `tollgate install`")
    command = ["node", str(PACKAGE / "autocannon.js"), "--json", "--no-progress"]
    command += ["--connections", str(users), "--duration", str(seconds), url]
    try:
        done = run_to_end(
            command,
            folder=SUITE,
            environment={**os.environ, "NODE_OPTIONS": ""},
            limit_s=seconds + grace_s,
            stderr=subprocess.PIPE,
        )
    except TooLongError as problem:
        raise AutocannonError(f"{AUTOCANNON}: {problem}, and was killed") from None
    if done.returncode:
        last = (done.stdout + done.stderr).strip().rpartition("\n")[2]
        raise AutocannonError(f"{AUTOCANNON}: ended with exit code {done.returncode}: {last}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # this process starts no other
    return result_of(done.stdout, version, used.ru_utime + used.ru_stime, seconds)


def result_of(text: str, version: str, cpu_s: float, seconds: int) -> AutocannonResult:
    """From the output of `autocannon --json` that was to last so many seconds.

    Raises AutocannonError if it can't be read, nothing was answered or it ended early.
    """
    try:
        printed = json.loads(text)
        answered, lost = printed["requests"]["total"], printed["errors"]
        result = AutocannonResult(
            version=version,
            requests=answered + lost,
            failed=lost + printed["non2xx"],
            seconds=printed["duration"],
            p50_ms=printed["latency"]["p50"],
            step_ms=1.0,
            cpu_s=cpu_s,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise AutocannonError(f"{AUTOCANNON} {version} printed no result: {error!r}") from None
    if result.requests <= result.failed:
        raise AutocannonError(
            f"{AUTOCANNON}: all {result.requests} requests failed; check the server and the path"
        )
    if result.seconds < 0.9 * seconds:
        raise AutocannonError(f"{AUTOCANNON}: ended after {result.seconds:g} s of {seconds}")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 1, with one line on standard error, if there is no result."""
    # JMeter ends a command that takes too long: autocannon must not outlive it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    url, users, seconds, path = sys.argv[1:] if arguments is None else arguments
    try:
        records.write(Path(path), run(url, int(users), int(seconds)))
    except (AutocannonError, OSError) as problem:
        print(f"study: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
