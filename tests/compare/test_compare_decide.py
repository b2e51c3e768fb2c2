import dataclasses
import math
import re

import numpy as np
import pytest

from support.compared import SHORT, compared, finding, judged, runs, verdicts
from tollgate.base import records
from tollgate.compare import decide, pooled
from tollgate.compare.decide import close, look, next_look_s
from tollgate.compare.errors import ShareRise
from tollgate.compare.estimates import LogRatio
from tollgate.compare.model import (
    ERRORS,
    INFORMATIONAL,
    SHARES,
    STALLS,
    TYPICAL,
    Blocks,
    Gate,
    GateSettings,
    Side,
)
from tollgate.stats.sequential import nominal_level

EMPTY = Blocks("search", np.array([1]), *[Side(np.zeros((60, 1), int), np.zeros(60, int))] * 2)
LONG = GateSettings(fail_fast=False)


@pytest.fixture
def seen(monkeypatch):
    """The gate after a look that sees these changes: (log ratio, standard error) by metric."""

    def look_at(changes, gate=None, at_s=120.0, labels=("search",), **more):
        def change_of(_, metric):
            if metric in SHARES:
                return changes.get(metric, ShareRise((0, 0), (10**6, 10**6), 1.0, metric=metric))
            value, error = changes.get(metric, (0.0, 0.001))
            return LogRatio(metric, 100.0, 100 * math.exp(value), value, error, 1e6, **more)

        monkeypatch.setattr(decide, "change_of", change_of)
        parts = [dataclasses.replace(EMPTY, label=label) for label in labels]
        return look(gate or Gate(GateSettings()), parts, at_s)

    return look_at


@pytest.mark.parametrize(
    ("percent", "error", "verdict"),
    [
        (5.0, 0.008, "FAIL"),
        (3.0, 0.0075, "FAIL"),
        (2.0, 0.004, "PASS"),  # slower beyond doubt, but by less than matters
        (0.0, 0.01, "PASS"),
        (0.0, 0.03, "OPEN"),
        (5.0, 0.02, "OPEN"),
        (4.0, 0.001, "PASS"),
        (-8.0, 0.01, "IMPROVED"),
        (-1.0, 0.001, "PASS"),
    ],
)
def test_a_label_is_judged_by_both_ends_of_its_interval(seen, percent, error, verdict):
    found = finding(seen({"p50": (math.log1p(percent / 100), error)}), "p50")
    assert (found.verdict, found.decided) == (verdict, verdict != "OPEN")
    assert found.low < found.change < found.high
    assert found.change == pytest.approx(percent / 100)


def test_p99_and_mean_are_told_and_decide_nothing(seen):
    gate = seen({"p99": (1.0, 0.01), "mean": (1.0, 0.01)})
    assert finding(gate, "p99").verdict == INFORMATIONAL
    assert finding(gate, "p99").low > 1
    assert (gate.verdict, gate.finished) == ("PASS", True)


def test_holm_gives_the_error_of_what_was_refused_to_the_rest(seen):
    levels = (nominal_level((0.2,), GateSettings().false_alarm / m) for m in (4.2, 3.2))
    between = sum(LogRatio("p50", 1, 1, 0.0, 0.01, 1e6).high(level) for level in levels) / 2
    assert finding(seen({"p95": (between, 0.01)}), "p95").verdict != "FAIL"
    both = seen({"p95": (between, 0.01), "p50": (0.2, 0.01)})
    assert finding(both, "p50").verdict == "FAIL"
    assert finding(both, "p95").refused


def test_stalls_have_a_tenth_of_the_error_of_another_metric(seen):
    stalled = ShareRise((0, 60), (1000, 1000), 6.0, metric=STALLS)
    one, tenth = (
        stalled.low(nominal_level((0.2,), GateSettings().false_alarm / m)) for m in (4.2, 42)
    )
    assert finding(seen({STALLS: stalled}), STALLS).low == tenth < one


def test_more_labels_ask_for_more_certainty(seen):
    one, many = (
        finding(seen({"p50": (0.05, 0.0125)}, labels=labels), "p50", "a")
        for labels in ("a", "abcdefgh")
    )
    assert one.low > many.low
    assert one.high == many.high


def test_a_decision_stays_but_for_a_failure_after_a_pass(seen):
    failed = seen({"p50": (0.1, 0.01)}, at_s=60.0)
    calm = seen({"p50": (0.0, 0.001)}, failed, at_s=90.0)
    assert finding(calm, "p50") == finding(failed, "p50")
    assert finding(seen({"p50": (0.1, 0.01)}, calm, at_s=120.0), "p50").at_s == 60
    passed = seen({"p50": (0.0, 0.001)}, at_s=60.0)
    for change, verdict in ((0.1, "FAIL"), (-0.1, "IMPROVED")):
        assert finding(seen({"p50": (change, 0.01)}, passed, at_s=90.0), "p50").verdict == verdict


