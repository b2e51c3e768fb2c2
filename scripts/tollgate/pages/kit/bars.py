"""Small drawings for the cells of tables: intervals on a common scale, and shares of a whole. Pure.

They are SVG whose lengths are per cents of the cell, so that they need no script and fit any width;
the table's other cells have the numbers.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from tollgate.pages.kit.parts import element
from tollgate.study import Estimate

#: Per cents of the cell's width that are left free on either side, for half a number at its end.
MARGIN = 4.0
#: Numbers on a scale, at most.
_TICKS = 6
_PALETTE = 4
_ARROWS = {-1: "\u25c4", 1: "\u25ba"}
#: Pixels; page.css gives every drawing this height, and the middle is that of a line of text.
_HEIGHT, _MIDDLE = 37, 19
#: Per cents of the width at which a limit stands: half as much again fits behind it.
_LIMIT_AT = 66.7
LIMIT_AT = f"{_LIMIT_AT:.2f}%"


class Ruler(Protocol):
    """A scale from low to high. none: the value that stands for no difference. at: where a value
    lies, as an SVG length. text: a tick's number, as it is written."""

    none: ClassVar[float]

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def ticks(self) -> Sequence[float]: ...

    def at(self, value: float) -> str: ...

    def text(self, tick: float) -> str: ...


@dataclass(frozen=True)
class Scale:
    """Ratios from low to high, both powers of two: half lies as far from 1 as double does."""

    none: ClassVar[float] = 1.0
    low: float
    high: float

    @classmethod
    def of(cls, estimates: Iterable[Estimate]) -> Scale:
        """One that holds all of them, and 1."""
        ends = [end for it in estimates for end in (it.value, it.low, it.high)]
        known = [end for end in ends if end is not None and math.isfinite(end) and end > 0]
        low, high = min([*known, 0.71]), max([*known, 1.41])
        return cls(2.0 ** math.floor(math.log2(low)), 2.0 ** math.ceil(math.log2(high)))

    def at(self, ratio: float) -> str:
        """Where a ratio lies, as an SVG length; those beyond an end lie on it."""
        within = min(max(ratio, self.low), self.high)
        share = math.log2(within / self.low) / math.log2(self.high / self.low)
        return along(share)

    def text(self, tick: float) -> str:
        """`2`, `1/2`."""
        return f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}"

    @property
    def ticks(self) -> list[float]:
        """Powers of two, 1 among them."""
        first, last = round(math.log2(self.low)), round(math.log2(self.high))
        step = math.ceil((last - first + 1) / _TICKS)
        return [2.0**power for power in range(first, last + 1) if power % step == 0]


def along(share: float) -> str:
    """Where a share of the scale's length ends, as an SVG length."""
    return _percent(MARGIN + share * (100 - 2 * MARGIN))


def scale_head(scale: Ruler) -> ET.Element:
    """The numbers of the scale, for the head of the column."""
    words = (
        element("text", scale.text(tick), x=scale.at(tick), y=20, text_anchor="middle")
        for tick in scale.ticks
    )
    return _svg(*words)


