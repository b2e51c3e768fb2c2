"""When an execution that may end early is looked at: from its settings and criteria alone, never
from when its file was read, so that who judges it again makes the same looks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated

from pydantic import Field, NonNegativeFloat, PositiveFloat

from tollgate.base import records
from tollgate.criteria.grammar import Criterion

# A run that is decided goes on for half of this in the mean. Looks as often as every second would
# end it 5 s sooner, at the price of the machine that is measured.
EVERY_S = 10.0
#: However large the budget, it has room for so many looks.
MOST_LOOKS = 100
#: From here on an execution may fail: blocks of time of which an interval is made are five at least
#: (stats.MIN_SECONDS), and twice as many distinguish a slow moment from a slow
#: service.
FIRST_S = 10.0
#: Seconds between a look's moment and the look, at least and at most.
SHORTEST_LAG_S, LONGEST_LAG_S = 1.0, 5.0
#: What is measured at least before a pass, where no property `measured` says it.
LEAST_S = 30.0


@records.stored
class InterimSchedule:
    """Seconds of measuring. least_s: at least, before a pass. budget_s: at most. every_s: between
    two looks. lag_s: a look at second T is made of what was due until then and had ended lag_s
    later, or SHORTEST_LAG_S later where that is certainly all of it; what had not is missing."""

    least_s: NonNegativeFloat
    budget_s: PositiveFloat
    every_s: Annotated[float, Field(ge=1)]
    lag_s: NonNegativeFloat

    def __post_init__(self) -> None:
        if self.least_s > self.budget_s:
            raise ValueError(f"least_s is {self.least_s:g}, more than budget_s, {self.budget_s:g}")
        if self.every_s * MOST_LOOKS < self.budget_s * (1 - 1e-9):
            raise ValueError(
                f"every_s is {self.every_s:g}, and a budget_s of {self.budget_s:g} has no more "
                f"than {MOST_LOOKS} looks"
            )

    @classmethod
    def of(cls, least_s: float, budget_s: float) -> InterimSchedule:
        """A budget below the least time is raised to that."""
        budget_s = max(least_s, budget_s)
        return cls(least_s, budget_s, max(EVERY_S, budget_s / MOST_LOOKS), SHORTEST_LAG_S)

    def with_lag(self, criteria: Iterable[Criterion]) -> InterimSchedule:
        """The same that waits for answers as long as the slowest may take by criteria that are
        judged by an interval, within bounds. What is slower is missing: a PASS must hold with each
        of it failed and as slow as its timeout."""
        limits = [it.threshold / 1000 for it in criteria if it.unit == "ms" and it.is_estimate]
        lag_s = min(LONGEST_LAG_S, max(SHORTEST_LAG_S, max(limits, default=0.0)))
        return replace(self, lag_s=lag_s)

    @property
    def lags_s(self) -> tuple[float, ...]:
        """How long a look waits for answers: at first, and where some are missing then."""
        return tuple(sorted({min(SHORTEST_LAG_S, self.lag_s), self.lag_s}))

    @property
    def moments(self) -> tuple[float, ...]:
        """The looks, ascending: one at the least time, those before and behind it every_s apart,
        and the last one at the end of the budget."""
        before = max(0, math.floor((self.least_s - FIRST_S) / self.every_s))
        first_s = self.least_s - before * self.every_s
        # A stump of a step before the end is joined to the last one.
        count = math.ceil((self.budget_s - first_s) / self.every_s - 0.5)
        return (*(first_s + number * self.every_s for number in range(count)), self.budget_s)
