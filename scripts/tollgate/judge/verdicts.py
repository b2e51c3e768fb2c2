"""What judge answers, and the one line that reports a result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Literal

from pydantic import computed_field

from tollgate.base.fields import (
    Amount,
    Confidence,
    Count,
    Interval,
    Text,
    Unwritten,
    Whole,
    ends,
    written,
)
from tollgate.base.text import format_interval, format_number
from tollgate.capacity.model import Searched
from tollgate.compare.result import Comparison
from tollgate.criteria.subjects import Condition, Unit
from tollgate.forecast.model import ForecastResult
from tollgate.judge.facts import Exported, InterimHistory
from tollgate.workers.background_cpu import BackgroundCpu
from tollgate.workers.processes import WorkerFacts

VerdictName = Literal["PASS", "FAIL", "INCONCLUSIVE", "INVALID"]
#: Of a reason, which leads to no PASS.
BadVerdict = Literal["FAIL", "INCONCLUSIVE", "INVALID"]
#: Whose fault a reason is.
FaultName = Literal["generator", "service", "machine", "operator"]
PASS: Final = "PASS"  # noqa: S105 - a verdict
FAIL: Final = "FAIL"
INCONCLUSIVE: Final = "INCONCLUSIVE"
INVALID: Final = "INVALID"
# The worst comes last and beats the others: a broken measurement proves nothing, not even a FAIL.
ORDER: tuple[VerdictName, ...] = (PASS, INCONCLUSIVE, FAIL, INVALID)
_Time = Literal["response time", "service time", "time to first byte", "connect time"]
#: What a criterion's value is of.
Basis = Literal["samples", _Time, "looks", "trials"]
#: The basis of what counts from the moment at which a request was meant to be sent.
RESPONSE_TIME: Final = "response time"
#: That of what was seen of workers rather than of samples.
LOOKS: Final = "looks"
#: That of what the trials of a search for capacity say.
TRIALS: Final = "trials"
GENERATOR: Final = "generator"
SERVICE: Final = "service"
OPERATOR: Final = "operator"
MACHINE: Final = "machine"


@written
class Reason:
    """One line on why a verdict is not PASS."""

    verdict: BadVerdict
    """The verdict that this reason alone leads to."""
    fault: FaultName
    """Whose fault it is: of the load generator, the service under test, the machine (too noisy, too
    short, broken), or the operator (what was asked for, or an interruption)."""
    text: Text
    """The reason in words."""


def invalid(fault: FaultName, text: str) -> Reason:
    """The reason for an INVALID."""
    return Reason(INVALID, fault, text)


@written
class CriterionResult:
    """One criterion, judged. observed, limit and interval are in `unit`."""

    criterion: Text
    """The criterion in Taurus's grammar. It states when the run fails, and is its name in
    junit.xml."""
    message: str | None
    """The message that taurus.yml gives it, null without one."""
    label: str
    """The label that it is about; empty: all samplers together."""
    subject: Text
    """What is measured, e.g. `p95`, `fail`, `rc5??`; for all samplers together with its window of
    time behind it."""
    unit: Unit
    """Unit of observed, limit and interval: milliseconds, percent, a plain count, bytes, users, MB
    of 1024 x 1024 bytes, minutes, a slope per minute, or arrivals a second."""
    condition: Condition
    """The comparison of observed with limit that makes the run fail."""
    limit: Amount
    """The threshold."""
    observed: float | None
    """The observed value, below 0 for a falling slope; null without samples, too few for a slope,
    and for a time-left without end."""
    low: Unwritten[float | None]
    """Lower end of `interval`; None where that is null."""
    high: Unwritten[float | None]
    """Upper end of it; infinite where the samples set no bound."""
    confidence: Confidence
    """The confidence that the interval was made for, as a share of 1."""
    samples: Count
    """Samples of the label in the measured window; for a criterion on workers, looks at the one
    that decided."""
    samples_needed: Whole | None
    """About how many samples would settle an INCONCLUSIVE; null where that is not the question."""
    basis: Basis
    """What the values are of: `response time` counts from the intended start, `service time` is
    JMeter's elapsed, `looks` are those at workers, `trials` those of a search for capacity."""
    window: str | None
    """The worst window of a criterion with one, in seconds since the start, e.g. `12-22 s`; null
    for the others."""
    decides: bool
    """false for `as non-failed`: reported, but without a say in the verdict."""
    verdict: VerdictName
    """The verdict on this criterion alone."""
    reason: str
    """Why, in words."""
    worker: str | None = None
    """The worker that decided, for a criterion on workers; null for the others."""
    fault: Unwritten[FaultName | None] = None
    """Whose fault it is, where the verdict alone does not say."""
    decided_after_s: Amount | None = None
    """From which look on, in seconds of measuring, it has had its verdict; null where it is open,
    and in an execution without a budget."""
    fail_bound: float | None = None
    """The bound that decides FAIL by violating the limit. It lies farther out than the interval,
    for all estimates of the run and all looks share its level. Null where there is none, or no
    interval."""
    unadjusted_interval: Interval | None = None
    """The interval that a single look at this estimate alone would have; null where there is
    none."""
    is_repeated: Unwritten[bool] = False
    """Whether low and high hold at all looks together."""

    @computed_field
    @property
    def interval(self) -> Interval | None:
        """Lower and upper end of the confidence interval of observed, null where that is an exact
        count or a window's. An end is null where the samples set no bound. It decides PASS: both
        ends have the level of a PASS, over all looks where the execution has a budget. None holds
        the limit of a FAIL."""
        return ends(self.low, self.high)

    @property
    def interval_name(self) -> str:
        """`95 % CI`, or `95 % repeated CI` of one that holds at all looks together."""
        return f"{100 * self.confidence:g} %{' repeated' * self.is_repeated} CI"

    @computed_field(alias="message_line")
    @property
    def line(self) -> Text:
        """All of it in one line, e.g. `p95 of search = 231 ms (limit 250 ms, 95 % CI 219-244,
        n=412)`."""
        name = self.subject + (f" of {self.label}" if self.label else "")
        name += f" {self.worker}" if self.worker is not None else ""
        if self.observed is None:
            missing = "not observed" if self.samples or self.basis == LOOKS else "no samples"
            return f"{name}: {missing} (limit {format_number(self.limit)}{unit_suffix(self.unit)})"
        observed = format_number(self.observed, against=self.limit)
        parts = [f"limit {format_number(self.limit)}{unit_suffix(self.unit)}"]
        if self.low is not None and self.high is not None:
            interval = format_interval(self.low, self.high, against=self.limit)
            parts.append(f"{self.interval_name} {interval}")
        if self.window:
            parts.append(f"worst in {self.window}")
        return f"{name} = {observed}{unit_suffix(self.unit)} ({', '.join(parts)}, n={self.samples})"

    @property
    def line_with_reason(self) -> str:
        """The line and the reason, as a Reason for this result says it."""
        return f"{self.line}: {self.reason}"


