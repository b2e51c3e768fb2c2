"""The published claims about one process against several in Node, and what decides one.

They stand in claims.yml, a Published each. Core counts differ, so directions and ratios are
compared, never absolute times. An answer needs the whole 95 % interval on one side, and between the
sides lies a gap (0.02 for a ratio): a quantity near the border gets `cannot tell`, so that noise
alone, when the same machine is measured again, does not turn `agrees` into `disagrees` or the other
way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import yaml
from pydantic import BeforeValidator, TypeAdapter

from tollgate.stats.arrays import Floats
from tollgate.study.metrics import Metrics
from tollgate.study.model import CellData, Key, PublishedClaim
from tollgate.study.scaling import concurrency_performance

#: Numbers of users that claims are about: calculate's for its growth, and kittens'.
FEW, MANY, KITTENS_USERS = 5, 20, 10


@dataclass(frozen=True)
class StudyMachine:
    """Where the study ran. cores: of the machine; instances: of each app by its name."""

    cores: int
    instances: Mapping[str, int]

    @property
    def workers(self) -> int:
        """Of the app `cluster`."""
        return self.instances.get("cluster", self.cores)

    @property
    def third(self) -> float:
        """What the slowest answer of one server comes down to, at best, with three of them."""
        return 1 / min(3, self.cores)


@dataclass(frozen=True)
class Rule:
    """`agrees` if all of the interval lies within [low, high], `disagrees` if all of it lies below
    `below` or above `above`, `cannot tell` otherwise. No rule is without a gap."""

    low: float = -math.inf
    high: float = math.inf
    below: float = -math.inf
    above: float = math.inf


#: What the write-ups measured, by experiment: how the path begins.
WORK = {
    "calculate": "/calculate",
    "sum": "/sum/500000",
    "search": "/search",
    "kittens": "/evil-kittens-sploding-your-cpu/",
    "pi": "/pi",
}


def ratio(metric: str) -> Callable[..., Floats]:
    """Of the first cell's metric to the second's."""
    return lambda _, arm, baseline: arm[metric] / baseline[metric]


def percent_lost(_: StudyMachine, arm: Metrics, baseline: Metrics) -> Floats:
    """Of the baseline's throughput, what the arm lacks."""
    return 100 * (1 - arm["throughput"] / baseline["throughput"])


def elasticity(_: StudyMachine, few: Metrics, many: Metrics) -> Floats:
    """By what power of its users a response time grows: 0 not at all, 1 in step."""
    return np.log(many["mean"] / few["mean"]) / math.log(MANY / FEW)


def in_flight(_: StudyMachine, one: Metrics) -> Floats:
    """Little's law (J. D. C. Little, Operations Research 9(3), 1961): throughput times response
    time is the number of requests under way, 1 for one user who waits for each answer."""
    return concurrency_performance(one, one)


def per_worker(machine: StudyMachine, baseline: Metrics, loaded: Metrics) -> Floats:
    """Concurrency performance for each worker that can be at work."""
    return concurrency_performance(baseline, loaded) / min(machine.workers, KITTENS_USERS)


def other_work(cells: Iterable[Key], measured: Mapping[Key, CellData]) -> list[str]:
    """What a design asks that the write-ups did not."""
    paths = {(key[0], measured[key].cell.path) for key in cells}
    pairs = ((path, WORK[experiment]) for experiment, path in sorted(paths))
    others = ((path, published) for path, published in pairs if not path.startswith(published))
    return [f"the design asks {path}, and the write-up {published}" for path, published in others]


QUANTITIES: dict[str, Callable[..., Floats]] = {
    **{f"ratio of {metric}": ratio(metric) for metric in ("throughput", "mean", "block_max")},
    "percent lost": percent_lost,
    "elasticity": elasticity,
    "in flight": in_flight,
    "per worker": per_worker,
}


@dataclass(frozen=True, kw_only=True)
class Published(PublishedClaim):
    """One claim. cells: (experiment, arm, users) of each cell that it takes. quantity: what
    decides, of the machine and of the metrics of those cells, float[B] each, to float[B]; one of
    QUANTITIES by its name. context: what else a reader needs to know about it, with places for the
    `machine`. cores: how many it takes before several processes have anything to share.
    performances: the arms whose concurrency performance stands beside it, the first cell being the
    baseline."""

    cells: tuple[Key, ...]
    quantity: Annotated[Callable[..., Floats], BeforeValidator(QUANTITIES.__getitem__)]
    rule: Rule
    context: str = ""
    performances: tuple[str, ...] = ()
    cores: int = 2


_TEXT = Path(__file__).with_name("claims.yml").read_text(encoding="utf-8")
CLAIMS = TypeAdapter(tuple[Published, ...]).validate_python(yaml.safe_load(_TEXT))