def test_what_is_open_names_the_time_that_would_decide_and_ends_inconclusive(seen):
    gate = seen({"p50": (0.0, 0.03)}, at_s=300.0)
    found, ended = finding(gate, "p50"), close(gate)
    assert (gate.verdict, gate.finished) == ("OPEN", False)
    assert found.more_s > 60
    assert found.reason.startswith("cannot tell: some ")
    assert (ended.verdict, ended.finished) == ("INCONCLUSIVE", True)
    assert finding(ended, "p95").verdict == "PASS"


@pytest.mark.parametrize(
    ("error", "said", "has_time"),
    [
        (0.02, r"some \d\.\d times as many", True),
        (0.06, r"some 1\d times as many", True),
        (0.5, "^cannot tell: far more samples would$", False),
    ],
)
def test_what_takes_far_more_samples_is_not_told_by_a_figure(seen, error, said, has_time):
    found = finding(seen({"p50": (0.0, error)}), "p50")
    assert re.search(said, found.reason)
    assert (found.more_s is not None) == has_time


@pytest.mark.parametrize(
    ("change", "verdict"), [(-0.1, "IMPROVED"), (0.0, "PASS"), (0.03, "OPEN"), (0.1, "FAIL")]
)
def test_a_bias_that_no_number_of_samples_takes_away_lets_only_large_changes_be_told(
    seen, change, verdict
):
    found = finding(seen({"p50": (change, 0.001)}, coarse=0.04, among="7 to 8 ms"), "p50")
    assert (found.verdict, found.is_coarse) == (verdict, verdict == "OPEN")
    if verdict == "OPEN":
        assert found.reason.startswith("cannot tell: JMeter's whole milliseconds are too coarse")
        assert "among those of 7 to 8 ms" in found.reason
        assert found.more_s is None


def failing(base, head, ratio=0.5):
    rng = np.random.default_rng(23)
    return compared(rng, 120, ratio=ratio, failing=(base, head), rate=40, sigma=0.2)


@pytest.mark.parametrize(("shares", "side"), [((0.2, 0.0), "base"), ((0.0, 0.6), "head")])
def test_times_of_a_side_that_fails_many_requests_are_of_other_work(shares, side):
    gate = judged([failing(*shares)], GateSettings(budget_s=120.0))
    said = rf"\d % of {side}'s requests failed: the times are not of the same work"
    for metric in ("p50", "p95"):
        found = finding(gate, metric)
        assert (found.verdict, found.change, found.low) == ("INCONCLUSIVE", None, None)
        assert re.search(said, found.reason)
    assert finding(gate, "mean").verdict == INFORMATIONAL
    assert "not of the same work" in finding(gate, "mean").reason
    assert finding(gate, "errors").verdict == ("FAIL" if side == "head" else "IMPROVED")


@pytest.mark.parametrize(("share", "verdict"), [(0.6, "INCONCLUSIVE"), (0.04, "PASS")])
def test_a_head_that_fails_fast_has_not_improved_where_errors_have_no_say(share, verdict):
    settings = GateSettings(budget_s=120.0, gates=("p50", "p95"))
    assert judged([failing(0.0, share)], settings).verdict == verdict


def test_a_pass_is_void_once_the_times_are_of_other_work(seen, monkeypatch):
    passed = seen({"p50": (0.0, 0.001), "p95": (0.2, 0.001)}, at_s=60.0)
    assert finding(passed, "p50").verdict == "PASS"
    monkeypatch.setattr(pooled, "unlike_work", lambda _: "7 % of head's requests failed")
    later = seen({}, passed, at_s=90.0)
    assert verdicts([later], "p50") + verdicts([later], "p95") == ["OPEN", "FAIL"]


def test_a_failure_outweighs_what_is_open_and_ends_the_measuring_unless_told_not_to(seen):
    changes = {"p50": (0.1, 0.001), "p95": (0.0, 0.1)}
    gate = seen(changes)
    assert (gate.verdict, gate.finished) == ("FAIL", True)
    assert [it.key for it in close(gate).left_open] == [("search", "p95")]
    assert next_look_s(gate, 30.0) is None
    on = seen(changes, Gate(GateSettings(fail_fast=False)))
    assert (on.verdict, on.finished, on.left_open) == ("FAIL", False, ())
    assert next_look_s(on, 30.0) == 150


