"""Real runs that are exported while they measure, to a receiver of OpenTelemetry's own messages."""

from collections import Counter

import pytest

from e2e.bzt_run import LENIENT, WARMUP_S, Run, mostly_right, only, rows_of
from e2e.comparing import SHORT as COMPARED
from e2e.comparing import cache_of
from support.collector import assert_quantiles, collecting
from support.golden import FOLDER

LABELS = ("calculate", "sum", "search")
RATES = {f"{it}_rate": 4 for it in LABELS}
BOTH = only(
    "fork", mostly_right(*LABELS), {"verdict": LENIENT}, warmup=WARMUP_S, measured=10, **RATES
)
BOTH["~execution"].append({"scenario": "cluster"})
RESULTS = {"true": "ok", "false": "failed"}


@pytest.fixture
def collector():
    with collecting() as found:
        yield found


def variables(collector):
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_METRIC_EXPORT_INTERVAL": "1000"}


def assert_exported(ended, collector, executions):
    """Fails unless the collector has each row of each label and result of these executions' JTLs,
    and the run says so."""
    said = {it["name"]: it["exported"] for it in ended.verdict["executions"]}
    for name, jtl in executions.items():
        rows = rows_of(ended.folder / jtl)
        assert said[name] == {"samples": len(rows), "of": len(rows)}
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


@pytest.mark.long
def test_two_executions_are_exported_row_for_row(tmp_path, collector):
    ended = Run(tmp_path, config=BOTH, **variables(collector)).end()
    assert_exported(ended, collector, {"fork": "kpi.jtl", "cluster": "kpi-1.jtl"})
    assert {dict(it)["tollgate.target"] for it in collector.points["tollgate.worker.cpu"]} == {
        "fork",
        "cluster",
    }
    assert collector.messages > 10


@pytest.mark.long
def test_a_plan_of_somebodys_own_is_exported_row_for_row(tmp_path, collector):
    plan = {"PLAN": str(FOLDER / "timer-run.jmx"), "CRITERIA": "fail>60%"}
    ended = Run(tmp_path, alias="plan", **plan, **variables(collector)).end()
    assert_exported(ended, collector, {"plan": "kpi.jtl"})
    assert collector.total("tollgate.response_time", label="nap") == len(ended.samples)


@pytest.mark.long
@pytest.mark.alone
def test_a_comparison_of_the_same_code_is_exported_by_sides_and_still_passes(
    project, tmp_path, collector
):
    env = {"XDG_CACHE_HOME": str(cache_of(project)), "BASE": "HEAD", **variables(collector)}
    more = ("modules.compare.budget=180", "modules.compare.cpu-share=1%")
    run = Run(tmp_path, *COMPARED, *more, job="compare", root=project.root, **env)
    ended = run.end()
    assert ended.outcome == (0, "PASS"), ended.output
    assert_exported(ended, collector, {"compare": "kpi.jtl"})
    rows = ended.samples
    for side, name in enumerate(("base", "head")):
        count = sum(int(it["coin"]) % 2 == side for it in rows)
        assert collector.total("tollgate.requests", side=name) == count


@pytest.mark.long
def test_a_collector_that_dies_and_one_that_is_not_there_change_neither_load_nor_verdict(
    tmp_path, collector
):
    config = only("fork", mostly_right("sum"), {"verdict": LENIENT}, warmup=2, measured=6, **RATES)
    collector.stop()
    ended = Run(tmp_path, config=config, **variables(collector)).end()
    assert ended.outcome == (0, "PASS"), ended.output
    rows = len(ended.samples)
    assert ended.execution["exported"] == {"samples": 0, "of": rows}
    assert ended.output.count("the collector can't be reached") == 1
    assert any("exported 0 of" in it for it in ended.execution["warnings"])
