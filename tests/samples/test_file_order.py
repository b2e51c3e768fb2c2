"""Rows that go backwards in time are those of a clock that was set back, and no others."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import closed_loop, jtl_rows
from tollgate.samples.order import step_back

HEADER = jtl_rows.HEADER + ",TESTSTART.MS"


@pytest.fixture(scope="module")
def found_in(tmp_path_factory):
    """What the order of these rows, or lines of them, shows."""
    path = tmp_path_factory.mktemp("order") / "kpi.jtl"

    def found(rows, parents=()):
        lines = rows if isinstance(rows[0], str) else closed_loop.lines(rows)
        path.write_text(jtl_rows.jtl(*lines, header=HEADER))
        return step_back(path, parents)

    return found


def some(rng, *choices):
    return lambda: rng.choice(choices)


times = st.lists(st.integers(0, 8000), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 99), st.integers(1, 9), times, times, times)
def test_no_clock_is_said_to_be_set_back_because_something_was_slow(
    found_in, seed, threads, answers, held, pauses
):
    rng = random.Random(seed)
    does = [some(rng, *choices) for choices in (answers, held, pauses)]
    assert found_in(closed_loop.sent(threads, 60_000, *does)) is None


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 99), st.integers(1, 9), st.integers(2000, 40_000), st.integers(5000, 15_000))
def test_a_step_is_found_with_its_size_and_its_moment(found_in, seed, threads, back, at):
    answers = some(random.Random(seed), 5, 90)
    step = found_in(closed_loop.sent(threads, 20_000, answers, step=(at, back)))
    assert back - 100 <= step.back_ms <= back
    assert at - 100 <= step.at_ms - jtl_rows.START_MS <= at + 100


def test_a_wobble_below_a_second_is_no_step(found_in):
    assert found_in(closed_loop.sent(3, 20_000, lambda: 50, step=(9000, 900))) is None


def slow_and_fast(seed, step=None):
    """Two thread groups: one with slow post-processors and think times, one with slow answers."""
    rng = random.Random(seed)
    times = {"held_ms": some(rng, 0, 0, 0, 6000), "pause_ms": some(rng, 0, 3000)}
    held = closed_loop.sent(4, 60_000, some(rng, 5, 40), **times, step=step)
    times = {"pause_ms": some(rng, 0, 500)}
    slow = closed_loop.sent(20, 60_000, some(rng, 20, 9000), **times, step=step, group="others 2")
    return sorted([*held, *slow], key=lambda it: it.written_ms)


@pytest.mark.parametrize("seed", range(3))
def test_slow_answers_post_processors_and_think_times_are_no_step(found_in, seed):
    assert found_in(slow_and_fast(seed)) is None


@pytest.mark.parametrize("seed", range(3))
def test_a_step_among_slow_answers_post_processors_and_think_times_is_found(found_in, seed):
    assert 9000 <= found_in(slow_and_fast(seed, step=(30_000, 12_000))).back_ms <= 12_000


def test_a_file_that_was_sorted_by_start_is_held_to_no_order_of_other_threads(found_in):
    assert found_in(sorted(slow_and_fast(1), key=lambda it: it.start_ms)) is None
    alone = closed_loop.sent(1, 60_000, lambda: 20_000, step=(20_000, 12_000))
    assert [it.start_ms for it in alone] == sorted(it.start_ms for it in alone)
    assert found_in(alone).back_ms == 11_999


def test_rows_of_transactions_begin_before_those_that_they_add_up(found_in):
    rows = closed_loop.lines(closed_loop.sent(1, 20_000, lambda: 2500))
    message = '"Number of samples in transaction : 2, number of failing samples : 0"'
    for at in (6, 4, 2):
        start = (at - 2) * 2501
        total = jtl_rows.row(start, 5001, "both", message=message, thread="visitors 1-1")
        rows.insert(at, f"{total},{jtl_rows.START_MS}")
    assert found_in(rows) is None
    # A parent sample stands in their place, and is a request like others.
    assert found_in(rows, ["both"]).back_ms == 5001


@pytest.mark.parametrize("step", [None, (9000, 6000)])
def test_parts_of_a_page_stand_behind_it_and_begin_before_its_end(found_in, step):
    pages = closed_loop.sent(3, 20_000, lambda: 2000, step=step)
    rows = [
        replace(page, start_ms=page.start_ms + at, elapsed_ms=elapsed)
        for page in pages
        for at, elapsed in ((0, 2000), (100, 1900), (10, 500))
    ]
    found = found_in(rows)
    assert (found and found.back_ms) == (step and 5999)
