"""Points of charts over time: no sample is lost, and percentiles are those of all samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tollgate.report.pages.run.grid import MOST_POINTS, MOST_ROWS, Binned, Grid
from tollgate.report.pages.run.intended import Intended
from tollgate.stats.counts import Counts

SAMPLES = st.lists(
    st.tuples(st.integers(-5, 5000), st.integers(0, 900), st.booleans()), min_size=1, max_size=80
)


def counted(samples):
    second, elapsed, ok = zip(*samples, strict=True)
    return Counts.of(second, elapsed, ok)


@settings(deadline=None)
@given(SAMPLES, st.integers(0, 40), st.integers(2, 50))
def test_every_sample_is_in_a_bin_and_percentiles_are_numpys_of_those_in_it(samples, border, most):
    counts = counted(samples)
    grid = Grid.of([counts], border, most)
    binned = Binned(counts, grid)
    assert binned.n.sum() == counts.total
    assert binned.errors.sum() == counts.errors
    assert grid.count <= most
    for number, start in enumerate(grid.starts.tolist()):
        mine = [ms for at, ms, _ in samples if start <= at < start + grid.width]
        assert binned.n[number] == len(mine)
        for p in (0, 50, 95, 99, 100):
            value = binned.percentile(p)[number]
            assert np.isnan(value) if not mine else value == np.percentile(mine, p)


@settings(deadline=None)
@given(SAMPLES, st.floats(0, 40))
def test_the_warm_ups_end_is_a_border_so_that_no_point_is_half_judged(samples, warmup):
    grid = Grid.of([counted(samples)], warmup)
    for each in (grid, grid.coarser()):
        assert (np.ceil(warmup) - each.first) % each.width == 0
    assert grid.coarser().count <= MOST_ROWS
    assert Binned(counted([*samples]), grid.coarser()).n.sum() == len(samples)


def test_two_days_by_the_second_have_no_more_points_than_a_screen_can_show():
    counts = Counts.of(np.arange(172_800), np.full(172_800, 7))
    grid = Grid.of([counts], 60)
    assert MOST_POINTS / 2 < grid.count <= MOST_POINTS
    binned = Binned(counts, grid)
    rates = binned.n / grid.lengths
    assert (rates == 1).all()
    assert Binned(counts, grid.coarser()).n.sum() == 172_800


def test_bins_of_a_long_run_are_never_cut_in_two():
    second = np.arange(30, 172_800, 48)
    counts = Counts.of(second, np.full(len(second), 7), n=np.full(len(second), 48), width=48)
    grid = Grid.of([counts], 30)
    assert grid.width % 48 == 0
    assert (Binned(counts, grid).n / grid.lengths == 1).all()


def test_without_samples_there_is_no_grid():
    assert Grid.of([Counts.of([], [])], 5) is None


def test_what_was_meant_to_be_sent_is_in_the_grid_and_its_last_bin_tells_the_true_rate():
    sent = Counts.of(np.arange(5, 3601), np.full(3596, 7))
    meant = Intended(np.arange(2, 3660), np.full(3658, 10))
    grid = Grid.of([sent], 60, 62, meant=meant.span)
    assert (grid.begin, grid.end, grid.width) == (2, 3660, 60)
    assert meant.rates(grid) == pytest.approx(10)
    assert meant.rates(grid.coarser()) == pytest.approx(10)
    assert Intended(np.zeros(0, np.int64), np.zeros(0, np.int64)).span is None


def test_maxima_are_of_what_is_known():
    grid = Grid(0, 10, 3, 0, 30)
    maxima = grid.maxima(np.array([1.0, 2, 3, 25, 31]), np.array([1.0, np.nan, -3, np.nan, 9]))
    assert maxima.tolist() == pytest.approx([1, np.nan, np.nan], nan_ok=True)


def test_means_leave_out_what_is_not_known():
    grid = Grid(0, 10, 3, 0, 30)
    means = grid.means(np.array([1.0, 2, 3, 25]), np.array([1.0, np.nan, 3, np.nan]))
    assert means.tolist() == pytest.approx([2, np.nan, np.nan], nan_ok=True)
