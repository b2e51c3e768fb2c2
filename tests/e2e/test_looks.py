"""Runs that end once they are decided, with real processes; judged again they are the same."""

import json
import subprocess

import pytest

from e2e.bzt_run import LENIENT, ROOT, Run, only
from tollgate.record import manifest

TOLLGATE = ROOT / ".venv" / "bin" / "tollgate"
#: Limits that any machine keeps, and one that none does whose every answer is held back.
HOLD = ["avg-rt of calculate>9s", "avg-rt of sum>9s", "hits of search<1"]
BROKEN = ["avg-rt of calculate>100ms", *HOLD[1:]]
LEAST_S, BUDGET_S = 20, 120


def ended(folder, criteria, **options):
    config = only("fork", criteria, warmup=5, measured=LEAST_S)
    config["modules"] |= {"stop-when-decided": {"budget": BUDGET_S}, "verdict": LENIENT}
    run = Run(folder, config=config, **options)
    found = run.end()
    assert run.left_behind() == []
    return found


def assert_the_same_again(folder):
    again = subprocess.run(
        [TOLLGATE, "judge", "--json", folder], capture_output=True, text=True, check=False
    )
    assert json.loads(again.stdout) == json.loads((folder / "verdict.json").read_text())


@pytest.mark.alone
def test_a_run_that_holds_ends_before_its_budget(tmp_path):
    run = ended(tmp_path, HOLD, dashboards=True)
    [execution] = run.verdict["executions"]
    assert (run.code, execution["verdict"], execution["reasons"]) == (0, "PASS", [])
    assert execution["budget_s"] == BUDGET_S
    assert LEAST_S <= execution["measured_s"] < BUDGET_S
    assert all(it["decided_after_s"] >= LEAST_S for it in execution["criteria"])
    [planned] = manifest.read(run.folder).executions
    assert planned.decided_s == execution["measured_s"]
    assert planned.properties["measured"] == str(BUDGET_S)
    assert not planned.ended_by_force
    assert execution["background_cpu"]["seconds"] >= LEAST_S - 2
    # Whether or not the end of the load broke a request off.
    statistics = json.loads((run.folder / "dashboard" / "fork" / "statistics.json").read_text())
    assert statistics["Total"]["errorCount"] == 0
    assert_the_same_again(run.folder)


@pytest.mark.long
def test_a_run_that_fails_ends_at_the_look_that_shows_it(tmp_path):
    run = ended(tmp_path, BROKEN, INJECT_DELAY_MS="400")
    [execution] = run.verdict["executions"]
    assert run.code != 0
    failed = [it for it in execution["criteria"] if it["verdict"] == "FAIL"]
    assert [it["label"] for it in failed] == ["calculate"]
    assert failed[0]["decided_after_s"] == execution["measured_s"] < BUDGET_S
    assert failed[0]["interval"][0] > failed[0]["limit"]
    assert_the_same_again(run.folder)
