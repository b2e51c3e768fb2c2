import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.study_blocks import CELL, design
from tollgate.study.design import only, rounds, seconds_of, warm_up
from tollgate.study.lengths import (
    ANSWERS,
    CLAIMED,
    MARGIN,
    MOST_S,
    TURNS,
    Warmed,
    lengthened,
    takes,
    warmed,
)
from tollgate.study.model import CROSSCHECK, JMETER, Block
from tollgate.study.windows import ANOTHER_GENERATOR, CONNECT, Span

ONE = replace(CELL, users=10, seconds=2, lead_s=0.5)
OTHER = replace(ONE, arm="cluster", app="cluster")
BOUND = replace(CELL, experiment="pi", users=10, seconds=60, lead_s=0.0, each=5)


def measured(cells, response_s, over_s=0.1):
    return {cell.key: Warmed(*cell.key, response_s, over_s) for cell in cells}


def warmed_by(cells, *rows):
    """Of blocks of these cells. rows: block, label, users, first and last second, requests."""
    spans = [
        Span(str(block), label, users, round(1000 * first), round(1000 * last), requests)
        for block, label, users, first, last, requests in rows
    ]
    return warmed([Block(number, 0, cell) for number, cell in enumerate(cells, 1)], spans)


# What the warm-up measured.


def test_a_response_time_is_that_of_the_closed_loop_and_a_block_ends_where_the_next_begins():
    rows = ((1, CONNECT, 10, 0.0, 0.1, 10), (1, "sum", 10, 0.1, 2.3, 44))
    found = warmed_by((ONE, OTHER), *rows, (2, CONNECT, 10, 2.5, 2.6, 10))
    assert found == {ONE.key: Warmed("sum", "fork", 10, pytest.approx(0.5), pytest.approx(0.5))}


def test_of_a_block_that_ends_with_its_requests_all_its_time_counts():
    rows = ((1, "pi", 10, 1.0, 11.0, 50), (2, CONNECT, 10, 11.25, 11.3, 10))
    found = warmed_by((BOUND, BOUND), *rows)[BOUND.key]
    assert (found.response_s, found.over_s) == pytest.approx((2, 10.25))


def test_the_last_block_of_a_cell_counts_as_the_first_one_was_cold():
    rows = ((1, "sum", 10, 0.0, 4.0, 10), (2, "sum", 10, 4.0, 6.0, 40))
    found = warmed_by((ONE, ONE, OTHER), *rows, (3, CONNECT, 10, 6.1, 6.2, 1))
    assert found[ONE.key].response_s == pytest.approx(0.5)


def test_cells_without_requests_and_the_block_under_way_are_not_known():
    rows = ((1, CONNECT, 10, 0.0, 0.1, 10), (2, CONNECT, 10, 1.0, 1.1, 10))
    assert warmed_by((ONE, OTHER), *rows) == {}


@pytest.mark.parametrize("seconds", [1, 2, 8, 40])
def test_a_queue_tells_its_response_time_even_by_its_first_answers(seconds):
    """10 users at one server that takes 0.5 s, first come first served."""
    users, service_s = 10, 0.5
    free, asked, ends = 0.0, [0.0] * users, []
    while asked:
        free = max(free, asked.pop(0)) + service_s
        ends.append(free)
        if free < seconds:
            asked.append(free)
    cell = replace(ONE, seconds=seconds)
    rows = ((1, "sum", users, 0.0, free, len(ends)), (2, CONNECT, 1, free, free, 1))
    found = warmed_by((cell, OTHER), *rows)
    assert found[cell.key].response_s == pytest.approx(users * service_s)


def test_another_generator_tells_no_response_time_but_what_its_block_took():
    jmeter, other = only(design(), [CROSSCHECK])
    assert (jmeter.arm, other.users) == (JMETER, jmeter.users)
    rows = (
        (1, ANOTHER_GENERATOR, 1, 0.0, 4.5, 1),
        (2, CROSSCHECK, jmeter.users, 4.75, 7.75, 60),
        (3, CONNECT, 1, 8.0, 8.1, 1),
    )
    found = warmed_by((other, jmeter, ONE), *rows)
    assert found[other.key] == Warmed(*other.key, None, pytest.approx(1.75))
    cells = lengthened([jmeter, other], found)
    assert cells[0].seconds == cells[1].seconds > jmeter.seconds


# How long blocks get.


def test_a_machine_as_fast_as_the_design_expects_gets_the_blocks_of_the_design():
    cells = design()
    assert lengthened(cells, measured(cells, 0.01)) == cells
    assert lengthened(cells, {}) == cells


DESIGNED = st.builds(
    lambda users, seconds, share, experiment, arm: replace(
        CELL, experiment=experiment, arm=arm, users=users, seconds=seconds, lead_s=share * seconds
    ),
    st.sampled_from([1, 10]),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.25, 0.5]),
    st.sampled_from(["sum", "kittens"]),
    st.sampled_from(["fork", "cluster"]),
)


@given(
    st.lists(DESIGNED, min_size=1, max_size=6, unique_by=lambda cell: cell.key),
    st.lists(st.floats(0.001, 20), min_size=6, max_size=6),
)
def test_blocks_hold_enough_answers_of_the_slowest_arm_or_are_as_long_as_may_be(cells, times):
    found = {it.key: Warmed(*it.key, time, 0.0) for it, time in zip(cells, times, strict=False)}
    made = lengthened(cells, found)
    for before, cell in zip(cells, made, strict=True):
        response_s = found[cell.key].response_s
        assert replace(cell, seconds=before.seconds, lead_s=before.lead_s) == before
        assert before.seconds <= cell.seconds <= MOST_S
        assert cell.lead_s / cell.seconds == pytest.approx(before.lead_s / before.seconds, abs=1e-3)
        window_s = cell.seconds - cell.lead_s + 0.001
        if cell.seconds < MOST_S:
            assert window_s >= TURNS * response_s
            assert cell.key not in CLAIMED or window_s * cell.users / response_s >= ANSWERS
    alike = {(cell.experiment, cell.users, cell.seconds) for cell in made}
    assert len(alike) == len({(cell.experiment, cell.users) for cell in cells})


def test_no_block_is_longer_than_its_slowest_arm_needs():
    found = measured([ONE], 1.0) | measured([OTHER], 0.01)
    needed_s = math.ceil(TURNS * 1.0 / 0.75)
    assert {it.seconds for it in lengthened([ONE, OTHER], found)} == {needed_s}


@pytest.mark.parametrize(
    ("response_s", "seconds"), [(8.0, MARGIN * BOUND.each * 8), (500.0, MARGIN * BOUND.seconds)]
)
def test_requests_that_bound_a_block_get_time_to_spare(response_s, seconds):
    assert lengthened([BOUND], measured([BOUND], response_s))[0].seconds == seconds


# What is announced.


def test_the_announced_time_is_the_sum_of_all_planned_blocks():
    cells = design()
    found = {it.key: Warmed(*it.key, 0.3, 0.25) for it in cells if not it.each}
    found |= {it.key: Warmed(*it.key, 0.5, 3.5) for it in cells if it.each}
    planned = lengthened(cells, found)
    blocks = rounds(planned, 21, after=len(warm_up(cells, 21)))
    known = takes(planned, found)
    by_hand = sum(3.5 if b.cell.each else b.cell.seconds + 0.25 for b in blocks)
    assert seconds_of(blocks, known) == pytest.approx(by_hand)
    assert by_hand > sum(b.cell.seconds for b in rounds(cells, 21) if not b.cell.each)
