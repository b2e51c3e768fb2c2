"""What the study is made of: cells, blocks, what was measured in them, and what is said of it.

A *cell* is one arm of an experiment at one number of users. A *block* is one cell under load for
some seconds. A *round* has each cell of an experiment once, in random order, so that whatever the
machine does in the meantime hits all arms alike; round 0 warms up and is never analysed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, computed_field
from typing_extensions import TypedDict  # Pydantic takes no other before Python 3.12

from tollgate.base.fields import (
    WRITTEN,
    Amount,
    Count,
    Inlined,
    Interval,
    Text,
    Unwritten,
    Whole,
    written,
)

#: The experiment in which another load generator takes turns with JMeter.
CROSSCHECK = "crosscheck"
#: The arms of the cross-check.
JMETER, AUTOCANNON = "jmeter", "autocannon"
#: Whose CPU time is recorded, in the order of CellData.cores.
COUNTERS = ("generator", "service", "idle")
#: Experiment, arm and users, which name a cell.
Key = tuple[str, str, int]
Answer = Literal["agrees", "disagrees", "cannot tell"]


@written
class Cell:
    """One row of data/study.csv."""

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

    @property
    def key(self) -> Key:
        return self.experiment, self.arm, self.users

    @property
    def by_jmeter(self) -> bool:
        """Whether JMeter sends its requests, and no other load generator."""
        return self.experiment != CROSSCHECK or self.arm == JMETER


@dataclass(frozen=True)
class Block:
    """One turn of a cell. number: from 1 on, in the order of the run. round: 0 is the warm-up."""

    number: int
    round: int
    cell: Cell


@dataclass(frozen=True)
class CellData:
    """What was measured of a cell, a row for each of its R measured blocks that can be used.

    rounds: int[R], which round each row is, ascending. window_s: float[R], the measured length of
    each. values_ms: int[V], the distinct service times, ascending; counts: int[R, V], how many
    requests that ended in the window took each of them. failed: int[R], how many of those failed.
    workers: requests by `X-Server/X-Worker` (`X-Worker` alone without a balancer in front).
    cores: float[3, R], mean cores by COUNTERS in each window: busy with JMeter, with the processes
    under PM2, and idle; NaN where not known.
    left_out: why each other block is not here, e.g. `round 3: worker 0 of fork died`.
    busiest: float[R], the share of each block's requests that one worker answered, the busiest of
    that block; empty where unknown.
    """

    cell: Cell
    rounds: np.ndarray
    window_s: np.ndarray
    values_ms: np.ndarray
    counts: np.ndarray
    failed: np.ndarray
    workers: dict[str, int]
    cores: np.ndarray
    left_out: tuple[str, ...] = ()
    busiest: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def mean_cores(self) -> dict[str, float]:
        """Mean cores by COUNTERS over the windows in which all are known; NaN where these are less
        than half of the measured time."""
        is_known = ~np.isnan(self.cores).any(axis=0)
        length = self.window_s[is_known].sum()
        if not length or length < self.window_s.sum() / 2:
            return dict.fromkeys(COUNTERS, float("nan"))
        means = self.cores[:, is_known] @ self.window_s[is_known] / length
        return dict(zip(COUNTERS, means.tolist(), strict=True))


@written
class Estimate:
    """A number with its 95 % interval."""

    value: float | None
    """From all rounds as they were; null where it is not known."""
    low: Unwritten[float | None] = None
    high: Unwritten[float | None] = None
    note: str = ""
    """Why there is no value or no interval, or what ends it; usually empty."""

    @computed_field
    @property
    def interval(self) -> Interval | None:
        """[low, high]; null where there is none. One end alone is null where the data set no
        bound."""
        return None if self.low is None and self.high is None else [self.low, self.high]


# Of fields that CellMetrics inherits, with which their docstrings would not come.
_THROUGHPUT = "Requests that ended in the windows, failed ones included, a second of them."
_P50 = "Median of service time in ms, interpolated within JMeter's millisecond."
_BLOCK_MAX = "Mean over the blocks of each block's slowest request, in ms."


class Ratios(TypedDict):
    """A ratio for each metric."""

    __pydantic_config__ = WRITTEN

    throughput: Annotated[Estimate, Field(description=_THROUGHPUT)]
    mean: Annotated[Estimate, Field(description="Mean service time in ms.")]
    p50: Annotated[Estimate, Field(description=_P50)]
    p90: Annotated[Estimate, Field(description="90th percentile, likewise.")]
    p95: Annotated[Estimate, Field(description="95th percentile, likewise.")]
    p99: Annotated[Estimate, Field(description="99th percentile, likewise.")]
    block_max: Annotated[Estimate, Field(description=_BLOCK_MAX)]


class CellMetrics(Ratios):
    """A number for each metric."""

    max: Estimate
    """Slowest of all the cell's requests, in ms; it has no interval."""


