"""A criterion with a window stops a run by the samples so far, and the verdict agrees."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gather.test_looks import BEGAN_MS, LOOKS, changed, written_by
from support import run_folder
from tollgate.gather import early_decisions as watching
from tollgate.gather.context import contexts
from tollgate.gather.early_decisions import StopDecider
from tollgate.judge import criterion as judging
from tollgate.record import manifest
from tollgate.samples.growing import Growing
from tollgate.samples.watch import SampleWatch

#: An error of every request of the seconds 3 and 4 of measuring.
TRIPS = "fail of nap>50% over 2s"


def failing(fields, at_s):
    if 3.0 <= at_s < 5.0:
        fields["success"] = "false"


def stopped(folder, criteria, content, **changes):
    """The first stop of a live run that JMeter writes these samples of, and when; None for none."""
    record = run_folder.make(folder, criteria, **changes)
    jtl = folder / run_folder.JTL
    (examined,) = contexts(folder, record)
    clock = [BEGAN_MS / 1000]
    watch = SampleWatch(StopDecider(examined, lambda: 0.0), Growing(jtl), lambda: clock[0])
    while clock[0] < BEGAN_MS / 1000 + 8:
        jtl.write_bytes(written_by(content, clock[0] * 1000))
        if found := watch.look():
            return (*found, clock[0])
        clock[0], watch.not_before = clock[0] + 0.5, 0.0
    return None


def verdict_after(folder, criteria, content, found, **changes):
    """The verdict on the run that was stopped."""
    stop, failed, at = found
    run_folder.make(folder, criteria, stop=stop, ended=at + 1, **changes)
    run_folder.spoil(folder, content)
    record = manifest.read(folder)
    record.stopped_by, record.stopped_at = failed.criterion, at
    manifest.write(record, folder)
    return run_folder.verdict_of(folder)


@pytest.mark.parametrize("changes", [{}, {"interim": LOOKS}])
def test_a_run_is_stopped_and_judged_by_the_same_samples(tmp_path, changes):
    criteria, content = (TRIPS, "p50 of nap>1s"), changed(failing)
    found = stopped(tmp_path, criteria, content, **changes)
    verdict = verdict_after(tmp_path, criteria, content, found, **changes)
    result = verdict.executions[0].criteria[0]
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 3)
    assert (result.verdict, result.window, result.observed) == ("FAIL", "5-7 s", 100.0)
    for name in ("observed", "window", "samples"):
        assert getattr(result, name) == getattr(found[1], name)


def test_the_stop_and_the_verdict_call_one_function(tmp_path, monkeypatch):
    called = []

    def observe(criterion, *rest):
        called.append(criterion.text)
        return true(criterion, *rest)

    true = judging.observe_windows
    monkeypatch.setattr(judging, "observe_windows", observe)
    found = stopped(tmp_path, (TRIPS,), changed(failing))
    live = len(called)
    verdict_after(tmp_path, (TRIPS,), changed(failing), found)
    assert set(called) == {TRIPS}
    assert 0 < live < len(called)


def test_what_jmeter_gave_up_when_the_run_was_stopped_is_not_judged(tmp_path):
    found = stopped(tmp_path, (TRIPS,), changed(failing))

    def given_up(fields, at_s):
        failing(fields, at_s)
        if at_s + 2 > found[0].seen_s:
            fields |= {"success": "false", "responseMessage": "Socket closed"}

    criteria = (TRIPS, "fail>150")
    verdict = verdict_after(tmp_path, criteria, changed(given_up), found)
    assert [it.verdict for it in verdict.executions[0].criteria] == ["FAIL", "PASS"]


def test_looking_for_a_stop_takes_a_small_part_of_the_time(tmp_path, monkeypatch):
    """However slow a look is: its own seconds are those that this clock is asked for."""
    (examined,) = contexts(tmp_path, run_folder.make(tmp_path, (TRIPS,)))
    clock, looks = [0.0], []

    def slow_stop(_examined, _store):
        looks.append(clock[0])
        clock[0] += 2.0

    monkeypatch.setattr(watching, "find_stop", slow_stop)
    decider = StopDecider(examined, lambda: clock[0])
    watch = SampleWatch(decider, Growing(tmp_path / run_folder.JTL), lambda: clock[0])
    while clock[0] < 420:
        watch.look()
        clock[0] += 1.0
    assert len(looks) <= 10


def test_answers_that_may_still_come_stop_nothing(tmp_path):
    """Each takes two seconds: those of the last two have not come whenever it is looked at."""

    def change(fields, _at_s):
        fields["elapsed"] = "2000"

    content = written_by(changed(change), BEGAN_MS * 2)
    assert stopped(tmp_path, ("hits of nap<30 over 2s",), content) is None
    assert stopped(tmp_path, ("hits of nap<70 over 2s",), content) is not None


WINDOWS = ["fail of nap>{}% over 2s", "fail of nap>{}% for 1s", "p50 of nap>{}ms within 2s"]
TIMES = st.lists(st.integers(1, 150), min_size=8, max_size=8)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(WINDOWS), st.integers(1, 99), TIMES, st.sets(st.integers(0, 240)))
@example(WINDOWS[0], 10, [150] * 8, set(range(60, 130)))
def test_a_stop_is_a_fail_of_the_whole_run(tmp_path, window, limit, elapsed, failed):
    criterion, number = window.format(limit), iter(range(1000))

    def change(fields, at_s):
        if at_s >= 0:
            fields["elapsed"] = str(elapsed[min(7, int(at_s))])
            fields["success"] = "false" if next(number) in failed else "true"

    content = written_by(changed(change), BEGAN_MS * 2)
    found = stopped(tmp_path, (criterion,), content)
    run_folder.make(tmp_path, (criterion,))
    run_folder.spoil(tmp_path, content)
    whole = run_folder.verdict_of(tmp_path).executions[0].criteria[0].verdict
    if found is None:
        return
    assert verdict_after(tmp_path, (criterion,), content, found).verdict == "FAIL"
    assert whole == "FAIL"
