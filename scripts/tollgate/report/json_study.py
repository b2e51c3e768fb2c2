"""study.json: its models and its content. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from tollgate.base.fields import Amount, Count, Interval, Text, Whole
from tollgate.report.json_model import Environment, Model, content, finite
from tollgate.study.model import (
    ArmComparison,
    CellResult,
    Check,
    Estimate,
    ScalingPoint,
    StudyResult,
)
from tollgate.study.record import StudyRun

TITLE = "Tollgate's study.json"
#: Raised when a field goes or changes its meaning. 2: a curve has no `usl` any more.
VERSION = 2


@dataclass(frozen=True)
class About:
    """What a study holds for. started: of the run, ISO 8601; environment: as in run.json."""

    started: str
    environment: Mapping[str, Any]
    how: StudyRun


class EstimateEntry(Model):
    """A number with its 95 % interval."""

    value: float | None
    """From all rounds as they were; null where it is not known."""
    interval: Interval | None
    """[low, high]; null where there is none. One end alone is null where the data set no bound."""
    note: str
    """Why there is no value or no interval, or what ends it; usually empty."""


class RatiosEntry(Model):
    """A ratio for each metric."""

    throughput: EstimateEntry
    """Requests that ended in the windows, failed ones included, a second of them."""
    mean: EstimateEntry
    """Mean service time in ms."""
    p50: EstimateEntry
    """Median of service time in ms, interpolated within JMeter's millisecond."""
    p90: EstimateEntry
    """90th percentile, likewise."""
    p95: EstimateEntry
    """95th percentile, likewise."""
    p99: EstimateEntry
    """99th percentile, likewise."""
    block_max: EstimateEntry
    """Mean over the blocks of each block's slowest request, in ms."""


class MetricsEntry(RatiosEntry):
    """A number for each metric."""

    max: EstimateEntry
    """Slowest of all the cell's requests, in ms; it has no interval."""


class ClaimEntry(Model):
    """A published claim beside what was measured here."""

    id: str
    """Stable from run to run."""
    system: str
    """The published system."""
    claim: str
    """What was claimed."""
    published: str
    """The figures as they were published."""
    what: str
    """What `measured` is."""
    measured: EstimateEntry
    """The quantity that decides."""
    unit: str
    """Unit of `measured`; empty for a ratio."""
    answer: Literal["agrees", "disagrees", "cannot tell"]
    """`agrees` and `disagrees` only where the whole interval says so; between the two lies a
    gap."""
    reason: Text
    """One sentence with the numbers."""


class CpuEntry(Model):
    """Mean cores busy in the windows; null where not known."""

    generator: Amount | None
    """With JMeter."""
    service: Amount | None
    """With PM2 and the processes under it."""
    idle: Amount | None
    """Idle."""


class BottleneckEntry(Model):
    """What held the throughput."""

    who: Literal["service", "generator", "machine", "neither", "unknown"]
    """`machine` where no core was idle and the arm could have used more; `neither` where requests
    waited for something else than a core."""
    reason: Text
    """One sentence with the numbers."""
    headroom: Annotated[float, Field(ge=1)]
    """By what factor the throughput could at most be higher if the arm had got all cores that it
    can use; 1 where some were idle anyway."""


class CellEntry(Model):
    """One arm at one number of users."""

    experiment: str
    """Name of the experiment, also the label of its samples in kpi.jtl."""
    arm: str
    """What is compared."""
    app: str
    """The app of ecosystem.config.js that it asks."""
    users: Whole
    """Closed-loop users: each sends its next request when it has its answer."""
    published: Count
    """How many requests the write-up sent; 0 for none."""
    rounds: Whole
    """How often it was to be measured."""
    seconds: Whole
    """How long a block lasts, or may last."""
    lead_s: Amount
    """Seconds at the begin of a block that are left out."""
    each: Count
    """Requests of each user in a block; 0 for as many as fit into its seconds."""
    path: str
    """What was asked for."""
    answer: str
    """The regular expression that each answer had to contain."""
    blocks: Count
    """Blocks that count."""
    requests: Count
    """Requests that ended in their windows."""
    failed: Count
    """How many of these failed."""
    metrics: MetricsEntry
    """What was measured."""
    workers: dict[str, Count]
    """Requests by who answered them: `worker`, or `server/worker` behind the balancer."""
    busiest: Annotated[float, Field(ge=0, le=1)] | None
    """Share of a block's requests that its busiest worker answered, mean of the blocks; null where
    not known."""
    cpu: CpuEntry
    """Mean cores busy in the windows; null where not known."""
    bottleneck: BottleneckEntry
    """What held the throughput."""
    left_out: list[str]
    """Why each other block does not count."""


class ComparisonEntry(Model):
    """One arm against another."""

    experiment: str
    """Name of the experiment, also the label of its samples in kpi.jtl."""
    users: Whole
    """Closed-loop users: each sends its next request when it has its answer."""
    arm: str
    """The arm."""
    baseline: str
    """What it is set against."""
    ratios: RatiosEntry
    """arm / baseline of each metric, over the same resampled rounds."""


