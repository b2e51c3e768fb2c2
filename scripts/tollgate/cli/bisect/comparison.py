"""One comparison of a bisect: a run like any other, in a process of its own, and what it says."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tollgate.base import records
from tollgate.base.exit_codes import ExitCode
from tollgate.base.paths import SUITE
from tollgate.compare.model import ALL_LABELS, ERRORS, FAIL
from tollgate.targets.bisection import SKIP

#: What every comparison of a bisect has, whatever taurus.yml says: its exit code is its verdict.
ALWAYS = (
    *("modules.verdict.inconclusive-passes=false", "modules.verdict.cut-short-counts=false"),
    "modules.report.dashboards=false",
)
#: A rise of the error rate that ends a comparison whose times alone are of interest. To rule out
#: the 0.2 % of a gate takes thousands of requests, longer than to tell times apart.
ERROR_EFFECT = 0.01
VERDICTS = (ExitCode.PASS, ExitCode.FAIL, ExitCode.INCONCLUSIVE)
#: An error that the commit in question alone is to blame for.
_OF_HEAD = re.compile(r"\btargets: app 'head(-\d+)?'(?!.*, held by )")
_ERROR = re.compile(r"^\[[^\]]* ERROR [^\]]*\] (.*)", re.M)


@records.stored
class Said:
    """What a comparison says of a commit."""

    code: int
    """Of exit codes, or SKIP where it says nothing of the commit."""
    message: str
    """What it says of what GOOD and BAD differ by, or why it says nothing."""
    failed: tuple[tuple[str, str], ...] = ()
    """(label, metric) of each that failed."""


@records.stored
class Compared:
    """A comparison that has ended. base, head: SHAs. budget_s: seconds that it could measure.
    is_profiled: whether it says why. took_s: seconds from its start to its end. run: its folder;
    empty where the commit could not be built. said: None before it has begun."""

    base: str
    head: str
    budget_s: float
    is_profiled: bool
    took_s: float = 0.0
    run: str = ""
    said: Said | None = None

    def is_like(self, other: Compared) -> bool:
        """Whether both measure the same."""
        keys = ("base", "head", "budget_s", "is_profiled")
        return all(getattr(self, it) == getattr(other, it) for it in keys)


@records.stored
class Focus:
    """What BAD failed by: the labels and metrics that the others are compared by. Both are empty
    for all."""

    labels: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()

    @classmethod
    def of(cls, failed: Sequence[tuple[str, str]]) -> Focus:
        labels = dict.fromkeys(label for label, _ in failed if label != ALL_LABELS)
        return cls(tuple(labels), tuple(dict.fromkeys(metric for _, metric in failed)))

    @property
    def options(self) -> list[str]:
        """Errors stay: a commit that answers wrongly has no times to compare."""
        gates = dict.fromkeys((*self.metrics, ERRORS))
        given = {"labels": self.labels, "gates": tuple(gates) if self.metrics else ()}
        texts = {key: json.dumps(it, ensure_ascii=False) for key, it in given.items() if it}
        return [f"modules.compare.{key}={text}" for key, text in texts.items()]

    def error_effect(self, asked: float) -> list[str]:
        """Where it is not errors that are looked for, enough of them to change times. asked: the
        effect of the comparison with BAD."""
        if not self.metrics or ERRORS in self.metrics or asked >= ERROR_EFFECT:
            return []
        return [f"modules.compare.error-effect={ERROR_EFFECT:.0%}"]


class Runs:
    """Starts comparisons one after the other. A signal goes to the one under way, which ends in
    good order; between two it ends the bisect."""

    def __init__(self, *command: str) -> None:
        """command: by default `tollgate run`."""
        # The one of this environment, whatever PATH has; of a system's Python it is not beside it.
        own = str(Path(sysconfig.get_path("scripts"), "tollgate")), "run"
        self.command = command or own
        self.process: subprocess.Popen[bytes] | None = None
        self.passes_interrupt_on = False
        self.interrupted = False

    def interrupt(self) -> None:
        """Raises KeyboardInterrupt where no run has to be ended first."""
        self.interrupted = True
        if not self.passes_interrupt_on:
            raise KeyboardInterrupt
        if self.process:
            self.process.send_signal(signal.SIGINT)

    def run(self, words: Sequence[str], variables: Mapping[str, str]) -> int:
        """The exit code of `tollgate run`. Raises KeyboardInterrupt after a run that was ended
        before it had a verdict."""
        self.passes_interrupt_on = True
        self.process = subprocess.Popen(
            [*self.command, *words],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # so that Ctrl-C comes here alone and is passed on once
        )
        if self.interrupted:  # before there was a process to pass it on to
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait()
        self.process, self.passes_interrupt_on = None, False
        if self.interrupted and code not in VERDICTS:
            raise KeyboardInterrupt
        return code


def compare(
    runs: Runs, words: Sequence[str], variables: Mapping[str, str], folder: Path, focus: Focus
) -> Said:
    """Compare two commits. words: of the command line. variables: added to the environment.
    folder: of the run. Raises KeyboardInterrupt."""
    # By its path from the suite, where it runs: what lies above may be markup to YAML or to Taurus.
    own = os.path.relpath(folder, SUITE)
    options = (*ALWAYS, f"settings.artifacts-dir={own}", *focus.options)
    command = [*words, *(word for it in options for word in ("-o", it))]
    return read(runs.run(command, variables), folder, focus)


def read(code: int, folder: Path, focus: Focus) -> Said:
    """What a run in this folder says that ended with this code."""
    if code not in VERDICTS:
        message = _reason(folder) or f"the run ended with exit code {code}"
        blames_head = code == ExitCode.ERROR and _OF_HEAD.search(message)
        return Said(SKIP if blames_head else code, message)
    verdict = _verdict(folder)
    findings = verdict["executions"][0]["comparison"]["findings"]
    failed = [it for it in findings if it["gates"] and it["verdict"] == FAIL]
    if code != ExitCode.FAIL:
        return Said(code, _first_of(findings, focus)["message_line"])
    keys = tuple((it["label"], it["metric"]) for it in failed)
    if not failed:  # by a criterion on both sides together
        return Said(SKIP, next(it["text"] for it in verdict["reasons"] if it["verdict"] == FAIL))
    is_other = focus.metrics and not {*focus.metrics} & {metric for _, metric in keys}
    return Said(SKIP if is_other else code, failed[0]["message_line"], keys)


def _first_of(findings: Sequence[Mapping[str, Any]], focus: Focus) -> Mapping[str, Any]:
    """What is worth telling where nothing failed."""
    gating = [it for it in findings if it["gates"]]
    wanted = [it for it in gating if it["metric"] in focus.metrics[:1]]
    own = [it for it in wanted if it["label"] in focus.labels[:1]]
    return (own or wanted or gating or findings)[0]


def _verdict(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "verdict.json").read_text(encoding="utf-8"))


def _reason(folder: Path) -> str:
    """Why a run has no verdict, or one that says nothing of a commit; empty where nothing tells."""
    try:
        reasons = _verdict(folder)["reasons"]
        return next(it["text"] for it in reasons if it["verdict"] == "INVALID")
    except (OSError, ValueError, LookupError, StopIteration):
        pass
    try:
        return _ERROR.findall((folder / "bzt.log").read_text("utf-8", "replace"))[-1]
    except (OSError, IndexError):
        return ""
