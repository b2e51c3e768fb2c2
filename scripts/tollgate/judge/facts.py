"""What judge is given about a run: plain values, filled in by the adapters and the other rooms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import computed_field

from tollgate.base.fields import WRITTEN, Count, Text, Unwritten
from tollgate.capacity.model import Searched
from tollgate.compare.result import Comparison
from tollgate.criteria.grammar import Criterion
from tollgate.forecast.model import ForecastFacts
from tollgate.schedule.model import ScheduleFacts, Unanswered
from tollgate.stats.counts import Counts
from tollgate.stats.sequential import LEAST_STEP
from tollgate.stats.totals import Totals
from tollgate.workers.model import Resources, WorkerCount, WorkerEvent


@dataclass(frozen=True)
class LabelData:
    """One label's samples, with seconds since the execution's start, warm-up included."""

    name: str
    service: Counts
    response: Counts | None = None
    """Response times, by second of the intended start, or of its own where a sample had none; None
    where there is no schedule."""
    totals: Totals | None = None
    """None where they are not known; then avg-lt, avg-ct, bytes and concurr are not either."""
    is_transaction: bool = False
    """The rows add up those of other labels. Parent samples do not: they stand in the place of what
    they add up, and are samples like any other."""
    lateness: Counts | None = None
    """Of those that had one, in whole milliseconds rounded up, 0 for one that was early."""
    without_generator_lateness: Counts | None = None
    """Response times without the generator's own part of the lateness; None where that part is not
    known."""


@dataclass(frozen=True)
class EarlyEnd:
    """A thread group that ended before the time that its plan states. by_service: brought about by
    what the service answered."""

    line: str
    by_service: bool = False


@dataclass(frozen=True)
class ExecutionFacts:
    """What happened around one execution's samples. None: not known, or did not happen.

    interrupted: the run was, before this execution had ended by itself. ended_s: when that, or a
    look, an early stop or STOP_AFTER ended the load, in seconds since the execution's start.
    last_start_s: when the last sample started, likewise.
    stopped_by: text of the criterion by which Taurus stopped the run early, before this execution
    had ended by itself, or had begun. ended_by_force: Taurus ended a JMeter that went on after its
    load had been ended.
    workers: how many there were, one entry a target. worker_events: one for each worker that
    died or was restarted. jtl_error: why the JTL could not be read. cut_off_line: line
    of a last sample that was cut off. generator_exit: JMeter's exit code. machine_problems: one
    line for each, such as a full disk. notes: what a reader should know and what changes no
    verdict. lint: what was noticed of the plan, likewise. silent: one line for each thread group
    that had to send and left no sample. early_ends: those that ended before their time.
    url: of the service that was asked, where it is none of the run's own.
    """

    interrupted: bool = False
    ended_s: float | None = None
    last_start_s: float | None = None
    stopped_by: str | None = None
    ended_by_force: bool = False
    generator_exit: int | None = None
    generator_error: str | None = None
    jtl_error: str | None = None
    cut_off_line: int | None = None
    workers: tuple[WorkerCount, ...] = ()
    worker_events: tuple[WorkerEvent, ...] = ()
    machine_problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lint: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    early_ends: tuple[EarlyEnd, ...] = ()
    url: str | None = None


@dataclass(frozen=True)
class InterimHistory:
    """The looks at an execution that may end early, in seconds of measuring.

    looks_s: when it was looked at, ascending; the last one is what it is judged by. least_s: what
    it measures at least before it passes. budget_s: what it measures at most. since: the verdict on
    each criterion, by its text, and from which look on it has been that. ended: whether a look
    ended it. is_over: whether the last look is at all that there was to measure.
    """

    least_s: float
    budget_s: float
    looks_s: tuple[float, ...] = ()
    since: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    ended: bool = False
    is_over: bool = False

    @property
    def fractions(self) -> tuple[float, ...]:
        """Shares of the budget that had passed at each look."""
        return self._shares(self.looks_s)

    @property
    def pass_fractions(self) -> tuple[float, ...]:
        """The same of the looks that can end the execution with a PASS. One before the least time
        can where the load ended there."""
        able = tuple(each for each in self.looks_s if each >= self.least_s)
        return self._shares(able or self.looks_s[-1:])

    @property
    def is_repeated(self) -> bool:
        """Whether the intervals hold over several looks."""
        return self.pass_fractions != (1.0,)

    def _shares(self, looks_s: tuple[float, ...]) -> tuple[float, ...]:
        """As stats.nominal_level takes them. The last look may lie anywhere: a plan, or a person,
        may end the load right behind another, or behind the budget's end."""
        *earlier, last = (min(1.0, each / self.budget_s) for each in looks_s)
        earlier = [each for each in earlier if each <= 1 - LEAST_STEP]
        least = earlier[-1] + LEAST_STEP if earlier else LEAST_STEP
        return (*earlier, min(1.0, max(last, least)))

    def at(self, look_s: float) -> InterimHistory:
        """The same with one more look."""
        return replace(self, looks_s=(*self.looks_s, look_s))


