"""What other load generators say they have measured, read from what they print. Pure.

How each of them counts, by its source:

- `ab` 2.3 counts a request when its answer is complete, until its seconds are over, and asks in
  HTTP/1.0 with `Connection: Keep-Alive`. Percentiles to the microsecond stand in its CSV (-e), the
  mean in whole milliseconds in its report.
- `autocannon` 9 counts answers, and connection errors and timeouts beside them, until the first
  full second after its duration; hdr-histogram cuts times to whole milliseconds.
- `loadtest` 8 counts requests that ended before its seconds are over, and cuts times to whole
  milliseconds as well.

None of them can leave out its beginning, in which connections are opened and Node compiles. A time
that was cut to whole milliseconds stands for itself up to a millisecond more, hence `step_ms`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from typing import Any


class ToolError(Exception):
    """One line: which tool, what went wrong, what to do."""


@dataclass(frozen=True)
class ToolResult:
    """requests: that were answered or failed; failed: those of them without a 2xx answer (loadtest:
    with 400 or above, or none). seconds: as the tool measured them; throughput: requests / seconds.
    p50_ms, mean_ms, p95_ms: service times as the tool tells them. step_ms: the step in which it
    tells percentiles, cut; 0 for none worth naming. cpu_s: CPU time of its process.
    """

    tool: str
    version: str
    requests: int
    failed: int
    seconds: float
    throughput: float
    p50_ms: float
    mean_ms: float
    p95_ms: float | None
    step_ms: float
    cpu_s: float


def of_ab(text: str, percentiles: str, cpu_s: float) -> ToolResult:
    """From ab's report and its CSV of percentiles (-e). Raises ToolError.

    Refuses a run without keep-alive: a new connection a request is another load.
    """
    complete = int(_field(text, "Complete requests"))
    kept = int(_field(text, "Keep-Alive requests"))
    # A line that is there only where it counts something.
    bad = re.search(r"^Non-2xx responses: +(\d+)", text, re.MULTILINE)
    if 2 * kept < complete:
        raise ToolError(
            f"ab: the server kept only {kept} connections of {complete} alive, so that ab put "
            "another load on it; it must answer HTTP/1.0 with Connection: keep-alive and a "
            "Content-Length"
        )
    times = dict(re.findall(r"^(\d+),([\d.]+)$", percentiles, re.MULTILINE))
    if not {"50", "95"} <= times.keys():
        raise ToolError("ab: its file of percentiles has no line for 50 or 95")
    seconds = float(_field(text, "Time taken for tests"))
    return ToolResult(
        tool="ab",
        version=ab_version(text),
        requests=complete,
        failed=int(_field(text, "Failed requests")) + int(bad[1] if bad else 0),
        seconds=seconds,
        throughput=complete / seconds,
        p50_ms=float(times["50"]),
        # Not its `Time per request`, which is users x seconds / requests whatever they took.
        mean_ms=float(_found(text, r"^Total: +\d+ +(\d+) ", "Total")),
        p95_ms=float(times["95"]),
        step_ms=0.0,
        cpu_s=cpu_s,
    )


def ab_version(text: str) -> str:
    """`2.3` from what ab prints at its start, or with -V. Raises ToolError."""
    found = re.search(r"ApacheBench, Version (\S+)", text)
    if not found:
        raise ToolError("ab: does not tell its version, so it is not ApacheBench")
    return found[1]


def of_autocannon(text: str, version: str, cpu_s: float) -> ToolResult:
    """From the output of `autocannon --json`, whose p97_5 is the nearest to a p95. Raises
    ToolError."""
    told = _json("autocannon", text)
    try:
        answered, lost = int(told["requests"]["total"]), int(told["errors"])
        return ToolResult(
            tool="autocannon",
            version=version,
            requests=answered + lost,
            failed=lost + int(told["non2xx"]),
            seconds=float(told["duration"]),
            throughput=(answered + lost) / float(told["duration"]),
            p50_ms=float(told["latency"]["p50"]),
            mean_ms=float(told["latency"]["mean"]),
            p95_ms=None,
            step_ms=1.0,
            cpu_s=cpu_s,
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ToolError(f"autocannon {version}: its result can't be read: {error!r}") from None


def of_loadtest(text: str, version: str, cpu_s: float) -> ToolResult:
    """From what crosscheck-loadtest.js prints. Raises ToolError."""
    told = _json("loadtest", text)
    try:
        requests, seconds = int(told["totalRequests"]), float(told["totalTimeSeconds"])
        return ToolResult(
            tool="loadtest",
            version=version,
            requests=requests,
            failed=int(told["totalErrors"]),
            seconds=seconds,
            throughput=requests / seconds,
            p50_ms=float(told["percentiles"]["50"]),
            mean_ms=float(told["meanLatencyMs"]),
            p95_ms=float(told["percentiles"]["95"]),
            step_ms=1.0,
            cpu_s=cpu_s,
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ToolError(f"loadtest {version}: its result can't be read: {error!r}") from None


def checked(result: ToolResult, seconds: int) -> ToolResult:
    """The result, if it is one. Raises ToolError when nothing was answered or the tool ended early:
    its figures would be those of something else."""
    name = result.tool
    if result.requests <= result.failed:
        raise ToolError(
            f"{name}: none of {result.requests} requests was answered well; see that the server "
            "runs and the path is right"
        )
    if result.seconds < 0.9 * seconds:
        raise ToolError(f"{name}: ended after {result.seconds:g} s of {seconds}")
    return result


def recorded(text: str) -> ToolResult:
    """From the JSON that crosscheck_command.py wrote. Raises ToolError."""
    told = _json("crosscheck", text)
    names = [each.name for each in fields(ToolResult)]
    if sorted(told) != sorted(names):
        raise ToolError(f"it must hold exactly {', '.join(names)}")
    for name, value in told.items():
        kind = str if name in ("tool", "version") else (int, float)
        untold = name == "p95_ms" and value is None
        if not (untold or (isinstance(value, kind) and not isinstance(value, bool))):
            raise ToolError(f"{name} is {value!r}")
    return ToolResult(**told)


def _field(text: str, name: str) -> str:
    return _found(text, rf"^{re.escape(name)}: +([\d.]+)", name)


def _found(text: str, pattern: str, name: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise ToolError(f"ab: its report has no line {name!r} that can be read")
    return found[1]


def _json(tool: str, text: str) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise ToolError(f"{tool}: printed no JSON object but {text[:80]!r}")
    return told