@written
class ExecutionVerdict:
    """One execution's verdict."""

    name: str
    """The scenario's name in taurus.yml."""
    verdict: VerdictName
    """The worst of this execution's reasons."""
    reasons: tuple[Reason, ...]
    """Everything that keeps this execution from PASS."""
    warnings: tuple[str, ...]
    """What a reader should know and what changes no verdict, one line each."""
    criteria: tuple[CriterionResult, ...]
    """Every criterion, in the order of taurus.yml."""
    workers: tuple[WorkerFacts, ...] = ()
    """What was seen of each worker of the targets; empty if they were not watched."""
    forecast: ForecastResult | None = None
    """How the load kept to the forecast of production; null where the plan follows none."""
    comparison: Unwritten[Comparison | None] = None
    lint: tuple[str, ...] = ()
    """What was noticed of the plan and what changes no verdict, one line each, e.g. samplers
    without an assertion."""
    course: Unwritten[InterimHistory | None] = None
    """Of one that may end early."""
    capacity: Unwritten[Searched | None] = None
    background_cpu: BackgroundCpu | None = None
    """Background CPU load while the execution measured; null where not known."""
    exported: Exported | None = None
    """What was exported by OpenTelemetry; null where nothing was."""

    @property
    def background_lines(self) -> list[str]:
        """What others took of the cores, at most one line; a comparison says it by itself."""
        return [self.background_cpu.line] if self.background_cpu and not self.comparison else []

    def named(self, reason: Reason) -> Reason:
        """One of these reasons as one of the run's: with this execution's name in front."""
        return replace(reason, text=f"{self.name}: {reason.text}")


@written
class RunVerdict:
    """The run's verdict."""

    verdict: VerdictName
    """The worst of the run's own reasons and of the verdicts of all executions. PASS: holds. FAIL:
    violated beyond doubt. INCONCLUSIVE: too little or too noisy data to decide. INVALID: the
    measurement itself is broken. INVALID beats FAIL beats INCONCLUSIVE beats PASS."""
    exit_code: Literal[0, 2, 3, 4, 5]
    """What bzt and `tollgate judge` exit with: 0 PASS (or INCONCLUSIVE where
    modules.verdict.inconclusive-passes is true, and of a share that is left to be merged), 2
    interrupted, 3 FAIL, 4 INVALID, 5 INCONCLUSIVE."""
    reasons: tuple[Reason, ...]
    """Everything that keeps the run from PASS, worst first: the run's own reasons and those of all
    executions, these with the execution's name and `: ` in front. Empty for PASS."""
    executions: Unwritten[tuple[ExecutionVerdict, ...]]
    share: Unwritten[str] = ""
    """Of a share of a load, which is judged with all others alone, such as 2/3."""


def worst(verdicts: Iterable[VerdictName]) -> VerdictName:
    """The verdict that beats the others; PASS if there are none."""
    return max(verdicts, key=ORDER.index, default=PASS)


def unit_suffix(unit: str) -> str:
    """What stands behind a value: ` ms`, `/s`, nothing behind a count."""
    if unit.startswith("/"):
        return unit
    return "" if unit == "count" else f" {unit}"