@dataclass(frozen=True)
class MeasuredExecution:
    """One plan against one mode. measured_s None: until the load ends by itself.

    Judged are the samples that started (for response times: were meant to start) in
    [warmup_s, warmup_s + measured_s). labels: by name and whether a Transaction Controller left the
    rows, for one may have the name of a sampler. forecast: None where the plan follows none.
    comparison: None where nothing is compared; a run that ended itself was to measure until then.
    course: None where there is one look, at the end. capacity: None where none is searched for.
    engines: of a load that several have sent, each of them; the labels are of all together, and
    what the schedules of each say stands there.
    """

    name: str
    labels: Mapping[tuple[str, bool], LabelData]
    criteria: tuple[Criterion, ...] = ()
    warmup_s: float = 0.0
    measured_s: float | None = None
    schedules: tuple[ScheduleFacts, ...] = ()
    facts: ExecutionFacts = field(default_factory=ExecutionFacts)
    resources: Resources = field(default_factory=Resources)
    forecast: ForecastFacts | None = None
    comparison: Comparison | None = None
    unanswered: tuple[Unanswered, ...] = ()
    course: InterimHistory | None = None
    capacity: Searched | None = None
    engines: tuple[EngineFacts, ...] = ()

    @property
    def can_fail(self) -> bool:
        """Whether anything that its samples may show would fail it."""
        gates = self.comparison is not None and bool(self.comparison.gating)
        return (
            gates or self.capacity is not None or any(criterion.fail for criterion in self.criteria)
        )


def measured_window(execution: MeasuredExecution) -> tuple[float, float]:
    """(from, to) in seconds since the execution's start; it ends early if the load did."""
    services = [data.service for data in execution.labels.values() if data.service.total]
    last = max((float(each.seconds[-1]) + each.width for each in services), default=0.0)
    if execution.measured_s is None:
        return execution.warmup_s, last
    to_s = execution.warmup_s + execution.measured_s
    if execution.facts.ended_s is not None:
        to_s = min(to_s, execution.facts.ended_s)
    elif execution.facts.stopped_by:
        to_s = min(to_s, last)
    return execution.warmup_s, to_s


@dataclass(frozen=True)
class EngineFacts:
    """One engine's share of an execution. Times are of its own samples; the criteria are judged by
    the samples of all engines."""

    __pydantic_config__ = WRITTEN

    name: Text
    """Its number and how many there are, e.g. `2/3`."""
    execution: Unwritten[MeasuredExecution]
    """What it measured; of the samples of a label no more than how many there were in each second,
    and how many failed."""
    from_s: float
    """When what is judged of it began, in seconds since the epoch by its machine's clock."""
    to_s: float
    """When that ended, in seconds likewise."""
    requests: Count
    """Requests that it sent in that time."""
    failed: Count
    """Of those, requests that failed."""
    p50_ms: float | None
    """Median of their service times, in ms; null without requests."""
    p95_ms: float | None
    """95th percentile of the same, in ms."""
    p99_ms: float | None
    """99th percentile of the same, in ms."""
    machine: str = ""
    """CPU model and cores of the machine that it ran on."""

    @computed_field
    @property
    def schedules(self) -> tuple[ScheduleFacts, ...]:
        """How it kept each schedule of its share."""
        return self.execution.schedules


@dataclass(frozen=True)
class MeasuredRun:
    """All executions of one bzt call. problems: one line for each thing that broke the run. share:
    of a run that sent one engine's share of a load, which, such as 2/3. is_sealed: whether it has
    come to its end."""

    executions: tuple[MeasuredExecution, ...]
    interrupted: bool = False
    problems: tuple[str, ...] = ()
    share: str = ""
    is_sealed: bool = True


@dataclass(frozen=True)
class JudgeSettings:
    """How strictly to judge.

    cut_short_counts: judge an interrupted run by what was measured until then.
    latency: 'response' judges response time where a schedule exists, 'service' never does.
    missing_share: of the scheduled requests, how many may be missing before the run is broken
      whatever its criteria say; one always may. Fewer are counted against each criterion.
    forecast_tolerance: how far a step's requests may be from the forecast, as a share of it.
    """

    inconclusive_passes: bool = False
    cut_short_counts: bool = False
    latency: str = "response"
    confidence: float = 0.95
    missing_share: float = 0.01
    forecast_tolerance: float = 0.02

    def __post_init__(self) -> None:
        """A misspelt value must not choose the lenient side by itself. Raises ValueError."""
        checks = {
            "inconclusive_passes": (self.inconclusive_passes in (True, False), "true or false"),
            "cut_short_counts": (self.cut_short_counts in (True, False), "true or false"),
            "latency": (self.latency in ("response", "service"), "response or service"),
            "confidence": (_within(self.confidence, 0.5, 0.9999), "a share such as 0.95"),
            "missing_share": (_within(self.missing_share, 0, 0.5), "a share such as 0.01"),
            "forecast_tolerance": (
                _within(self.forecast_tolerance, 0, 0.5),
                "a share such as 0.02",
            ),
        }
        for name, (fits, wanted) in checks.items():
            if not fits:
                raise ValueError(f"{name} must be {wanted}")


def _within(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float) and low <= value <= high
