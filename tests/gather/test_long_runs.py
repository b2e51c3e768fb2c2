"""A run of many hours is counted in bins: the same data by the second and in bins of 8 s."""

import numpy as np
import pytest

from support import jtl_rows
from support.executions import result_of, totals
from support.run_folder import reasons
from tollgate.criteria.check import check
from tollgate.criteria.grammar import parse_all
from tollgate.gather.context import EvidenceError
from tollgate.judge.facts import LabelData, MeasuredExecution
from tollgate.samples.counts import read_jtl
from tollgate.stats.bins import Bins
from tollgate.stats.counts import Counts
from tollgate.stats.totals import Totals

SECONDS = 8 * 450
WIDTH = 8
EIGHTS = Bins(WIDTH, 0, SECONDS)
DAY = 86_400.0


def noisy(seconds=SECONDS, per_second=20):
    """Latencies with slow spells of a few seconds, and the second of each; one in 50 failed."""
    rng = np.random.default_rng(11)
    spell = np.repeat(rng.gamma(2, 20, seconds // 4), 4)
    second = np.repeat(np.arange(seconds), per_second)
    elapsed = rng.gamma(3, 20, len(second)) + spell[second]
    return second, elapsed.astype(int), rng.random(len(second)) > 0.02


def both(second, elapsed, ok=None):
    ok = np.ones(len(second), bool) if ok is None else ok
    coarse = Counts.of(EIGHTS.begin(second), elapsed, ok, width=WIDTH)
    return Counts.of(second, elapsed, ok), coarse


@pytest.mark.parametrize("criterion", ["p50>1s", "p95>1s", "p99.9>1s", "avg-rt>1s", "stdev-rt>1s"])
def test_values_of_the_whole_run_are_the_same_and_their_intervals_alike(criterion):
    fine, coarse = (
        result_of(criterion, service=each, measured_s=float(SECONDS)) for each in both(*noisy())
    )
    assert coarse.samples == fine.samples
    assert coarse.observed == pytest.approx(fine.observed, rel=1e-12)
    assert coarse.low <= coarse.observed <= coarse.high
    assert coarse.verdict == fine.verdict
    # Spells of four seconds are told as well from 450 bins as from 3,600 seconds.
    assert 0.75 < (coarse.high - coarse.low) / (fine.high - fine.low) < 1.35


@pytest.mark.parametrize(
    "criterion", ["hits<1", "fail>50%", "succ<1", "bytes>1", "concurr>1", "avg-lt>1ms"]
)
def test_counts_and_sums_of_the_whole_run_are_the_same(criterion):
    fine, coarse = both(*noisy(800))
    of = totals(fine)
    rows = [getattr(of, name).reshape(-1, WIDTH) for name in ("n", "latency_ms", "bytes")]
    n, latency, size = (each.sum(axis=1) for each in rows)
    binned = Totals(of.second[::WIDTH], n, latency, n * 0, size, of.threads[::WIDTH], WIDTH)
    first, second = (
        result_of(criterion, labels={("search", False): data}, measured_s=800.0).observed
        for data in (LabelData("search", fine, None, of), LabelData("search", coarse, None, binned))
    )
    assert first == second


WINDOWS = [
    *("p95>1s over 16s", "p99>1s within 64s", "avg-rt>1s over 16s", "stdev-rt>1s over 24s"),
    *("fail>50% over 16s", "hits<1 over 16s", "hits>100 over 8s"),
]


@pytest.mark.parametrize("criterion", WINDOWS)
def test_the_worst_window_is_the_worst_of_those_that_begin_with_a_bin(criterion):
    fine, coarse = both(*noisy(800))
    whole, _, length = criterion.rsplit(" ", 2)
    length = int(length[:-1])
    values = [
        result_of(whole, service=fine.window(start, start + length)).observed
        for start in range(0, 800 - length + 1, WIDTH)
    ]
    worst = max(values) if ">" in criterion else min(values)
    found = result_of(criterion, service=coarse, measured_s=800.0)
    assert found.observed == pytest.approx(worst, rel=1e-12)
    start, end = map(int, found.window.removesuffix(" s").split("-"))
    assert (end - start, start % WIDTH) == (length, 0)
    assert found.samples == fine.window(start, end).total


def test_what_must_hold_for_a_while_must_hold_in_each_bin_and_counts_are_means_per_second():
    second = np.repeat(np.arange(0, 48), 10)
    _, coarse = both(second, np.where((second >= 16) & (second < 32), 300, 10))
    slow = result_of("p95>250ms for 16s", service=coarse, measured_s=48.0)
    assert (slow.verdict, slow.observed, slow.window) == ("FAIL", 300, "16-32 s")
    assert result_of("p95>250ms for 24s", service=coarse, measured_s=48.0).verdict == "PASS"
    rate = result_of("hits<11 for 16s", service=coarse, measured_s=48.0)
    assert (rate.verdict, rate.observed) == ("FAIL", 10)


def test_a_stall_of_whole_bins_is_found():
    second = np.repeat(np.r_[0:16, 32:64], 5)
    _, coarse = both(second, second * 0 + 5)
    assert result_of("hits=0 for 16s", service=coarse, measured_s=64.0).verdict == "FAIL"
    assert result_of("hits=0 for 24s", service=coarse, measured_s=64.0).verdict == "PASS"


def test_too_few_bins_are_told_in_seconds():
    second = np.repeat(np.arange(0, 32), 50)
    result = result_of("p50>20ms", service=both(second, second)[1], measured_s=32.0)
    said = "32 s of samples: at least 40 s are needed"
    assert (result.verdict, result.reason) == ("INCONCLUSIVE", said)


def test_the_last_bin_is_measured_to_its_end():
    counts = Counts.of([0, 8, 16], [1, 1, 1], width=WIDTH)
    execution = MeasuredExecution("one", {"a": LabelData("a", counts)}, (), 8.0)
    assert execution.window == (8.0, 24.0)


def test_bins_of_different_widths_are_not_mixed():
    with pytest.raises(ValueError, match=r"bins of \[1, 8\] s"):
        Counts.of([0], [1]) + Counts.of([0], [1], width=WIDTH)


@pytest.mark.parametrize("origin", [jtl_rows.START_MS, None])
def test_a_file_is_read_into_bins_that_begin_with_the_measured_time(tmp_path, origin):
    rng = np.random.default_rng(2)
    rows = [jtl_rows.row(int(at), int(rng.integers(1, 9))) for at in rng.integers(0, 90_000, 400)]
    path = tmp_path / "kpi.jtl"
    path.write_text(jtl_rows.jtl(*rows))
    bins = Bins(7, 10, 60)
    (fine,), (coarse,) = (read_jtl(path, origin, each).samplers.values() for each in (Bins(), bins))
    at = fine.counts
    expected = Counts.of(bins.begin(at.second), at.elapsed_ms, at.ok, n=at.n, width=7)
    assert (coarse.counts.seconds == expected.seconds).all()
    assert (coarse.counts.n == expected.n).all()
    assert {3, 10, 59, 60, 67} < set(coarse.counts.seconds.tolist())
    assert coarse.counts.window(10, 60).total == fine.counts.window(10, 60).total
    assert coarse.totals.bytes.sum() == fine.totals.bytes.sum()
    assert (coarse.totals.second == coarse.counts.seconds).all()


def refused(criterion, measured_s):
    return [str(each) for each in check(parse_all([criterion], ["a"]), ["a"], (), (), measured_s)]


def test_a_window_that_is_no_multiple_of_the_bins_is_refused_before_any_load(judged):
    (error,) = refused("p95 of a>1s for 10s", DAY)
    for words in ("10s", "counted in pieces of 24 s", "write 'for 24s'"):
        assert words in error
    (error,) = refused("hits of a<1 over 1m", DAY)
    assert "write 'over 48s' or 'over 72s'" in error
    assert refused("p95 of a>1s for 48s", DAY) == []
    assert refused("p95 of a>1s for 10s", 6 * 3600.0) == []
    assert refused("p95 of a>1s for 10s", None) == []
    with pytest.raises(EvidenceError, match="counted in pieces of 24 s"):
        judged("p50 of nap>1s for 10s", measured=DAY)
    with pytest.raises(EvidenceError, match="use an Open Model Thread Group"):
        judged(measured=2 * DAY, properties={"rate": "60"})  # too many events of a timer


def test_a_day_that_ended_after_seconds_is_told_to_the_second(judged):
    verdict = judged(measured=DAY)
    assert verdict.verdict == "INVALID"
    assert "measured 9 s of 86400 s" in reasons(verdict)


def test_a_run_of_unknown_length_keeps_the_seconds_that_its_windows_need(judged):
    day_later = {"measured": 0.0, "ended": 1795223300.0 + DAY}
    criterion = "p50 of nap>1s for 3s"
    (execution,) = judged(criterion, **day_later).executions
    assert execution.criteria[0].window == "7-10 s"
    (execution,) = judged("p50 of nap>1s", **day_later).executions
    assert "24 s of samples: at least 120 s are needed" in execution.criteria[0].reason
