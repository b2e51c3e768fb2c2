"""Only what is comparable is one series; a rise since the anchor and new steps gate."""

from dataclasses import replace

import numpy as np
import pytest

from support.histories import ANCHOR, EFFECTS, changed, measure, nights, noise, record, stepped
from tollgate.history.series import FALSE_ALARM, executions
from tollgate.stats.steps import steps

NEWEST = 7


def only(records, **more):
    (found,) = executions(records, **more)
    return found


def ratios(seed, nights, *steps, before=0.0):
    rng = np.random.default_rng(seed)
    return before + np.expm1(stepped(nights, *steps) + noise(rng, nights, wild=0))


def test_a_step_gates_for_as_many_runs_as_were_asked_for_and_is_shown_for_ever():
    changes = ratios(1, 80, (40, 0.05), before=-0.2)
    seen = only(nights(changes)).series[0].steps[0].seen
    for runs in range(seen, len(changes) + 1):
        (series,) = only(nights(changes[:runs])).series
        assert bool(series.newly_risen(NEWEST)) == (seen < runs <= seen + NEWEST)
        assert len(series.steps) == (runs > seen)
        assert not series.is_risen


def test_a_step_down_does_not_gate():
    (series,) = only(nights(ratios(2, 60, (50, -0.05)))).series
    assert [it.rise < 0 for it in series.steps] == [True]
    assert series.newly_risen(60) == ()


def test_a_small_rise_that_lasts_is_beyond_the_effect_after_seven_runs():
    changes = [0.055] * 7
    risen = [only(nights(changes[:runs])).series[0].is_risen for runs in range(1, 8)]
    assert risen == [False] * 6 + [True]


def test_a_large_rise_is_known_by_the_own_interval_of_a_first_run_and_of_the_newest_two():
    def is_risen(*changes):
        return only(nights(changes)).series[0].is_risen

    assert is_risen(0.2)
    assert is_risen(0.0, 0.2, 0.2)
    assert not is_risen(0.0, 0.0, 0.2)
    assert not is_risen(0.06)


def test_a_rise_that_the_newest_two_runs_prove_is_theirs_and_not_that_of_the_runs_before():
    (found,) = only(nights([0.0] * 20 + [0.2, 0.22])).series
    assert found.is_risen
    assert found.rise == pytest.approx(0.21)
    (flat,) = only(nights([0.01] * 20)).series
    assert flat.rise == flat.now == pytest.approx(0.01)


def gates(*measures, name="sum", metric="p50", before=3):
    """Whether the newest run gates by the last of its measures, after quiet ones."""
    quiet = [record(it, measure(name, metric, 0.0)) for it in range(before)]
    newest = [record(before + at, it) for at, it in enumerate(measures)]
    (series,) = only([*quiet, *newest]).series
    return series.gates(NEWEST)


@pytest.mark.parametrize("metric", ["typical", "p50", "p95", "tail"])
def test_a_single_run_gates_by_a_time_whose_whole_interval_lies_beyond_four_effects(metric):
    rng = np.random.default_rng(11)
    for effects, half in zip(rng.uniform(0.5, 8, 200), rng.uniform(0.01, 1, 200), strict=True):
        effect = EFFECTS[metric]
        slow = measure("sum", metric, effects * effect, half * effects * effect)
        assert gates(slow, metric=metric) == (effects * (1 - half) > 4)
        assert not gates(replace(slow, failed=False), metric=metric)
        assert not gates(slow, measure("sum", metric, 0.0), metric=metric)


@pytest.mark.parametrize("metric", ["errors", "stalls", "a metric of tomorrow"])
def test_a_single_run_gates_by_its_fail_of_any_metric_that_is_no_time(metric, monkeypatch):
    monkeypatch.setitem(EFFECTS, metric, EFFECTS.get(metric, 0.04))
    slightly = measure("sum", metric, 0.6 * EFFECTS[metric], 0.59 * EFFECTS[metric])
    assert slightly.failed
    assert gates(slightly, metric=metric)
    assert not gates(slightly, measure("sum", metric, 0.0, 0.1), metric=metric)
    largely = measure("sum", metric, 1.2 * EFFECTS[metric], 0.1 * EFFECTS[metric])
    assert not gates(replace(largely, failed=False), metric=metric)


def test_of_a_record_that_does_not_say_what_failed_the_interval_decides():
    for value, at_once in ((0.004, True), (0.0025, False)):
        old = replace(measure("sum", "errors", value, 0.001), failed=None)
        assert gates(old, metric="errors") == at_once
    assert gates(replace(measure("sum", "p50", 9.0), failed=None))
    assert not gates(replace(measure("sum", "p50", 0.21), failed=None))


def test_what_is_not_beyond_doubt_is_doubtful_and_does_not_gate():
    def is_doubtful(*changes, metric="p50"):
        (series,) = only(nights(changes, metric=metric)).series
        assert not series.gates(NEWEST)
        return series.is_doubtful(NEWEST)

    assert is_doubtful(0.0, 0.0, 0.1)  # the newest run alone
    assert is_doubtful(0.0, *[0.0, 9.0] * 5, 0.0)  # every second run failed
    assert is_doubtful(0.0, 9.0, *[0.0] * 6)  # one of the newest seven did
    assert not is_doubtful(0.0, 9.0, *[0.0] * 7)
    assert not is_doubtful(*[0.04] * 9)


