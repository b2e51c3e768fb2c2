import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.watch_lines import BEGAN, ENDED, died, look, online, texts, watch, write
from tollgate.workers.model import Resources, WorkerOutage
from tollgate.workers.reading import read_watch

#: As the watcher wrote them of a worker that was killed: PM2 knows no memory of one being born.
GOLDEN = """\
{"time":1700000000400,"app":"cluster","worker":1,"pid":27735,"status":"online","mode":"cluster",\
"restarts":0,"rss":60755968,"cpu":1.5,"heap":9510432,"loopDelayP50":0.25,"loopDelayP95":0.41,\
"requests":7}
{"time":1700000001010,"app":"cluster","worker":1,"pid":27735,"event":"exit","byPm2":false}
{"time":1700000001147,"app":"cluster","worker":1,"pid":27751,"event":"online"}
{"time":1700000001401,"app":"cluster","worker":1,"pid":27751,"status":"online","mode":"cluster",\
"restarts":1,"rss":null,"cpu":null,"heap":null,"loopDelayP50":null,"loopDelayP95":null,\
"requests":null}
{"time":1700000002402,"app":"cluster","worker":1,"pid":27751,"status":"online","mode":"cluster",\
"restarts":1,"rss":60207104,"cpu":0.4,"heap":9400000,"loopDelayP50":0.2,"loopDelayP95":null,\
"requests":0}
"""


def looks(**changed):
    """Two workers over 10 s; `at4={...}` changes the line of worker 1 from second 4 on."""
    lines, change = [], {}
    for second in range(-1, 11):
        change = changed.get(f"at{second}", change)
        lines += [look(second), look(second, 1, **change)]
    return lines


def told(lines, reloads=()):
    return watch(lines, reloads)[0]


def resources(lines, reloads=()):
    return watch(lines, reloads)[1]


KILLED = [died(3.2, 101), online(4.44, 201)]
REPLACED = looks(at4={"pid": 201, "restarts": 1})
GONE = looks(at4={"pid": 0, "status": "errored"})
DEATH = "worker 1 (pid 101) died and was started again 3 s into the execution"
RELOAD = (BEGAN + 2.5, BEGAN + 5.5)
RELOADED = [online(3.6, 201), died(5.4, 101, by_pm2=True)]
DIP = looks(at3={"pid": 201, "status": "launching", "restarts": 1}, at4={"pid": 201})


def test_the_golden_lines_of_the_watcher_are_read(tmp_path):
    file = tmp_path / "workers.jsonl"
    file.write_text(GOLDEN)
    seen, found = read_watch(file, "cluster", BEGAN, BEGAN + 3)
    assert texts(seen) == (
        "worker 1 (pid 27735) died and was started again 1 s into the execution: "
        "service degraded for 0.14 s",
    )
    (worker,) = found.workers
    assert worker.worker == "1"
    assert worker.second == pytest.approx([0.4, 1.401, 2.402])
    nan = np.nan
    for name, values in {
        "pid": [27735, 27751, 27751],
        "restarts": [0, 1, 1],
        "rss": [60755968, nan, 60207104],
        "heap": [9510432, nan, 9400000],
        "cpu": [1.5, nan, 0.4],
        "loop_delay_p50": [0.25, nan, 0.2],
        "loop_delay_p95": [0.41, nan, nan],
        "requests": [7, nan, 0],
    }.items():
        assert np.array_equal(getattr(worker, name), values, equal_nan=True), name
    (outage,) = found.outages
    assert (outage.from_s, outage.to_s) == pytest.approx((1.010, 1.147))


@pytest.mark.parametrize(
    "lines",
    [REPLACED, looks(at4={"pid": 201, "restarts": 1, "status": "launching"}, at5={"pid": 201})],
)
def test_a_killed_worker_is_told_once_and_looks_at_its_rebirth_add_nothing(lines):
    assert texts(told([*lines, *KILLED])) == (f"{DEATH}: service degraded for 1.24 s",)


def test_a_worker_that_did_not_come_back_is_told_and_not_counted_as_restarting():
    found = told([*GONE, *KILLED[:1]])
    assert texts(found) == ("worker 1 (pid 101) died 3 s into the execution and did not come back",)
    assert (found.seen, found.seen_or_restarting) == (1, 1)


