"""A trend as a drawing for the cell of a table: its line, its levels and where they changed. Pure.

It is an SVG that is stretched to the cell, whose other cells have the numbers, and needs no script:
hundreds of them stay fast.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from tollgate.pages.kit.parts import element
from tollgate.pages.runs.trends import Line

#: Of the drawing's own coordinates; page.css gives it its size.
_WIDTH, _HEIGHT, _MARGIN = 100.0, 37.0, 5.0


def sparkline(line: Line, runs: int) -> ET.Element:
    """The line over as many runs as its trend has; a dot is the newest, vertical rules are
    changes."""
    low, high = min(line.values), max(line.values)

    def x(at: int) -> float:
        return _MARGIN + (_WIDTH - 2 * _MARGIN) * at / max(runs - 1, 1)

    def y(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return _HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * share

    places = [(x(it.at), y(it.value)) for it in line.points]
    drawn = [_path("trend", places)]
    for first, last, level in line.levels:
        ends = (x(line.points[index].at) for index in (first, last))
        drawn.append(_path("level", [(end, y(level)) for end in ends]))
    for change in line.changes:
        before, after = (x(line.points[index].at) for index in (change.at - 1, change.at))
        middle = (before + after) / 2
        drawn.append(_path("mark", [(middle, 0.0), (middle, _HEIGHT)]))
    # Of no length, with round ends: a dot that is not stretched with the drawing.
    drawn.append(_path("dot", [places[-1], places[-1]]))
    return element(
        *("svg", *drawn),
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        preserveAspectRatio="none",
        class_="spark",
        aria_hidden="true",
        focusable="false",
    )


def _path(kind: str, places: Sequence[tuple[float, float]]) -> ET.Element:
    first, *others = places
    moves = [f"M{first[0]:.1f} {first[1]:.1f}", *(f"L{x:.1f} {y:.1f}" for x, y in others)]
    return element("path", d="".join(moves), class_=kind, vector_effect="non-scaling-stroke")
