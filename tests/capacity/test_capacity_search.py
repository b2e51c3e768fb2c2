from dataclasses import replace

import numpy as np
import pytest

from tollgate.capacity.answer import result
from tollgate.capacity.growth import grew
from tollgate.capacity.model import TRUSTED, Ask, CapacitySettings, Limit, Result, Trial, scaling
from tollgate.capacity.search import ceiling_of, next_ask, next_ceiling_ask

LIMITS = (Limit("p95", 250.0, 0.05), Limit("fail", None, 0.001))
SETTINGS = CapacitySettings(LIMITS)
CEILING = 1000.0


def cliff(at, spoilt=lambda _: False):
    """Answers, none of which is over a limit below this rate, and all from there."""

    def answer(ask, began_s):
        n = round(ask.rate * (ask.seconds - SETTINGS.lead_s))
        over = n if ask.rate >= at else 0
        ms = np.inf if over else 20.0
        sound = not spoilt(ask)
        return Trial(ask, ask.rate, n, (over, over), ms, ms, ms, False, 0.2, sound, began_s)

    return answer


def searched(answer, settings=SETTINGS, ceiling=CEILING):
    trials = []
    while ask := next_ask(settings, ceiling, trials):
        began_s = sum(each.ask.seconds + settings.drain_s for each in trials)
        trials.append(answer(ask, began_s))
        assert len(trials) < 100
    return result(settings, ceiling, trials), trials


@pytest.mark.parametrize("at", [13.0, 100.0, 333.3, 700.0])
def test_a_cliff_is_found_between_the_last_rate_that_holds_and_the_first_that_does_not(at):
    found, trials = searched(cliff(at))
    assert (found.status, found.reason, found.holdout) == ("found", "", trials[-1])
    assert found.low <= found.last_pass < at <= found.first_fail <= found.high
    assert found.half_width < 0.05


def test_rates_double_until_the_limits_fail_and_a_minute_below_the_interval_is_the_last():
    found, trials = searched(cliff(100.0))
    asks = [each.ask for each in trials]
    assert [each.rate for each in asks if each.purpose == "bracket"] == [10, 20, 40, 80, 160]
    assert [each.number for each in asks] == list(range(1, len(asks) + 1))
    assert [each.purpose for each in asks].count("holdout") == 1
    assert (asks[-1].purpose, asks[-1].seconds) == ("holdout", SETTINGS.holdout_s)
    assert 0.9 * found.low < asks[-1].rate <= found.low
    assert len({each.rate for each in asks if each.purpose == "anchor"}) == 1


@pytest.mark.parametrize("budget_s", [190.0, 300.0, 600.0])
def test_all_trials_and_their_drains_fit_into_the_budget_and_leave_little_of_it(budget_s):
    settings = replace(SETTINGS, budget_s=budget_s)
    _, trials = searched(cliff(100.0), settings)
    took_s = sum(each.ask.seconds + settings.drain_s for each in trials)
    assert budget_s - settings.trial_s - settings.drain_s < took_s <= budget_s


def test_the_same_trials_lead_to_the_same_asks_and_another_seed_to_others():
    _, trials = searched(cliff(100.0))
    for at, each in enumerate(trials):
        assert next_ask(SETTINGS, CEILING, trials[:at]) == each.ask
    _, others = searched(cliff(100.0), replace(SETTINGS, seed=2))
    assert [each.ask for each in trials] != [each.ask for each in others]


def test_a_search_that_was_cut_short_tells_what_it_knows():
    _, trials = searched(cliff(100.0))
    for count in range(len(trials)):
        found = result(SETTINGS, CEILING, trials[:count])
        assert (found.status, bool(found.reason)) == ("open", True)
    assert found.low <= 100 <= found.high
    bracket = result(SETTINGS, CEILING, trials[:5])
    assert (bracket.last_pass, bracket.first_fail) == (80, 160)


@pytest.mark.parametrize(
    ("at", "status"),
    [
        *((7.0, "found"), (780.0, "found")),  # below the first rate, above what can be trusted
        *((0.5, "below"), (880.0, "unsaturated"), (np.inf, "unsaturated")),
    ],
)
def test_an_answer_is_found_from_the_slowest_rate_up_to_what_the_generator_can_send(at, status):
    found, trials = searched(cliff(at))
    rates = [each.ask.rate for each in trials]
    assert (found.status, found.estimate is None) == (status, status != "found")
    if status == "found":
        assert found.low < at <= found.high
    elif status == "below":
        assert rates == [10, 5, 2.5, 1.25, 1, 1]  # after a second try
    elif at == np.inf:
        assert rates[-1] == TRUSTED * CEILING


def test_an_answer_within_a_fifth_of_the_ceiling_is_the_generators():
    def better(ask, began_s):
        return cliff(750.0 if ask.purpose == "bracket" else 850.0)(ask, began_s)

    found, trials = searched(better)
    assert found.status == "generator"
    assert found.estimate > TRUSTED * CEILING
    assert max(each.ask.rate for each in trials) < CEILING
    assert trials[-1].ask.purpose != "holdout"
    # Nor is one asked that reaches nothing.
    assert next_ask(SETTINGS, 1.0, ()) is None
    assert result(SETTINGS, 1.0, ()).status == "generator"