#: What has an interval, of a cell and as a ratio of two. Times are service times: a closed loop has
#: no intended start.
METRICS = tuple(Ratios.__annotations__)
#: What is reported of each cell.
DESCRIBED = tuple(CellMetrics.__annotations__)


class CellCpu(TypedDict):
    """Mean cores busy in the windows; null where not known."""

    __pydantic_config__ = WRITTEN

    generator: Amount | None
    """With JMeter."""
    service: Amount | None
    """With PM2 and the processes under it."""
    idle: Amount | None
    """Idle."""


@written
class Bottleneck:
    """What held the throughput."""

    who: Literal["service", "generator", "machine", "neither", "unknown"]
    """`machine` where no core was idle and the arm could have used more; `neither` where requests
    waited for something else than a core."""
    reason: Text
    """One sentence with the numbers."""
    headroom: Annotated[float, Field(ge=1)] = 1.0
    """By what factor the throughput could at most be higher if the arm had got all cores that it
    can use; 1 where some were idle anyway."""


@written
class CellResult:
    """One arm at one number of users."""

    cell: Inlined[Cell]
    blocks: Count
    """Blocks that count."""
    requests: Count
    """Requests that ended in their windows."""
    failed: Count
    """How many of these failed."""
    metrics: CellMetrics
    """What was measured."""
    workers: dict[str, Count]
    """Requests by who answered them: `worker`, or `server/worker` behind the balancer."""
    cpu: CellCpu
    """Mean cores busy in the windows; null where not known."""
    bottleneck: Bottleneck
    """What held the throughput."""
    left_out: tuple[str, ...] = ()
    """Why each other block does not count."""
    busiest: Annotated[float, Field(ge=0, le=1)] | None = None
    """Share of a block's requests that its busiest worker answered, mean of the blocks; null where
    not known."""


@written
class ArmComparison:
    """One arm against another."""

    experiment: str
    """Name of the experiment, also the label of its samples in kpi.jtl."""
    users: Whole
    """Closed-loop users: each sends its next request when it has its answer."""
    arm: str
    """The arm."""
    baseline: str
    """What it is set against."""
    ratios: Ratios
    """arm / baseline of each metric, over the same resampled rounds."""


@written
class ScalingPoint:
    """One number of users."""

    users: Whole
    """Closed-loop users: each sends its next request when it has its answer."""
    throughput: Estimate
    """Requests a second."""
    concurrency_performance: Estimate
    """The one process's mean service time under the fewest users, in s, times this throughput:
    below 1 the server bogs down with users, above 1 it scales."""


@written
class Curve:
    """How an arm's throughput changes with its users."""

    experiment: str
    """Name of the experiment, also the label of its samples in kpi.jtl."""
    arm: str
    """The arm."""
    points: tuple[ScalingPoint, ...]
    """By users, ascending."""


@written
class PublishedClaim:
    """A published claim, and what of it is measured."""

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
    unit: str = ""
    """Unit of `measured`; empty for a ratio."""


@written
class Claim:
    """A published claim beside what was measured here."""

    of: Inlined[PublishedClaim]
    measured: Estimate
    """The quantity that decides."""
    answer: Answer
    """`agrees` and `disagrees` only where the whole interval says so; between the two lies a
    gap."""
    reason: Text
    """One sentence with the numbers."""


@written
class Check:
    """Another load generator beside JMeter."""

    tool: str
    """Its name."""
    version: str
    """Its version; empty where it is not known."""
    ratios: dict[str, Estimate]
    """Its figure / JMeter's, of throughput and p50."""
    agreement: Answer
    """Whether they agree within the tolerance."""
    reason: Text
    """One sentence."""


class StudyOutage(TypedDict):
    """A worker that died."""

    __pydantic_config__ = WRITTEN

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


@written
class StudyResult:
    """What was measured, and what that says of each published claim."""

    seed: Unwritten[int]
    cores: Whole
    """Cores of the machine."""
    cells: tuple[CellResult, ...]
    """Every arm at every number of users, without those of another load generator."""
    comparisons: tuple[ArmComparison, ...]
    """Pairs of arms at the same number of users."""
    curves: tuple[Curve, ...]
    """How the throughput of each arm changes with its users."""
    claims: tuple[Claim, ...]
    """An answer to every published claim, also to those that this run did not measure."""
    checks: tuple[Check, ...]
    """Another load generator beside JMeter; in runs made before, up to three."""
    outages: tuple[StudyOutage, ...] = ()
    """Workers that died during the run; blocks that they served then are left out."""
    notes: tuple[str, ...] = ()
    """What else a reader should know."""
