"""Finished runs to the tables of the certification, with known answers."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from certified import PROMISE, finding, finished
from compared import compared
from tollgate.certify import naive
from tollgate.certify.conditions import Condition
from tollgate.certify.effects import effects
from tollgate.certify.rates import Rate, rate
from tollgate.certify.rows import comparable, injected, live_rows, resampled_row
from tollgate.certify.table import to_markdown
from tollgate.compare.model import FAIL, PASS, Blocks, Settings, Side

AA = Condition("aa")


def steady(base_ms, head_ms=None, seconds=60, label="search", later_ms=None):
    """Ten requests a second of each side that all take as long; base, then head.

    later_ms: what both take in the second half of the time."""
    values = np.arange(200)

    def side(took):
        counts = np.zeros((seconds, len(values)), np.int64)
        counts[: seconds // 2, took] = 10
        counts[seconds // 2 :, later_ms or took] = 10
        return Side(counts, np.zeros(seconds, np.int64))

    return (Blocks(label, values, side(base_ms), side(head_ms or base_ms)),)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    # Clopper and Pearson's own, by the formulas for none and all: 1 - 0.025 ** (1 / n).
    [
        (0, 10, 0.0, 0.3085),
        (10, 10, 0.6915, 1.0),
        (5, 10, 0.1871, 0.8129),
        (1, 100, 0.0003, 0.0545),
    ],
)
def test_intervals_are_clopper_and_pearsons(hits, n, low, high):
    assert Rate(hits, n).interval() == pytest.approx((low, high), abs=5e-5)


def test_a_rate_is_told_with_its_interval_and_without_tries_not_at_all():
    assert str(Rate(0, 10)) == "0 of 10 (0 to 30.8 %)"
    assert str(Rate(20, 2000)) == "20 of 2,000 (0.612 to 1.54 %)"
    assert str(rate([])) == "-"
    assert rate([True, False, True]) == Rate(2, 3)


def test_a_stored_baseline_fails_what_is_more_than_5_percent_slower_than_base_was():
    earlier = steady(100)
    assert not naive.stored_baseline(earlier, steady(100, 105))
    assert naive.stored_baseline(earlier, steady(100, 107))
    # The machine became slower: base would fail as well, and nobody asks it.
    assert naive.stored_baseline(earlier, steady(120, 120))
    assert not naive.stored_baseline(earlier, steady(80, 100))


def test_one_after_the_other_compares_the_first_half_of_base_with_the_second_of_head():
    assert not naive.one_after_the_other(steady(100, 105), same_code=False)
    assert naive.one_after_the_other(steady(100, 107), same_code=False)
    # Both became slower in the middle of the run, and head is blamed for it.
    for same_code in (True, False):
        assert naive.one_after_the_other(steady(100, 100, later_ms=120), same_code)
    assert not naive.one_after_the_other(steady(100, 110, later_ms=100), same_code=False)


def test_one_after_the_other_has_all_samples_of_each_half_where_both_are_the_same_code():
    """A p95 of the few samples that the coin left one side is noisier than a benchmark's would be:
    what one side alone shows by chance, the other one does not."""
    rng = np.random.default_rng(5)
    runs = [(compared(rng, 60, rate=4, sigma=0.3, ratio=1.0),) for _ in range(200)]
    failed = [rate(naive.one_after_the_other(it, same) for it in runs) for same in (False, True)]
    halves, all_of_it = (it.share for it in failed)
    assert all_of_it < halves
    assert not naive.one_after_the_other(steady(100, 107), same_code=True)


def test_any_label_makes_a_naive_gate_fail_but_one_without_samples():
    fine, slow = steady(100), steady(50, 60, label="sum")
    assert naive.one_after_the_other([*fine, *slow], same_code=False)
    empty = Side(np.zeros((60, 200), np.int64), np.zeros(60, np.int64))
    nothing = Blocks("sum", np.arange(200), empty, empty)
    assert not naive.one_after_the_other([*fine, nothing], same_code=False)
    assert not naive.stored_baseline([*fine, nothing], [*fine, *slow])


def test_a_row_counts_verdicts_and_tells_medians():
    failures = [finding(FAIL, "p50", decided_s=60.0), finding(FAIL, "p95", decided_s=120.0)]
    runs = [
        finished(1, "aa"),
        finished(2, "work-5", FAIL, findings=failures, seconds=120.0, wall_s=150.0),
        finished(3, "work-5", "INCONCLUSIVE", seconds=240.0, wall_s=270.0),
        finished(4, "work-5", FAIL, findings=failures[1:], seconds=120.0, wall_s=160.0),
    ]
    aa, work = live_rows(runs, {})
    assert (aa.condition, aa.failed, aa.fail_s) == (AA, Rate(0, 1), None)
    assert work.failed == Rate(2, 3)
    # INCONCLUSIVE keeps a merge from going through as well, and so does a run that was ended.
    assert (aa.blocked, work.blocked) == (Rate(0, 1), Rate(3, 3))
    assert live_rows([finished(1, exit_code=None)], {})[0].blocked == Rate(1, 1)
    assert work.verdicts == Counter({FAIL: 2, "INCONCLUSIVE": 1})
    assert (work.fail_s, work.seconds, work.wall_s) == (90.0, 120.0, 160.0)
    assert work.baseline == work.sequential == Rate(0, 0)


def test_the_baseline_is_of_the_last_run_before_it_with_the_same_neighbour_or_none():
    """Base of a run beside a neighbour takes twice as long: it is nobody's limit but its like's."""
    runs = [
        finished(1, "aa"),
        finished(2, "aa+noise"),
        finished(3, "aa"),
        finished(4, "work-20+noise"),
        finished(5, "aa"),
    ]
    samples = {
        1: steady(50),
        2: steady(100),
        3: steady(50),
        4: steady(100, 115),
        5: steady(53, 53),
    }
    rows = {row.condition.key: row for row in live_rows(runs, samples)}
    assert rows["aa"].baseline == Rate(1, 2)  # 53 ms after 50 is too much, 50 after 50 is not
    assert rows["aa+noise"].baseline == Rate(0, 0)  # there was none before it
    assert rows["work-20+noise"].baseline == Rate(1, 1)
    assert rows["aa"].sequential == Rate(0, 3)
    assert rows["work-20+noise"].sequential == Rate(1, 1)


def test_only_of_an_a_a_run_base_first_then_head_takes_the_samples_of_both():
    runs, samples = [finished(1), finished(2, "work-5")], {1: steady(100, 107), 2: steady(100, 107)}
    rows = {row.condition.key: row.sequential for row in live_rows(runs, samples)}
    assert rows == {"aa": Rate(0, 1), "work-5": Rate(1, 1)}


def test_rows_come_without_noise_first_and_by_what_head_has_more():
    keys = ["work-20", "aa+noise", "delay-3", "work-5", "aa"]
    rows = live_rows([finished(n, key) for n, key in enumerate(keys, 1)], {})
    found = [row.condition.key for row in rows]
    assert found == ["aa", "delay-3", "work-5", "work-20", "aa+noise"]


def test_only_runs_that_promised_the_same_as_the_last_are_put_together():
    other = {**PROMISE, "effect": 0.1}
    runs = [finished(1, promise=other), finished(2), finished(3, verdict="BROKEN"), finished(4)]
    assert [run.number for run in comparable(runs)] == [2, 4]
    assert comparable([]) == []


def test_the_servers_clock_tells_the_share_of_work_and_of_a_wait_the_milliseconds():
    clock = {
        "sum": {"requests": 40, "handler": 10.0, "work": 10.0, "injected": 0.4},
        "search": {"requests": 40, "handler": 60.0, "work": 30.0, "injected": 1.6},
    }
    assert injected([finished(1, "work-5", clock=clock)]) == pytest.approx(0.05)
    assert injected([finished(1, "delay-3", clock=clock)]) == pytest.approx(1.0)
    assert injected([finished(1, clock={})]) is None


def runs_of(ratio, many, seed=3):
    rng = np.random.default_rng(seed)
    lengths = [60, 90, 75, 60, 120, 60][:many]
    return [(compared(rng, length, rate=40, sigma=0.2, ratio=ratio),) for length in lengths]


def test_the_effect_over_all_runs_holds_the_truth_in_its_interval():
    samples = runs_of(1.08, 6)
    runs = [finished(n, "work-10", FAIL if n < 4 else PASS) for n in range(1, 7)]
    p50, p95 = effects("work-10", runs, samples, seed=1)
    assert (p50.metric, p95.metric) == ("p50", "p95")
    assert p50.low < 0.08 < p50.high
    assert p50.high - p50.low < 0.04
    assert p50.change == pytest.approx(0.08, abs=0.015)
    assert p95.failed == Rate(3, 6)
    assert p50.failed == Rate(0, 6)
    assert effects("work-10", runs[:3], samples[:3], seed=1)[0].low is None


def test_long_runs_count_in_an_effect_by_their_seconds_and_not_by_the_run():
    samples = [steady(50, 60, seconds=20), steady(50, 50, seconds=200)]
    found, _ = effects("work-5", [finished(1), finished(2)], samples, seed=1)
    assert found.change == pytest.approx(0.0, abs=0.02)


def test_resampled_rows_say_how_many_runs_they_are_made_of():
    settings = Settings(budget_s=240.0)
    row = resampled_row(Condition("work", 10), runs_of(1.1, 4), settings, (60.0, 30.0), 20, 1)
    assert (row.runs, row.recorded_s) == (4, 285)
    assert row.failed.n == 20
    assert row.failed.hits >= 18
    assert row.failed.hits + sum(n for it, n in row.verdicts.items() if it != FAIL) == 20
    for samples, many in ((runs_of(1.1, 2), 20), (runs_of(1.1, 4), 0)):
        assert resampled_row(AA, samples, settings, (60.0, 30.0), many, 1) is None


def test_the_tables_say_which_runs_are_live_and_which_are_resampled():
    samples = dict(enumerate(runs_of(1.0, 4), 1))
    runs = [finished(n) for n in samples]
    runs[1] = replace(
        runs[1], condition="aa+noise", neighbour={"burns": "a core", "cpu_s": 45.0, "seconds": 90.0}
    )
    environment = {**runs[0].environment, "commit": "0" * 40 + "-dirty"}
    runs[2] = replace(runs[2], began="2026-11-20T23:00:00+00:00", environment=environment)
    settings = Settings(budget_s=240.0)
    resampled = resampled_row(AA, list(samples.values()), settings, (60.0, 30.0), 10, 1)
    found = effects("aa", runs, list(samples.values()), seed=1)
    text = to_markdown(runs, live_rows(runs, samples), [resampled], found, ["Left out: 1 run."])
    live, again, effect, method = text.split("\n\n")
    assert "FAIL, live runs" in live
    none = "0 of 3 (0 to 70.8 %)"
    assert f"| nothing (A/A) | 5.0 % | none | {none} | {none} | 3 PASS | - |" in live
    assert "| nothing (A/A) | 5.0 % | noisy | 0 of 1 " in live
    assert "FAIL, resampled runs" in again
    assert "4 live runs, 285 s |" in again
    assert "| aa | search | p50 |" in effect
    assert "4 live runs, 2026-11-20 to 2026-11-21, " in method
    assert "The neighbour burns a core: 50% of a core over all." in method
    assert "Some CPU, 2 cores, 8 GiB" in method
    assert "commit 1a2b3c4d5e6f; 000000000000-dirty." in method
    assert "(b) has all of them in A/A" in method
    assert method.endswith("Left out: 1 run.\n")
    for table in (live, again, effect):
        assert len({line.count("|") for line in table.split("\n")}) == 1


def test_a_run_of_which_nobody_knows_the_machine_does_not_hide_that_of_the_others():
    runs = [finished(1), finished(2, verdict="INCONCLUSIVE", environment={}, exit_code=None)]
    text = to_markdown(runs, live_rows(runs, {}), [], [], [])
    assert "2 live runs" in text
    assert "Machine: Some CPU, 2 cores, 8 GiB, Linux 6 x86_64." in text


def test_without_enough_runs_there_is_no_resampled_table():
    runs = [finished(1)]
    text = to_markdown(runs, live_rows(runs, {}), [], [], [])
    assert "FAIL, resampled" not in text