def interval_bar(estimate: Estimate, scale: Ruler, kind: str = "") -> ET.Element:
    """The estimate's interval and value; only rules where it is not known. kind: a CSS class that
    gives it its colour; by default whether it is above no difference, below or across it."""
    rules = [_line(scale.at(it), "one" if it == scale.none else "rule") for it in scale.ticks]
    low, high, value = estimate.low, estimate.high, estimate.value
    drawn: list[ET.Element] = []
    if low is not None and high is not None:
        ends = {"x1": scale.at(low), "x2": scale.at(high), "y1": _MIDDLE, "y2": _MIDDLE}
        drawn.append(element("line", class_="interval", **ends))
    if value is not None and not beyond(value, scale):
        drawn.append(element("circle", cx=scale.at(value), cy=_MIDDLE, r=4, class_="point"))
    sides = {beyond(it, scale) for it in (low, value, high) if it is not None}
    drawn += [_arrow(way, scale) for way in _ARROWS if way in sides]
    return _svg(*rules, element("g", *drawn, class_=kind or side(estimate)))


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
        is_seen = value is not None and not beyond(value, scale)
        sides = {beyond(it, scale) for it in (low, value, high) if it is not None}
        ends = {-1: scale.low, 1: scale.high}
        return cls(
            rules=[(scale.at(it), "one" if it == scale.none else "rule") for it in scale.ticks],
            ends=(scale.at(low), scale.at(high)) if is_interval else None,
            value=scale.at(value) if is_seen else None,
            arrows=[(scale.at(ends[way]), _ARROWS[way]) for way in _ARROWS if way in sides],
            kind=kind or side(estimate),
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
class Part:
    """A part of a whole, as SVG lengths. kind: a CSS class, by its place among the parts."""

    x: str
    width: str
    kind: str


def parts(shares: Sequence[float]) -> list[Part]:
    """Parts of a whole beside each other, in order, with a gap of half a per cent."""
    found, begin = [], 0.0
    for index, share in enumerate(shares):
        width = max(100 * share - 0.5, 0.2)
        found.append(Part(_percent(begin), _percent(width), f"part-{index % _PALETTE}"))
        begin += 100 * share
    return found


def beyond(value: float, scale: Ruler) -> int:
    """-1 below the scale, 1 above it, 0 on it."""
    hair = (scale.high - scale.low) * 1e-6
    return (value > scale.high + hair) - (value < scale.low - hair)


def _arrow(way: int, scale: Ruler) -> ET.Element:
    """At the end of the scale that something lies beyond."""
    place = scale.at(scale.high if way > 0 else scale.low)
    ends = {"text_anchor": "middle", "dominant_baseline": "central"}
    return element("text", _ARROWS[way], x=place, y=_MIDDLE, class_="point", **ends)


def side(estimate: Estimate) -> str:
    """`above` or `below` 1 if all of the interval is, `across` otherwise."""
    if estimate.low is None or estimate.high is None:
        return "across"
    return "above" if estimate.low > 1 else "below" if estimate.high < 1 else "across"


def limit_head(name: str = "limit") -> ET.Element:
    """Names the place of the limit, for the head of the column."""
    return _svg(element("text", name, x=_percent(_LIMIT_AT), y=20, text_anchor="middle"))


def limit_bar(value: float | None, low: float | None, high: float | None, tone: str) -> ET.Element:
    """A value and its interval as shares of its limit, which stands at the same place in every row;
    what lies beyond the end is cut off there. None: not known; infinity is beyond any end."""
    drawn = [element("line", x1=0, x2="100%", y1=_MIDDLE, y2=_MIDDLE, class_="rule")]
    if value is not None:
        size = {"y": _MIDDLE - 5, "height": 10, "width": _percent(_of_limit(value))}
        drawn.append(element("rect", x=0, rx=2, class_="reached", **size))
    if low is not None and high is not None:
        ends = {"x1": _percent(_of_limit(low)), "x2": _percent(_of_limit(high))}
        drawn.append(element("line", class_="span", y1=_MIDDLE, y2=_MIDDLE, **ends))
    limit = {"x1": _percent(_LIMIT_AT), "x2": _percent(_LIMIT_AT), "y1": 6, "y2": _HEIGHT - 5}
    drawn.append(element("line", class_="limit", **limit))
    return _svg(element("g", *drawn, class_=f"bar-{tone}"))


def _of_limit(ratio: float) -> float:
    return min(max(ratio, 0.0) * _LIMIT_AT, 100.0)


def shares_bar(shares: Sequence[float]) -> ET.Element:
    """Parts of a whole beside each other, in order, with a gap of half a per cent."""
    parts, begin = [], 0.0
    for index, share in enumerate(shares):
        width = max(100 * share - 0.5, 0.2)
        place = {"x": _percent(begin), "width": _percent(width), "y": _MIDDLE - 7, "height": 14}
        parts.append(element("rect", class_=f"part-{index % _PALETTE}", rx=2, **place))
        begin += 100 * share
    return _svg(*parts)


def _line(x: str, kind: str) -> ET.Element:
    return element("line", x1=x, x2=x, y1=0, y2=_HEIGHT, class_=kind)


def _svg(*content: ET.Element) -> ET.Element:
    return element("svg", *content, aria_hidden="true", focusable="false")


def _percent(value: float) -> str:
    return f"{value:.2f}%"
