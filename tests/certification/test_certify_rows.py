"""Finished runs to the rows of the certification, with known answers."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from certification import rows
from certification.conditions import Condition
from certification.found import NEVER, Rate, median_s, quantile_s, rate
from certification.rows import comparable, decided_by, judged, live_rows, promised, resampled_row
from support import cpu_times
from support.certified import LOOKS, PROMISE, finding, finished, runs_of, steady
from support.compared import compared
from tollgate.compare.model import FAIL, PASS, Gate, GateSettings

AA = Condition("aa")
SETTINGS = GateSettings(budget_s=240.0)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    # Clopper and Pearson's own, by the formulas for none and all: 1 - 0.025 ** (1 / n).
    [(0, 10, 0.0, 0.3085), (10, 10, 0.6915, 1), (5, 10, 0.1871, 0.8129), (1, 100, 0.0003, 0.0545)],
)
def test_intervals_are_clopper_and_pearsons(hits, n, low, high):
    assert Rate(hits, n).interval() == pytest.approx((low, high), abs=5e-5)


def test_a_rate_is_told_with_its_interval_and_without_tries_not_at_all():
    assert str(Rate(0, 10)) == "0 of 10 (0 to 30.8 %)"
    assert str(Rate(20, 2000)) == "20 of 2,000 (0.612 to 1.54 %)"
    assert str(rate([])) == "-"
    assert rate([True, False, True]) == Rate(2, 3)


def test_a_row_counts_verdicts():
    failures = [finding(FAIL, "p50"), finding(FAIL, "p95", decided_s=120.0)]
    runs = [
        finished(1, "aa"),
        finished(2, "work-5", FAIL, findings=failures),
        finished(3, "work-5", "INCONCLUSIVE"),
        finished(4, "work-5", "INVALID", findings=failures),
    ]
    aa, work = live_rows(runs, {}, SETTINGS)
    assert (aa.condition, aa.share(FAIL), aa.fail_s) == (AA, Rate(0, 1), NEVER)
    # Of an INVALID run nothing that was found in it counts.
    assert work.share(FAIL) == Rate(1, 3)
    assert (aa.share(PASS), work.share(PASS)) == (Rate(1, 1), Rate(0, 3))
    assert (aa.noise, work.noise) == (0.0, None)
    assert work.verdicts == Counter({FAIL: 1, "INCONCLUSIVE": 1, "INVALID": 1})
    assert work.baseline == work.sequential == Rate(0, 0)


def times_of(*runs):
    (row,) = live_rows(runs, {}, SETTINGS)
    return row.fail_s, row.decided_s


def test_times_are_medians_over_all_runs_of_which_the_undecided_took_longer_than_any():
    failures = [finding(FAIL, "p50", decided_s=60.0), finding(FAIL, "p95", decided_s=120.0)]
    quick = finished(1, "work-5", FAIL, findings=failures, seconds=120.0)
    slow = finished(2, "work-5", FAIL, findings=failures[1:], seconds=150.0)
    assert times_of(quick, slow) == (90.0, 135.0)
    passed = finished(3, "work-5", PASS, seconds=90.0)
    assert times_of(quick, slow, passed) == (120.0, 120.0)
    # The whole budget of one that could not tell is no time until a decision.
    unsure = finished(4, "work-5", "INCONCLUSIVE", seconds=240.0)
    assert times_of(quick, slow, unsure) == (120.0, 150.0)
    assert times_of(quick, unsure) == (NEVER, NEVER)
    # Nor has one decided that failed and could not tell of another metric.
    half = finished(5, "work-5", FAIL, findings=[*failures, finding("INCONCLUSIVE")], seconds=240.0)
    assert times_of(half) == (60.0, NEVER)
    # What is informational, such as a p99, need not be decided.
    p99 = finding("INFORMATIONAL", "p99", decided_s=None, gates=False)
    assert times_of(replace(quick, findings=[*failures, p99])) == (60.0, 120.0)


def test_a_run_that_was_ended_or_is_invalid_is_not_missing_among_the_times():
    ended = {"verdict": "INCONCLUSIVE", "findings": [], "seconds": None, "exit_code": None}
    invalid = {"verdict": "INVALID", "findings": [finding(FAIL)]}
    for changes in (ended, invalid):
        runs = [replace(finished(number, "work-5"), **changes) for number in (1, 2)]
        assert times_of(*runs, finished(3, "work-5", FAIL)) == (NEVER, NEVER)


def test_a_quantile_is_a_time_by_which_so_many_had_decided():
    times = [*range(1, 19), NEVER, NEVER]
    assert quantile_s(times, 0.9) == 18
    assert quantile_s(times, 0.95) == NEVER
    assert quantile_s([60.0], 0.95) == 60.0
    assert median_s([]) is None


def test_a_find_counts_for_its_label_and_metric_if_it_came_in_time():
    several = [
        finding(PASS, "p50", "sum"),
        finding(FAIL, "p95", "sum", 600.0),
        finding(FAIL, "p95", "search", 630.0),
        finding(FAIL, "p50", "search", 60.0),
    ]
    runs = [
        finished(1, "work-5", FAIL, findings=[finding(FAIL, "p50", "sum", 120.0)]),
        finished(2, "work-5", FAIL, findings=[finding(FAIL, "p50", "sum", 150.0)]),
        finished(3, "work-5", FAIL, findings=several),
        # Neither is left out: an INVALID run found nothing, nor did one that was ended.
        finished(4, "work-5", "INVALID", findings=[finding(FAIL, "p50", "sum")]),
        finished(5, "work-5", "INCONCLUSIVE", findings=[], seconds=None, exit_code=None),
    ]
    (row,) = live_rows(runs, {}, GateSettings(budget_s=900.0))
    none = {"typical": Rate(0, 5), "cpu": Rate(0, 0)}
    assert row.found["sum"] == none | {"p50": Rate(1, 5), "p95": Rate(1, 5)}
    assert row.found["search"] == none | {"p50": Rate(1, 5), "p95": Rate(0, 5)}


def test_what_has_no_say_was_not_to_be_found():
    findings = [finding(FAIL, "p50", gates=False)]
    settings = GateSettings(gates=("p95",), labels=("search",))
    (row,) = live_rows([finished(1, "work-5", findings=findings)], {}, settings)
    [rates] = row.found.values()
    no_say = dict.fromkeys(("typical", "p50", "cpu"), Rate(0, 0))
    assert rates == no_say | {"p95": Rate(0, 1)}
    assert times_of(finished(1, "work-5", FAIL, findings=findings)) == (NEVER, 60.0)


def test_rows_come_without_noise_first_and_by_what_head_has_more():
    keys = ["work-20", "aa+noise", "delay-3", "work-5", "aa"]
    rows = live_rows([finished(n, key) for n, key in enumerate(keys, 1)], {}, SETTINGS)
    found = [row.condition.key for row in rows]
    assert found == ["aa", "delay-3", "work-5", "work-20", "aa+noise"]


@pytest.mark.parametrize("gates", [("cpu",), ("p95",), ("p95", "stalls"), ("stalls", "tail")])
def test_metrics_that_are_named_decide_alone(gates):
    assert promised(decided_by(finished(1), gates))[0].gates == gates


LATER = ("stall_effect", "cpu_effect", "tail_effect")


def test_only_runs_that_promised_the_same_as_the_last_are_put_together():
    other = {**PROMISE, "effect": 0.1}
    runs = [finished(1, promise=other), finished(2), finished(3, verdict="BROKEN"), finished(4)]
    assert [run.seed for run in comparable(runs)] == [2, 4]
    assert comparable([]) == []
    # Runs of before a metric came promised of it what the gate promises now.
    of_now = {**PROMISE, "gates": [*PROMISE["gates"], "stalls", "tail"]}
    of_now |= {it: getattr(GateSettings, it) for it in LATER}
    runs = [finished(1), finished(2, promise=of_now)]
    assert [run.seed for run in comparable(runs)] == [1, 2]


def test_cpu_time_alone_judges_a_run_that_has_it_and_no_other():
    labels, cpu = cpu_times.compared(np.random.default_rng(1), seconds=240, ratio=1.2)
    labels = [replace(it, cpu=cpu) for it in labels]
    promise = {**PROMISE, "gates": ["cpu"], "stall_effect": 0.03}
    run = finished(1, "work-20", PASS, findings=(), seconds=240.0, promise=promise)
    assert judged(run, labels).verdict == FAIL
    assert judged(run, [replace(it, cpu=None) for it in labels]) is None
    pool = [labels] * 3
    row = resampled_row(Condition("work", 20), pool, promised(run)[0], LOOKS, 10, 1)
    assert row.verdicts[FAIL] == 10
    assert row.found["all labels"]["cpu"] == Rate(10, 10)
    assert row.found["sum"]["cpu"] == Rate(0, 0)


def test_the_noise_of_a_a_is_the_median_size_of_p95s_change():
    p50 = finding(PASS, "p50", change=9.0)
    changes = (-0.03, 0.01, 0.02, None)
    runs = [finished(n, findings=(finding(change=it), p50)) for n, it in enumerate(changes)]
    assert live_rows(runs, {}, SETTINGS)[0].noise == 0.02


def test_a_run_is_judged_by_what_the_gate_is_today():
    labels = [steady(100, 120, seconds=240)[0], steady(50, seconds=240, label="sum")[0]]
    run = finished(1, "work-20", PASS, findings=(), seconds=240.0)
    again = judged(run, labels)
    assert (run.verdict, again.verdict) == (PASS, FAIL)
    found = {it.key: it.verdict for it in again.findings if it.gates}
    assert (found["search", "p50"], found["sum", "p50"]) == (FAIL, PASS)
    assert promised(run)[0].typical_effect == GateSettings.typical_effect


def test_a_run_that_was_ended_before_todays_gate_has_decided_is_left_out():
    labels = [compared(np.random.default_rng(1), 60, rate=10, sigma=0.8)]
    early = finished(1, seconds=60.0, promise={**PROMISE, "gates": ["p95"]})
    assert judged(early, labels) is None
    whole = replace(early, promise={**early.promise, "budget_s": 60.0})
    assert judged(whole, labels).verdict == "INCONCLUSIVE"


def test_resampled_rows_say_of_how_many_pairs_of_processes_they_are_made():
    samples = runs_of(1.1, 4) * 3
    row = resampled_row(Condition("work", 10), samples, SETTINGS, LOOKS, 20, 1)
    assert (row.pairs, row.recorded_s) == (12, 3 * 285)
    assert row.share(FAIL).n == 20
    assert row.share(FAIL).hits >= 18
    for few, many in ((samples[:9], 20), (samples, 0)):
        assert resampled_row(AA, few, SETTINGS, LOOKS, many, 1) is None


def closed_gate(last_s, **found):
    """A gate that looked twice; found: by metric its verdict, and after how many seconds."""
    findings = (finding(verdict, it, decided_s=at_s) for it, (verdict, at_s) in found.items())
    return Gate(SETTINGS, (60.0, last_s), tuple(findings))


def test_resampled_runs_that_decided_nothing_took_longer_than_any(monkeypatch):
    """And of what they found it counts when that was."""
    decided = closed_gate(90.0, p50=(FAIL, 60.0), p95=(PASS, 90.0))
    late = closed_gate(150.0, p50=(FAIL, 150.0), p95=(FAIL, 150.0))
    unsure = closed_gate(240.0, p50=(FAIL, 120.0), p95=("INCONCLUSIVE", None))
    gates = [decided] * 10 + [late] * 2 + [unsure] * 8
    monkeypatch.setattr(rows, "sequences_of", lambda *_: gates)
    row = resampled_row(Condition("work", 5), runs_of(1.0, 5) * 2, SETTINGS, LOOKS, 20, 1)
    assert (row.decided_s, row.most_s) == (120.0, NEVER)
    assert row.share(FAIL) == Rate(20, 20)
    times = {"typical": Rate(0, 20), "p50": Rate(18, 20), "p95": Rate(2, 20)}
    assert row.found == {"search": times | {"cpu": Rate(0, 0)}}
    gates = [unsure, decided] * 10
    row = resampled_row(Condition("work", 5), runs_of(1.0, 5) * 2, SETTINGS, LOOKS, 20, 1)
    assert row.decided_s == NEVER
