"""Real runs that send their requests to a collector, and whether it has all of them."""

from collections import Counter

from e2e.bzt_run import rows_of
from support.collector import assert_quantiles

RESULTS = {"true": "ok", "false": "failed"}


def variables(collector):
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_METRIC_EXPORT_INTERVAL": "1000"}


def assert_exported(ended, collector, executions):
    """Fails unless the collector has each row of each label and result of these executions' JTLs,
    and the run says so."""
    exported = {it["name"]: it["exported"] for it in ended.verdict["executions"]}
    for name, jtl in executions.items():
        rows = rows_of(ended.folder / jtl)
        assert exported[name] == {"samples": len(rows), "of": len(rows)}
        assert f"exported {len(rows):,} of {len(rows):,} samples" in ended.page
        for (label, success), count in Counter((it["label"], it["success"]) for it in rows).items():
            which = {"execution": name, "label": label, "result": RESULTS[success]}
            assert collector.total("tollgate.requests", **which) == count
            times = sorted(
                int(it["elapsed"]) / 1000
                for it in rows
                if (it["label"], it["success"]) == (label, success)
            )
            points = collector.of("tollgate.service_time", **which)
            if len(points) == 1:
                assert_quantiles(points[0], times, label)
    assert collector.events[-1].event_name == "tollgate.verdict"
