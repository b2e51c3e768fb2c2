import numpy as np
import pytest

from support.executions import result_of
from tollgate.stats.counts import Counts


def steps(*elapsed, per_second=10, ok=None):
    """That many samples in each second, all of one elapsed; None is a second without samples."""
    seconds = [index for index, value in enumerate(elapsed) if value is not None]
    values = [elapsed[index] for index in seconds]
    ok = [True] * len(elapsed) if ok is None else ok
    return Counts.of(
        np.repeat(seconds, per_second),
        np.repeat(values, per_second),
        np.repeat([ok[index] for index in seconds], per_second),
    )


def judged(criterion, service, seconds=None):
    measured_s = float(seconds or service.seconds[-1] + 1)
    return result_of(criterion, service=service, measured_s=measured_s)


SPIKE = (10, 10, 300, 400, 350, 10, 500, 10)
CASES = [
    # For: every second of the stretch reaches the value.
    ("p95 of search>250ms for 3s", "FAIL", 300, "2-5 s", 30),
    ("p95 of search>250ms for 4s", "PASS", 10, "0-4 s", 40),
    ("avg-rt of search>450ms for 1s", "FAIL", 500, "6-7 s", 10),
    ("p50 of search<20ms for 2s", "FAIL", 10, "0-2 s", 20),
    # Over and within: all samples of the window together.
    ("avg-rt of search>300ms over 3s", "FAIL", 350, "2-5 s", 30),
    ("avg-rt of search>350ms within 3s", "PASS", 350, "2-5 s", 30),
    ("p50 of search>450ms within 1s", "FAIL", 500, "6-7 s", 10),
    ("hits of search<20 over 2s", "PASS", 20, "0-2 s", 20),
    ("hits of search>=20 over 2s", "FAIL", 20, "0-2 s", 20),
    ("concurr of search>6 over 2s", "FAIL", 7, "0-2 s", 20),
    ("bytes of search>999 over 2s", "FAIL", 1000, "0-2 s", 20),
    ("avg-lt of search>150ms over 3s", "FAIL", 175, "2-5 s", 30),
    ("bytes of search>1000 for 2s", "PASS", 1000, "0-2 s", 20),
]


@pytest.mark.parametrize(("criterion", "verdict", "observed", "window", "n"), CASES)
def test_the_worst_window_is_found_and_judged_exactly(criterion, verdict, observed, window, n):
    result = judged(criterion, steps(*SPIKE))
    assert (result.verdict, result.observed) == (verdict, observed)
    assert (result.window, result.samples) == (window, n)
    assert (result.low, result.high) == (None, None)


def test_a_stall_is_seen_by_counts_although_it_leaves_no_samples():
    stalled = steps(10, 10, None, None, None, 10, 10)
    assert judged("hits of search=0 for 3s", stalled).verdict == "FAIL"
    assert judged("hits of search=0 for 4s", stalled).verdict == "PASS"
    assert judged("hits of search<1 over 3s", stalled).verdict == "FAIL"
    at_the_end = steps(10, 10)
    assert judged("hits of search=0 for 3s", at_the_end, seconds=5).verdict == "FAIL"


def test_times_pass_over_seconds_without_samples():
    sparse = steps(300, None, 300, None, 300, 10)
    assert judged("p95 of search>250ms for 5s", sparse).verdict == "FAIL"
    assert judged("p95 of search>250ms over 2s", sparse).verdict == "FAIL"


def test_shares_are_taken_over_the_whole_window():
    failing = steps(1, 1, 1, 1, ok=[True, False, True, True])
    result = judged("fail of search>40% over 2s", failing)
    assert (result.verdict, result.observed, result.window) == ("FAIL", 50, "0-2 s")
    assert judged("fail of search>60% over 2s", failing).verdict == "PASS"
    assert judged("fail of search>60% within 1s", failing).verdict == "FAIL"
    assert judged("fail of search>9 for 2s", failing).verdict == "PASS"


def test_a_window_that_never_fills_is_inconclusive():
    result = judged("p95 of search>1ms for 5s", steps(10, 10, 10), seconds=10)
    assert result.verdict == "INCONCLUSIVE"
    assert result.reason == "no window of 5 s had samples from end to end"


def test_windows_agree_with_a_slow_reading_of_their_definition():
    rng = np.random.default_rng(8)
    of = Counts.of(rng.integers(0, 40, 300), rng.integers(1, 400, 300), rng.random(300) < 0.9)
    columns = zip(of.second, of.elapsed_ms, of.ok, of.n, strict=True)
    rows = [(s, e, ok) for s, e, ok, n in columns for _ in range(n)]
    for length in (1, 3, 7):
        windows = [
            [row for row in rows if start <= row[0] < start + length]
            for start in range(40 - length + 1)
        ]
        slowest = max(np.percentile([e for _, e, _ in w], 95) for w in windows if w)
        failures = max(sum(not ok for _, _, ok in w) for w in windows)
        p95 = judged(f"p95 of search>1s over {length}s", of, 40)
        fail = judged(f"fail of search>900 within {length}s", of, 40)
        assert (p95.observed, fail.observed) == (slowest, failures)
