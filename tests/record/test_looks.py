"""When an execution that may end early is looked at."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.criteria.grammar import parse_all
from tollgate.record.interim_schedule import (
    EVERY_S,
    FIRST_S,
    LONGEST_LAG_S,
    SHORTEST_LAG_S,
    InterimSchedule,
)
from tollgate.stats.sequential import LEAST_STEP

LENGTHS = st.floats(0.5, 1e6)


@given(LENGTHS, LENGTHS)
def test_looks_lie_as_far_apart_as_their_levels_need(least_s, budget_s):
    looks = InterimSchedule.of(least_s, budget_s)
    moments = looks.moments
    assert moments[-1] == looks.budget_s == max(least_s, budget_s)
    steps = [later - sooner for sooner, later in pairwise(moments)]
    assert all(it >= LEAST_STEP * looks.budget_s for it in steps)
    assert all(it <= 1.5 * looks.every_s * (1 + 1e-9) for it in steps)
    assert moments[0] >= min(FIRST_S, least_s, looks.budget_s)


@given(LENGTHS, st.floats(1.5, 100))
def test_an_execution_is_looked_at_when_it_may_pass_first(least_s, times):
    looks = InterimSchedule.of(least_s, least_s * times)
    nearest = min(looks.moments, key=lambda it: abs(it - least_s))
    is_end = looks.budget_s - least_s <= looks.every_s / 2
    assert math.isclose(nearest, looks.budget_s if is_end else least_s)


def test_a_check_is_looked_at_every_ten_seconds():
    moments = InterimSchedule.of(30.0, 240.0).moments
    assert moments == tuple(EVERY_S * number for number in range(1, 25))


LAGS = {
    ("avg-rt>2500ms", "p95>1s", "fail>0%"): 2.5,
    ("p50>20ms",): SHORTEST_LAG_S,
    ("p99>60s",): LONGEST_LAG_S,
    ("fail>0%", "p95>3s for 10s"): SHORTEST_LAG_S,
}


@pytest.mark.parametrize(("criteria", "lag_s"), LAGS.items())
def test_answers_are_waited_for_as_long_as_they_may_take(criteria, lag_s):
    assert InterimSchedule.of(30.0, 240.0).with_lag(parse_all(criteria)).lag_s == lag_s
