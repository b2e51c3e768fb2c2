"""Schedules joined with the samples of a file, in batches of any size."""

from dataclasses import replace

import numpy as np
import pytest

from support import jmx_text as jmx
from support import jtl_rows
from support.simulated import expected_schedules
from tollgate.samples import single
from tollgate.samples.counts import read_jtl
from tollgate.samples.single import SampleBatches
from tollgate.samples.store import open_store
from tollgate.schedule.replay import foreseen_problems, replay_jtl
from tollgate.stats.bins import SECONDS, Bins

ORIGIN = jtl_rows.START_MS
TAIL = f"{ORIGIN + 9000},5,a1,20"


@pytest.fixture
def plan(tmp_path):
    """Two open models, one with two labels by turns and one that follows them, the other with a
    label that is made up at run time; and a timer."""
    either = jmx.element("RandomController", "either", [jmx.sampler("a1"), jmx.sampler("a2")])
    return jmx.read(
        tmp_path,
        jmx.open_group(either, jmx.sampler("after"), name="one"),
        jmx.open_group(jmx.sampler("b${noun}"), name="two", seed=9),
        jmx.group(jmx.sampler("paced", jmx.timer(throughput=10, duration=10)), name="three"),
    )


def written(folder, lines, tail=""):
    path = folder / "kpi.jtl"
    path.write_bytes((jtl_rows.jtl(*lines) + tail).encode())
    return path


def rows_of(plan, missing=(), until_s=10):
    """Lines of a JTL: some late, some sent twice, and threads that no arrival has."""
    rng, lines = np.random.default_rng(5), []

    def line(label, thread, at_s, **more):
        at_ms, elapsed = int(at_s * 1000), int(rng.integers(0, 90))
        lines.append((at_ms, jtl_rows.row(at_ms, elapsed, label, thread=thread, **more)))

    schedules = expected_schedules(plan)
    for group, key, labels in (("one", "a1", ("a1", "a2")), ("two", "b${noun}", ("bücher",))):
        for arrival, due in enumerate(schedules[key].arrivals(until_s)):
            thread, late = f"{group} 1-{arrival + 1}", float(rng.choice([0, 0.001, 0.7]))
            if arrival in missing:
                continue
            line(rng.choice(labels), thread, due + late, ok=bool(rng.random() < 0.9))
            if rng.random() < 0.3:
                line(rng.choice(labels), thread, due + late + 0.1)
                line("after", thread, due + late + 0.1)
        line(labels[0], f"{group} 1-999", 4)
        line(labels[0], "no number", 5)
        line(labels[0], "no number", 6)
        message = f"Number of samples in transaction : 1{group}"
        line(labels[0], f"{group} 1-3", 7, message=message)
    for number, due in enumerate(schedules["paced"].arrivals(until_s)):
        line("paced", f"three 3-{number % 4}", due)
    rng.shuffle(lines)
    return [text for _, text in lines]


def test_without_the_zero_of_its_schedules_no_sample_has_a_response_time(plan, tmp_path):
    path = written(tmp_path, rows_of(plan))
    jtl = replace(read_jtl(path, ORIGIN), test_starts_ms=None)
    found = replay_jtl(plan, path, jtl, 1.0, None, SECONDS)
    assert (found.response, found.facts) == ({}, ())
    (problem,) = found.problems
    assert "no column TESTSTART.MS" in problem


@pytest.fixture
def in_batches(monkeypatch):
    """Joins in batches of a few samples and in one; keyword arguments as of replay_jtl."""

    def joined(*arguments):
        found = []
        for size in (20, 10**6):
            monkeypatch.setattr(single, "BATCH", size)
            found.append(replay_jtl(*arguments))
        return found

    return joined


@pytest.fixture
def both(plan, tmp_path, in_batches):
    """Joins the lines in small batches and in one."""

    def joined(lines, until_s=None, bins=SECONDS, **how):
        path = written(tmp_path, lines, **how)
        jtl = replace(read_jtl(path, ORIGIN, bins), test_starts_ms=(ORIGIN, ORIGIN))
        return in_batches(plan, path, jtl, 1.0, until_s, bins)

    return joined


@pytest.mark.parametrize(
    "how",
    [{}, {"tail": TAIL}, {"until_s": 4.2}, {"bins": Bins(4, 1, 9)}],
    ids=str,
)
def test_a_file_gives_the_same_in_batches_of_any_size(plan, both, how):
    small, large = both(rows_of(plan, missing=(3, 30)), **how)
    assert small == large
    one, two, _ = small.facts
    assert two.labels == ("bücher",)
    assert two.sent > 15
    assert one.missing == (1 if how.get("until_s") else 2)
    assert one.extra == 2
    assert one.late_generator > 0


def test_batches_hold_every_sample_once_in_order_of_time(plan, tmp_path):
    path = written(tmp_path, rows_of(plan))
    jtl = read_jtl(path)
    labels = list(jtl.samplers)
    with open_store(path) as store:
        batches = SampleBatches(store, [(label, None) for label in labels], size=20)
        found = list(batches)
        assert len(found) > 5
        starts = np.concatenate([each.start_ms for each in found])
        assert (np.diff(starts) >= 0).all()
        for number, label in enumerate(labels):
            mine = np.concatenate([each.elapsed_ms[each.label == number] for each in found])
            counts = jtl.samplers[label].counts
            assert (len(mine), mine.sum()) == (counts.total, counts.elapsed_ms @ counts.n)
        assert SampleBatches(store, [("a1", None)]).threads_outside(60) == 2
        assert SampleBatches(store, [("a1", ["no number"])]).threads_outside(60) == 1


