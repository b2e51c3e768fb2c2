"""A change of level is found where it happened, and noise is not taken for one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tollgate.stats.changes import (
    FEWEST,
    LEAST,
    SIDE,
    chance,
    changes,
    clear_chance,
    runs_needed,
)


def noise(runs, seed, wild=0.05):
    """Runs that differ by some 8 %, and now and then one that took twice as long."""
    rng = np.random.default_rng(seed)
    slow = np.where(rng.random(runs) < wild, 2.0, 1.0)
    return 50 * slow * np.exp(rng.normal(0, 0.08, runs))


def shifted(before, after, factor, seed=1):
    values = noise(before + after, seed)
    values[before:] *= factor
    return values


def places(values):
    return [it.at for it in changes([values])[0]]


def test_a_change_of_level_is_found_where_it_happened():
    (found,) = changes([shifted(20, 20, 1.3)])[0]
    assert abs(found.at - 20) <= 1
    assert found.after / found.before == pytest.approx(1.3, rel=0.1)
    (better,) = changes([shifted(20, 20, 0.7)])[0]
    assert better.share == pytest.approx(-0.3, abs=0.08)
    first, second = places(np.concatenate([noise(20, 1), 1.5 * noise(20, 2), 0.8 * noise(20, 3)]))
    assert abs(first - 20) <= 1
    assert abs(second - 40) <= 1


def test_most_changes_of_a_quarter_are_found_after_ten_runs():
    found = [places(shifted(15, 10, 1.25, seed)) for seed in range(100)]
    assert sum(bool(each) for each in found) >= 80


@pytest.mark.parametrize("runs", [FEWEST, 14, 30, 100])
def test_noise_with_wild_runs_is_hardly_ever_marked(runs):
    alarms = sum(bool(places(noise(runs, seed, wild=0.1))) for seed in range(300))
    # 3 of 300 are expected at the level of 1 %; 9 and more would come up once in 250 times.
    assert alarms <= 8


def test_a_page_of_many_figures_is_not_wrong_more_often_than_one_of_a_single_one():
    pages = [[noise(20, 1000 * page + line) for line in range(30)] for page in range(100)]
    assert sum(any(changes(lines)) for lines in pages) <= 4


@pytest.mark.parametrize("wild", [[30], [10, 25], [37, 38, 39]])
def test_single_wild_runs_and_three_at_the_end_are_no_change(wild):
    values = noise(40, 7, wild=0)
    values[wild] *= 4
    assert places(values) == []


def test_too_few_runs_have_no_change_however_clear_it_looks():
    values = np.r_[np.full(FEWEST // 2, 10.0), np.full(FEWEST - FEWEST // 2 - 1, 90.0)]
    assert places(values) == []


def test_a_level_that_hardly_moved_is_not_marked_and_hides_no_large_step():
    steady = np.r_[np.linspace(100, 100.1, 20), np.linspace(103, 103.1, 20)]
    assert places(steady) == []
    assert places(np.r_[steady[:20], 1 + LEAST + steady[20:] * (1 + LEAST)]) == [20]
    assert places(np.concatenate([np.linspace(it, it + 0.1, 20) for it in (100, 102, 140)])) == [40]


def test_figures_that_never_differ_have_no_change():
    assert changes([np.zeros(50), np.full(50, 3.0)]) == [(), ()]
    assert changes([]) == []
    assert changes([[], [1.0]]) == [(), ()]


def test_from_nothing_to_something_is_a_change_without_a_share():
    (found,) = changes([np.r_[np.zeros(20), np.full(20, 0.4)]])[0]
    assert (found.at, found.before, found.after, found.share) == (20, 0.0, 0.4, None)


@settings(deadline=None)
@given(st.lists(st.integers(1, 9), min_size=10, max_size=30), st.floats(0.01, 1000))
def test_the_unit_of_a_figure_does_not_matter(values, unit):
    assert places(np.array(values, float)) == places(unit * np.array(values, float))


def clear(before, after):
    """Runs that all took 20 ms or so, and then 2 s or so; up and down on either side of that, from
    the fastest before it and the slowest after it, so that no other cut is as strong."""
    return np.r_[zigzag(20, 21, before)[::-1], zigzag(2100, 2000, after)]


def zigzag(first, second, runs):
    """So many values between two, in turns from either end."""
    values = np.linspace(first, second, runs)
    return np.array([values[at // 2 if at % 2 == 0 else -1 - at // 2] for at in range(runs)])


def test_four_runs_that_took_a_hundred_times_as_long_are_too_new_after_eight():
    assert places(clear(8, 4)) == []
    assert places(clear(7, 5)) == [7]
    # Runs that get slower all the time are another matter, which all of them bear out.
    assert places(np.r_[np.linspace(20, 21, 8), np.linspace(2000, 2100, 4)]) == [8]


@pytest.mark.parametrize("figures", [1, 3, 30])
@pytest.mark.parametrize("runs", [10, 12, 15, 16, 24, 40])
def test_a_change_in_the_middle_is_marked_where_there_are_as_many_runs_as_are_needed(runs, figures):
    others = [noise(runs, 100 + at, wild=0) for at in range(figures - 1)]
    found = changes([clear(runs - runs // 2, runs // 2), *others])[0]
    assert bool(found) == (runs >= runs_needed(figures))


def test_more_figures_take_more_runs_and_those_that_moved_with_it_fewer():
    needed = [runs_needed(figures) for figures in (1, 3, 30, 300)]
    assert needed[0] == FEWEST
    assert needed == sorted(set(needed))
    assert runs_needed(30, moved=29) == runs_needed(1) == FEWEST


def test_a_clear_change_is_marked_among_hundreds_of_figures_that_did_not_change():
    others = [noise(24, seed) for seed in range(400)]
    found = changes([clear(12, 12), *others])
    assert [it.at for it in found[0]] == [12]
    assert sum(map(bool, found)) <= 2


def test_a_chance_that_no_random_order_showed_is_counted_exactly():
    # Of the 2,704,156 ways to choose twelve runs of 24 two set them apart as clearly, and so clear
    # a cut is at one place only.
    assert clear_chance(24, 12) == pytest.approx(2 / 2_704_156)
    assert chance(clear(12, 12)) == clear_chance(24, 12)


@pytest.mark.parametrize("runs", [10, 16, 40])
def test_chances_get_smaller_the_clearer_a_cut_is(runs):
    chances = [clear_chance(runs, newest) for newest in range(SIDE, runs // 2 + 1)]
    assert chances == sorted(set(chances), reverse=True)


def test_beside_a_change_that_is_there_hardly_ever_stands_one_that_is_not():
    found = [places(shifted(20, 20, 2.0, seed)) for seed in range(300)]
    assert all(found)
    # At most 3 of some 300 marks may be false; 9 and more would come up once in 250 times.
    assert sum(len(each) - 1 for each in found) <= 8
