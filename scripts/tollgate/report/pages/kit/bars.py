"""The scales of small drawings in the cells of tables; bars.html.jinja draws them as SVG. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tollgate.report.pages.kit.tones import tone
from tollgate.report.table import INFORMATIONAL, Bar
from tollgate.study.model import Estimate

#: Per cents of the cell's width that are left free on either side, for half a number at its end.
MARGIN = 4.0
#: Numbers on a scale, at most.
_TICKS = 6
#: Per cents of the width at which a limit stands: half as much again fits behind it.
_LIMIT_AT = 66.7
LIMIT_AT = f"{_LIMIT_AT:.2f}%"


@dataclass(frozen=True)
class Ruler:
    """A scale from low to high, even unless it says otherwise. none: the value that stands for no
    difference. Each kind has `ticks`, where its numbers stand, and `text`, as one is written."""

    none: ClassVar[float]
    low: float
    high: float

    def share(self, value: float) -> float:
        """Of the scale's length up to a value."""
        return (value - self.low) / (self.high - self.low)

    def at(self, value: float) -> str:
        """Where a value lies, as an SVG length; those beyond an end lie on it."""
        within = min(max(value, self.low), self.high)
        return _percent(MARGIN + self.share(within) * (100 - 2 * MARGIN))

    def side(self, value: float) -> int:
        """-1 for below the scale, 1 for above it, 0 for on it."""
        hair = (self.high - self.low) * 1e-6
        return (value > self.high + hair) - (value < self.low - hair)

    def beyond(self, bar: Bar) -> set[int]:
        """The sides on which a value or an end lies."""
        return {self.side(it) for it in (bar.low, bar.value, bar.high) if it is not None} - {0}

    def kind(self, bar: Bar) -> str:
        """Its CSS class: of its verdict, or else `above` or `below` no difference if all of the
        interval is, `across` otherwise."""
        if bar.verdict and bar.verdict != INFORMATIONAL:
            return tone(bar.verdict)
        if bar.verdict or bar.low is None or bar.high is None:
            return "across"
        return "above" if bar.low > self.none else "below" if bar.high < self.none else "across"


@dataclass(frozen=True)
class Scale(Ruler):
    """Ratios from low to high, both powers of two: half lies as far from 1 as double does."""

    none: ClassVar[float] = 1.0

    @classmethod
    def of(cls, estimates: Iterable[Bar | Estimate]) -> Scale:
        """One that holds all of them, and 1."""
        ends = [end for it in estimates for end in (it.value, it.low, it.high)]
        known = [end for end in ends if end is not None and math.isfinite(end) and end > 0]
        low, high = min([*known, 0.71]), max([*known, 1.41])
        return cls(2.0 ** math.floor(math.log2(low)), 2.0 ** math.ceil(math.log2(high)))

    def share(self, value: float) -> float:
        """By their logarithms."""
        return math.log2(value / self.low) / math.log2(self.high / self.low)

    def text(self, tick: float) -> str:
        """`2`, `1/2`."""
        return f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}"

    @property
    def ticks(self) -> list[float]:
        """Powers of two, 1 among them."""
        first, last = round(math.log2(self.low)), round(math.log2(self.high))
        step = math.ceil((last - first + 1) / _TICKS)
        return [2.0**power for power in range(first, last + 1) if power % step == 0]


def of_limit(ratio: float) -> str:
    """Where a multiple of the limit lies, as an SVG length; infinity is beyond any end."""
    return _percent(min(max(ratio, 0.0) * _LIMIT_AT, 100.0))


def _percent(value: float) -> str:
    return f"{value:.2f}%"