def test_labels_that_the_file_does_not_have_give_no_samples(tmp_path):
    with open_store(written(tmp_path, [jtl_rows.row()])) as store:
        assert list(SampleBatches(store, [("none", None)])) == []


def test_a_timers_schedule_with_too_many_samples_is_a_problem_and_gives_no_response_time(
    plan, tmp_path
):
    path = written(tmp_path, rows_of(plan))
    jtl = replace(read_jtl(path, ORIGIN), test_starts_ms=(ORIGIN, ORIGIN))
    found = replay_jtl(plan, path, jtl, 0, None, SECONDS, most=99)
    assert set(found.response) == {"a1", "a2", "bücher"}
    assert len(found.facts) == 2
    (problem,) = found.problems
    assert "100 samples belong to the timer of paced" in problem
    assert "use an Open Model Thread Group" in problem
    assert replay_jtl(plan, path, jtl, 0, None, SECONDS, most=100).problems == ()


def test_a_sample_years_after_the_others_is_a_problem_of_a_timers_schedule(plan, tmp_path):
    years_ms = 30 * 365 * 86_400_000
    late = jtl_rows.row(years_ms, 5, "paced", thread="three 1-1")
    path = written(tmp_path, [*rows_of(plan), late])
    jtl = replace(read_jtl(path, ORIGIN), test_starts_ms=(ORIGIN, ORIGIN))
    (problem,) = replay_jtl(plan, path, jtl, 0, None, SECONDS).problems
    assert problem.startswith("of the timer of paced 9.46e+09 requests were due until the last")
    assert "no more than 20000000" in problem


def test_a_timers_schedule_with_too_many_events_is_foreseen_before_any_load(plan):
    (problem,) = foreseen_problems(plan, 500_000.1)
    assert "5000001 samples belong to the timer of paced" in problem
    assert foreseen_problems(plan, 500_000) == []


@pytest.fixture
def overlapping(tmp_path):
    """Two open models and a closed loop, whose labels all fit the first one's."""
    return jmx.read(
        tmp_path,
        jmx.open_group(jmx.sampler("GET ${path}"), name="one"),
        jmx.open_group(jmx.sampler("GET /b${noun}"), name="één", seed=9),
        jmx.group(jmx.sampler("GET /health"), name="three"),
    )


def overlapping_rows(plan):
    lines = [
        jtl_rows.row(number * 30, 4, "GET /health", thread=f"three 3-{number % 4 + 1}")
        for number in range(300)
    ]
    schedules = expected_schedules(plan)
    for group, key, labels in (
        ("one 1", "GET ${path}", ("GET /ä", "GET /health")),
        ("één 2", "GET /b${noun}", ("GET /b1", "GET /b2")),
    ):
        for arrival, due in enumerate(schedules[key].arrivals(10)):
            for at_ms, elapsed in ((int(due * 1000), 20), (int(due * 1000) + 30, 70)):
                thread = f"{group}-{arrival + 1}"
                lines.append(jtl_rows.row(at_ms, elapsed, labels[arrival % 2], thread=thread))
    return lines


def test_labels_of_several_thread_groups_are_told_apart_by_the_names_of_their_threads(
    overlapping, tmp_path, in_batches
):
    path = written(tmp_path, overlapping_rows(overlapping))
    jtl = replace(read_jtl(path, ORIGIN), test_starts_ms=(ORIGIN, ORIGIN))
    small, whole = in_batches(overlapping, path, jtl, 0, None, SECONDS)
    assert small == whole
    assert set(whole.response) == {"GET /ä", "GET /b1", "GET /b2"}
    for label, counts in whole.response.items():
        assert counts.total == jtl.samplers[label].counts.total
    for facts in whole.facts:
        assert (facts.extra, facts.missing) == (0, 0)
        assert facts.lateness_max_ms <= 1


def test_samples_of_several_jmeters_are_a_problem_and_give_no_response_time(plan, tmp_path):
    path = written(tmp_path, rows_of(plan))
    jtl = replace(read_jtl(path, ORIGIN), test_starts_ms=(ORIGIN, ORIGIN + 40))
    found = replay_jtl(plan, path, jtl, 0, None, SECONDS)
    assert (found.response, found.facts) == ({}, ())
    (problem,) = found.problems
    assert f"TESTSTART.MS is {ORIGIN} and {ORIGIN + 40}" in problem
    assert "let one JMeter send the load" in problem


def test_samples_of_several_jmeters_that_follow_no_schedule_are_no_problem(tmp_path):
    path = written(tmp_path, [jtl_rows.row()])
    jtl = replace(read_jtl(path, ORIGIN), test_starts_ms=(ORIGIN, ORIGIN + 40))
    closed = jmx.read(tmp_path, jmx.group(jmx.sampler("search")))
    assert replay_jtl(closed, path, jtl, 0, None, SECONDS).problems == ()
