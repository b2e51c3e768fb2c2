"""Small drawings for the cells of tables: intervals on a common scale, and shares of a whole. Pure.

bars.html.jinja draws them as SVG; here are their lengths, in per cents of the cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tollgate.study.model import Estimate

#: Per cents of the cell's width that are left free on either side, for half a number at its end.
MARGIN = 4.0
#: Numbers on a scale, at most.
_TICKS = 6
#: Colours of parts.
_PALETTE = 4
_ARROWS = {-1: "\u25c4", 1: "\u25ba"}
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


@dataclass(frozen=True)
class Scale(Ruler):
    """Ratios from low to high, both powers of two: half lies as far from 1 as double does."""

    none: ClassVar[float] = 1.0

    @classmethod
    def of(cls, estimates: Iterable[Estimate]) -> Scale:
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


@dataclass(frozen=True)
class IntervalBar:
    """A value with its interval on a scale, as SVG lengths. rules: (x, CSS class) of the scale.
    ends: of the interval. value: None where it is not known or beyond the scale. arrows: (x,
    character) at the ends of the scale that something lies beyond. kind: a CSS class."""

    rules: Sequence[tuple[str, str]]
    ends: tuple[str, str] | None
    value: str | None
    arrows: Sequence[tuple[str, str]]
    kind: str

    @classmethod
    def of(cls, estimate: Estimate, scale: Ruler, kind: str = "") -> IntervalBar:
        """kind: by default whether it is above no difference, below or across it."""
        low, high, value = estimate.low, estimate.high, estimate.value
        is_interval = low is not None and high is not None
        is_seen = value is not None and not scale.side(value)
        sides = {scale.side(it) for it in (low, value, high) if it is not None}
        ends = {-1: scale.low, 1: scale.high}
        return cls(
            rules=[(scale.at(it), "one" if it == scale.none else "rule") for it in scale.ticks],
            ends=(scale.at(low), scale.at(high)) if is_interval else None,
            value=scale.at(value) if is_seen else None,
            arrows=[(scale.at(ends[way]), _ARROWS[way]) for way in _ARROWS if way in sides],
            kind=kind or _side(estimate),
        )


@dataclass(frozen=True)
class LimitBar:
    """A value and its interval as shares of its limit, which stands at the same place in every row,
    as SVG lengths; what lies beyond the end is cut off there. value: None where it is not known."""

    value: str | None
    ends: tuple[str, str] | None
    tone: str

    @classmethod
    def of(cls, value: float | None, low: float | None, high: float | None, tone: str) -> LimitBar:
        """From multiples of the limit; infinity is beyond any end."""
        is_interval = low is not None and high is not None
        ends = (_percent(_of_limit(low)), _percent(_of_limit(high))) if is_interval else None
        return cls(None if value is None else _percent(_of_limit(value)), ends, tone)


@dataclass(frozen=True)
class BarSegment:
    """A part of a whole, as SVG lengths. kind: a CSS class, by its place among the parts."""

    x: str
    width: str
    kind: str


def parts(shares: Sequence[float]) -> list[BarSegment]:
    """Parts of a whole beside each other, in order, with a gap of half a per cent."""
    found, begin = [], 0.0
    for index, share in enumerate(shares):
        width = max(100 * share - 0.5, 0.2)
        found.append(BarSegment(_percent(begin), _percent(width), f"series-{index % _PALETTE}"))
        begin += 100 * share
    return found


def _side(estimate: Estimate) -> str:
    """`above` or `below` 1 if all of the interval is, `across` otherwise."""
    if estimate.low is None or estimate.high is None:
        return "across"
    return "above" if estimate.low > 1 else "below" if estimate.high < 1 else "across"


def _of_limit(ratio: float) -> float:
    return min(max(ratio, 0.0) * _LIMIT_AT, 100.0)


def _percent(value: float) -> str:
    return f"{value:.2f}%"
