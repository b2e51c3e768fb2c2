"""What judge is given about a run: plain values, filled in by the adapters and the other rooms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import Field, computed_field

from tollgate.base.fields import Count, Text, Unwritten, written
from tollgate.base.settings import configured
from tollgate.capacity.model import Searched
from tollgate.compare.result import Comparison
from tollgate.criteria.grammar import Criterion
from tollgate.forecast.model import ForecastFacts
from tollgate.samples.slowest import SlowRequest
from tollgate.schedule.model import ScheduleFacts, Unanswered
from tollgate.stats.counts import Counts
from tollgate.stats.sequential import LEAST_STEP
from tollgate.stats.totals import Totals
from tollgate.workers.model import Resources, WorkerCount, WorkerEvent

Tolerance = Annotated[float, Field(ge=0, le=0.5)]


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
class StoppedThreads:
    """Threads of a schedule that ended before their time."""

    by: Literal["service", "operator", "generator"]
    why: str


@dataclass(frozen=True)
class EarlyEnd:
    """A thread group that ended before the time that its plan states."""

    line: str
    by_service: bool = False
    """Whether it was brought about by what the service answered."""


@dataclass(frozen=True)
class NeverSent:
    """Requests of a label that never left JMeter: how many, of how many, and the first one's
    exception and URL, without what is secret; the URL may not be known."""

    label: str
    requests: int
    of: int
    exception: str
    url: str

    @property
    def line(self) -> str:
        first = f"{self.exception}, first for {self.url}" if self.url else self.exception
        share = f"{self.requests} of {self.of} requests of {self.label} were never sent"
        return f"{share}: {first}: correct the plan, its data, or the name of the host"


@written
class Exported:
    """How many samples a collector of OpenTelemetry has, by its own word."""

    samples: Count
    """Rows of the JTL in what it has acknowledged."""
    of: Count
    """Rows of the JTL."""

    @property
    def line(self) -> str:
        return f"exported {self.samples:,} of {self.of:,} samples"


@dataclass(frozen=True)
class ExecutionFacts:
    """What happened around one execution's samples. None: not known, or did not happen."""

    interrupted: bool = False
    """Whether the run was, before this execution had ended by itself."""
    ended_s: float | None = None
    """When an interruption, a look, an early stop or STOP_AFTER ended the load, in seconds since
    the execution's start."""
    last_start_s: float | None = None
    """When the last sample started, likewise."""
    stopped_by: str | None = None
    """Text of the criterion by which Taurus stopped the run early, before this execution had ended
    by itself, or had begun."""
    ended_by_force: bool = False
    """Whether Taurus ended a JMeter that went on after its load had been ended."""
    generator_exit: int | None = None
    """JMeter's exit code."""
    generator_error: str | None = None
    """Why JMeter never began."""
    jtl_error: str | None = None
    """Why the JTL could not be read."""
    cut_off_line: int | None = None
    """Line of a last sample that was cut off."""
    workers: tuple[WorkerCount, ...] = ()
    """How many there were of each target."""
    worker_events: tuple[WorkerEvent, ...] = ()
    """One for each worker that died or was restarted."""
    machine_problems: tuple[str, ...] = ()
    """One line for each, such as a full disk."""
    notes: tuple[str, ...] = ()
    """What a reader should know and what changes no verdict."""
    lint: tuple[str, ...] = ()
    """What was noticed of the plan, which changes no verdict either."""
    silent: tuple[str, ...] = ()
    """One line for each thread group that had to send and left no sample."""
    plan_faults: tuple[str, ...] = ()
    """One line for each way in which the load was not what the plan means, for the plan's own sake:
    a share that was not kept, a variable that had no value when a request with it was sent."""
    never_sent: tuple[NeverSent, ...] = ()
    """By label."""
    early_ends: tuple[EarlyEnd, ...] = ()
    """Thread groups that ended before their time."""
    stopped: Mapping[str, StoppedThreads] = field(default_factory=dict)
    """By the labels of a schedule, what has ended threads of it before their time."""
    url: str | None = None
    """Of the service that was asked, where it is none of the run's own."""
    rows: int | None = None
    """Of the JTL."""
    acknowledged: int | None = None
    """Of those, rows in what a collector has acknowledged."""

    @property
    def exported(self) -> Exported | None:
        """None where nothing was exported."""
        if self.rows is None or self.acknowledged is None:
            return None
        return Exported(self.acknowledged, self.rows)


