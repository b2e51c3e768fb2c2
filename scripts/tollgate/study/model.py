"""What the study is made of: cells, blocks, what was measured in them, and what is said of it.

A *cell* is one arm of an experiment at one number of users. A *block* is one cell under load for
some seconds. A *round* has each cell of an experiment once, in random order, so that whatever the
machine does in the meantime hits all arms alike; round 0 warms up and is never analysed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: What has an interval, of a cell and as a ratio of two: requests a second, and milliseconds of
#: service time (a closed loop has no intended start). block_max: the mean over blocks of each
#: block's slowest request.
METRICS = ("throughput", "mean", "p50", "p90", "p95", "p99", "block_max")
#: What is reported of each cell. max: of all of its requests, which has no interval.
DESCRIBED = (*METRICS, "max")
#: The experiment in which another load generator takes turns with JMeter.
CROSSCHECK = "crosscheck"
#: The arms of the cross-check.
JMETER, AUTOCANNON = "jmeter", "autocannon"
#: Experiment, arm and users, which name a cell.
Key = tuple[str, str, int]


@dataclass(frozen=True)
class Cell:
    """One row of data/study.csv.

    experiment, arm: e.g. `calculate`, `cluster with logging`. app: of ecosystem.config.js.
    users: closed-loop users. published: how many requests the write-up sent, 0 for none.
    rounds: how often it is measured, the same for all cells of an experiment.
    seconds: whole seconds that a block lasts, or may last where `each` bounds it; in the design at
    least, see study/lengths.py.
    lead_s: its first seconds, the switch-over, which are left out. each: requests of each user in
    a block; 0 for as many as fit into its seconds.
    path, answer: what is asked for, and the regular expression that an answer must contain.
    """

    experiment: str
    arm: str
    app: str
    users: int
    published: int
    rounds: int
    seconds: int
    lead_s: float
    each: int
    path: str
    answer: str

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
    generator_cores, service_cores, idle_cores: float[R], mean cores busy with JMeter, with the
    processes under PM2, and idle, in each window; NaN where not known.
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
    generator_cores: np.ndarray
    service_cores: np.ndarray
    idle_cores: np.ndarray
    left_out: tuple[str, ...] = ()
    busiest: np.ndarray = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; None for each of them that is unknown, and `note` why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Bottleneck:
    """What held a cell's throughput: `service`, `generator`, `machine` (no core was idle, and the
    arm could have used more), `neither` (waiting) or `unknown`.

    headroom: by what factor it could at most be higher if the arm had got all cores that it can
    use; 1 where some were idle anyway, or that is unknown."""

    who: str
    reason: str
    headroom: float = 1.0


@dataclass(frozen=True)
class CellResult:
    """The figures of a cell. metrics: by TOLD. busiest: mean over blocks of the share of the
    requests that each block's busiest worker answered; None where unknown."""

    cell: Cell
    blocks: int
    requests: int
    failed: int
    metrics: dict[str, Estimate]
    workers: dict[str, int]
    cpu: dict[str, float | None]  # mean cores: generator, service, idle
    bottleneck: Bottleneck
    left_out: tuple[str, ...] = ()
    busiest: float | None = None


@dataclass(frozen=True)
class ArmComparison:
    """One arm against another at the same number of users. ratios: arm / baseline, by METRICS."""

    experiment: str
    users: int
    arm: str
    baseline: str
    ratios: dict[str, Estimate]


@dataclass(frozen=True)
class ScalingPoint:
    """users, throughput (1/s), and concurrency performance: the baseline's response time at the
    least users times the throughput (1 for a server that does not scale at all)."""

    users: int
    throughput: Estimate
    concurrency_performance: Estimate


@dataclass(frozen=True)
class Curve:
    """How an arm's throughput changes with its users."""

    experiment: str
    arm: str
    points: tuple[ScalingPoint, ...]


@dataclass(frozen=True)
class Claim:
    """A published claim beside what was measured here.

    id: stable, e.g. `sum-throughput`. published: the figure as its authors gave it. measured: the
    quantity that decides, with its interval; what: what that quantity is, in words. answer:
    `agrees`, `disagrees` or `cannot tell`; reason: one sentence.
    """

    id: str
    system: str
    claim: str
    published: str
    what: str
    measured: Estimate
    unit: str
    answer: str
    reason: str


@dataclass(frozen=True)
class Check:
    """Another load generator beside JMeter. ratios: its figure / JMeter's for throughput and p50.
    agreement: `agrees`, `disagrees` or `cannot tell`."""

    tool: str
    version: str
    ratios: dict[str, Estimate]
    agreement: str
    reason: str


@dataclass(frozen=True)
class StudyResult:
    """Everything that study.json holds."""

    seed: int
    cores: int
    experiments: tuple[str, ...]
    cells: tuple[CellResult, ...]
    comparisons: tuple[ArmComparison, ...]
    curves: tuple[Curve, ...]
    claims: tuple[Claim, ...]
    checks: tuple[Check, ...]
    outages: tuple[dict[str, Any], ...] = ()  # app, worker, pid, from_s, to_s, lost, experiment
    notes: tuple[str, ...] = field(default=())
