"""How a percentile changes over a run."""

import numpy as np
import pytest

from support.executions import result_of, verdict_on
from support.golden import check_golden
from tollgate.judge.facts import JudgeSettings
from tollgate.stats.counts import Counts


def slowing(ms_per_min, seconds=300, per_second=40, seed=1, start=200.0):
    """Lognormal answers whose level moves by so much a minute."""
    rng = np.random.default_rng(seed)
    at = np.repeat(np.arange(seconds), per_second)
    level = start + ms_per_min * at / 60
    return Counts.of(at, np.rint(level + rng.lognormal(3, 0.5, len(at))))


P95 = "p95-slope of search>5ms/min"
DRIFTS = {
    "slower and slower": (P95, slowing(20), "FAIL"),
    "steady": (P95, slowing(0), "PASS"),
    "faster and faster": (P95, slowing(-20), "PASS"),
    "all samplers": ("p50-slope>5ms/min", slowing(20), "FAIL"),
    "near to the limit": ("p95-slope of search>20ms/min", slowing(20), "INCONCLUSIVE"),
    "too few samples": (P95, slowing(20, 60, 5), "INCONCLUSIVE"),
    "no samples": (P95, slowing(0, 0), "INVALID"),
}


@pytest.mark.parametrize("name", DRIFTS)
def test_the_slope_of_a_percentile_is_told_in_one_line(name):
    criterion, service, verdict = DRIFTS[name]
    result = result_of(criterion, service=service)
    assert result.verdict == verdict
    check_golden("judge/drift.txt", name, f"{result.verdict} {result.line}: {result.reason}")


def test_the_slope_is_the_one_that_was_put_in_whatever_its_unit():
    per_min = result_of("p90-slope of search>5ms/min", service=slowing(20))
    per_hour = result_of("p90-slope of search>0.3s/h", service=slowing(20))
    assert per_min.observed == pytest.approx(20, abs=3)
    assert (per_hour.limit, per_hour.observed) == (5, per_min.observed)


def test_20_of_20_runs_that_slow_down_are_found_and_steady_ones_are_not():
    assert all(result_of(P95, service=slowing(20, seed=s)).verdict == "FAIL" for s in range(20))
    steady = [result_of(P95, service=slowing(0, seed=s)).verdict for s in range(20)]
    assert "FAIL" not in steady
    assert steady.count("PASS") >= 18


def test_response_time_is_judged_where_there_is_a_schedule():
    both = {"service": slowing(0), "response": slowing(20)}
    result = result_of(P95, **both)
    assert (result.verdict, result.basis) == ("FAIL", "response time")
    result = result_of(P95, **both, settings=JudgeSettings(latency="service"))
    assert (result.verdict, result.basis) == ("PASS", "service time")


def test_too_few_samples_say_how_many_would_do():
    result = result_of(P95, service=slowing(20, 60, 5))
    assert (result.observed, result.samples, result.samples_needed) == (None, 300, 720)


def test_the_warm_up_is_left_out():
    later = slowing(0, 300)
    hot = slowing(0, 60, start=900.0) + Counts.of(later.second + 60, later.elapsed_ms, n=later.n)
    assert result_of(P95, service=hot, warmup_s=60.0, measured_s=300.0).verdict == "PASS"


def test_failed_samples_count_and_a_slope_is_no_latency_limit_of_the_generator():
    failed = slowing(0)
    failed = Counts.of(failed.second, failed.elapsed_ms, np.arange(len(failed.n)) > 5, n=failed.n)
    verdict = verdict_on(P95, service=failed)
    assert "failed samples count too" in verdict.executions[0].criteria[0].reason
    assert not any("late" in reason.text for reason in verdict.reasons)
