"""When the looks at an execution end it, and what is said of when each criterion was decided."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.executions import counts, execution, result_of
from tollgate.criteria.grammar import parse_all
from tollgate.judge.facts import InterimHistory, JudgeSettings
from tollgate.judge.judgement import results_of
from tollgate.judge.when_decided import is_settled, noted
from tollgate.stats.sequential import LEAST_STEP, nominal_level

LATENCY, SHARE, SAID = "p95>1s", "fail>0%", "p50>1s, continue as non-failed"
CRITERIA = parse_all([LATENCY, SHARE, SAID])
RESULT = result_of("p95 of search>250ms")
#: Verdicts of the three, seconds of measuring, and whether the verdict is settled then.
MOMENTS = {
    "all hold": (("PASS", "PASS", "PASS"), 30.0, True),
    "all hold too early": (("PASS", "PASS", "PASS"), 20.0, False),
    "one is open": (("INCONCLUSIVE", "PASS", "PASS"), 30.0, False),
    "what has no say is open": (("PASS", "PASS", "INCONCLUSIVE"), 30.0, True),
    "an estimate fails early": (("FAIL", "PASS", "PASS"), 10.0, True),
    "a count fails early": (("PASS", "FAIL", "PASS"), 20.0, False),
    "a count fails": (("INCONCLUSIVE", "FAIL", "PASS"), 30.0, True),
    "what has no say fails": (("INCONCLUSIVE", "PASS", "FAIL"), 30.0, False),
    "nothing to judge": (("INVALID", "PASS", "PASS"), 30.0, False),
}


@pytest.mark.parametrize(("verdicts", "at_s", "settled"), MOMENTS.values(), ids=MOMENTS)
def test_an_execution_ends_once_its_verdict_is_settled(verdicts, at_s, settled):
    found = [
        replace(RESULT, criterion=each.text, verdict=verdict, decides=each.fail)
        for each, verdict in zip(CRITERIA, verdicts, strict=True)
    ]
    assert is_settled(CRITERIA, found, InterimHistory(30.0, 240.0, (at_s,))) is settled


def course_of(*verdicts):
    """The results after looks every 10 s, at each of which a criterion on 200 ms has a verdict."""
    limits = {"PASS": "250ms", "FAIL": "150ms", "INCONCLUSIVE": "195ms"}
    course = InterimHistory(30.0, 240.0)
    for number, verdict in enumerate(verdicts, 1):
        course = course.at(10.0 * number)
        made = execution(f"p95 of search>{limits[verdict]}", course=course)
        (found,) = results_of([made], JudgeSettings())[0]
        assert found.verdict == verdict
        found = replace(found, criterion="same")
        if "same" in course.since and course.since["same"][0] == verdict:
            found = replace(found, decided_after_s=course.since["same"][1])
        course = noted(course, [found])
    return course.since["same"]


def test_a_criterion_is_decided_from_the_look_on_that_its_verdict_dates_from():
    assert course_of("INCONCLUSIVE", "PASS", "PASS") == ("PASS", 20.0)
    assert course_of("PASS", "INCONCLUSIVE", "PASS") == ("PASS", 30.0)


DATES = {
    "at once": (InterimHistory(30.0, 240.0, (10.0, 20.0, 30.0), {}), 30.0),
    "since a look": (InterimHistory(10.0, 240.0, (10.0, 20.0, 30.0), {"X": ("PASS", 20.0)}), 20.0),
    "not before the least": (
        InterimHistory(30.0, 240.0, (10.0, 40.0), {"X": ("PASS", 10.0)}),
        30.0,
    ),
    "ended before the least": (InterimHistory(30.0, 240.0, (10.0,), {"X": ("PASS", 10.0)}), 10.0),
    "was open": (InterimHistory(10.0, 240.0, (10.0, 20.0), {"X": ("INCONCLUSIVE", 10.0)}), 20.0),
}


@pytest.mark.parametrize(("course", "after_s"), DATES.values(), ids=DATES)
def test_a_pass_has_its_date(course, after_s):
    criterion = "p95 of search>250ms"
    course = replace(course, since=dict.fromkeys([criterion], course.since.get("X", ("", 0.0))))
    (found,) = results_of([execution(criterion, course=course)], JudgeSettings())[0]
    assert (found.verdict, found.decided_after_s) == ("PASS", after_s)


def test_what_is_open_has_no_date_and_names_the_budget_at_its_end():
    criterion = "p95 of search>195ms"
    ends = InterimHistory(30.0, 60.0, (60.0,)), InterimHistory(30.0, 240.0, (60.0,)), None
    found = [result_of(criterion, course=course) for course in ends]
    assert [it.verdict for it in found] == ["INCONCLUSIVE"] * 3
    assert [it.decided_after_s for it in found] == [None] * 3
    assert ["modules.stop-when-decided.budget" in it.reason for it in found] == [True, False, False]


@given(st.lists(st.integers(1, 23), unique=True), st.floats(0.5, 500))
def test_fractions_are_what_sequential_levels_take(tens, last_s):
    earlier = [10.0 * each for each in sorted(tens) if 10.0 * each < min(last_s, 239)]
    fractions = InterimHistory(30.0, 240.0, (*earlier, last_s)).fractions
    steps = [b - a for a, b in zip((0.0, *fractions), fractions, strict=False)]
    assert min(steps) >= LEAST_STEP * (1 - 1e-9)
    assert fractions[-1] <= 1


@pytest.mark.parametrize("last_s", [120.0, 120.1, 150.0])
def test_a_load_that_goes_on_behind_a_look_at_the_end_of_the_budget_has_a_level(last_s):
    course = InterimHistory(30.0, 120.0, (30.0, 120.0, last_s))
    assert 0 < nominal_level(course.fractions, 0.01) < 0.01


COUNTS = {"hits": 3000, "succ": 2940, "fail": 60, "rc500": 60, "rc2??": 2940, "bytes": 300_000}


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(sorted(COUNTS)),
    st.sampled_from([">", ">=", "<", "<="]),
    st.integers(-2, 2),
    st.sampled_from([10.0, 60.0, 239.0, 240.0, 300.0]),
    st.booleans(),
)
def test_a_count_is_decided_where_more_samples_could_not_change_it(
    subject, condition, beyond, at_s, is_over
):
    """What holds so far is worth nothing where Tollgate itself ends the execution."""
    limit = COUNTS[subject] + beyond
    course = InterimHistory(30.0, 240.0, (at_s,), is_over=is_over)
    made = execution(f"{subject}{condition}{limit}", service=counts(failed=60), course=course)
    (found,) = results_of([made], JudgeSettings())[0]
    (plain,) = results_of([replace(made, course=None)], JudgeSettings())[0]
    many = counts(n=300_000, failed=6000)
    (later,) = results_of([replace(made, labels=labels_of(many), course=None)], JudgeSettings())[0]
    is_certain = is_over or at_s >= 240 or plain.verdict == later.verdict
    assert found.verdict == (plain.verdict if is_certain else "INCONCLUSIVE")


def labels_of(service):
    return execution("hits<1", service=service).labels


def test_a_count_past_its_limit_ends_an_execution_at_once_and_a_share_does_not():
    course = InterimHistory(30.0, 240.0, (10.0,))
    ends = {"fail>59": True, "fail>0": True, "fail>1%": False, "hits<9999": False}
    for text, settled in ends.items():
        made = execution(text, service=counts(failed=60), course=course)
        (found,) = results_of([made], JudgeSettings())
        assert is_settled(made.criteria, found, course) is settled


def test_a_count_of_none_passes_as_a_share_of_none_does():
    course = InterimHistory(30.0, 240.0, (30.0,))
    texts = ("fail>0", "fail>=1", "rc5??>0", "fail>0%", "hits<3000", "hits>9999", "hits<9999")
    (found,) = results_of([execution(*texts, course=course)], JudgeSettings())
    assert [it.verdict for it in found] == ["PASS"] * 5 + ["INCONCLUSIVE"] * 2
