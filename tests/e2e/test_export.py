"""Real runs that are exported while they measure, to a receiver of OpenTelemetry's own messages."""

import pytest

from e2e.bzt_run import LENIENT, WARMUP_S, Run, mostly_right, only
from e2e.exported import assert_exported, variables
from support.collector import collecting
from support.golden import FOLDER

pytestmark = pytest.mark.long

LABELS = ("calculate", "sum", "search")
RATES = {f"{it}_rate": 4 for it in LABELS}
BOTH = only(
    "fork", mostly_right(*LABELS), {"verdict": LENIENT}, warmup=WARMUP_S, measured=10, **RATES
)
BOTH["~execution"].append({"scenario": "cluster"})


@pytest.fixture
def collector():
    with collecting() as receiver:
        yield receiver


def test_two_executions_are_exported_row_for_row(tmp_path, collector):
    ended = Run(tmp_path, config=BOTH, **variables(collector)).end()
    assert_exported(ended, collector, {"fork": "kpi.jtl", "cluster": "kpi-1.jtl"})
    assert {dict(it)["tollgate.target"] for it in collector.points["tollgate.worker.cpu"]} == {
        "fork",
        "cluster",
    }
    assert collector.messages > 10


def test_a_plan_of_somebodys_own_is_exported_row_for_row(tmp_path, collector):
    plan = {"PLAN": str(FOLDER / "timer-run.jmx"), "CRITERIA": "fail>60%"}
    ended = Run(tmp_path, alias="plan", **plan, **variables(collector)).end()
    assert_exported(ended, collector, {"plan": "kpi.jtl"})
    assert collector.total("tollgate.response_time", label="nap") == len(ended.samples)


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
