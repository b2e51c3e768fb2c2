"""What an early stop means for a run of several executions."""

import json
import shutil

import pytest

from support import run_folder
from support.executions import counts, execution
from support.run_folder import reasons
from tollgate.judge.facts import ExecutionFacts, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.record import manifest
from tollgate.workers.model import WorkerCount

STOP = "p95 of search>150ms for 5s"
LIMIT = "p95 of search>250ms"
#: Of the samples of `counts`, each window of 5 s violates STOP unless they are faster.
FAST = {"low": 10, "high": 20}


def one(name, *criteria, n=3000, seconds=60, low=100, high=200, **facts):
    """An execution that was to measure 60 s."""
    changes = {"service": counts(n, seconds, low, high), "measured_s": 60.0, "name": name}
    return execution(STOP, *(criteria or [LIMIT]), facts=ExecutionFacts(**facts), **changes)


def stopped(name, **changes):
    """One that the stop ended after 12 s."""
    return one(name, n=600, seconds=12, stopped_by=STOP, **changes)


def never(**facts):
    """An execution, cluster, that the stop came before."""
    missing = {
        "generator_error": "JMeter was never started",
        "jtl_error": "kpi-1.jtl: cannot be read: No such file or directory",
        "workers": (WorkerCount(2),),
        "stopped_by": STOP,
    }
    facts = ExecutionFacts(**(missing | facts))
    return execution(STOP, LIMIT, service=counts(0), facts=facts, name="cluster", labels={})


def judged(*executions):
    """The verdict on a run of these, and its reasons."""
    verdict = judge(MeasuredRun(executions))
    return verdict, [f"{it.verdict} ({it.fault}) {it.text}" for it in verdict.reasons]


def verdicts(of):
    """Of a run, with its exit code, and of its executions."""
    return of.verdict, of.exit_code, [it.verdict for it in of.executions]


def test_what_a_confirmed_stop_kept_from_beginning_does_not_make_the_run_invalid():
    verdict, (failed, left) = judged(stopped("fork"), never())
    assert verdicts(verdict) == ("FAIL", 3, ["FAIL", "INCONCLUSIVE"])
    assert failed.startswith("FAIL (service) fork: p95 of search = ")
    assert left == (
        f"INCONCLUSIVE (service) cluster: not run: the run was stopped early by {STOP!r} in fork"
    )


@pytest.mark.parametrize("code", [-9, 143])
def test_a_jmeter_that_had_to_be_ended_by_force_is_no_fault_and_one_that_broke_is(code):
    verdict, _ = judged(stopped("fork", generator_exit=code, ended_by_force=True))
    assert verdicts(verdict) == ("FAIL", 3, ["FAIL"])
    assert {reason.fault for reason in verdict.reasons} == {"service"}
    broken, reasons = judged(stopped("fork", generator_exit=code))
    assert broken.verdict == "INVALID"
    assert f"INVALID (generator) fork: JMeter exited with code {code}" in reasons


def test_what_had_ended_before_the_stop_is_judged_as_ever():
    verdict, _ = judged(one("fork", **FAST), stopped("cluster"))
    assert verdicts(verdict) == ("FAIL", 3, ["PASS", "FAIL"])


def test_a_stop_that_taurus_notices_late_is_that_of_the_execution_whose_samples_bear_it_out():
    begun = one("cluster", n=20, seconds=2, **FAST, stopped_by=STOP)
    verdict, reasons = judged(one("fork"), begun)
    assert verdicts(verdict) == ("FAIL", 3, ["FAIL", "INCONCLUSIVE"])
    assert "cluster: not run to its end: the run was stopped early" in reasons[1]


@pytest.mark.parametrize("others", [(), ("fork",)])
def test_a_stop_that_no_samples_bear_out_makes_the_run_invalid(others):
    ended = [one(name, **FAST) for name in others]
    verdict, reasons = judged(*ended, stopped("mid", **FAST), never())
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 4)
    assert reasons == [
        f"INVALID (operator) mid: stopped early by a criterion that the samples do not bear out: "
        f"{STOP}",
        "INVALID (generator) mid: measured 12 s of 60 s",
        f"INVALID (operator) cluster: not run: the run was stopped early by {STOP!r}",
    ]
    assert [it.verdict for it in verdict.executions[: len(others)]] == ["PASS"] * len(others)


def test_what_else_is_wrong_with_an_execution_that_was_not_run_is_told():
    verdict, reasons = judged(stopped("fork"), never(machine_problems=("the disk is full",)))
    assert verdict.verdict == "INVALID"
    assert "INVALID (machine) cluster: the disk is full" in reasons


#: Violated by the recorded run in every window; its criteria of other kinds hold.
TRIPS = "p50 of nap>10ms for 3s"
AT = 1795223300.0


def folder_of_two(folder, stopped_at, of_the_run=run_folder.HOLDS, first=None, **second):
    """The folder of a run of two executions, stopped early by TRIPS. The first ended at AT + 12."""
    made = run_folder.make(folder, of_the_run, **(first or {}))
    shutil.copyfile(folder / run_folder.JTL, folder / "kpi-1.jtl")
    fields = {"name": "cluster", "jtl": "kpi-1.jtl", "warmup": 2.0, "measured": 8.0}
    both = {"plan": made.executions[0].plan, "properties": {}} | fields | second
    other = manifest.Execution(**both)
    if other.began:
        manifest.seal(other, folder)
    else:
        (folder / "kpi-1.jtl").unlink()
    made.executions.append(other)
    made.stopped_by, made.stopped_at = TRIPS, stopped_at
    manifest.write(made, folder)
    return run_folder.verdict_of(folder)


def test_a_run_that_its_first_execution_stopped_fails(tmp_path):
    criteria = (*run_folder.HOLDS, TRIPS)
    verdict = folder_of_two(tmp_path, AT + 11, criteria, {"measured": 80.0}, ended=AT + 30)
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 3)
    assert f"cluster: not run: the run was stopped early by {TRIPS!r} in nap-alone" in reasons(
        verdict
    )
    # As a run of before, which did not tell when it was stopped.
    older = json.loads((tmp_path / "run.json").read_text())
    del older["stopped_at"], older["seal"]
    (tmp_path / "run.json").write_text(json.dumps(older))
    assert run_folder.verdict_of(tmp_path).exit_code == 3


def test_a_run_that_its_second_execution_stopped_fails_and_the_first_passes(tmp_path):
    second = {"began": AT + 13, "ended": AT + 30, "exit_code": 0, "measured": 80.0}
    verdict = folder_of_two(tmp_path, AT + 29, criteria=[TRIPS], **second)
    assert verdicts(verdict) == ("FAIL", 3, ["PASS", "FAIL"])
    assert verdict.executions[0].reasons == ()
