"""Joining events with samples."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from support.simulated import ORIGIN, pick, rows_of, runs, schedule_of, sent_by_jmeter
from tollgate.plan.arrivals import PreciseThroughput
from tollgate.schedule.join import EARLY_TOLERANCE_MS, NO_EVENT, SHORTEST_PROOF, align
from tollgate.schedule.lateness import join, summarise

POISSON = PreciseThroughput(11, 40, 60).arrivals(60)


def test_samples_lost_from_the_middle_do_not_make_the_later_ones_late():
    rows = sent_by_jmeter(POISSON, 8, lambda _: 20)
    kept = np.ones(len(POISSON), dtype=bool)
    kept[[500, 501, 502, 1400]] = False
    joined = join(schedule_of(POISSON, 8, end_s=60), pick(rows, kept), ORIGIN)
    assert joined.missing.tolist() == [500, 501, 502, 1400]
    assert joined.lateness_ms.max() < 2
    assert summarise(joined).missing_generator == 4


def test_a_generator_that_falls_behind_for_ever_is_not_taken_for_one_that_lost_samples():
    rows = sent_by_jmeter(POISSON, 1, lambda _: 30, end_s=60)
    joined = join(schedule_of(POISSON, 1, end_s=60), rows, ORIGIN)
    assert joined.event.tolist() == list(range(len(rows.start_ms)))
    assert joined.lateness_ms[-1] > 5000


def test_rows_that_the_schedule_does_not_account_for_do_not_make_the_later_ones_early():
    rows = sent_by_jmeter(POISSON, 8, lambda _: 20)
    stray = np.array([ORIGIN + 10_500, ORIGIN + 10_501, ORIGIN + 40_000])
    with_strays = rows_of(np.append(rows.start_ms, stray), np.append(rows.elapsed_ms, [5, 5, 5]))
    joined = join(schedule_of(POISSON, 8, end_s=60), with_strays, ORIGIN)
    assert joined.extra == 3
    assert len(joined.missing) == 0
    assert np.nanmin(joined.lateness_ms) >= -EARLY_TOLERANCE_MS
    assert np.nanpercentile(joined.lateness_ms, 95) < 2
    assert np.isnan(joined.lateness_ms).sum() == 3


def test_a_last_sample_after_the_end_is_joined_but_not_asked_for():
    events = [1.0, 2.0, 3.0]
    rows = sent_by_jmeter(events, 1, lambda _: 5)
    joined = join(schedule_of(events, 1, end_s=2.5), rows, ORIGIN)
    assert joined.event.tolist() == [0, 1, 2]
    assert (joined.intended, summarise(joined).sent, joined.extra) == (2, 2, 0)


def test_the_time_that_a_caller_waits_is_rounded_up_to_whole_milliseconds():
    rows = rows_of(np.array([ORIGIN + 100, ORIGIN + 103]), np.array([7, 0]))
    joined = join(schedule_of([0.1, 0.1005]), rows, ORIGIN)
    assert joined.response_ms.tolist() == [7, 3]


@given(runs(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(run, random):
    schedule, rows = run
    order = np.array(random.sample(range(len(rows.start_ms)), len(rows.start_ms)), dtype=np.int64)
    one, other = join(schedule, rows, ORIGIN), join(schedule, pick(rows, order), ORIGIN)
    # As text, since NaN equals nothing, itself included.
    assert str(summarise(one)) == str(summarise(other))
    assert sorted(one.response_ms) == sorted(other.response_ms)


@given(runs())
def test_the_parts_of_a_lateness_add_up_and_no_answer_is_faster_than_it_was(run):
    schedule, rows = run
    joined = join(schedule, rows, ORIGIN)
    matched = joined.event != NO_EVENT
    parts = np.stack([joined.service_ms, joined.plan_ms, joined.generator_ms])[:, matched]
    assert (parts >= 0).all()
    lateness = joined.lateness_ms[matched]
    assert np.allclose(parts.sum(axis=0), np.maximum(lateness, 0), atol=1e-6)
    assert (lateness >= -EARLY_TOLERANCE_MS).all()
    assert (joined.response_ms >= rows.elapsed_ms).all()
    assert (joined.response_ms[matched] >= rows.elapsed_ms[matched] + lateness - 1e-6).all()
    summary = summarise(joined)
    assert summary.sent + summary.missing == summary.intended
    blamed = summary.missing_service + summary.missing_plan + summary.missing_generator
    assert blamed == summary.missing


@given(runs(), st.data())
def test_taking_samples_away_never_raises_what_was_sent(run, data):
    schedule, rows = run
    count = len(rows.start_ms)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), dtype=bool)
    before = summarise(join(schedule, rows, ORIGIN))
    after = summarise(join(schedule, pick(rows, kept), ORIGIN))
    assert after.sent <= before.sent
    assert after.missing >= before.missing


@given(
    st.lists(st.integers(0, 3000), max_size=40).map(sorted),
    st.lists(st.integers(0, 3000), max_size=40).map(sorted),
)
def test_events_grow_from_sample_to_sample_and_none_is_due_after_it(events, starts):
    event_ms, start_ms = np.array(events, dtype=float), np.array(starts, dtype=float)
    joined = align(event_ms, start_ms)
    taken = joined[joined != NO_EVENT]
    assert (np.diff(taken) > 0).all()
    assert (start_ms[joined != NO_EVENT] >= event_ms[taken] - EARLY_TOLERANCE_MS).all()
    # The simplest walk through both lists joins no fewer, and no more where no gap can be proven.
    expected = 0
    for start in starts:
        if expected < len(events) and start >= events[expected] - EARLY_TOLERANCE_MS:
            expected += 1
    assert len(taken) <= expected
    assert len(taken) == expected or len(starts) >= SHORTEST_PROOF
