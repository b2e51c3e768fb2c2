"""The charts of a comparison's page that show what each look said. Pure."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from tollgate.compare import ERRORS, Finding, Gate
from tollgate.compare import words as told
from tollgate.pages.kit.charts import JOINED, Axis, Chart, Series
from tollgate.pages.kit.parts import Column, table

_NUMBER = "number"
#: Per cents that a chart reaches either way for an early look, which may know next to nothing.
_FARTHEST = 100.0
_BEYOND_TOLD = (
    "Intervals that run out of the chart end beyond it, and an arrow at its edge stands for an "
    "estimate beyond it: the table has the numbers."
)


def looks(gates: Sequence[Gate]) -> list[Chart]:
    """The change and its repeated interval at each look, a chart for each time that gates."""
    if not gates:
        return []
    keys = [it.key for it in gates[-1].findings if it.gates and it.metric != ERRORS]
    return [_looked(key, gates) for key in keys]


def _looked(key: tuple[str, str], gates: Sequence[Gate]) -> Chart:
    label, metric = key
    effect = 100 * gates[-1].settings.effect
    seen = [next(it for it in gate.findings if it.key == key) for gate in gates]
    at = [gate.looks_s[-1] for gate in gates]
    last = seen[-1]
    said = told.change(last, last.change, effect / 100)
    series = Series(
        "head against base",
        at,
        *([_percent(end) for end in ends] for ends in zip(*map(_ends, seen), strict=True)),
        draw=JOINED,
        colour=1,
    )
    low, high = _reach(series, effect)
    room = (high - low) / 15
    beyond = any(not low <= it <= high for it in _known(series))
    return Chart(
        title=f"{metric} of {label}",
        summary=f"At the last look {said}, {told.interval(last, effect / 100) or 'no interval'}.",
        x=Axis("seconds of measuring", low=0.0, high=at[-1] * 1.05),
        y=Axis("change, %", low=low - room, high=high + room),
        series=(series,),
        numbers=_look_table(key, at, seen, effect / 100),
        levels=(0.0,),
        limit=effect,
        note=_BEYOND_TOLD if beyond else "",
    )


def _ends(finding: Finding) -> tuple[float | None, float | None, float | None]:
    return finding.change, finding.low, finding.high


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _known(series: Series) -> list[float]:
    return [it for it in (*series.y, *series.low, *series.high) if it is not None]


def _reach(series: Series, effect: float) -> tuple[float, float]:
    """The per cents that the axis holds: no change, the effect, the last estimate, and of the rest
    what is no farther than twice that, or _FARTHEST."""
    far = max(_FARTHEST, 2 * abs(series.y[-1] or 0.0))
    near = [min(max(it, -far), far) for it in _known(series)]
    return min([*near, 0.0]), max([*near, 2 * effect])


def _look_table(
    key: tuple[str, str], at: Sequence[float], seen: Sequence[Finding], effect: float
) -> ET.Element:
    columns = (
        *(Column("s", _NUMBER), Column("change", _NUMBER), Column("at least", _NUMBER)),
        *(Column("at most", _NUMBER), Column("verdict")),
    )
    rows = [
        (f"{moment:g}", *(told.change(it, end, effect) for end in _ends(it)), it.verdict)
        for moment, it in zip(at, seen, strict=True)
    ]
    return table(f"{key[1]} of {key[0]}, look by look", columns, rows)
