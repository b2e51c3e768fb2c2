"""How fast a comparison asks: as its plan says, or so much slower that cores stay free. Pure.

Where base, head and the generator need most of the cores, requests wait for each other, and what is
compared is that waiting. The arrivals of the plan are slowed down, the same for both sides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tollgate.base import records
from tollgate.base.fields import Amount, Count

#: Milliseconds of a plan's schedule, by the properties that set them: from one arrival of a label
#: to the next, and from that of sum to that of search.
PERIOD, LAG = "period", "search_lag"
#: How much longer than usual PERIOD and LAG may be. At each of them the end of a search of app/,
#: whose carriers take 50 ms, comes between two sums; at the third a search has to follow sooner.
SLOWER = ((1.0, 1.0), (14 / 9, 14 / 9), (20 / 9, 23 / 16), (32 / 9, 32 / 9))
#: At which of them the cost is measured. At the slowest one most of what runs has not been compiled
#: when the measuring ends: on two cores a pair of requests took 25.5 ms there and 19.9 ms here.
MEASURED_AT = SLOWER[1]
#: Why a pace is what it is.
MEASURED, FIXED, UNSEEN, UNKNOWN = "measured", "fixed", "unseen", "unknown"


@dataclass(frozen=True)
class Cost:
    """CPU time that one request of each label took, measured before the comparison began."""

    __pydantic_config__ = records.STRICT

    service_ms: Amount
    """Of base and head together, in ms, however many went to which."""
    generator_ms: Amount
    """Of JMeter, in ms."""

    @property
    def total_ms(self) -> float:
        return self.service_ms + self.generator_ms


@dataclass(frozen=True)
class Pace:
    """How fast arrivals came, of each label."""

    __pydantic_config__ = records.STRICT

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
        return self.cost and self.cost.total_ms / self.period_ms / self.cores


def usual(plan: str) -> dict[str, int]:
    """PERIOD and LAG as a plan's text has them, where it has a period; otherwise nothing."""
    found = dict(re.findall(rf"\$\{{__P\(({PERIOD}|{LAG}),(\d+)\)\}}", plan))
    return {name: int(it) for name, it in found.items()} if int(found.get(PERIOD, 0)) else {}


def fixed(usual: Mapping[str, int], given: Mapping[str, object]) -> dict[str, int]:
    """Those that properties set. Raises ValueError, one line."""
    found = {name: given[name] for name in usual if name in given}
    for name, value in found.items():
        if not re.fullmatch(r"\d+", str(value)) or (name == PERIOD and not int(str(value))):
            raise ValueError(f"the property {name} is {value!r}: write whole milliseconds")
    return {name: int(str(value)) for name, value in found.items()}


def slowed(usual: Mapping[str, int], slower: tuple[float, float]) -> dict[str, int]:
    """The schedule of one of SLOWER."""
    longer = dict(zip((PERIOD, LAG), slower, strict=True))
    return {name: round(ms * longer[name]) for name, ms in usual.items()}


def fitting(usual: Mapping[str, int], cost: Cost, cores: int, share: float) -> dict[str, int]:
    """The fastest of the schedules that needs no more than its share of the cores, or the slowest
    where none does."""
    schedules = [slowed(usual, it) for it in SLOWER]
    most_ms = cost.total_ms / share / cores
    return next((it for it in schedules if it[PERIOD] >= most_ms), schedules[-1])