def test_a_death_that_only_looks_saw_is_told_beside_events_of_another():
    first = [look(it, pid=300, restarts=1) if it > 6 else look(it) for it in range(-1, 11)]
    second = [each for each in REPLACED if each["worker"] == 1]
    assert texts(told([*first, *second, *KILLED])) == (
        f"{DEATH}: service degraded for 1.24 s",
        "worker 0 (pid 100) died and was started again 7 s into the execution",
    )


def test_without_events_the_looks_bracket_the_outage():
    found = resources(looks(at4={"pid": 201, "status": "launching"}, at5={"pid": 201}))
    assert found.outages == (WorkerOutage("1", 101, 3.0, 5.0),)


def test_without_events_the_pid_of_a_worker_between_two_processes_is_that_of_the_first():
    assert texts(told(looks(at4={"pid": 0, "status": "stopped"}, at5={"pid": 201}))) == (
        "worker 1 (pid 101) was stopped 4 s into the execution",
        "worker 1 (pid 101) died and was started again 5 s into the execution",
    )


def test_a_reload_of_the_timetable_is_no_event_and_its_dip_does_not_count():
    found = told([*DIP, *RELOADED], [RELOAD])
    assert (found.seen, texts(found)) == (2, ())
    without = told([*DIP, *RELOADED])
    assert without.seen == 1
    assert texts(without) == (
        "worker 1 (pid 101) died and was started again 5 s into the execution: "
        "its successor was online before",
    )


def test_a_reload_of_the_timetable_is_planned_by_looks_alone_too():
    seen, found = watch(DIP, [RELOAD])
    assert (seen.seen, texts(seen)) == (2, ())
    assert [outage.planned for outage in found.outages] == [True]


def test_a_reload_has_a_planned_outage_of_no_time():
    (outage,) = resources(REPLACED + RELOADED, [RELOAD]).outages
    assert outage.planned
    assert outage.from_s == outage.to_s == pytest.approx(5.4)


@pytest.mark.parametrize(
    ("second", "planned"), [(2.4, False), (2.6, True), (6.4, True), (6.6, False)]
)
def test_an_outage_up_to_a_second_after_the_reload_is_planned_and_none_later(second, planned):
    events = [died(second, 101, by_pm2=True), online(second + 0.5, 201)]
    (outage,) = resources(REPLACED + events, [RELOAD]).outages
    assert outage.planned is planned


def test_a_kill_in_the_middle_of_a_reload_is_not_planned():
    found = told([*REPLACED, *KILLED], [RELOAD])
    assert texts(found) == (f"{DEATH}: service degraded for 1.24 s",)


def test_a_reload_excuses_one_end_of_each_worker_and_not_what_pm2_did_for_memory():
    of_memory = [died(5.9, 201, by_pm2=True), online(6.0, 301)]
    other = [online(4.1, 200, worker=0), died(5.0, 100, worker=0, by_pm2=True)]
    lines = [*looks(at4={"pid": 201}, at6={"pid": 301}), *RELOADED, *of_memory, *other]
    seen, found = watch(lines, [RELOAD])
    planned = {outage.pid: outage.planned for outage in found.outages}
    assert planned == {100: True, 101: True, 201: False}
    assert [event.split(" died")[0] for event in texts(seen)] == ["worker 1 (pid 201)"]
    twice = resources(lines, [RELOAD, (BEGAN + 5.7, BEGAN + 7.5)])
    assert all(outage.planned for outage in twice.outages)


def test_a_worker_that_is_being_started_again_is_counted_and_one_that_never_was_is_not():
    dip = looks(at4={"pid": 0, "status": "stopped", "restarts": 1}, at5={"pid": 201})
    never = [look(second, 2, pid=0, status="errored") for second in range(-1, 11)]
    for lines in ([*dip, *KILLED], dip, [*dip, *never, *KILLED]):
        found = told(lines)
        assert (found.seen, found.seen_or_restarting) == (1, 2)
    more = [look(second, 2) for second in range(-1, 11)]
    assert told([*dip, *more, *KILLED]).seen_or_restarting == 3


