"""What the samples tell of each thread, and verdicts on runs whose threads ended early."""

import shutil

import pytest

from support import jmx_text as jmx
from support import own_run, run_folder
from support.early_ends import CSV, on_error
from support.golden import FOLDER
from support.jtl_rows import jtl, row
from tollgate.samples.threads import Thread, longest_gaps, thread_samples


def test_each_thread_is_told_with_its_samples_and_the_longest_gap(written):
    sum_up = "Number of samples in transaction : 2, number of failing samples : 0"
    rows = [
        row(0, 10, label="a", thread="one 1-1"),
        row(500, 20, label="a", thread="one 1-1"),
        row(400, 700, label="b", thread="one 1-1"),
        row(2000, 5, label="b", thread="one 1-1"),
        row(0, 9, label="a", thread="one 1-2"),
        row(0, 4000, label="sum", message=f'"{sum_up}"', thread="one 1-2"),
        row(90, 1, label="a", thread="visits 2-9"),
    ]
    path = written(jtl(*rows).encode())
    asked = thread_samples(path, (), lambda name: name == "one 1", 1_700_000_000_000)
    assert asked == {
        "one 1": {1: Thread({"a": 2, "b": 2}, 2.005), 2: Thread({"a": 1}, 0.009)},
        "visits 2": {},
    }
    assert longest_gaps(path, ()) == {"one 1": 0.9}
    with_parents = thread_samples(path, ("sum",), lambda _: True, 0)
    assert {label for it in with_parents["one 1"].values() for label in it.samples} == {
        *("a", "b", "sum")
    }
    columns = "timeStamp,elapsed,label,responseCode,success"
    bare = written(f"{columns}\n1700000000000,5,a,200,true\n".encode())
    assert thread_samples(bare, (), lambda _: True, 0) is None


def their_plan(**changes):
    fields = {"loops": -1, "duration": 60, "threads": 1, "name": "TG"} | changes
    return jmx.plan(jmx.group(jmx.sampler("home"), **fields))


OF_THEIR_OWN = {"measured": 0.0, "ended": own_run.START_MS / 1000 + 15}


def verdict_on(folder, plan, changes=OF_THEIR_OWN, **fields):
    """The verdict on a run that left 2,000 samples in 14 s."""
    lines = own_run.rows("home", n=2000, seconds=14, **fields)
    return own_run.verdict_on(folder, plan, lines, "fail>1%", **changes)


def test_a_run_that_ended_early_is_invalid_by_the_service_that_brought_it_about(tmp_path):
    verdict = verdict_on(tmp_path, their_plan(**on_error("stoptest")), failed=2)
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 4)
    (reason,) = verdict.reasons
    assert reason.fault == "service"
    assert "the thread group 'TG' ended after 14 s of the 60 s that the plan says" in reason.text


def test_an_early_end_is_told_once_where_the_length_was_stated_too(tmp_path):
    verdict = verdict_on(tmp_path, their_plan(), {"measured": 60.0})
    (reason,) = verdict.reasons
    assert (verdict.verdict, reason.fault) == ("INVALID", "generator")
    assert "'TG' ended after 14 s" in reason.text


def test_a_run_that_ended_in_time_passes(tmp_path):
    assert verdict_on(tmp_path, their_plan(duration=14)).verdict == "PASS"


@pytest.mark.parametrize(
    "ended", [{"ended_by_force": True, "exit_code": 137}, {"exit_code": 1}], ids=str
)
def test_of_a_jmeter_that_was_ended_by_others_no_group_is_accused(tmp_path, ended):
    lines = own_run.rows("home", n=2000, seconds=14)
    own_run.make(tmp_path, their_plan(), lines, "fail>1%", **OF_THEIR_OWN | ended)
    assert own_run.gathered(tmp_path).facts.early_ends == ()


def test_an_end_that_the_plan_may_have_a_reason_for_is_told_beside_the_verdict(tmp_path):
    feed = jmx.element("CSVDataSet", "accounts", **CSV)
    group = jmx.group(jmx.sampler("home"), feed, name="TG", threads=1, duration=60)
    verdict = verdict_on(tmp_path, jmx.plan(group))
    assert verdict.verdict == "PASS"
    assert any("CSVDataSet 'accounts' may" in it for it in verdict.executions[0].warnings)


def test_threads_that_nobody_can_tell_apart_are_held_against_the_whole_run(tmp_path):
    verdict = verdict_on(tmp_path, their_plan(), thread="10.0.0.7-TG 1-1")
    assert verdict.verdict == "INVALID"
    assert "'TG' ended after 14 s of the 60 s" in verdict.reasons[0].text


def test_of_arrivals_that_were_stopped_the_schedule_tells_what_is_missing(tmp_path):
    (tmp_path / "plan").mkdir()
    shutil.copyfile(FOLDER / "group-run.jmx", tmp_path / "plan" / "own.jmx")
    header, *lines = (FOLDER / "group-run.jtl").read_text().splitlines(keepends=True)
    own = {"plan": "plan/own.jmx", "measured": 0.0, "warmup": 0.0}
    run_folder.make(tmp_path, ["fail>1%"], **own)
    half = "".join([header, *lines[: len(lines) // 2]])
    run_folder.spoil(tmp_path, half.encode())
    verdict = run_folder.verdict_of(tmp_path)
    assert verdict.verdict == "INVALID"
    assert "scheduled requests of nap were not sent" in run_folder.reasons(verdict)
