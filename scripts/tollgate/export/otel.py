"""Metrics and events as the records of OpenTelemetry's SDK.

The SDK's instruments take one value a call and stamp it with their own clock. Here counts come by
the thousand, and those of a run that has ended have times of their own, so its records are filled
directly.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.metrics import Exemplar as SdkExemplar
from opentelemetry.sdk.metrics import export as sdk
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from tollgate.export.events import Event
from tollgate.export.metrics import Metric
from tollgate.export.totals import Exemplar, Histogram
from tollgate.record.manifest import Manifest

_CUMULATIVE = sdk.AggregationTemporality.CUMULATIVE
_SCOPE = InstrumentationScope("tollgate")
_NS = 1_000_000_000
_COMMIT = re.compile("[0-9a-f]{7,64}")


def resource_of(run: Path, manifest: Manifest) -> Resource:
    """Who says it: the run, by the semantic conventions. What OTEL_RESOURCE_ATTRIBUTES and
    OTEL_SERVICE_NAME say goes before."""
    environment = manifest.environment
    commit = str(environment.get("commit", "")).removesuffix("-dirty")
    attributes = {
        "service.name": "tollgate",
        "service.version": environment.get("versions", {}).get("tollgate", "unknown"),
        "service.instance.id": run.resolve().name,
        "host.name": platform.node(),
        "host.arch": platform.machine(),
        "os.type": platform.system().lower(),
        "tollgate.run.kind": manifest.kind,
    }
    attributes |= {"vcs.ref.head.revision": commit} if _COMMIT.fullmatch(commit) else {}
    return Resource.create({**attributes, **OTELResourceDetector().detect().attributes})


def to_metrics(
    metrics: Iterable[Metric], resource: Resource, began_s: float, at_s: float
) -> sdk.MetricsData:
    """Points of at_s with all since began_s, both in seconds since the epoch."""
    span = round(began_s * _NS), round(at_s * _NS)
    data = [sdk.Metric(it.name, it.description, it.unit, _data(it, *span)) for it in metrics]
    scope = sdk.ScopeMetrics(_SCOPE, data, "")
    return sdk.MetricsData([sdk.ResourceMetrics(resource, [scope], "")])


def _data(metric: Metric, began: int, at: int) -> sdk.DataT:
    if metric.kind == "histogram":
        histograms = [
            _histogram(attributes, times, began, at)
            for attributes, times in metric.points
            if isinstance(times, Histogram)
        ]
        return sdk.ExponentialHistogram(histograms, _CUMULATIVE)
    numbers = [
        sdk.NumberDataPoint(dict(attributes), began, at, value)
        for attributes, value in metric.points
        if not isinstance(value, Histogram)
    ]
    if metric.kind == "gauge":
        return sdk.Gauge(numbers)
    return sdk.Sum(numbers, _CUMULATIVE, is_monotonic=metric.kind == "counter")


def _histogram(
    attributes: Mapping[str, str], times: Histogram, began: int, at: int
) -> sdk.ExponentialHistogramDataPoint:
    return sdk.ExponentialHistogramDataPoint(
        attributes=attributes,
        start_time_unix_nano=began,
        time_unix_nano=at,
        count=times.total,
        sum=times.sum,
        scale=times.scale,
        zero_count=times.zeros,
        positive=sdk.Buckets(*times.dense()),
        negative=sdk.Buckets(0, []),
        flags=0,
        min=times.least,
        max=times.most,
        exemplars=[_exemplar(times.exemplar)] if times.exemplar else [],
    )


def _exemplar(its: Exemplar) -> SdkExemplar:
    ids = {"span_id": int(its.span, 16), "trace_id": int(its.trace, 16)}
    return SdkExemplar({}, its.value, round(its.at_s * _NS), **ids)


def to_logs(events: Iterable[Event], resource: Resource) -> list[ReadableLogRecord]:
    """Log records with a name each, which makes them events."""
    return [
        ReadableLogRecord(
            LogRecord(
                timestamp=round(event.at_s * _NS),
                observed_timestamp=round(event.at_s * _NS),
                severity_number=SeverityNumber.WARN if event.is_bad else SeverityNumber.INFO,
                severity_text="WARN" if event.is_bad else "INFO",
                body=event.text,
                attributes=event.attributes,
                event_name=event.name,
            ),
            resource,
            _SCOPE,
        )
        for event in events
    ]
