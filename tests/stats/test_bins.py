"""Pieces of time longer than a second, for runs of many hours."""

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.stats.bins import LONGEST_BY_SECOND_S, MOST_BINS, Bins

HOUR = 3600


@pytest.mark.parametrize(
    ("measured_s", "width"),
    [(None, 1), (60, 1), (6 * HOUR, 1), (6 * HOUR + 1, 7), (24 * HOUR, 24), (48 * HOUR, 48)],
)
def test_a_run_has_a_bounded_number_of_bins_however_long_it_is(measured_s, width):
    assert Bins.of(30, measured_s).width_s == width
    assert (measured_s or 0) / width <= max(MOST_BINS, LONGEST_BY_SECOND_S)


@given(
    st.integers(1, 50),
    st.integers(0, 90),
    st.none() | st.integers(100, 900),
    st.lists(st.integers(-200, 2000), min_size=1),
)
def test_sql_and_numpy_agree_and_no_bin_crosses_the_warm_ups_end_or_the_runs(
    width, start, end, seconds
):
    bins, second = Bins(width, start, end), np.array(seconds)
    begin = bins.begin(second)
    assert ((begin <= second) & (second < begin + width)).all()
    for border in (start, end):
        if border is not None and width > 1:
            assert ((begin >= border) == (second >= border)).all()
    with duckdb.connect() as con:
        sql = bins.sql("second")
        found = con.execute(f"SELECT {sql} FROM (SELECT unnest({seconds}) AS second)").fetchall()
    assert [row for (row,) in found] == begin.tolist()


def test_a_warm_up_of_half_seconds_begins_the_bins_with_the_next_whole_one():
    bins = Bins.of(2.5, 24 * HOUR)
    assert (bins.start_s, bins.end_s) == (3, 24 * HOUR + 3)
