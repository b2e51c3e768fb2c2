"""Counts, criteria and facts to a verdict: the last word on a run.

How each kind of criterion is judged:

- Latencies (percentiles, means, deviation) of the whole run are estimates, so that the 95 %
  interval decides: PASS if all of it respects the limit, FAIL if all of it violates the limit,
  INCONCLUSIVE if the limit lies inside or the samples are too few.
- Counts and shares (hits, succ, fail, rc, in numbers or percent, bytes, concurr) are facts of
  this run, counted without error, and so are criteria on a window of time: they are compared
  exactly. Whoever writes `fail>1%` asks about the requests of this run; were it judged by interval,
  240 requests without a failure could not pass. A share's interval is reported all the same.
- Failed samples count in latencies, as in Taurus; the reason says how many there were. Fast
  failures flatter a latency, so that failures which no criterion covers are warned about, and a
  label whose every request failed fails the execution in any case.

INVALID beats FAIL beats INCONCLUSIVE beats PASS.
"""

from __future__ import annotations

from collections.abc import Iterator

from tollgate.facts import Execution, Run, Settings
from tollgate.judge_criterion import judge_criterion
from tollgate.validity import execution_reasons, run_reasons
from tollgate.verdicts import (
    EXIT_CODES,
    EXIT_INTERRUPTED,
    FAIL,
    INCONCLUSIVE,
    INVALID,
    MACHINE,
    ORDER,
    PASS,
    SERVICE,
    CriterionResult,
    ExecutionVerdict,
    Reason,
    Verdict,
    worst,
)


def judge(run: Run, settings: Settings | None = None) -> Verdict:
    """The verdict on a run; a pure function of its arguments."""
    settings = settings or Settings()
    executions = tuple(judge_execution(one, settings) for one in run.executions)
    own = tuple(run_reasons(run))
    verdict = worst([*(reason.verdict for reason in own), *(one.verdict for one in executions)])
    reasons = [*own, *(_named(one, reason) for one in executions for reason in one.reasons)]
    reasons.sort(key=lambda reason: -ORDER.index(reason.verdict))
    exit_code = EXIT_CODES[verdict]
    if run.interrupted:
        exit_code = EXIT_INTERRUPTED
    elif verdict == INCONCLUSIVE and settings.inconclusive_passes:
        exit_code = EXIT_CODES[PASS]
    return Verdict(verdict, exit_code, tuple(reasons), executions)


def judge_execution(execution: Execution, settings: Settings) -> ExecutionVerdict:
    """The verdict on one execution."""
    from_s, to_s = measured_window(execution)
    results = tuple(
        judge_criterion(criterion, execution.labels.values(), settings, from_s, to_s)
        for criterion in execution.criteria
    )
    stop_is_confirmed = any(
        criterion.text == execution.facts.stopped_by and result.decides and result.verdict == FAIL
        for criterion, result in zip(execution.criteria, results, strict=True)
    )
    reasons = [
        *execution_reasons(execution, settings, stop_is_confirmed),
        *_all_failed(execution, from_s, to_s),
        *(_reason(result) for result in results if result.decides and result.verdict != PASS),
    ]
    verdict = worst(reason.verdict for reason in reasons)
    warnings = tuple(_warnings(execution, settings, from_s, to_s))
    return ExecutionVerdict(execution.name, verdict, tuple(reasons), warnings, results)


def measured_window(execution: Execution) -> tuple[float, float]:
    """(from, to) in seconds since the execution's start; it ends early if the load did."""
    seconds = [data.service.seconds for data in execution.labels.values()]
    last = max((float(each[-1]) + 1 for each in seconds if len(each)), default=0.0)
    if execution.measured_s is None:
        return execution.warmup_s, last
    to_s = execution.warmup_s + execution.measured_s
    if execution.facts.ended_s is not None:
        to_s = min(to_s, execution.facts.ended_s)
    elif execution.facts.stopped_by:
        to_s = min(to_s, last)
    return execution.warmup_s, to_s


def _all_failed(execution: Execution, from_s: float, to_s: float) -> Iterator[Reason]:
    for data in execution.labels.values():
        counts = data.service.window(from_s, to_s)
        if counts.total and counts.errors == counts.total:
            yield Reason(FAIL, SERVICE, f"every request of {data.name} failed (n={counts.total})")


def _warnings(execution: Execution, settings: Settings, from_s, to_s) -> Iterator[str]:
    covered = {c.label for c in execution.criteria if c.fail and c.subject[:2] in _FAILURES}
    latency = {c.label for c in execution.criteria if c.is_latency and c.fail}
    closed = []
    for data in execution.labels.values():
        counts = data.service.window(from_s, to_s)
        if counts.errors and not data.is_transaction and not covered & {data.name, ""}:
            yield (
                f"{counts.errors} of {counts.total} requests of {data.name} failed, and no "
                f"criterion is about that: add 'fail of {data.name}>0%'"
            )
        if data.response is None and not data.is_transaction and latency & {data.name, ""}:
            closed.append(data.name)
    if closed and settings.latency == "response":
        yield (
            f"{', '.join(closed)}: judged by service time, for want of a schedule; a slow answer "
            "holds back the requests behind it, and their waiting is left out (coordinated "
            "omission)"
        )
    if not any(criterion.fail for criterion in execution.criteria):
        yield "no criterion can fail this execution"


# The first two letters of the subjects that see failures: fail, succ, rc.
_FAILURES = ("fa", "su", "rc")


def _reason(result: CriterionResult) -> Reason:
    # What could not be told is nobody's fault but that of too short or too noisy a measurement.
    fault = SERVICE if result.verdict in (FAIL, INVALID) else MACHINE
    return Reason(result.verdict, fault, f"{result.line}: {result.reason}")


def _named(execution: ExecutionVerdict, reason: Reason) -> Reason:
    return Reason(reason.verdict, reason.fault, f"{execution.name}: {reason.text}")
