"""The looks at an execution that may end early: a run's folder to its verdict."""

import json
from dataclasses import replace

import pytest

from support import jmx_text as jmx
from support import own_run, run_folder
from support.jtl_rows import START_MS, row
from tollgate.gather import evidence
from tollgate.gather.context import contexts
from tollgate.gather.early_decisions import InterimDecider, judged_until_ms, measured_until
from tollgate.judge.judgement import judge, results_of
from tollgate.record import manifest
from tollgate.record.interim_schedule import InterimSchedule
from tollgate.record.manifest import Stop
from tollgate.report.json_verdict import to_dict
from tollgate.samples.counts import read_jtl
from tollgate.samples.growing import Growing
from tollgate.samples.split import copy_until
from tollgate.samples.store import open_store
from tollgate.samples.watch import SampleWatch

#: The recorded run measures 8 s, 2 s after JMeter's start, with 30 requests a second.
BEGAN_MS = 1795223301128 + 2000
LOOKS = InterimSchedule(least_s=6.0, budget_s=8.0, every_s=2.0, lag_s=1.0)
#: Its moment lies between two arrivals; of one at a moment nobody knows on which side it was sent.
PATIENT = replace(LOOKS, least_s=6.02, lag_s=3.0)
PASSES = ("p50 of nap>1s", "fail of nap>0%")


def changed(change):
    """The recorded JTL with each row as `change` makes it: (fields, start in s of measuring)."""
    header, *rows = run_folder.recorded().decode().splitlines()
    columns = header.split(",")
    found = [header]
    for line in rows:
        fields = dict(zip(columns, line.split(","), strict=True))
        change(fields, (int(fields["timeStamp"]) - BEGAN_MS) / 1000)
        found.append(",".join(fields.values()))
    return ("\n".join(found) + "\n").encode()


def fails_from(second):
    def change(fields, at_s):
        fields["success"] = "false" if at_s >= second else fields["success"]

    return changed(change)


def on_looks(judged, *criteria, **changes):
    """What judge says of the run's one execution, which may end early."""
    return judged(*(criteria or PASSES), interim=LOOKS, **changes).executions[0]


def test_an_execution_is_judged_by_the_look_that_settles_it_and_by_nothing_behind_it(judged):
    found = on_looks(judged)
    assert (found.verdict, found.course.looks_s) == ("PASS", (6.0,))
    assert {it.decided_after_s for it in found.criteria} == {6.0}
    assert 150 < found.criteria[0].samples < 210
    found = on_looks(judged, decided_s=6.0, spoiled=fails_from(6.0))
    assert (found.verdict, found.warnings) == ("PASS", ())


def test_a_jmeter_that_was_ended_by_a_look_may_exit_as_it_likes(judged):
    cut = {"spoiled": run_folder.recorded()[:-9], "exit_code": 1}
    assert on_looks(judged, decided_s=6.0, **cut).verdict == "PASS"
    assert on_looks(judged, **cut).verdict == "INVALID"


def test_what_is_open_goes_on_to_the_end_of_the_budget(judged):
    found = on_looks(judged, "p99.9 of nap>1s")
    assert found.course.looks_s == (6.0, 8.0)
    assert found.verdict == "INCONCLUSIVE"
    assert "modules.stop-when-decided.budget" in found.reasons[0].text


def written_by(content, now_ms):
    """The JTL as JMeter has written it by then."""
    header, *rows = content.splitlines(keepends=True)
    ends = sorted((sum(map(int, each.split(b",")[:2])), each) for each in rows)
    return header + b"".join(each for end_ms, each in ends if end_ms <= now_ms)


def slow(from_s, to_s, elapsed_ms):
    """One request of the interval, in a thread of its own, answers so slowly."""
    done = []

    def change(fields, at_s):
        if from_s <= at_s < to_s and not done:
            fields |= {"elapsed": str(elapsed_ms), "threadName": "visitors 1-99"}
            done.append(at_s)

    return written_by(changed(change), BEGAN_MS * 2)


def test_a_request_without_its_answer_keeps_a_look_from_passing(judged):
    """It is due at 3 s and answers before 8 s, so that it is missing at 6 s, lag and all."""
    found = on_looks(judged, spoiled=slow(3.0, 3.5, 4400))
    assert (found.verdict, found.course.looks_s) == ("PASS", (6.0, 8.0))
    dates = {it.subject: it.decided_after_s for it in found.criteria}
    assert dates == {"p50": 6.0, "fail": 8.0}


