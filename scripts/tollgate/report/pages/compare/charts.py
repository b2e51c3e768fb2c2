"""The charts of a comparison: both sides' times, and the change at each look. Pure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from tollgate.base.text import format_number
from tollgate.compare import words
from tollgate.compare.milliseconds import HALF_MS, percentile
from tollgate.compare.model import ERRORS, SHARES, Finding, Gate, Side
from tollgate.compare.result import LabelCounts
from tollgate.report.pages.kit.charts import Axis, Chart, Series
from tollgate.report.table import Column, Table, numeric
from tollgate.stats.arrays import Floats, Ints

SIDES = ("base", "head")
#: Per cents of the requests that were answered within a time.
PERCENTS = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.99)
#: Where numbers stand along the axis of percentiles.
_NAMED = {50: "50 %", 90: "90 %", 99: "99 %", 99.9: "99.9 %", 99.99: "99.99 %"}
#: So many requests must lie beyond a percentile for it to be shown.
_BEYOND = 5
#: Steps of a histogram, where that is no more than there are milliseconds.
_STEPS = 40
#: Per cents that a chart reaches either way for an early look, which may know next to nothing.
_FARTHEST = 100.0
_BEYOND_NOTE = (
    "Intervals that run out of the chart end beyond it, and an arrow at its edge stands for an "
    "estimate beyond it: the table has the numbers."
)


def distributions(counts: Sequence[LabelCounts]) -> list[Chart]:
    """Two charts for each label that has samples of both sides."""
    both = [each for each in counts if all(each.totals)]
    return [chart for each in both for chart in (histogram(each), percentiles(each))]


def histogram(counts: LabelCounts) -> Chart:
    """How many requests took how long, on a logarithmic axis of time."""
    edges = _edges(counts.values_ms)
    middles = np.sqrt(np.maximum(edges[:-1], edges[1:] / 4) * edges[1:])
    shares = [_shares(counts, side, edges) for side in SIDES]
    density = [share / _lengths(edges) for share in shares]
    highest = max(each.max() for each in density)
    ends = f"{format_number(float(edges[0]))} to {format_number(float(edges[-1]))} ms"
    names = (" to ".join(map(format_number, ends)) for ends in itertools.pairwise(edges))
    rows = [(it, *(f"{100 * of[at]:.1f}" for of in shares)) for at, it in enumerate(names)]
    columns = (Column("ms"), *numeric(*(f"{side}, %" for side in SIDES)))
    return Chart(
        title=f"{counts.label}: how many took how long",
        summary=f"Requests to each side by their service time, {ends}.",
        x=Axis("service time, ms", log=True, ticks=_doublings(edges)),
        y=Axis("density, % of the highest"),
        series=_pair(middles.tolist(), [(100 * each / highest).tolist() for each in density]),
        numbers=Table(f"{counts.label}: service times", columns, rows),
    )


def percentiles(counts: LabelCounts) -> Chart:
    """Within what time which share was answered, the slow end stretched."""
    least = min(counts.totals)
    shown = [it for it in PERCENTS if least * (1 - it / 100) >= _BEYOND] or [50]
    values = {side: _percentiles(counts, side, shown) for side in SIDES}
    x = [1 / (1 - percent / 100) for percent in shown]
    named = [(place, _NAMED[it]) for place, it in zip(x, shown, strict=True) if it in _NAMED]
    last = ", ".join(f"{side} {format_number(values[side][-1])} ms" for side in SIDES)
    return Chart(
        title=f"{counts.label}: percentiles",
        summary=f"{shown[-1]:g} % were answered within: {last}.",
        x=Axis(
            "answered within",
            log=True,
            ticks=tuple(place for place, _ in named),
            names=tuple(name for _, name in named),
            base=10,
        ),
        y=Axis("service time, ms"),
        series=_pair(x, [values[side] for side in SIDES]),
        numbers=_percentile_table(counts.label, shown, values),
    )


def _pair(x: Sequence[float], values: Sequence[Sequence[float]]) -> tuple[Series, ...]:
    pairs = enumerate(zip(SIDES, values, strict=True))
    return tuple(Series(side, x, y, draw="line", colour=number) for number, (side, y) in pairs)


def _edges(values_ms: Ints) -> Floats:
    """Borders of a histogram, at halves of milliseconds, evenly apart on a logarithmic axis as far
    as whole milliseconds allow."""
    low, high = max(HALF_MS, values_ms[0] - HALF_MS), values_ms[-1] + HALF_MS
    even = np.geomspace(low, max(high, low + 1), _STEPS + 1)
    edges = np.unique(np.floor(even) + HALF_MS)
    first = 0.0 if values_ms[0] == 0 else values_ms[0] - HALF_MS
    return np.unique(np.concatenate([[first], edges[(edges > first) & (edges < high)], [high]]))


def _shares(counts: LabelCounts, side: str, edges: Floats) -> Floats:
    """float[bins]: which share of the side's requests is in each bin."""
    n = getattr(counts, side)
    place = np.searchsorted(edges, counts.values_ms, side="right") - 1
    return np.bincount(place, weights=n, minlength=len(edges) - 1) / n.sum()