class PointEntry(Model):
    """One number of users."""

    users: Whole
    """Closed-loop users: each sends its next request when it has its answer."""
    throughput: EstimateEntry
    """Requests a second."""
    concurrency_performance: EstimateEntry
    """The one process's mean service time under the fewest users, in s, times this throughput:
    below 1 the server bogs down with users, above 1 it scales."""


class CurveEntry(Model):
    """How an arm's throughput changes with its users."""

    experiment: str
    """Name of the experiment, also the label of its samples in kpi.jtl."""
    arm: str
    """The arm."""
    points: list[PointEntry]
    """By users, ascending."""


class CheckEntry(Model):
    """Another load generator beside JMeter."""

    tool: str
    """Its name."""
    version: str
    """Its version; empty where it is not known."""
    ratios: dict[str, EstimateEntry]
    """Its figure / JMeter's, of throughput and p50."""
    agreement: Literal["agrees", "disagrees", "cannot tell"]
    """Whether they agree within the tolerance."""
    reason: Text
    """One sentence."""


class OutageEntry(Model):
    """A worker that died."""

    app: str
    """Its app."""
    worker: str
    """PM2's number of it, or its name."""
    pid: Count
    """Of the process that ended."""
    from_s: float
    """When, in seconds since JMeter's start."""
    to_s: float | None
    """When its successor was online, in seconds; null where none came."""
    lost: Count | None
    """Requests that failed for want of it; null where they were not counted."""
    experiment: str | None
    """The experiment under way; null for none."""


class DesignEntry(Model):
    """How the run was set up."""

    design: str
    """The file of the design."""
    seed: Count
    """Of the order of the blocks and of the resampled rounds."""
    short: bool
    """Whether it was the smoke, which has too few rounds for any answer."""
    rounds: Whole | None
    """Rounds in place of the design's; null for those."""
    experiments: list[str]
    """The experiments that were to run, in their order."""
    left_out: list[str]
    """What of the design could not be run here."""


class StudyFile(Model):
    """What a study of one process against several measured, and what it says of each published
    claim. Intervals are at 95 %, from a block bootstrap over rounds; every number that is not
    known is null, and a note says why."""

    version: Literal[2]
    """Of this format; raised when a field goes or changes its meaning. Version 1 had a `usl` in
    each curve."""
    started: str
    """When the run began, ISO 8601 with its offset."""
    design: DesignEntry
    """How the run was set up."""
    environment: Environment
    """The machine and the versions that the study holds for."""
    cores: Whole
    """Cores of the machine."""
    claims: list[ClaimEntry]
    """An answer to every published claim, also to those that this run did not measure."""
    cells: list[CellEntry]
    """Every arm at every number of users, without those of another load generator."""
    comparisons: list[ComparisonEntry]
    """Pairs of arms at the same number of users."""
    curves: list[CurveEntry]
    """How the throughput of each arm changes with its users."""
    checks: list[CheckEntry]
    """Another load generator beside JMeter; in runs made before, up to three."""
    outages: list[OutageEntry]
    """Workers that died during the run; blocks that they served then are left out."""
    notes: list[str]
    """What else a reader should know."""


def to_dict(study: StudyResult, about: About) -> dict[str, Any]:
    """The content of study.json; numbers that are not known are null."""
    return finite(
        content(
            StudyFile,
            study,
            version=VERSION,
            started=about.started,
            design=content(DesignEntry, about.how),
            environment=dict(about.environment),
            claims=[
                content(ClaimEntry, each, measured=_estimate(each.measured))
                for each in study.claims
            ],
            cells=[_cell(each) for each in study.cells],
            comparisons=_with_ratios(ComparisonEntry, study.comparisons),
            curves=[
                content(CurveEntry, each, points=[_point(point) for point in each.points])
                for each in study.curves
            ],
            checks=_with_ratios(CheckEntry, study.checks),
        )
    )


def _estimate(found: Estimate) -> dict[str, Any]:
    """The interval is null without any end, and has a null for the one that is not known."""
    ends = [found.low, found.high]
    return content(EstimateEntry, found, interval=None if ends == [None, None] else ends)


def _estimates(found: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: _estimate(each) for name, each in found.items()}


def _with_ratios(
    model: type[Model], found: Iterable[ArmComparison | Check]
) -> list[dict[str, Any]]:
    return [content(model, each, ratios=_estimates(each.ratios)) for each in found]


def _cell(result: CellResult) -> dict[str, Any]:
    return content(
        CellEntry,
        result,
        **asdict(result.cell),
        metrics=_estimates(result.metrics),
        bottleneck=content(BottleneckEntry, result.bottleneck),
    )


def _point(point: ScalingPoint) -> dict[str, Any]:
    return content(
        PointEntry,
        point,
        throughput=_estimate(point.throughput),
        concurrency_performance=_estimate(point.concurrency_performance),
    )
