"""Runs that end once they are decided, with real processes; judged again they are the same."""

import json

import pytest

from e2e.bzt_run import LENIENT, Run, only
from tollgate.record import manifest

pytestmark = pytest.mark.alone

#: Limits that any machine keeps, and one that none does whose every answer is held back.
HOLD = ["avg-rt of calculate>9s", "avg-rt of sum>9s", "hits of search<1", "cpu-per-request>9s"]
BROKEN = ["avg-rt of calculate>100ms", *HOLD[1:]]
LEAST_S, BUDGET_S = 20, 120
#: A third of the usual rates, which a busy machine sends in time as well.
RATES = {f"{it}_rate": 4 for it in ("calculate", "sum", "search")}


def ended(folder, criteria, **options):
    modules = {"stop-when-decided": {"budget": BUDGET_S}, "verdict": LENIENT}
    config = only("fork", criteria, modules, warmup=5, measured=LEAST_S, **RATES)
    run = Run(folder, config=config, **options).end_cleanly()
    assert json.loads(run.judged_again("--json").stdout) == run.verdict
    return run


def test_a_run_that_holds_ends_before_its_budget(tmp_path):
    run = ended(tmp_path, HOLD, dashboards=True)
    execution = run.execution
    assert (run.code, execution["verdict"], execution["reasons"]) == (0, "PASS", [])
    assert execution["budget_s"] == BUDGET_S
    assert LEAST_S <= execution["measured_s"] < BUDGET_S
    assert all(it["decided_after_s"] >= LEAST_S for it in execution["criteria"])
    [planned] = manifest.read(run.folder).executions
    assert planned.decided_s == execution["measured_s"]
    assert planned.properties["measured"] == str(BUDGET_S)
    assert not planned.ended_by_force
    assert execution["background_cpu"]["seconds"] >= LEAST_S - 2
    cost = next(it for it in execution["criteria"] if it["subject"] == "cpu-per-request")
    assert 0 < cost["interval"][0] < cost["observed"] < cost["interval"][1] < 9000
    # Whether or not the end of the load broke a request off.
    assert run.json("dashboard/fork/statistics.json")["Total"]["errorCount"] == 0


def test_a_run_that_fails_ends_at_the_look_that_shows_it(tmp_path):
    run = ended(tmp_path, BROKEN, INJECT_DELAY_MS="400")
    assert run.code != 0
    [failed] = [it for it in run.execution["criteria"] if it["verdict"] == "FAIL"]
    assert failed["label"] == "calculate"
    assert failed["decided_after_s"] == run.execution["measured_s"] < BUDGET_S
    assert failed["interval"][0] > failed["limit"]