def test_a_worker_that_takes_long_to_stop_for_its_successor_is_restarting():
    slow = looks(at3={"status": "stopping"}, at7={"pid": 201, "restarts": 1})
    assert told([*slow, died(6.2, 101, by_pm2=True), online(6.8, 201)]).seen_or_restarting == 2


def test_a_run_that_was_reloaded_throughout_is_judged_by_those_looks():
    assert told(looks(at4={"status": "launching"}), [(BEGAN - 9, ENDED + 9)]).seen == 1


def test_an_outage_of_another_execution_is_left_out():
    events = [died(10.5, 101), online(11, 201), died(-5, 99), online(-4, 101)]
    lines = [*looks(), *events, look(10.9), look(10.9, 1, pid=201, restarts=1)]
    seen, found = watch(lines)
    assert (texts(seen), found.outages) == ((), ())


def test_an_outage_that_began_before_the_execution_counts():
    (outage,) = resources([*looks(), died(-0.5, 101), online(0.7, 201)]).outages
    assert (outage.from_s, outage.to_s) == pytest.approx((-0.5, 0.7))


def test_the_reloads_during_the_execution_are_handed_on():
    found = resources(looks(), [(BEGAN - 9, BEGAN - 8), RELOAD, (ENDED + 1, ENDED + 2)])
    assert [(each.from_s, each.to_s) for each in found.reloads] == [(2.5, 5.5)]


def test_a_worker_without_pid_enters_no_series_and_one_without_memory_tells_nothing():
    lines = [look(1), look(2, pid=0), look(3, rss=0), look(4, rss=None), look(5), look(11)]
    (worker,) = resources(lines).workers
    assert worker.second.tolist() == [1, 3, 4, 5]
    assert np.isnan(worker.rss).tolist() == [False, True, True, False]
    assert np.isnan(worker.requests).tolist() == [False, True, True, False]


def test_workers_are_in_the_order_of_their_numbers():
    lines = [look(1, number) for number in (10, 9, 0)]
    assert [each.worker for each in resources(lines).workers] == ["0", "9", "10"]


def test_lines_without_requests_of_an_older_run_give_nan():
    line = look(1)
    del line["requests"]
    (worker,) = resources([line]).workers
    assert np.isnan([worker.requests, worker.heap]).all()


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        ('{"time":1,"app":', "Expecting value"),
        ("[]", "list indices"),
        ("[" * 100_000, "maximum recursion depth"),
        ('{"time":1}', "it has no app"),
        (
            '{"time":1' + 400 * "0" + ',"app":"cluster","worker":0,"pid":1,"event":""}',
            "time is 1000",
        ),
        ('{"time":"1","app":"cluster","worker":0,"pid":1,"restarts":0,"status":""}', "time is '1'"),
        ('{"time":1,"app":"cluster","worker":0,"pid":1,"restarts":0}', "it has no status"),
        ('{"time":1,"app":"cluster","worker":0,"event":"exit"}', "it has no pid"),
    ],
)
def test_a_damaged_line_is_named_with_its_number(tmp_path, damaged, reason):
    file = write(tmp_path, looks())
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:4], damaged, *lines[4:]]) + "\n")
    seen, found = read_watch(file, "cluster", BEGAN, ENDED)
    assert seen.problem.startswith(f"workers.jsonl can't be read: line 5 is damaged: {reason}")
    assert "\n" not in seen.problem
    assert found == Resources()


@given(
    st.lists(
        st.tuples(st.integers(-20_000, 30_000), st.integers(0, 2), st.floats(1, 1e12)),
        unique_by=lambda each: each[:2],
    ),
    st.integers(0, 60),
)
def test_every_look_inside_is_found_again_whatever_was_cut_off(drawn, cut):
    lines = [look(ms / 1000, worker, rss=rss) for ms, worker, rss in drawn]
    found = watch(lines, tail=json.dumps(look(5))[:cut])[1]
    expected = {it for it in drawn if 0 <= it[0] <= 10_000}
    assert expected == {
        (round(second * 1000), int(each.worker), rss)
        for each in found.workers
        for second, rss in zip(each.second, each.rss, strict=True)
    }
