import re
from itertools import pairwise

import numpy as np
import pytest

from support import PLANS
from tollgate.compare import words
from tollgate.compare.mix import Mix, Part
from tollgate.compare.pace import (
    FIXED,
    SLOWER,
    UNKNOWN,
    UNSEEN,
    Cost,
    Pace,
    cost_of_mix,
    fitting,
    fixed,
    rehearsed,
    slowed,
    usual,
)

PLAN = {"period": 18, "search_lag": 16}


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ((PLANS / "compare.jmx").read_text(), PLAN),
        ("${__P(period,40)}", {"period": 40}),
        ("${__P(search_lag,16)} ${__P(period,0)}", {}),
        ((PLANS / "check.jmx").read_text(), {}),
    ],
    ids=["compare", "period alone", "no period", "check"],
)
def test_the_usual_schedule_is_that_of_the_plan(text, schedule):
    assert usual(text) == schedule


def test_arrivals_are_slowed_in_four_steps_no_one_of_which_is_twice_the_one_before():
    found = [tuple(slowed(PLAN, it).values()) for it in SLOWER]
    assert found == [(18, 16), (28, 25), (40, 23), (64, 57)]
    assert [slowed({"period": 90}, it)["period"] for it in SLOWER] == [90, 140, 200, 320]


def busy_ms(schedule, sum_ms, search_ms):
    """When a sum, the begin of a search and its end, 50 ms later, keep a process busy."""
    period, lag = schedule["period"], schedule["search_lag"]
    spans = [(0, sum_ms), (lag, lag + search_ms), (lag + 50, lag + 50 + 1.5 * search_ms)]
    return sorted((begin + n * period, end + n * period) for begin, end in spans for n in range(30))


@pytest.mark.parametrize("slower", SLOWER)
def test_no_two_requests_of_a_slower_machine_are_due_for_work_at_the_same_time(slower):
    # It takes as much longer as its arrivals are farther apart, at most twice as long.
    longer = min(slower[0], 2)
    spans = busy_ms(slowed(PLAN, slower), 11 * longer, 2 * longer)
    assert all(one[1] <= other[0] + 0.5 for one, other in pairwise(spans))


@pytest.mark.parametrize(
    ("total_ms", "cores", "share", "period_ms"),
    [
        *((18.0, 2, 0.5, 18), (18.1, 2, 0.5, 28), (28.0, 2, 0.5, 28), (28.1, 2, 0.5, 40)),
        *((40.0, 2, 0.5, 40), (40.1, 2, 0.5, 64), (500.0, 2, 0.5, 64)),
        *((28.1, 2, 0.8, 18), (28.1, 8, 0.5, 18)),
    ],
)
def test_the_fastest_schedule_is_taken_that_fits(total_ms, cores, share, period_ms):
    assert fitting(PLAN, Cost(total_ms - 3, 3.0), cores, share)["period"] == period_ms


def test_a_pace_tells_how_busy_it_keeps_the_cores():
    assert Pace(28, 18, "measured", 2, 0.5, Cost(25.0, 3.0)).busy == pytest.approx(0.5)
    assert Pace(18, 18, FIXED, 2, 0.5).busy is None


def test_what_is_set_is_whole_milliseconds():
    assert fixed(PLAN, {"period": "40", "other": 1}) == {"period": 40}
    assert fixed(PLAN, {"search_lag": 0}) == {"search_lag": 0}


@pytest.mark.parametrize(
    ("name", "value"), [("period", 0), ("period", "x"), ("search_lag", -1), ("period", 1.5)]
)
def test_what_is_set_otherwise_is_refused(name, value):
    with pytest.raises(ValueError, match=f"the property {name} is"):
        fixed(PLAN, {name: value})


def test_a_pace_is_told_with_its_reason():
    slower = words.pace(Pace(28, 18, "measured", 2, 0.5, Cost(22.0, 3.0)), {})
    for figure in ("28 ms", "18 ms", "22 ms", "3 ms", "69 %", "50 %"):
        assert re.search(rf"\b{figure}", slower), figure
    slowest = Pace(64, 18, "measured", 2, 0.5, Cost(100.0, 3.0))
    assert words.pace(slowest, {}).endswith("the slowest pace")
    assert len({words.pace(Pace(18, 18, why, 2, 0.5), {}) for why in (FIXED, UNSEEN, UNKNOWN)}) == 3


MIX = Mix((Part("list", ("list",)), Part("order", ("order",))), (3, 1))


def test_of_a_mix_the_cost_of_each_label_is_told_apart_also_where_they_overlap():
    answered = np.array([[20.0, 0], [15, 1], [2, 6], [0, 8]])
    spent = answered @ [2.0, 10.0], answered @ [1.0, 3.0]
    cost = cost_of_mix(answered, *spent, MIX)
    assert cost.labels == pytest.approx({"list": 3.0, "order": 13.0})
    assert (cost.service_ms, cost.generator_ms) == pytest.approx((4.0, 1.5))


@pytest.mark.parametrize(
    ("total_ms", "cores", "period_ms"), [(1.0, 2, 5), (20.5, 2, 21), (700.0, 2, 700), (20.5, 8, 6)]
)
def test_a_mix_comes_as_fast_as_its_share_of_the_cores_lets_it(total_ms, cores, period_ms):
    found = fitting({"period": 33}, Cost(total_ms - 1, 1.0), cores, 0.5, is_mix=True)
    assert found == {"period": period_ms}


def test_a_mix_is_rehearsed_at_its_own_rate_within_bounds():
    assert [rehearsed({"period": it}, True)["period"] for it in (1, 20, 5000)] == [5, 20, 30]
    assert rehearsed(PLAN, False) == slowed(PLAN, SLOWER[1])


def test_a_pace_of_a_mix_tells_the_share_of_each_label():
    told = words.pace(Pace(28, 33, "measured", 2, 0.5, Cost(22.0, 3.0)), {"list": 3, "order": 1})
    for part in ("one every 28 ms", "75 % list", "25 % order", "33 ms"):
        assert part in told