def test_a_bracket_that_the_generator_does_not_keep_is_open_and_one_late_trial_is_repeated():
    found, trials = searched(cliff(100.0, lambda ask: ask.rate >= 40))
    assert (found.status, "40" in found.reason) == ("open", True)
    assert [each.ask.rate for each in trials] == [10, 20, 40, 40]
    found, trials = searched(cliff(100.0, lambda ask: ask.number == 3))
    assert [each.ask.rate for each in trials[:5]] == [10, 20, 40, 40, 80]
    assert found.status == "found"


def test_trials_that_are_not_sound_are_no_evidence():
    mostly_late = cliff(100.0, lambda ask: ask.purpose != "bracket" and ask.number % 5 != 0)
    found, _ = searched(mostly_late)
    assert (found.status, found.estimate) == ("open", None)
    # Nor does a minute whose schedule was not kept try anything.
    assert searched(cliff(100.0, lambda ask: ask.purpose == "holdout"))[0].status == "open"


def test_a_minute_that_fails_opens_the_answer_and_widens_its_interval():
    def tires(ask, began_s):
        return cliff(60.0 if ask.purpose == "holdout" else 100.0)(ask, began_s)

    found, trials = searched(tires)
    assert (found.status, found.holdout) == ("open", trials[-1])
    assert found.low < result(SETTINGS, CEILING, trials[:-1]).low


@pytest.mark.parametrize("limits", [(Limit("p95", 60_000.0, 0.05),), (LIMITS[1],)])
def test_a_queue_that_grows_is_a_failure_whatever_the_answers_say(limits):
    def queue(ask, began_s):
        due = np.linspace(0, ask.seconds, round(ask.rate * ask.seconds), endpoint=False)
        ms = 30 + 1000 * due * max(0.0, ask.rate / 100 - 1)
        has_grown = grew(due, ms, ask.seconds)
        return Trial(ask, ask.rate, len(ms), (0,), 30, 30, 30, has_grown, 0.2, True, began_s)

    found, _ = searched(queue, CapacitySettings(limits))
    assert found.status == "found"
    assert found.low < 101
    assert found.high > 99
    assert found.half_width < 0.1


def test_a_point_of_a_curve_is_the_median_of_five_neighbours_within_all_of_them():
    found, trials = searched(cliff(100.0))
    sound = sorted(trials, key=lambda each: each.achieved)
    assert set(found.curves) == {"p50", "p95", "p99"}
    curve = found.curves["p95"]
    assert len(curve) == len(trials) - 4
    first = curve[0]
    assert (first.rate, first.ms, first.low_ms, first.high_ms) == (sound[2].achieved, 20, 20, 20)
    assert curve[-1].ms == np.inf


def asked_for_ceiling(most):
    trials = []
    while ask := next_ceiling_ask(trials):
        trials.append(replace(cliff(np.inf)(ask, 0.0), achieved=min(ask.rate, most)))
    return trials


def test_the_ceiling_is_where_the_generator_stops_sending_what_it_is_asked_for():
    trials = asked_for_ceiling(1000.0)
    assert [round(each.ask.rate) for each in trials] == [100, 200, 400, 800, 1600, 1131]
    assert (ceiling_of(trials), ceiling_of([])) == (800, 0)
    unsound = [replace(trials[0], sound=False)]
    assert (next_ceiling_ask(unsound), ceiling_of(unsound)) == (None, 0)
    assert ceiling_of(asked_for_ceiling(np.inf)) == 6400  # the highest rate that is asked


def test_a_ratio_has_the_distances_of_both_intervals():
    one, other = (Result("found", "", each, each / 1.03, each * 1.04) for each in (200.0, 100.0))
    found = scaling("cluster", one, "fork", other)
    assert found.value == 2
    low, high = found.interval
    assert low == pytest.approx(2 / np.exp(np.hypot(np.log(1.03), np.log(1.04))))
    assert high == pytest.approx(2 * np.exp(np.hypot(np.log(1.04), np.log(1.03))))
    assert scaling("cluster", one, "fork", Result("below", "")) is None


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"limits": ()}, "limits"),
        ({"start_rate": 0.5}, "start_rate"),
        ({"lead_s": 5.0}, "lead_s"),
        ({"budget_s": 100.0}, "budget"),
    ],
)
def test_settings_that_cannot_be_are_refused(changed, named):
    with pytest.raises(ValueError, match=named):
        replace(SETTINGS, **changed)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_a_limit_that_cannot_be_kept_or_missed_is_refused(share):
    with pytest.raises(ValueError, match="share"):
        Limit("p95", 250.0, share)


@pytest.mark.parametrize(
    ("changes", "keeps"),
    [({}, True), ({"over": (51, 1)}, False), ({"over": (50, 2)}, False), ({"grew": True}, False)],
)
def test_a_trial_keeps_limits_up_to_what_they_allow(changes, keeps):
    ask = Ask(1, "search", 100.0, 12.0)
    at = Trial(ask, 100.0, 1000, (50, 1), 1.0, 2.0, 3.0, False, 0.1, True, 0.0)
    assert replace(at, **changes).keeps(LIMITS) == keeps
