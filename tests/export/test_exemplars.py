"""The sample that each point of a histogram leads to."""

import io

from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.sdk.resources import Resource
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from support.jtl_rows import HEADER, START_MS, lines
from tollgate.export import openmetrics
from tollgate.export.finished import Moment
from tollgate.export.metrics import metrics_of
from tollgate.export.otel import to_metrics
from tollgate.export.totals import Totals
from tollgate.plan.model import Plan
from tollgate.samples.growing import Growing

COLUMNS = f"{HEADER},URL,TESTSTART.MS,tollgate_trace"
PREFIX = f"000{START_MS}"


def row(label, at_ms, took, drawn, thread="a 1-1"):
    said = (label, 200, "OK", thread, "true", 9, 2, 3, took, "h", 1)
    return [str(each) for each in (START_MS + at_ms, took, *said, "http://h/", START_MS, drawn)]


def taken(folder, *pieces):
    """The metrics of an execution behind each piece of its samples."""
    path, totals = folder / "kpi.jtl", Totals("fork", Plan(path=folder, groups=()), follows=False)
    growing, rows = Growing(path), []
    growing.listen(totals.take)
    for piece in pieces:
        rows += piece
        path.write_bytes(lines(rows, header=COLUMNS))
        growing.advance()
        yield metrics_of("run", [totals], {})


SLOW, QUICK, OTHER, LATER = "a" * 16, "0" * 15 + "1", "f" * 16, "7" * 16
FIRST = [
    *(row("list", 0, 30, QUICK), row("list", 5, 700, SLOW, "b 1-1"), row("list", 9, 900, "null")),
    row("read", 20, 40, OTHER),
]


def test_it_is_the_slowest_with_a_trace_since_the_point_before(tmp_path):
    seen = []
    for metrics in taken(tmp_path, FIRST, [row("list", 1000, 8, LATER)]):
        (times,) = (each for each in metrics if each.name == "tollgate.service_time")
        seen.append({its["tollgate.label"]: histogram.exemplar for its, histogram in times.points})
    first, second = seen
    assert (first["list"].trace, first["list"].span) == (PREFIX + SLOW, SLOW)
    assert (first["list"].value, first["list"].at_s) == (0.7, (START_MS + 705) / 1000)
    assert first["read"].trace == PREFIX + OTHER
    assert (second["list"].trace, second["list"].value) == (PREFIX + LATER, 0.008)
    assert second["read"] is None


def test_both_exports_lead_to_the_same_trace(tmp_path):
    (metrics,) = taken(tmp_path, FIRST)
    text = io.StringIO()
    openmetrics.write([Moment(START_MS / 1000, metrics, {})], {}, text)
    shown = {
        sample.exemplar.labels["trace_id"]: sample.exemplar.labels["span_id"]
        for family in text_string_to_metric_families(text.getvalue())
        for sample in family.samples
        if sample.exemplar
    }
    message = encode_metrics(to_metrics(metrics, Resource({}), 1.0, 2.0))
    sent = [
        (exemplar.trace_id.hex(), exemplar.span_id.hex())
        for metric in message.resource_metrics[0].scope_metrics[0].metrics
        for point in metric.exponential_histogram.data_points
        for exemplar in point.exemplars
    ]
    assert dict(sent) == shown == {PREFIX + SLOW: SLOW, PREFIX + OTHER: OTHER}