def _lengths(edges: Floats) -> Floats:
    """float[bins]: how long each is on the axis, in doublings; from nothing, two of them."""
    return np.log2(edges[1:] / np.maximum(edges[:-1], edges[1:] / 4))


def _doublings(edges: Floats) -> tuple[float, ...]:
    first = math.ceil(math.log2(max(edges[0], HALF_MS)))
    return tuple(2.0**power for power in range(first, math.floor(math.log2(edges[-1])) + 1))


def _percentiles(counts: LabelCounts, side: str, percents: Sequence[float]) -> list[float]:
    n = getattr(counts, side)
    whole = Side(n[None, :], np.zeros(1, np.int64))
    return [percentile(whole, counts.values_ms, it / 100) for it in percents]


def _percentile_table(
    label: str, percents: Sequence[float], values: dict[str, list[float]]
) -> Table:
    columns = (Column("answered"), *numeric("base, ms", "head, ms", "change"))
    pairs = zip(percents, *(values[side] for side in SIDES), strict=True)
    rows = []
    for percent, *ms in pairs:
        change = f"{100 * (ms[1] / ms[0] - 1):+.1f} %"
        rows.append((f"{percent:g} %", *map(format_number, ms), change))
    return Table(f"{label}: percentiles of the service times", columns, rows)


def looks(gates: Sequence[Gate]) -> list[Chart]:
    """The change and its repeated interval at each look, a chart for each metric that gates but
    errors."""
    if not gates:
        return []
    keys = [it.key for it in gates[-1].findings if it.gates and it.metric != ERRORS]
    return [_looked(key, gates) for key in keys]


def _looked(key: tuple[str, str], gates: Sequence[Gate]) -> Chart:
    label, metric = key
    effect = 100 * gates[-1].settings.effect_of(metric)
    unit = "percentage points" if metric in SHARES else "%"
    seen = [next(it for it in gate.findings if it.key == key) for gate in gates]
    at = [gate.looks_s[-1] for gate in gates]
    last = seen[-1]
    changed = words.change(last, last.change, effect / 100)
    ends = words.interval(last, effect / 100) or "no interval"
    percents = ([_percent(end) for end in each] for each in zip(*map(_ends, seen), strict=True))
    series = Series("head against base", at, *percents, draw="joined", colour=1)
    low, high = _reach(series, effect)
    room = (high - low) / 15
    beyond = any(not low <= it <= high for it in _known(series))
    return Chart(
        title=f"{metric} of {label}",
        summary=f"At the last look {changed}, {ends}.",
        x=Axis("seconds of measuring", low=0.0, high=at[-1] * 1.05),
        y=Axis(f"change, {unit}", low=low - room, high=high + room),
        series=(series,),
        numbers=_look_table(key, at, seen, effect / 100),
        levels=(0.0,),
        limit=effect,
        note=_BEYOND_NOTE if beyond else "",
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
) -> Table:
    columns = (*numeric("s", "change", "at least", "at most"), Column("verdict"))
    changes = ([words.change(it, end, effect) for end in _ends(it)] for it in seen)
    looks = zip(at, changes, seen, strict=True)
    rows = [(f"{moment:g}", *change, it.verdict) for moment, change, it in looks]
    return Table(f"{key[1]} of {key[0]}, look by look", columns, rows)
