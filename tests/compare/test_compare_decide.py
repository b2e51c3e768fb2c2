import dataclasses
import math
import re

import numpy as np
import pytest

from support.compared import SHORT, compared, finding, judged, runs, verdicts
from tollgate.compare import decide
from tollgate.compare.decide import close, look, next_look_s
from tollgate.compare.errors import ShareRise
from tollgate.compare.estimates import LogRatio
from tollgate.compare.model import (
    ERRORS,
    FAIL,
    IMPROVED,
    INCONCLUSIVE,
    INFORMATIONAL,
    OPEN,
    PASS,
    SHARES,
    STALLS,
    Blocks,
    Gate,
    GateSettings,
    Side,
)
from tollgate.stats.sequential import nominal_level

EMPTY = Blocks("a", np.array([1]), *[Side(np.zeros((60, 1), int), np.zeros(60, int))] * 2)


def seen(monkeypatch, changes, gate=None, at_s=120.0, labels=("a",)):
    """The gate after a look that sees these changes: (log ratio, standard error) by metric."""

    def change_of(blocks, metric):
        if metric in SHARES:
            return changes.get(metric, ShareRise((0, 0), (10**6, 10**6), 1.0, metric=metric))
        value, error = changes.get((blocks.label, metric), changes.get(metric, (0.0, 0.001)))
        return LogRatio(metric, 100.0, 100 * math.exp(value), value, error, 1e6)

    monkeypatch.setattr(decide, "change_of", change_of)
    parts = [dataclasses.replace(EMPTY, label=label) for label in labels]
    return look(gate or Gate(GateSettings()), parts, at_s)


@pytest.mark.parametrize(
    ("percent", "error", "verdict"),
    [
        (5.0, 0.008, FAIL),
        (3.0, 0.0075, FAIL),
        (2.0, 0.004, PASS),  # slower beyond doubt, but by less than matters
        (0.0, 0.01, PASS),
        (0.0, 0.03, OPEN),
        (5.0, 0.02, OPEN),
        (4.0, 0.001, PASS),
        (-8.0, 0.01, IMPROVED),
        (-1.0, 0.001, PASS),
    ],
)
def test_a_label_is_judged_by_both_ends_of_its_interval(monkeypatch, percent, error, verdict):
    gate = seen(monkeypatch, {"p50": (math.log1p(percent / 100), error)})
    found = finding(gate, "p50", "a")
    assert found.verdict == verdict
    assert found.change == pytest.approx(percent / 100)
    assert found.low < found.change < found.high
    assert found.decided == (verdict != OPEN)


def test_p99_and_mean_are_told_and_decide_nothing(monkeypatch):
    gate = seen(monkeypatch, {"p99": (1.0, 0.01), "mean": (1.0, 0.01)})
    assert finding(gate, "p99", "a").verdict == INFORMATIONAL
    assert finding(gate, "p99", "a").low > 1
    assert gate.verdict == PASS
    assert gate.finished


def test_holm_gives_the_error_of_what_was_refused_to_the_rest(monkeypatch):
    settings = GateSettings()
    by = {m: nominal_level((0.2,), settings.false_alarm / m) for m in (4.1, 3.1)}
    limits = {m: LogRatio("p50", 1, 1, 0.0, 0.01, 1e6).high(level) for m, level in by.items()}
    between = (limits[4.1] + limits[3.1]) / 2
    alone = seen(monkeypatch, {"p95": (between, 0.01)})
    assert finding(alone, "p95", "a").verdict != FAIL
    both = seen(monkeypatch, {"p95": (between, 0.01), "p50": (0.2, 0.01)})
    assert finding(both, "p50", "a").verdict == FAIL
    assert finding(both, "p95", "a").refused


def test_stalls_have_a_tenth_of_the_error_of_another_metric(monkeypatch):
    wanted = {m: nominal_level((0.2,), GateSettings().false_alarm / m) for m in (4.1, 41)}
    of = {m: ShareRise((0, 60), (1000, 1000), 6.0, metric=STALLS).low(wanted[m]) for m in wanted}
    assert of[41] < of[4.1]
    stalled = ShareRise((0, 60), (1000, 1000), 6.0, metric=STALLS)
    gate = seen(monkeypatch, {STALLS: stalled})
    assert finding(gate, STALLS, "a").low == of[41]


