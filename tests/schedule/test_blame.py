"""The right one is blamed for what came late."""

import heapq
import math

import numpy as np
import pytest
from hypothesis import given

from support.simulated import ORIGIN, rows_of, runs, schedule_of, sent_by_jmeter
from tollgate.schedule.attribution import LATE_MS
from tollgate.schedule.lateness import join, summarise

EVENTS = np.arange(0, 20, 0.01)


def stalled(start_ms):
    """A service that answers in 2 ms, but stands still from second 5 to second 6."""
    return 2 + (6000 - start_ms if 5000 <= start_ms < 6000 else 0)


def test_a_stall_of_one_second_shows_in_the_response_time_and_is_the_services_fault():
    rows = sent_by_jmeter(EVENTS, 4, stalled)
    joined = join(schedule_of(EVENTS), rows, ORIGIN)
    # Of 2,000 requests 100 fall into the stall and wait from 1,000 ms down to 0 ms, so the p99 is
    # the wait of the 20th of them: 1,000 - 20 * 10 ms, plus what the backlog of 96 adds.
    p99 = np.percentile(joined.response_ms, 99, method="inverted_cdf")
    assert p99 == pytest.approx(810, abs=15)
    assert np.percentile(rows.elapsed_ms, 99) == 2
    summary = summarise(joined)
    assert (summary.late_generator, summary.missing, summary.extra) == (0, 0, 0)
    assert summary.late_service > 90
    assert joined.generator_ms.max() < 2
    assert np.nansum(joined.service_ms) > 0.99 * np.maximum(joined.lateness_ms, 0).sum()


def summary_of(rows, **schedule):
    return summarise(join(schedule_of(EVENTS, **schedule), rows, ORIGIN))


def test_a_stall_without_thread_names_is_still_the_services_fault():
    rows = sent_by_jmeter(EVENTS, 4, stalled)
    summary = summary_of(rows_of(rows.start_ms, rows.elapsed_ms))
    assert summary.late_generator == 0
    assert summary.late_service > 90


def test_a_starved_generator_is_blamed_although_its_threads_are_never_idle_for_long():
    # 100 requests a second want 10 ms each; two threads lose 30 ms before every request.
    rows = sent_by_jmeter(EVENTS, 2, lambda _: 2, loss_ms=30, end_s=20)
    summary = summary_of(rows, threads=2, end_s=20)
    assert summary.late_service == 0
    assert summary.late_generator > 0.95 * summary.sent
    assert summary.missing_generator == summary.missing > 500
    assert summary.missing_service == 0


def test_a_service_too_slow_for_its_threads_is_blamed_for_what_was_not_sent():
    rows = sent_by_jmeter(EVENTS, 2, lambda _: 40, end_s=20)
    summary = summary_of(rows, threads=2, end_s=20)
    assert summary.late_generator == 0
    assert summary.missing_service == summary.missing == pytest.approx(1000, abs=5)


def test_a_service_that_stops_for_good_is_blamed_for_the_missing_tail():
    rows = sent_by_jmeter(EVENTS, 4, lambda s: 2 if s < 15000 else 60000, end_s=20)
    summary = summary_of(rows, end_s=20)
    assert summary.missing_service == summary.missing == 496


def test_a_generator_that_stops_for_good_is_blamed_for_the_missing_tail():
    summary = summary_of(sent_by_jmeter(EVENTS, 4, lambda _: 2, end_s=15), end_s=20)
    assert summary.missing_generator == summary.missing == 500


def test_a_generator_that_sent_nothing_is_blamed_for_everything():
    summary = summary_of(rows_of(np.empty(0, np.int64), np.empty(0, np.int64)))
    assert (summary.sent, summary.missing_generator) == (0, 2000)
    assert math.isnan(summary.lateness_p99_ms)


def test_too_few_threads_for_the_think_time_are_the_plans_fault():
    rows = sent_by_jmeter(EVENTS, 4, lambda _: 2, think_ms=100, end_s=20)
    summary = summary_of(rows, end_s=20, think_ms=100)
    assert (summary.late_service, summary.late_generator) == (0, 0)
    assert summary.late_plan > 700
    assert summary.missing_plan == summary.missing > 1000


def test_threads_that_start_late_are_the_generators_fault():
    rows = sent_by_jmeter(EVENTS, 4, lambda _: 2)
    late = np.maximum(rows.start_ms, ORIGIN + 300)
    joined = join(schedule_of(EVENTS), rows_of(late, rows.elapsed_ms, rows.thread), ORIGIN)
    assert summarise(joined).late_generator == pytest.approx(30, abs=1)
    assert joined.generator_ms.max() == 300


def test_a_thread_is_busy_with_the_other_samplers_of_its_iteration_too():
    # One thread: the governed sample takes 2 ms, the ungoverned one behind it 50 ms.
    events = np.arange(0, 5, 0.025)
    main = sent_by_jmeter(events, 1, lambda _: 52)
    start = np.concatenate([main.start_ms, main.start_ms + 2])
    elapsed = np.repeat([2, 50], len(events))
    governed = np.repeat([True, False], len(events))
    rows = rows_of(start, elapsed, is_governed=governed)
    joined = join(schedule_of(events, threads=1), rows, ORIGIN)
    assert len(joined.event) == len(events)
    assert np.nansum(joined.generator_ms) < 1e-6
    assert summarise(joined).late_service == len(events) - 1
    alone = rows_of(start[governed], elapsed[governed])
    assert summarise(join(schedule_of(events, threads=1), alone, ORIGIN)).late_generator > 190


def test_a_login_before_the_first_event_keeps_a_thread_busy():
    start_ms, elapsed_ms = np.array([0, 500, 520]) + ORIGIN, [500, 10, 10]
    rows = rows_of(start_ms, elapsed_ms, thread=1, is_governed=[False, True, True])
    joined = join(schedule_of([0.1, 0.2], threads=1), rows, ORIGIN)
    assert joined.service_ms.tolist() == [400.0, 310.0]
    assert joined.generator_ms.tolist() == [0.0, 10.0]


@given(runs(with_think=False))
def test_following_the_queue_only_where_it_matters_gives_what_following_all_of_it_gives(run):
    schedule, rows = run
    joined = join(schedule, rows, ORIGIN)
    free = [0.0] * schedule.threads
    for sample in np.argsort(joined.event):
        due = schedule.arrivals(math.inf)[joined.event[sample]] * 1000
        ideal = max(due, free[0])
        heapq.heapreplace(free, ideal + rows.elapsed_ms[sample])
        if joined.lateness_ms[sample] > LATE_MS:
            # A sample before it that started early, as JMeter's clock allows, may have ended before
            # the ideal one; nobody is blamed for more than the lateness that there was.
            blamed = min(ideal - due, joined.lateness_ms[sample])
            assert joined.service_ms[sample] == pytest.approx(blamed, abs=1e-6)