@dataclass(frozen=True)
class InterimHistory:
    """The looks at an execution that may end early, in seconds of measuring."""

    least_s: float
    """What it measures at least before it passes."""
    budget_s: float
    """What it measures at most."""
    looks_s: tuple[float, ...] = ()
    """When it was looked at, ascending; it is judged by the last look."""
    since: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    """The verdict on each criterion, by its text, and from which look on it has been that."""
    ended: bool = False
    """Whether a look ended it."""
    is_over: bool = False
    """Whether the last look is at all that there was to measure."""

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
    """One plan against one mode."""

    name: str
    labels: Mapping[tuple[str, bool], LabelData]
    """By name and whether a Transaction Controller left the rows, for one may have the name of a
    sampler."""
    criteria: tuple[Criterion, ...] = ()
    warmup_s: float = 0.0
    measured_s: float | None = None
    """None: until the load ends by itself. A comparison that ended itself was to measure until
    then."""
    schedules: tuple[ScheduleFacts, ...] = ()
    facts: ExecutionFacts = field(default_factory=ExecutionFacts)
    resources: Resources = field(default_factory=Resources)
    forecast: ForecastFacts | None = None
    """None where the plan follows none."""
    comparison: Comparison | None = None
    """None where nothing is compared."""
    unanswered: tuple[Unanswered, ...] = ()
    course: InterimHistory | None = None
    """None where there is one look, at the end."""
    capacity: Searched | None = None
    """None where none is searched for."""
    slowest: tuple[SlowRequest, ...] = ()
    """Of the judged time."""
    engines: tuple[EngineFacts, ...] = ()
    """Each of those that have sent the load, if there are several. The labels are then of all
    together, and the schedules are those of each engine."""

    @property
    def can_fail(self) -> bool:
        """Whether anything that its samples may show would fail it."""
        gates = self.comparison is not None and bool(self.comparison.gating)
        return gates or self.capacity is not None or any(it.fail for it in self.criteria)

    @property
    def due_s(self) -> float | None:
        """When its measuring is to end, in seconds since its start; None where not known."""
        return None if self.measured_s is None else self.warmup_s + self.measured_s

    @property
    def window(self) -> tuple[float, float]:
        """The judged seconds since its start, [from, to); they end early if the load did. Samples
        are judged by when they started, response times by when they were meant to start."""
        services = [data.service for data in self.labels.values() if data.service.total]
        last_s = max((float(each.seconds[-1]) + each.width for each in services), default=0.0)
        if self.due_s is None:
            return self.warmup_s, last_s
        if self.facts.ended_s is not None:
            return self.warmup_s, min(self.due_s, self.facts.ended_s)
        return self.warmup_s, min(self.due_s, last_s) if self.facts.stopped_by else self.due_s


@written
class EngineFacts:
    """One engine's share of an execution. Times are of its own samples; the criteria are judged by
    the samples of all engines."""

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
    """All executions of one bzt call."""

    executions: tuple[MeasuredExecution, ...]
    interrupted: bool = False
    problems: tuple[str, ...] = ()
    """One line for each thing that broke the run."""
    share: str = ""
    """Of a run that sent one engine's share of a load, which, such as 2/3."""
    is_sealed: bool = True
    """Whether it has come to its end."""


@configured
class JudgeSettings:
    """How strictly to judge. A misspelt value must not choose the lenient side by itself."""

    inconclusive_passes: bool = False
    """Whether INCONCLUSIVE exits with 0."""
    cut_short_counts: bool = False
    """Whether an interrupted run is judged by what was measured until then."""
    latency: Literal["response", "service"] = "response"
    """`response` judges response time where a schedule exists, `service` never does."""
    confidence: Annotated[float, Field(ge=0.5, le=0.99999)] = 0.95
    """Of each interval, as a share."""
    missing_share: Tolerance = 0.01
    """Of the scheduled requests, how many may be missing before the run is broken whatever its
    criteria say; one always may. Fewer are counted against each criterion."""
    forecast_tolerance: Tolerance = 0.02
    """How far a step's requests may be from the forecast, as a share of it."""