def test_a_look_at_no_answers_decides_nothing_and_the_next_one_does(judged):
    """All that was sent before answers behind 7 s, when the first look is taken."""

    def change(fields, at_s):
        if at_s < 7.0:
            fields["elapsed"] = str(int((7.2 - at_s) * 1000))

    slow_at_first = written_by(changed(change), BEGAN_MS * 2)
    found = on_looks(judged, "hits of nap<1", spoiled=slow_at_first)
    assert found.course.looks_s == (6.0, 8.0)
    assert found.course.since["hits of nap<1"][0] == "INVALID"
    assert found.criteria[0].verdict == "PASS"


@pytest.mark.parametrize(
    ("criterion", "verdict", "looks_s"),
    [
        ("hits of nap<200", "PASS", (6.0, 8.0)),
        ("hits of nap>200", "FAIL", (6.0, 8.0)),
        ("hits of nap>9000", "PASS", (6.0, 8.0)),
        ("hits of nap>100", "FAIL", (6.0,)),
        ("hits of nap<100", "PASS", (6.0,)),
    ],
)
def test_a_count_is_about_all_of_the_budget(judged, criterion, verdict, looks_s):
    """There are 180 requests in 6 s and 240 in 8 s."""
    found = on_looks(judged, criterion)
    assert (found.verdict, found.course.looks_s) == (verdict, looks_s)


def test_a_count_that_is_open_when_another_criterion_ends_the_execution_decides_nothing(judged):
    """The seconds behind the look are Tollgate's own doing."""
    found = on_looks(judged, "hits of nap<200", "p50 of nap>1ms", decided_s=6.0)
    assert [it.verdict for it in found.criteria] == ["INCONCLUSIVE", "FAIL"]
    assert found.verdict == "FAIL"


LOOP = jmx.plan(jmx.group(jmx.sampler("home"), threads=2, duration=None))


PLUGIN = jmx.plan(jmx.plugin_group(jmx.sampler("home"), TargetLevel=2, Hold=1))
#: Whose 6 s begin after 1 s, so that they go on for longer than the looks.
LATE = jmx.plan(
    jmx.group(jmx.sampler("log in"), kind="SetupThreadGroup", name="first"),
    jmx.group(jmx.sampler("home"), threads=2, duration=6),
)
#: Whose first group is done at once, unless the second of its requests hangs.
FIRST = {"name": "first", "threads": 1, "loops": 1, "duration": None}
ONCE = jmx.plan(
    jmx.group(jmx.sampler("log in"), jmx.sampler("basket"), **FIRST),
    jmx.group(jmx.sampler("home"), threads=2, duration=None),
)
#: Whose time is over before the look.
SHORT = jmx.plan(jmx.group(jmx.sampler("home"), threads=2, duration=5))
LOG_IN = row(0, label="log in", elapsed=1000, thread="first 1-1") + f",{START_MS}"
STARTED = "visitors-ThreadStarter 1"
BASKET = row(500, label="basket", elapsed=50, thread="first 1-1") + f",{START_MS}"


def loop(second_thread_until_s, group="visitors 1"):
    """Ten requests a second of each of two threads, for 8 s."""
    return [
        row(at * 100, label="home", elapsed=80, thread=f"{group}-{thread}") + f",{START_MS}"
        for at in range(80)
        for thread in (1, 2)
        if thread == 1 or at < second_thread_until_s * 10
    ]


@pytest.mark.parametrize(
    ("plan", "lines", "open_at"),
    [
        *((LOOP, loop(8), ()), (LOOP, loop(2), ("fail",))),
        *((PLUGIN, loop(8, STARTED), ()), (PLUGIN, loop(2, STARTED), ("fail",))),
        *((SHORT, loop(8)[:100], ()), (SHORT, loop(2)[:70], ("fail",))),
        (ONCE, [LOG_IN, BASKET, *loop(8, "visitors 2")], ()),
        (ONCE, [LOG_IN, *loop(8, "visitors 2")], ("fail",)),
        (LATE, [LOG_IN, *loop(8)[20:]], ()),
        (LATE, [LOG_IN, *loop(2)[20:]], ("fail",)),
    ],
)
def test_a_thread_of_a_loop_that_is_silent_is_taken_for_one_that_waits(
    tmp_path, plan, lines, open_at
):
    times = {"measured": 0.0, "interim": LOOKS, "decided_s": 6.0}
    own_run.make(tmp_path, plan, lines, "fail>0%", "avg-rt of home>9s", **times)
    run, settings = evidence.gather(tmp_path, manifest.read(tmp_path))
    results = judge(run, settings).executions[0].criteria
    assert run.executions[0].measured_s == 6.0
    assert tuple(it.subject for it in results if it.verdict == "INCONCLUSIVE") == open_at


