"""A run that has ended as OpenMetrics text with its own times, such as Prometheus backfills.

Source: the OpenMetrics specification 1.0. A histogram has one set of buckets for all points and
series, so that series can be added up: both ends of each bucket that holds samples at the end, at a
scale with few enough of them. Without its lower end, a quantile would be interpolated from the end
of the bucket that was written before it, across all the empty ones.
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
from tollgate.export.totals import Exemplar, Histogram

#: Buckets are 4.4 % wide: each has a line at each point. No histogram here has a lower scale: with
#: its 1,000 buckets that would take times 10^18 apart.
_SCALE = 4
_TYPES = {"counter": "counter", "sum": "gauge", "gauge": "gauge", "histogram": "histogram"}
#: The specification's names of units.
_UNITS = {"s": "seconds", "By": "bytes", "1": "ratio"}
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
    exemplar: Exemplar | None

    @classmethod
    def of(cls, at_s: float, times: Histogram) -> _Point:
        index, first = np.unique(times.index >> (times.scale - _SCALE), return_index=True)
        counts = np.add.reduceat(times.n, first) if len(index) else times.n
        own = np.cumsum(counts), times.zeros, times.total, times.sum, times.exemplar
        return cls(at_s, index, *own)


def write(moments: Iterable[Moment], resource: Mapping[str, str], file: TextIO) -> None:
    """Write all of them. Points of a series stand together, so all are held until the end.
    resource: the run's attributes, which become labels as they do where a message of OTLP arrives.
    """
    identity, target = _identity(resource)
    families: dict[str, Metric] = {}
    points: dict[str, dict[str, list[Any]]] = {}
    times_s: list[float] = []
    for moment in moments:
        times_s.append(moment.at_s)
        for metric in moment.metrics:
            families[metric.name] = metric
            series = points.setdefault(metric.name, {})
            for attributes, value in metric.points:
                point: Any = (moment.at_s, value)
                if isinstance(value, Histogram):
                    point = _Point.of(moment.at_s, value)
                series.setdefault(_labels({**identity, **attributes}), []).append(point)
    for name, metric in families.items():
        family = _family(metric)
        file.write(f"# TYPE {family} {_TYPES[metric.kind]}\n")
        if unit := _UNITS.get(metric.unit):
            file.write(f"# UNIT {family} {unit}\n")
        file.write(f"# HELP {family} {metric.description.translate(_ESCAPED)}\n")
        if metric.kind == "histogram":
            file.writelines(_histograms(family, points[name]))
        else:
            suffix = "_total" if metric.kind == "counter" else ""
            for labels, its in points[name].items():
                file.writelines(f"{family}{suffix}{{{labels}}} {it} {at:.3f}\n" for at, it in its)
    file.write("# TYPE target info\n# HELP target The run.\n")
    file.writelines(f"target_info{{{target}}} 1 {at_s:.3f}\n" for at_s in times_s)
    file.write("# EOF\n")


def _histograms(family: str, points: Mapping[str, Sequence[_Point]]) -> Iterator[str]:
    """Their lines, by the labels of each."""
    filled = np.unique(np.concatenate([its[-1].index for its in points.values()]))
    ends = np.union1d(filled - 1, filled)
    uppers = (2.0 ** ((ends + 1) / 2.0**_SCALE)).tolist()
    names = ["0.0", *(str(float(f"{upper:.6g}")) for upper in uppers)]
    for labels, its in points.items():
        for point in its:
            place = np.searchsorted(point.index, ends, side="right")
            upto = point.zeros + np.append(0, point.upto)[place]
            marks = [""] * len(names)
            if exemplar := point.exemplar:
                marks[np.searchsorted([0.0, *uppers], exemplar.value)] = _shown(exemplar)
            counts = [point.zeros, *upto.tolist()]
            for name, count, mark in zip(names, counts, marks, strict=True):
                line = f'{family}_bucket{{{labels},le="{name}"}} {count} {point.at_s:.3f}'
                yield f"{line}{mark}\n"
            yield f'{family}_bucket{{{labels},le="+Inf"}} {point.total} {point.at_s:.3f}\n'
            yield f"{family}_count{{{labels}}} {point.total} {point.at_s:.3f}\n"
            yield f"{family}_sum{{{labels}}} {point.sum:.6f} {point.at_s:.3f}\n"


def _shown(exemplar: Exemplar) -> str:
    ids = f'trace_id="{exemplar.trace}",span_id="{exemplar.span}"'
    return f" # {{{ids}}} {exemplar.value:.3f} {exemplar.at_s:.3f}"


def _family(metric: Metric) -> str:
    unit = _UNITS.get(metric.unit)
    return _plain(f"{metric.name}_{unit}" if unit else metric.name)


def _identity(resource: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The labels of every series, and those of `target_info`.

    Source: OpenTelemetry's specification, "Prometheus and OpenMetrics Compatibility".
    """
    about = dict(resource)
    name, space = about.pop("service.name", ""), about.pop("service.namespace", "")
    identity = {
        "job": f"{space}/{name}" if space else name,
        "instance": about.pop("service.instance.id", ""),
    }
    return identity, _labels({**about, **identity})


def _labels(attributes: Mapping[str, str]) -> str:
    # By their plain names: two of them may be one there.
    plain = {_plain(name): str(value) for name, value in attributes.items()}
    return ",".join(f'{name}="{value.translate(_ESCAPED)}"' for name, value in plain.items())


def _plain(name: str) -> str:
    """A name that any Prometheus takes."""
    return re.sub(_FOREIGN, "_", f"key_{name}" if name[:1].isdigit() else name)
