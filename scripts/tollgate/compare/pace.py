"""How fast a comparison asks: so fast that cores stay free, or as its plan says. Pure.

Where base, head and the generator need most of the cores, requests wait for each other, and what is
compared is that waiting. So arrivals come as far apart as what they cost asks for, the same for
both sides: of a mix of labels by whole milliseconds, of a plan with rates of its own in steps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

import numpy as np
from scipy import optimize

from tollgate.base import records
from tollgate.base.fields import Amount, Count
from tollgate.compare.mix import Mix
from tollgate.stats.arrays import Floats

#: Milliseconds of a plan's schedule, by the properties that set them: from one arrival to the next,
#: and from that of the plan's first label to that of its second.
PERIOD, LAG = "period", "search_lag"
#: How much longer than usual PERIOD and LAG may be. At each of them the end of a search of app/,
#: whose carriers take 50 ms, comes between two sums; at the third a search has to follow sooner.
SLOWER = ((1.0, 1.0), (14 / 9, 14 / 9), (20 / 9, 23 / 16), (32 / 9, 32 / 9))
#: At which of them the cost is measured. At the slowest one most of what runs has not been compiled
#: when the measuring ends: on two cores a pair of requests took 25.5 ms there and 19.9 ms here.
MEASURED_AT = SLOWER[1]
#: The least milliseconds from one arrival of a mix to the next, and the most in a rehearsal.
FASTEST_MS, REHEARSED_MS = 5, 30
#: Why a pace is what it is.
MEASURED, FIXED, UNSEEN, UNKNOWN = "measured", "fixed", "unseen", "unknown"


@records.stored
class Cost:
    """CPU time that what arrives in a period took, measured before the comparison began: one
    request of each label, or of a mix what an arrival takes on average."""

    service_ms: Amount
    """Of base and head together, in ms, however many went to which."""
    generator_ms: Amount
    """Of JMeter, in ms."""
    labels: dict[str, Amount] = field(default_factory=dict)
    """Of a mix: what an arrival of each label took of both, in ms."""

    @property
    def total_ms(self) -> float:
        return self.service_ms + self.generator_ms


@records.stored
class Pace:
    """How fast arrivals came, of each label."""

    period_ms: Count
    """From one arrival to the next, in ms."""
    usual_ms: Count
    """As the plan has it, in ms."""
    why: Literal["measured", "fixed", "unseen", "unknown"]
    """By what the machine can carry (`measured`), by a property (`fixed`), or as the plan has it:
    the CPU time of services by URL is `unseen`, and `unknown` where measuring it failed."""
    cores: Count
    """As many as the run could use."""
    share: Amount
    """Of the cores, what base, head and JMeter may need together."""
    cost: Cost | None = None
    """Null where it was not measured."""

    @classmethod
    def of(
        cls, usual: Mapping[str, int], fixed: Mapping[str, int], cores: int, share: float
    ) -> Pace:
        """That of a plan whose cost is not known."""
        period_ms = (dict(usual) | fixed)[PERIOD]
        return cls(period_ms, usual[PERIOD], FIXED if fixed else UNSEEN, cores, share)

    @property
    def busy(self) -> float | None:
        """The share of the cores that this pace needs; None where that is not known."""
        return self.cost.total_ms / self.period_ms / self.cores if self.cost else None


def usual(plan: str) -> dict[str, int]:
    """PERIOD and LAG as a plan's text has them, where it has a period; otherwise nothing."""
    defaults = dict(re.findall(rf"\$\{{__P\(({PERIOD}|{LAG}),(\d+)\)\}}", plan))
    return {name: int(it) for name, it in defaults.items()} if int(defaults.get(PERIOD, 0)) else {}


def fixed(usual: Mapping[str, int], properties: Mapping[str, object]) -> dict[str, int]:
    """Those that properties set. Raises ValueError, one line."""
    own = {name: properties[name] for name in usual if name in properties}
    for name, value in own.items():
        if not re.fullmatch(r"\d+", str(value)) or (name == PERIOD and not int(str(value))):
            raise ValueError(f"the property {name} is {value!r}: write whole milliseconds")
    return {name: int(str(value)) for name, value in own.items()}


def slowed(usual: Mapping[str, int], slower: tuple[float, float]) -> dict[str, int]:
    """The schedule of one of SLOWER."""
    longer = dict(zip((PERIOD, LAG), slower, strict=True))
    return {name: round(ms * longer[name]) for name, ms in usual.items()}


def rehearsed(usual: Mapping[str, int], is_mix: bool) -> dict[str, int]:
    """The schedule of a rehearsal."""
    if not is_mix:
        return slowed(usual, MEASURED_AT)
    return {PERIOD: min(max(usual[PERIOD], FASTEST_MS), REHEARSED_MS)}


def cost_of_mix(answered: Floats, service_ms: Floats, generator_ms: Floats, mix: Mix) -> Cost:
    """By least squares, none of which is below 0. answered: float[W, L], answers of each part of
    the mix in each window of time. The others: float[W], CPU time in it."""
    shares = np.array(mix.weights) / max(1, sum(mix.weights))
    service, generator = (optimize.nnls(answered, it)[0] for it in (service_ms, generator_ms))
    names = (it.name for it in mix.parts)
    by_label = {name: float(ms) for name, ms in zip(names, service + generator, strict=True)}
    return Cost(float(service @ shares), float(generator @ shares), by_label)


def fitting(
    usual: Mapping[str, int], cost: Cost, cores: int, share: float, is_mix: bool = False
) -> dict[str, int]:
    """The fastest of the schedules that needs no more than its share of the cores, or the slowest
    where none does."""
    most_ms = cost.total_ms / share / cores
    if is_mix:
        return {PERIOD: max(FASTEST_MS, math.ceil(most_ms))}
    schedules = [slowed(usual, it) for it in SLOWER]
    return next((it for it in schedules if it[PERIOD] >= most_ms), schedules[-1])
