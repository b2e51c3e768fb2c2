"""Both ends of an interval, and how the estimates of a run share its false alarms."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.executions import counts, execution
from tollgate.criteria.grammar import parse_all
from tollgate.judge.facts import InterimHistory, JudgeSettings
from tollgate.judge.judgement import results_of
from tollgate.judge.levels import PASS_EXPONENT, PASS_SHARE, estimates
from tollgate.stats.counts import Counts
from tollgate.stats.intervals import CONFIDENCE, mean_interval
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


def test_one_look_at_one_estimate_has_the_plain_interval_and_all_executions_share():
    result, found = results(UNDER)[0], plain(ERROR)
    assert (result.low, result.high) == (found.low, found.high)
    pair = results_of([execution(UNDER), execution(UNDER)], SETTINGS)
    assert {row[0].fail_bound for row in pair} == {plain(ERROR / 2).low}


@pytest.mark.parametrize(("criterion", "end"), [(UNDER, "low"), ("avg-rt of search<100ms", "high")])
def test_the_bound_that_decides_a_fail_is_shared_and_the_interval_is_not(criterion, end):
    result, alone, shared = results(criterion, family=9)[0], plain(ERROR), plain(ERROR / 9)
    assert result.fail_bound == pytest.approx(getattr(shared, end))
    assert [result.low, result.high] == [alone.low, alone.high] == result.unadjusted_interval


def test_a_refused_estimate_leaves_its_share_to_the_others():
    failed, passed = results(OVER, UNDER, family=5)
    assert (failed.verdict, passed.verdict) == ("FAIL", "PASS")
    assert failed.fail_bound == pytest.approx(plain(ERROR / 5).low)
    assert passed.fail_bound == pytest.approx(plain(ERROR / 4).low)


def test_what_has_no_say_takes_no_part_of_the_level():
    deciding, said = results(UNDER, f"{OVER}, continue as non-failed", "fail of search>0%")[:2]
    assert deciding.fail_bound == plain(ERROR).low
    assert said.fail_bound == plain(ERROR).low
    assert said.verdict == "FAIL"


def test_the_levels_are_spent_over_the_looks():
    course = InterimHistory(30.0, 240.0, (20.0, 30.0, 60.0))
    result = results(UNDER, family=9, course=course)[0]
    fail = nominal_level((20 / 240, 0.125, 0.25), ERROR / 9)
    hold = nominal_level((0.125, 0.25), PASS_SHARE * ERROR, PASS_EXPONENT)
    assert result.fail_bound == pytest.approx(plain(fail).low)
    assert (result.low, result.high) == (plain(hold).low, plain(hold).high)
    assert result.unadjusted_interval == [plain(ERROR).low, plain(ERROR).high]
    assert result.is_repeated


def test_one_look_at_the_end_of_the_budget_passes_by_the_plain_interval():
    result = results(UNDER, course=InterimHistory(30.0, 30.0, (10.0, 20.0, 30.0)))[0]
    assert (result.low, result.high) == (plain(ERROR).low, plain(ERROR).high)
    assert not result.is_repeated


def test_exact_criteria_are_no_estimates():
    known = parse_all(
        [
            *("p95>1s", "avg-lt>1s", "rss-slope>1MB/min", "cpu>90%", "p50-slope>1ms/min"),
            *("fail>0%", "hits<1", "p95>1s for 10s", "rss>1MB", "restarts>0"),
            "avg-rt>1s, continue as non-failed",
        ]
    )
    assert estimates([known, known]) == 2 * 5


COURSES = st.none() | st.builds(
    lambda least, budget, looks: InterimHistory(least, max(least, budget), tuple(sorted(looks))),
    st.sampled_from([10.0, 30.0, 60.0]),
    st.sampled_from([30.0, 60.0, 240.0]),
    st.sets(st.sampled_from([10.0, 20.0, 30.0, 40.0, 60.0]), min_size=1),
)


@given(
    st.sampled_from(["avg-rt", "stdev-rt", "avg-lt", "p50", "p95", "p99", "p50-slope"]),
    st.sampled_from([">", ">="]),
    st.floats(1, 400),
    COURSES,
    st.integers(0, 20),
    st.integers(0, 2**32 - 1),
)
def test_no_interval_contradicts_its_verdict(subject, condition, limit, course, family, seed):
    random = np.random.default_rng(seed)
    seconds = int(random.integers(4, 70))
    each = random.poisson(random.choice([0.3, 3, 30]), seconds)
    took = np.rint(random.gamma(random.choice([0.5, 4, 100]), 40, each.sum()))
    service = Counts.of(np.repeat(np.arange(seconds), each), took, np.ones(len(took), bool))
    unit = "ms/min" if subject.endswith("slope") else "ms"
    criterion = f"{subject} of search{condition}{limit:.3f}{unit}"
    made = execution(criterion, service=service, course=course, measured_s=float(seconds))
    (it,) = results_of([made], SETTINGS, family)[0]
    if it.low is None:
        return
    if it.verdict == "FAIL":
        assert it.low >= it.limit
        assert it.fail_bound >= it.limit
    elif it.verdict == "PASS":
        assert it.high <= it.limit
    elif it.low > it.limit:  # the reason names what a FAIL lacks
        assert it.fail_bound <= it.limit
        assert "FAIL" in it.reason
    elif it.high < it.limit:
        assert "too few" in it.reason or "at least" in it.reason
    assert it.fail_bound <= it.low


@pytest.mark.statistics
def test_looks_at_many_estimates_at_their_limits_seldom_fail_a_run(repetitions):
    """All true means are the limit, the worst for false alarms of a family."""
    random, runs, failed = np.random.default_rng(5), repetitions(1000), 0
    second, ok = np.repeat(np.arange(240), 10), np.ones(2400, bool)
    for _ in runs:
        services = [Counts.of(second, np.rint(random.normal(1000, 100, 2400)), ok) for _ in "abc"]
        failed += _fails(services)
    assert failed <= runs.most(0.05), failed


def _fails(services):
    """Whether a look every 10 s finds a mean above 1000 ms in any of three labels."""
    made = [
        execution(f"avg-rt of {label}>1000ms", service=service, label=label)
        for label, service in zip("abc", services, strict=True)
    ]
    labels = {key: data for each in made for key, data in each.labels.items()}
    whole = replace(made[0], labels=labels, criteria=tuple(it.criteria[0] for it in made))
    course = InterimHistory(30.0, 240.0)
    for moment in range(10, 241, 10):
        course = course.at(float(moment))
        here = replace(whole, course=course, measured_s=float(moment))
        if any(each.verdict == "FAIL" for each in results_of([here], SETTINGS)[0]):
            return True
    return False