def test_more_labels_ask_for_more_certainty(monkeypatch):
    one = seen(monkeypatch, {"p50": (0.05, 0.0125)})
    many = seen(monkeypatch, {"p50": (0.05, 0.0125)}, labels=tuple("abcdefgh"))
    assert finding(one, "p50", "a").low > finding(many, "p50", "a").low
    assert finding(one, "p50", "a").high == finding(many, "p50", "a").high


def test_a_decision_stays_but_for_a_failure_after_a_pass(monkeypatch):
    failed = seen(monkeypatch, {"p50": (0.1, 0.01)}, at_s=60.0)
    calm = seen(monkeypatch, {"p50": (0.0, 0.001)}, failed, at_s=90.0)
    assert finding(calm, "p50", "a") == finding(failed, "p50", "a")
    later = seen(monkeypatch, {"p50": (0.1, 0.01)}, calm, at_s=120.0)
    assert finding(later, "p50", "a").at_s == 60
    passed = seen(monkeypatch, {"p50": (0.0, 0.001)}, at_s=60.0)
    worse = seen(monkeypatch, {"p50": (0.1, 0.01)}, passed, at_s=90.0)
    assert finding(worse, "p50", "a").verdict == FAIL
    faster = seen(monkeypatch, {"p50": (-0.1, 0.01)}, passed, at_s=90.0)
    assert finding(faster, "p50", "a").verdict == IMPROVED


def test_what_is_open_names_the_time_that_would_decide_and_ends_inconclusive(monkeypatch):
    gate = seen(monkeypatch, {"p50": (0.0, 0.03)}, at_s=300.0)
    found = finding(gate, "p50", "a")
    assert (gate.verdict, gate.finished) == (OPEN, False)
    assert found.more_s > 60
    assert found.reason.startswith("cannot tell: some ")
    ended = close(gate)
    assert (ended.verdict, ended.finished) == (INCONCLUSIVE, True)
    assert finding(ended, "p95", "a").verdict == PASS


def test_what_takes_far_more_samples_is_not_told_by_a_figure(monkeypatch):
    told = [
        finding(seen(monkeypatch, {"p50": (0.0, error)}), "p50", "a") for error in (0.02, 0.06, 0.5)
    ]
    assert re.search(r"some \d\.\d times as many", told[0].reason)
    assert re.search(r"some 1\d times as many", told[1].reason)
    assert told[2].reason == "cannot tell: far more samples would"
    assert (told[1].more_s > 0, told[2].more_s) == (True, None)


def test_a_bias_that_no_number_of_samples_takes_away_lets_only_large_changes_be_told(monkeypatch):
    def change_of(_, metric):
        if metric in SHARES:
            return ShareRise((0, 0), (10**6, 10**6), 1.0, metric=metric)
        return LogRatio(metric, 7.0, 7.0, found, 0.001, 1e6, coarse=0.04, among="7 to 8 ms")

    monkeypatch.setattr(decide, "change_of", change_of)
    verdicts = []
    for found in (-0.1, 0.0, 0.03, 0.1):
        p50 = finding(look(Gate(GateSettings()), [EMPTY], 120.0), "p50", "a")
        verdicts.append(p50.verdict)
        if found == 0.03:
            assert p50.reason.startswith("cannot tell: JMeter's whole milliseconds are too coarse")
            assert "among those of 7 to 8 ms" in p50.reason
            assert p50.more_s is None
        assert p50.is_coarse is (found == 0.03)
    assert verdicts == [IMPROVED, PASS, OPEN, FAIL]


def failing(base, head, ratio=1.0, seconds=120, label="a", **service):
    rng = np.random.default_rng(23)
    more = {"rate": 40, "sigma": 0.2, "label": label} | service
    return compared(rng, seconds, ratio=ratio, failing=(base, head), **more)


