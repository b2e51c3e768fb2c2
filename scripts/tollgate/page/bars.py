"""Small drawings for the cells of tables: intervals on a common scale, and shares of a whole. Pure.

They are SVG whose lengths are per cents of the cell, so that they need no script and fit any width;
the table's other cells have the numbers.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tollgate.page.parts import element
from tollgate.study.model import Estimate

#: Per cents of the cell's width that are left free on either side, for half a number at its end.
MARGIN = 4.0
#: Numbers on a scale, at most.
_TICKS = 6
_PALETTE = 4
#: Pixels; page.css gives every drawing this height, and the middle is that of a line of text.
_HEIGHT, _MIDDLE = 37, 19


@dataclass(frozen=True)
class Scale:
    """Ratios from low to high, both powers of two: half lies as far from 1 as double does."""

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
        return _percent(MARGIN + share * (100 - 2 * MARGIN))

    @property
    def ticks(self) -> list[float]:
        """Powers of two, 1 among them."""
        first, last = round(math.log2(self.low)), round(math.log2(self.high))
        step = math.ceil((last - first + 1) / _TICKS)
        return [2.0**power for power in range(first, last + 1) if power % step == 0]


def scale_head(scale: Scale) -> ET.Element:
    """The numbers of the scale, for the head of the column."""
    words = (
        element("text", _told(tick), x=scale.at(tick), y=20, text_anchor="middle")
        for tick in scale.ticks
    )
    return _svg(*words)


def interval_bar(estimate: Estimate, scale: Scale) -> ET.Element:
    """The estimate's interval and value, above 1, below 1 or across it; only rules where it is not
    known."""
    rules = [_line(scale.at(tick), "one" if tick == 1 else "rule") for tick in scale.ticks]
    low, high, value = estimate.low, estimate.high, estimate.value
    drawn: list[ET.Element] = []
    if low is not None and high is not None:
        ends = {"x1": scale.at(low), "x2": scale.at(high), "y1": _MIDDLE, "y2": _MIDDLE}
        drawn.append(element("line", class_="interval", **ends))
    if value is not None:
        drawn.append(element("circle", cx=scale.at(value), cy=_MIDDLE, r=4, class_="point"))
    return _svg(*rules, element("g", *drawn, class_=side(estimate)))


def side(estimate: Estimate) -> str:
    """`above` or `below` 1 if all of the interval is, `across` otherwise."""
    if estimate.low is None or estimate.high is None:
        return "across"
    return "above" if estimate.low > 1 else "below" if estimate.high < 1 else "across"


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


def _told(tick: float) -> str:
    return f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}"


def _percent(value: float) -> str:
    return f"{value:.2f}%"
