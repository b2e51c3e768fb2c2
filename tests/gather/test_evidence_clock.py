"""A clock that was set while the load went on proves nothing, whatever the criteria say."""

import json
import random

import pytest

from support import closed_loop, jtl_rows, own_run, run_folder
from support import jmx_text as jmx
from support.run_folder import reasons
from support.simulated import expected_schedules
from tollgate.plan.read import read_plan
from tollgate.record import manifest

PLAN = jmx.plan(jmx.group(jmx.sampler("home"), name="visitors"))


def stepped(until_ms, *step, bad_from_ms=None):
    rng = random.Random(4)
    rows = closed_loop.sent(5, until_ms, lambda: rng.choice([20, 40]), step=step or None)
    return closed_loop.lines(rows, bad_from_ms=bad_from_ms)


def verdict_on(folder, lines, **changes):
    return own_run.verdict_on(folder, PLAN, lines, "fail>0%", "p50 of home>300ms", **changes)


#: The clock is set back when the answers become bad, so that none of them is measured; or all are.
HIDING = {
    "into the warm-up": ((32_000, 22_000, 20_000), {"warmup": 12.0, "measured": 10.0}),
    "before the test": ((18_000, 10_000, 20_000), {}),
}


@pytest.mark.parametrize("where", HIDING)
def test_bad_answers_that_a_clock_hides_make_no_pass(tmp_path, where):
    (until, at, back), times = HIDING[where]
    lines = stepped(until, at, back, bad_from_ms=at)
    verdict = verdict_on(tmp_path, lines, **times)
    assert verdict.verdict == "INVALID"
    [reason] = verdict.reasons
    assert reason.fault == "machine"
    assert "the clock was set back by" in reason.text
    assert f"{at // 1000} s into the execution" in reason.text


def test_a_clock_set_back_within_the_measured_time_makes_the_run_invalid(tmp_path):
    verdict = verdict_on(tmp_path, stepped(13_000, 8000, 3000))
    assert verdict.verdict == "INVALID"
    assert "the clock was set back by 3 s or more, 8" in reasons(verdict)


@pytest.mark.parametrize(
    ("lacking", "source"), [((), "TESTSTART.MS"), (("TESTSTART.MS",), "`began` of run.json")]
)
def test_samples_from_before_the_test_make_the_run_invalid(tmp_path, lacking, source):
    lines = own_run.rows("home")
    early = jtl_rows.row(-1500, label="home", thread="visitors 1-9") + f",{jtl_rows.START_MS}"
    found = verdict_on(tmp_path, [early, *lines], lacking=lacking)
    assert found.verdict == "INVALID"
    assert f"1.5 s before the test began ({source} {jtl_rows.START_MS})" in reasons(found)
    late = early.replace(str(jtl_rows.START_MS - 1500), str(jtl_rows.START_MS - 900))
    sound = verdict_on(tmp_path, [late, *lines], lacking=lacking)
    assert "before the test began" not in reasons(sound)


@pytest.mark.parametrize("back_ms", [0, 3000])
def test_arrivals_of_a_schedule_that_come_before_they_are_due_make_the_run_invalid(
    tmp_path, back_ms
):
    plan = jmx.plan(jmx.open_group(jmx.sampler("page"), schedule="rate(9/s) random_arrivals(10 s)"))
    path = tmp_path / "plan.jmx"
    path.write_text(plan)
    schedule = expected_schedules(read_plan(path, {}))["page"]
    lines = []
    for number, due in enumerate(schedule.arrivals(10)):
        at = int(due * 1000) - (back_ms if due > 5 else 0)
        row = jtl_rows.row(at, label="page", thread=f"arrivals 1-{number + 1}")
        lines.append(f"{row},{jtl_rows.START_MS}")
    verdict = own_run.verdict_on(tmp_path, plan, lines, "fail>0%")
    assert verdict.verdict == ("INVALID" if back_ms else "PASS")
    assert ("arrivals of the plan's schedule were sent before" in reasons(verdict)) == bool(back_ms)


SEEN = {
    "set back by 30 s, 4 s into the execution: ": [4.0, -30.0],
    "set forward by 2.5 min, 4.5 s into the execution (or the machine slept): ": [4.5, 150.0],
}


@pytest.mark.parametrize("told", SEEN)
def test_a_step_that_the_live_run_saw_is_told_once(tmp_path, told):
    # The clock went back so far that the load ended before it began.
    changes = {"clock_steps": [SEEN[told]], "ended": jtl_rows.START_MS / 1000 - 20}
    verdict = verdict_on(tmp_path, stepped(10_000, 8000, 3000), **changes)
    assert verdict.verdict == "INVALID"
    [reason] = [it for it in verdict.reasons if "clock" in it.text]
    assert (reason.fault, told in reason.text) == ("machine", True)


def test_a_load_under_a_steady_clock_passes_also_where_its_run_noted_no_steps(tmp_path):
    assert verdict_on(tmp_path, stepped(10_000)).verdict == "PASS"
    path = tmp_path / manifest.NAME
    content = json.loads(path.read_text())
    del content["executions"][0]["clock_steps"], content["seal"]
    path.write_text(json.dumps(content))
    assert run_folder.verdict_of(tmp_path).verdict == "PASS"