@pytest.mark.parametrize(("shares", "side"), [((0.2, 0.0), "base"), ((0.0, 0.6), "head")])
def test_times_of_a_side_that_fails_many_requests_are_of_other_work(shares, side):
    gate = judged([failing(*shares, ratio=0.5)], GateSettings(budget_s=120.0))
    for metric in ("p50", "p95"):
        found = finding(gate, metric, "a")
        assert found.verdict == INCONCLUSIVE
        assert re.search(
            rf"\d % of {side}'s requests failed: the times are not of the same work", found.reason
        )
        assert (found.change, found.low) == (None, None)
    assert finding(gate, "mean", "a").verdict == INFORMATIONAL
    assert "not of the same work" in finding(gate, "mean", "a").reason
    assert finding(gate, ERRORS, "a").verdict == (FAIL if side == "head" else IMPROVED)


def test_a_head_that_fails_fast_has_not_improved_where_errors_have_no_say():
    settings = GateSettings(budget_s=120.0, gates=("p50", "p95"))
    gate = judged([failing(0.0, 0.6, ratio=0.5)], settings)
    assert gate.verdict == INCONCLUSIVE
    assert judged([failing(0.0, 0.04, ratio=0.5)], settings).verdict == PASS


def test_a_pass_is_void_once_the_times_are_of_other_work(monkeypatch):
    passed = seen(monkeypatch, {"p50": (0.0, 0.001), "p95": (0.2, 0.001)}, at_s=60.0)
    assert finding(passed, "p50", "a").verdict == PASS
    monkeypatch.setattr(decide, "unlike_work", lambda _: "7 % of head's requests failed")
    later = seen(monkeypatch, {}, passed, at_s=90.0)
    assert finding(later, "p50", "a").verdict == OPEN
    assert finding(later, "p95", "a").verdict == FAIL


def test_a_failure_outweighs_what_is_open_and_ends_the_measuring_unless_told_not_to(monkeypatch):
    changes = {"p50": (0.1, 0.001), "p95": (0.0, 0.1)}
    gate = seen(monkeypatch, changes)
    assert (gate.verdict, gate.finished) == (FAIL, True)
    assert [it.key for it in close(gate).left_open] == [("a", "p95")]
    assert next_look_s(gate, 30.0) is None
    on = seen(monkeypatch, changes, Gate(GateSettings(fail_fast=False)))
    assert (on.verdict, on.finished, on.left_open) == (FAIL, False, ())
    assert next_look_s(on, 30.0) == 150


@pytest.mark.parametrize(("error", "verdict"), [(0.009, FAIL), (0.004, PASS)])
def test_a_rise_below_the_effect_passes_where_it_is_known_to_be_and_else_fails(
    monkeypatch, error, verdict
):
    """At +3.5 % both may be true: worse beyond doubt, and smaller than 5 %. The pass goes first."""
    gate = seen(monkeypatch, {"p50": (math.log1p(0.035), error)}, at_s=300.0)
    found = finding(gate, "p50", "a")
    assert (found.verdict, found.low > 0) == (verdict, True)


def test_the_typical_request_has_an_effect_of_its_own(monkeypatch):
    changes = {"typical": (0.018, 0.001), "p50": (0.018, 0.001)}
    gate = seen(monkeypatch, changes, Gate(GateSettings(typical_effect=0.01)))
    assert [finding(gate, it, "a").verdict for it in ("typical", "p50")] == [FAIL, PASS]


def test_no_samples_are_no_pass():
    gate = look(Gate(GateSettings()), [EMPTY], 60.0)
    assert gate.verdict == OPEN
    assert finding(gate, "p50", "a").reason == "cannot tell: 0 samples on one side, p50 needs 40"
    assert close(gate).verdict == INCONCLUSIVE


def test_labels_that_change_or_are_missing_are_refused():
    gate = look(Gate(GateSettings()), [EMPTY], 60.0)
    with pytest.raises(ValueError, match="labels changed"):
        look(gate, [dataclasses.replace(EMPTY, label="b")], 90.0)
    for labels in ([], [EMPTY, EMPTY]):
        with pytest.raises(ValueError, match="needs labels, each once"):
            look(Gate(GateSettings()), labels, 60.0)


