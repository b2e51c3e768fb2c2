"""Both ends of an interval, and how the estimates of a run share its false alarms."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.executions import counts, execution
from tollgate.criteria.grammar import parse_all
from tollgate.judge.facts import Course, JudgeSettings
from tollgate.judge.judgement import results_of
from tollgate.judge.levels import estimates
from tollgate.judge.observe import Estimate, Levels
from tollgate.stats import CONFIDENCE
from tollgate.stats.counts import Counts
from tollgate.stats.intervals import mean_interval
from tollgate.stats.sequential import nominal_level

SETTINGS = JudgeSettings()
ERROR = (1 - CONFIDENCE) / 2
#: The mean is 150 ms; each criterion of its own limit is an estimate of its own.
OVER, UNDER, NEAR = "avg-rt of search>140ms", "avg-rt of search>160ms", "avg-rt of search>150ms"


def results(*criteria, family=0, **changes):
    return results_of([execution(*criteria, **changes)], SETTINGS, family)[0]


def plain(level):
    """The interval of the mean at a one-sided level."""
    found = counts()
    sums = found.sum_by_second(found.elapsed_ms)
    return mean_interval(found.bins, found.sum_by_second(), sums, 1 - 2 * level)


def test_one_look_at_one_estimate_has_the_plain_interval():
    result = results(UNDER)[0]
    found = plain(ERROR)
    assert (result.low, result.high) == (found.low, found.high)


@pytest.mark.parametrize(("criterion", "end"), [(UNDER, "low"), ("avg-rt of search<100ms", "high")])
def test_the_end_towards_the_fail_alone_is_shared(criterion, end):
    result, alone, shared = results(criterion, family=9)[0], plain(ERROR), plain(ERROR / 9)
    other = "high" if end == "low" else "low"
    assert getattr(result, end) == pytest.approx(getattr(shared, end))
    assert getattr(result, other) == getattr(alone, other)


def test_a_refused_estimate_leaves_its_share_to_the_others():
    failed, passed = results(OVER, UNDER, family=5)
    assert (failed.verdict, passed.verdict) == ("FAIL", "PASS")
    assert failed.low == pytest.approx(plain(ERROR / 5).low)
    assert passed.low == pytest.approx(plain(ERROR / 4).low)


def test_what_has_no_say_takes_no_part_of_the_level():
    deciding, said = results(UNDER, f"{OVER}, continue as non-failed", "fail of search>0%")[:2]
    assert deciding.low == plain(ERROR).low
    assert said.low == plain(ERROR).low
    assert said.verdict == "FAIL"


def test_the_level_is_spent_over_the_looks():
    course = Course(30.0, 240.0, (30.0, 60.0))
    result = results(UNDER, course=course)[0]
    level = nominal_level((0.125, 0.25), ERROR)
    assert result.low == pytest.approx(plain(level).low)
    assert result.high == plain(ERROR).high


def test_all_executions_of_a_run_share():
    pair = results_of([execution(UNDER), execution(UNDER)], SETTINGS)
    assert {row[0].low for row in pair} == {plain(ERROR / 2).low}


def test_exact_criteria_are_no_estimates():
    known = parse_all(
        [
            *("p95>1s", "avg-lt>1s", "rss-slope>1MB/min", "cpu>90%", "p50-slope>1ms/min"),
            *("fail>0%", "hits<1", "p95>1s for 10s", "rss>1MB", "restarts>0"),
            "avg-rt>1s, continue as non-failed",
        ]
    )
    assert estimates([known, known]) == 2 * 5


@given(st.floats(1e-6, ERROR), st.sampled_from([">", ">=", "<", "<="]))
def test_a_fail_asks_for_more_than_a_plain_interval_and_a_pass_for_no_less(level, condition):
    def find(confidence):
        reach = math.sqrt(-math.log(1 - confidence))
        return Estimate(5.0, 5 - reach, 5 + reach, 10)

    both, alone = Levels(level, ERROR).between(condition, find), find(CONFIDENCE)
    fail, hold = ("low", "high") if condition[0] == ">" else ("high", "low")
    assert getattr(both, hold) == getattr(alone, hold)
    assert abs(getattr(both, fail) - 5) >= abs(getattr(alone, fail) - 5)


@pytest.mark.statistics
def test_looks_at_many_estimates_at_their_limits_seldom_fail_a_run(repetitions):
    """All true means are the limit, the worst for false alarms of a family."""
    random, runs, failed = np.random.default_rng(5), repetitions(1000), 0
    moments = [float(each) for each in range(10, 241, 10)]
    criteria = [f"avg-rt of {label}>1000ms" for label in ("a", "b", "c")]
    for _ in runs:
        services = [
            Counts.of(np.repeat(np.arange(240), 10), np.rint(random.normal(1000, 100, 2400)), ok())
            for _ in criteria
        ]
        failed += _fails(criteria, services, moments)
    assert failed <= runs.most(0.05), failed


def ok():
    return np.ones(2400, bool)


def _fails(criteria, services, moments):
    made = [
        execution(criterion, service=service, label=label)
        for criterion, service, label in zip(criteria, services, "abc", strict=True)
    ]
    labels = {key: data for each in made for key, data in each.labels.items()}
    whole = replace(made[0], labels=labels, criteria=tuple(it.criteria[0] for it in made))
    course = Course(30.0, 240.0)
    for moment in moments:
        course = course.at(moment)
        here = replace(whole, course=course, measured_s=moment)
        if any(each.verdict == "FAIL" for each in results_of([here], SETTINGS)[0]):
            return True
    return False