@pytest.mark.parametrize(
    ("content", "lag_s"),
    [
        (run_folder.recorded(), 1.0),
        (slow(3.0, 3.5, 4400), 3.0),  # answers 1.4 s behind the look's moment
        (slow(5.9, 6.0, 1500), 3.0),
        (slow(6.1, 6.2, 4000), 1.0),  # is due behind it
        (fails_from(3.0), 1.0),
    ],
)
def test_a_look_waits_for_answers_only_where_one_may_be_missing_and_finds_the_same(
    tmp_path, content, lag_s
):
    (examined,) = contexts(tmp_path, run_folder.make(tmp_path, PASSES, interim=PATIENT))
    run_folder.spoil(tmp_path, content)
    with open_store(tmp_path / run_folder.JTL) as store:
        decider = InterimDecider(examined)
        look = decider.look(store) or decider.look(store)
        assert look.lag_s == lag_s
        assert decider.lag_s == 1.0, "the next look begins anew"
        patient = measured_until(examined, store, Stop(6.02, 2.0 + 6.02 + 3.0), look.course)
    assert look.execution.unanswered == patient.unanswered == ()
    ((results,),) = (results_of([patient], examined.settings, examined.family),)
    assert look.results == results


@pytest.mark.parametrize("lag_s", [1.0, 3.0])
@pytest.mark.parametrize("spoiled", [None, slow(3.0, 3.5, 4400), fails_from(3.0)])
def test_live_looks_find_what_judging_again_finds(tmp_path, spoiled, lag_s):
    content, looks = spoiled or run_folder.recorded(), replace(LOOKS, lag_s=lag_s)
    record = run_folder.make(tmp_path, PASSES, interim=looks)
    jtl = tmp_path / run_folder.JTL
    clock = [BEGAN_MS / 1000]
    (examined,) = contexts(tmp_path, record)
    decider = InterimDecider(examined)
    watch = SampleWatch(decider, Growing(jtl), lambda: clock[0])
    while not decider.is_over and clock[0] < BEGAN_MS / 1000 + 7 + lag_s:
        jtl.write_bytes(written_by(content, clock[0] * 1000))
        watch.look()
        clock[0] += 0.5
    jtl.write_bytes(content)
    ended = {}
    if decider.is_over:
        ended = {"decided_s": decider.course.looks_s[-1], "decided_lag_s": decider.last.lag_s}
    run_folder.make(tmp_path, PASSES, interim=looks, **ended)
    run_folder.spoil(tmp_path, content)
    run, settings = evidence.gather(tmp_path, manifest.read(tmp_path))
    verdict = judge(run, settings)
    looks_s = verdict.executions[0].course.looks_s
    assert looks_s[: len(decider.course.looks_s)] == decider.course.looks_s
    if not decider.is_over:
        return
    live, found = (
        {it.criterion: (it.verdict, it.low, it.high, it.observed) for it in results}
        for results in (decider.last.results, verdict.executions[0].criteria)
    )
    assert live == found
    assert json.dumps(to_dict(verdict, run, "check", {}))


def test_jmeters_dashboard_is_drawn_from_what_its_look_has_seen(tmp_path):
    run_folder.make(tmp_path, PASSES, interim=LOOKS, decided_s=6.0)
    run_folder.spoil(tmp_path, fails_from(7.0), sealed=False)
    record = manifest.read(tmp_path)
    [(name, until_ms)] = judged_until_ms(tmp_path, record).items()
    assert (name, until_ms) == (record.executions[0].name, BEGAN_MS + 7000)
    copy_until(tmp_path / record.executions[0].jtl, tmp_path / "drawn.jtl", until_ms)
    drawn, whole = (
        read_jtl(tmp_path / it).samplers["nap"].counts
        for it in ("drawn.jtl", record.executions[0].jtl)
    )
    assert (drawn.errors, whole.errors > 0) == (0, True)
    assert 200 < drawn.total < whole.total
    record.executions[0].decided_lag_s = 0.5
    assert judged_until_ms(tmp_path, record) == {name: BEGAN_MS + 6500}
    record.executions[0].decided_s = None
    assert judged_until_ms(tmp_path, record) == {}