def test_looks_go_on_until_the_budget_and_end_with_it():
    gate, at = Gate(GateSettings(budget_s=100.0)), []
    while (at_s := next_look_s(gate, 20.0, 30.0)) is not None:
        at.append(at_s)
        gate = look(gate, [EMPTY], at_s)
    assert at == [30, 50, 70, 100]


@pytest.mark.parametrize(
    ("first_s", "every_s", "last_s"),
    [(598, 30, 598), (597, 30, 600), (600, 30, 600), (61, 3, 600), (1000, 30, 600)],
)
def test_no_two_looks_are_nearer_than_they_may_be(first_s, every_s, last_s):
    gate = Gate(GateSettings())
    open_ = look(gate, [EMPTY], 60.0).findings
    while (at_s := next_look_s(gate, every_s, first_s)) is not None:
        gate = Gate(gate.settings, (*gate.looks_s, at_s), open_)
    assert gate.looks_s[-1] == last_s
    fractions = tuple(each / 600 for each in gate.looks_s[-2:])
    assert nominal_level(fractions, 0.01) > 0  # which refuses looks that are too near


@pytest.mark.parametrize(
    "wrong", [{"effect": 0}, {"false_alarm": 0.7}, {"gates": ("p75",)}, {"gates": ()}]
)
def test_settings_without_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        GateSettings(**wrong)


def test_of_60_runs_5_percent_slower_57_fail_at_the_median_within_two_minutes():
    gates = runs(np.random.default_rng(13), 60, SHORT, rate=60, sigma=0.2, ratio=1.05)
    early = [finding(gate, "p50") for gate in gates]
    assert sum(each.verdict == FAIL and each.at_s <= 120 for each in early) >= 57


def test_of_60_runs_5_percent_slower_57_fail_at_p95_within_ten_minutes():
    gates = runs(
        np.random.default_rng(14), 60, GateSettings(fail_fast=False), rate=40, sigma=0.3, ratio=1.05
    )
    assert verdicts(gates, "p95").count(FAIL) >= 58


@pytest.mark.parametrize(("ratio", "within_s"), [(1.1, 150), (1.2, 90)])
def test_larger_regressions_of_the_median_are_found_sooner(ratio, within_s):
    gates = runs(np.random.default_rng(15), 40, SHORT, rate=30, ratio=ratio)
    found = [finding(gate, "p50") for gate in gates]
    assert all(each.verdict == FAIL for each in found)
    assert np.mean([each.at_s <= within_s for each in found]) >= 0.9


def test_asking_for_an_estimate_of_the_whole_effect_would_miss_regressions_of_that_size():
    whole = dataclasses.replace(SHORT, fail_from=1.0)
    gates = runs(np.random.default_rng(16), 60, whole, rate=60, sigma=0.2, ratio=1.05)
    assert verdicts(gates, "p50").count(FAIL) < 54


def test_a_faster_candidate_has_improved():
    gates = runs(np.random.default_rng(17), 20, SHORT, rate=40, ratio=0.8)
    assert verdicts(gates, "p50").count(IMPROVED) >= 19
    assert not any(gate.verdict == FAIL for gate in gates)


@pytest.mark.parametrize(("failing", "least"), [((0, 0.01), 30), ((0.01, 0.03), 30)])
def test_a_rise_of_the_error_rate_fails(failing, least):
    gates = runs(np.random.default_rng(18), 30, SHORT, rate=40, failing=failing)
    assert verdicts(gates, ERRORS).count(FAIL) >= least


def test_two_labels_are_judged_each_by_itself():
    rng = np.random.default_rng(19)
    slow = compared(rng, 240, rate=40, sigma=0.2, ratio=1.2, label="slow")
    same = compared(rng, 240, rate=40, sigma=0.2, label="same")
    gate = judged([slow, same], SHORT)
    assert gate.verdict == FAIL
    assert finding(gate, "p50", "slow").verdict == FAIL
    assert finding(gate, "p50", "same").verdict == PASS
