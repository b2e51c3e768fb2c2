"""A run that has ended as OpenMetrics text with its own times, such as Prometheus backfills.

Source: the OpenMetrics specification 1.0. Its histograms have one set of buckets for all points:
here the ends of those that hold samples at the end, at a scale with few enough of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from tollgate.export.finished import Moment
from tollgate.export.metrics import Metric
from tollgate.stats.exponential import Exponential

#: Buckets are 4.4 % wide: each has a line at each point. No histogram here has a lower scale: with
#: its 1,000 buckets that would take times 10^18 apart.
_SCALE = 4
_TYPES = {"counter": "counter", "sum": "gauge", "gauge": "gauge", "histogram": "histogram"}
#: The specification's names of units.
_UNITS = {"s": "seconds", "By": "bytes"}
_FOREIGN = r"[^a-zA-Z0-9_]"
_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass(frozen=True)
class _Point:
    """Of a histogram at a moment: the buckets that hold samples, how many there are up to each, and
    the count and sum of all."""

    at_s: float
    index: NDArray[np.int64]
    upto: NDArray[np.int64]
    zeros: int
    total: int
    sum: float

    @classmethod
    def of(cls, at_s: float, times: Exponential) -> _Point:
        index, first = np.unique(times.index >> (times.scale - _SCALE), return_index=True)
        counts = np.add.reduceat(times.n, first) if len(index) else times.n
        return cls(at_s, index, np.cumsum(counts), times.zeros, times.total, times.sum)


def write(moments: Iterable[Moment], file: TextIO) -> None:
    """Write all of them. Points of a series stand together, so all are held until the end."""
    families: dict[str, Metric] = {}
    points: dict[str, dict[str, list[Any]]] = {}
    for moment in moments:
        for metric in moment.metrics:
            families[metric.name] = metric
            series = points.setdefault(metric.name, {})
            for attributes, value in metric.points:
                point: Any = (moment.at_s, value)
                if isinstance(value, Exponential):
                    point = _Point.of(moment.at_s, value)
                series.setdefault(_labels(attributes), []).append(point)
    for name, metric in families.items():
        family = _family(metric)
        file.write(f"# TYPE {family} {_TYPES[metric.kind]}\n")
        if unit := _UNITS.get(metric.unit):
            file.write(f"# UNIT {family} {unit}\n")
        file.write(f"# HELP {family} {metric.description.translate(_ESCAPED)}\n")
        for labels, its in points[name].items():
            file.writelines(_lines(family, metric.kind, labels, its))
    file.write("# EOF\n")


def _lines(family: str, kind: str, labels: str, points: Sequence[Any]) -> Iterator[str]:
    if kind != "histogram":
        suffix = "_total" if kind == "counter" else ""
        for at_s, value in points:
            yield f"{family}{suffix}{{{labels}}} {value} {at_s:.3f}\n"
        return
    ends = points[-1].index
    names = [f"{2.0 ** ((end + 1) / 2.0**_SCALE):.6g}" for end in ends.tolist()]
    for point in points:
        place = np.searchsorted(point.index, ends, side="right")
        upto = point.zeros + np.append(0, point.upto)[place]
        for name, count in zip(names, upto.tolist(), strict=True):
            yield f'{family}_bucket{{{labels},le="{name}"}} {count} {point.at_s:.3f}\n'
        yield f'{family}_bucket{{{labels},le="+Inf"}} {point.total} {point.at_s:.3f}\n'
        yield f"{family}_count{{{labels}}} {point.total} {point.at_s:.3f}\n"
        yield f"{family}_sum{{{labels}}} {point.sum:.6f} {point.at_s:.3f}\n"


def _family(metric: Metric) -> str:
    name = re.sub(_FOREIGN, "_", metric.name)
    unit = _UNITS.get(metric.unit)
    return f"{name}_{unit}" if unit else name


def _labels(attributes: Mapping[str, str]) -> str:
    return ",".join(
        f'{re.sub(_FOREIGN, "_", name)}="{value.translate(_ESCAPED)}"'
        for name, value in attributes.items()
    )