@pytest.mark.parametrize(("error", "verdict"), [(0.009, "FAIL"), (0.004, "PASS")])
def test_a_rise_below_the_effect_passes_where_it_is_known_to_be_and_else_fails(
    seen, error, verdict
):
    """At +3.5 % both may be true: worse beyond doubt, and smaller than 5 %. The pass goes first."""
    found = finding(seen({"p50": (math.log1p(0.035), error)}, at_s=300.0), "p50")
    assert (found.verdict, found.low > 0) == (verdict, True)


def test_the_typical_request_has_an_effect_of_its_own(seen):
    changes = {"typical": (0.018, 0.001), "p50": (0.018, 0.001)}
    gate = seen(changes, Gate(GateSettings(typical_effect=0.01)))
    assert [finding(gate, it).verdict for it in changes] == ["FAIL", "PASS"]


def test_no_samples_are_no_pass():
    gate = look(Gate(GateSettings()), [EMPTY], 60.0)
    assert finding(gate, "p50").reason == "cannot tell: 0 samples on one side, p50 needs 40"
    assert (gate.verdict, close(gate).verdict) == ("OPEN", "INCONCLUSIVE")


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
        records.parse(GateSettings, wrong)


def test_of_60_runs_5_percent_slower_57_fail_at_the_median_within_two_minutes():
    gates = runs(np.random.default_rng(13), 60, SHORT, rate=60, sigma=0.2, ratio=1.05)
    early = [finding(gate, "p50") for gate in gates]
    assert sum(each.verdict == "FAIL" and each.at_s <= 120 for each in early) >= 57


#: Seed, runs, how they are judged, the service, and how many of them have which verdict at least.
CHANGED = {
    "5 % slower at p95": (14, 60, LONG, {"sigma": 0.3, "ratio": 1.05}, "p95", "FAIL", 58),
    "a third faster": (17, 20, SHORT, {"ratio": 0.67}, "p50", "IMPROVED", 19),
    "errors": (18, 30, SHORT, {"failing": (0, 0.01)}, "errors", "FAIL", 30),
    "more errors": (18, 30, SHORT, {"failing": (0.01, 0.03)}, "errors", "FAIL", 30),
}


@pytest.mark.parametrize("change", CHANGED)
def test_nearly_all_runs_with_a_change_have_its_verdict(change):
    seed, many, settings, service, metric, verdict, least = CHANGED[change]
    gates = runs(np.random.default_rng(seed), many, settings, rate=40, **service)
    assert verdicts(gates, metric).count(verdict) >= least
    assert verdict == "FAIL" or not any(gate.verdict == "FAIL" for gate in gates)


@pytest.mark.parametrize(("ratio", "within_s"), [(1.1, 150), (1.2, 90)])
def test_larger_regressions_of_the_median_are_found_sooner(ratio, within_s):
    gates = runs(np.random.default_rng(15), 40, SHORT, rate=30, ratio=ratio)
    found = [finding(gate, "p50") for gate in gates]
    assert all(each.verdict == "FAIL" for each in found)
    assert np.mean([each.at_s <= within_s for each in found]) >= 0.9


def test_asking_for_an_estimate_of_the_whole_effect_would_miss_regressions_of_that_size():
    whole = dataclasses.replace(SHORT, fail_from=1.0)
    gates = runs(np.random.default_rng(16), 60, whole, rate=60, sigma=0.2, ratio=1.05)
    assert verdicts(gates, "p50").count("FAIL") < 54


def test_two_labels_are_judged_each_by_itself():
    rng = np.random.default_rng(19)
    slow = compared(rng, 240, rate=40, sigma=0.2, ratio=1.2, label="slow")
    gate = judged([slow, compared(rng, 240, rate=40, sigma=0.2, label="same")], SHORT)
    found = [finding(gate, "p50", label).verdict for label in ("slow", "same")]
    assert (gate.verdict, found) == ("FAIL", ["FAIL", "PASS"])


@pytest.mark.parametrize(("base_ms", "effect"), [(20.0, 0.02), (1.5, 0.02), (0.6, 0.05)])
def test_no_rise_of_less_than_a_few_hundredths_of_a_millisecond_matters(base_ms, effect):
    settings = GateSettings()
    assert settings.effect_of(TYPICAL, base_ms) == pytest.approx(effect)
    assert settings.effect_of(ERRORS, base_ms) == settings.error_effect
    assert settings.effect_of(TYPICAL) == 0.02