def test_a_run_without_an_interval_says_nothing_by_itself():
    runs = [record(it, replace(measure("sum", "p50", 0.2), low=None)) for it in range(3)]
    assert not only(runs).series[0].is_risen


def test_the_newest_anchor_and_setup_count_unless_another_anchor_is_named():
    later = replace(ANCHOR, description="9f8e7d6 (v1.3)", revision="9f8e7d6" + 33 * "0")
    old = nights([0.1, 0.1, 0.1])
    new = [record(it, measure("sum", "p50", 0.0), anchor=later) for it in (3, 4)]
    found = only([*old, *new])
    assert (found.anchor, len(found.runs), found.left_out) == (later, 2, 3)
    for name in ("v1.2", "1a2b3c4", ANCHOR.revision):
        named = only([*old, *new], anchor=name)
        assert (named.anchor, len(named.runs)) == (ANCHOR, 3)
    assert executions([*old, *new], anchor="v9") == []
    found = only([*old, changed(old, setup="other")])
    assert (len(found.runs), found.left_out) == (1, 3)


def test_of_a_run_the_records_until_then_and_its_own_anchor_count_and_no_other_execution():
    later = replace(ANCHOR, description="9f8e7d6 (v1.3)", revision="9f8e7d6" + 33 * "0")
    old = nights([0.1, 0.1, 0.1])
    new = [record(it, measure("sum", "p50", 0.0), anchor=later) for it in (3, 4)]
    check = record(1, measure("sum", "p95", 9.0, effect=False), kind="check", anchor=None)
    records = [*old[:2], check, old[2], *new]
    for run, runs, left_out in ((old[1], 2, 0), (old[2], 3, 0), (new[0], 1, 3)):
        found = only(records, run=run.id)
        assert found.anchor == run.executions[0].anchor
        assert (len(found.runs), found.left_out) == (runs, left_out)
    assert only(records, run=check.id).kind == "check"
    assert executions([*records, replace(check, id="f" * 64, executions=())], run="f" * 64) == []


def test_a_check_is_followed_without_a_gate():
    took = 100 * (1 + ratios(3, 60, (40, 0.5)))
    runs = [
        record(at, measure("sum", "p95", it, effect=False), kind="check", anchor=None)
        for at, it in enumerate(took)
    ]
    found = only(runs)
    (series,) = found.series
    assert found.anchor is None
    assert [it.at for it in series.steps] == [40]
    assert series.now == pytest.approx(150, rel=0.02)
    assert (series.is_risen, series.newly_risen(60)) == (False, ())


def test_a_metric_that_some_runs_lack_is_a_series_of_the_others():
    runs = nights(ratios(4, 60, (40, 0.05)))
    for at in range(0, 30, 3):
        runs[at] = record(at, measure("search", "p50", 0.0))
    found = only(runs)
    by_label = {it.label: it for it in found.series}
    (step,) = by_label["sum"].steps
    assert by_label["sum"].at[step.at] == 40
    assert len(by_label["search"].measures) == 10


def test_steps_of_several_metrics_at_one_place_are_one_move_with_the_fewest_runs_between():
    clear, blurred = ratios(5, 80, (50, 0.05)), ratios(8, 80, (50, 0.02))
    runs = [
        record(at, measure("sum", "p50", clear[at]), measure("sum", "typical", blurred[at]))
        for at in range(80)
    ]
    found = only(runs)
    steps = {it.metric: it.steps[0] for it in found.series}
    assert (steps["p50"].first, steps["p50"].last) == (50, 50)
    assert (steps["typical"].first, steps["typical"].last) == (49, 51)
    (move,) = found.moves
    assert sorted(series.metric for series, _ in move.steps) == ["p50", "typical"]
    assert (move.before, move.first, move.last) == (49, 50, 50)


def test_two_steps_far_apart_are_two_moves():
    found = only(nights(ratios(6, 120, (40, 0.05), (90, 0.05))))
    assert [(it.before, it.first, it.last) for it in found.moves] == [(39, 40, 40), (89, 90, 90)]


@pytest.mark.parametrize(("before", "after"), [(9, 8), (20, 5), (48, 3)])
def test_so_many_runs_show_a_step_in_one_of_13_series_and_one_fewer_does_not(before, after):
    values = [1.0] * before + [1.1] * after
    found = steps(values, FALSE_ALARM / 13, 0.025)
    assert [(it.at, it.seen) for it in found] == [(before, len(values) - 1)]


def test_all_series_share_the_error_whatever_their_values_and_also_those_that_end():
    every = record(0, *(measure(f"label {it}", "p50", 0.0) for it in range(13)))
    assert only([every]).needed == 17
    assert only([every, record(1, measure("label 1", "p50", 0.1))]).needed == 17
    assert only(nights([0.0])).needed == 13
