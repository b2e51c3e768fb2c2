"""Failed requests: the user's own limit on them decides, and times of failures never pass."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.executions import counts, execution, verdict_on
from tollgate.judge.facts import InterimHistory, JudgeSettings, MeasuredRun
from tollgate.judge.failures import TOLERATED
from tollgate.judge.judgement import judge, results_of
from tollgate.judge.when_decided import is_settled

TIMES = ["avg-rt of search>500ms", "p95>500ms", "avg-lt of search>500ms", "p50>500ms for 5s"]
COVERS = {
    **{"fail>99.99%": True, "fail of search>2999": True, "succ<0.01%": True, "rc500>99.99%": True},
    **{"hits<1": False, "rc404>99%": False, "fail>99.99%, continue as non-failed": False},
}


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(TIMES), st.integers(0, 2999), st.none() | st.sampled_from(sorted(COVERS)))
@example(TIMES[0], 2997, None)
@example(TIMES[0], int(3000 * TOLERATED), None)
@example(TIMES[0], int(3000 * TOLERATED) + 1, None)
def test_times_pass_with_few_failures_or_where_a_criterion_says_how_many_there_may_be(
    time, failed, cover
):
    verdict = verdict_on(time, *filter(None, [cover]), service=counts(failed=failed))
    actual = counts(failed=failed).errors
    passes = actual <= TOLERATED * 3000 or COVERS.get(cover, False)
    assert (verdict.verdict == "PASS") is passes, verdict.reasons
    result = verdict.executions[0].criteria[0]
    assert result.verdict == ("PASS" if passes else "FAIL")
    if not passes:
        assert f"{actual} of 3000 requests failed" in result.reason
        assert f"add 'fail{' of search' if 'of' in time else ''}>" in result.reason
        assert (verdict.reasons[0].fault, result.low, result.high) == ("service", None, None)


def test_failures_of_a_part_of_the_labels_are_covered_by_criteria_on_those():
    labels = execution(service=counts(failed=0)).labels
    broken = execution(label="buy", service=counts(failed=1500)).labels
    for cover, expected in {"fail of buy>60%": "PASS", "fail of search>60%": "FAIL"}.items():
        run = execution("avg-rt>500ms", cover, labels=labels | broken)
        assert judge(MeasuredRun((run,))).executions[0].criteria[0].verdict == expected


@pytest.mark.parametrize("cover", ["fail>5%", "fail of logout>1", "rc500>5%", None])
def test_the_one_request_of_a_label_may_fail_where_a_criterion_tolerates_it(cover):
    labels = execution("hits<1").labels
    once = execution(label="logout", service=counts(1, 1, failed=1)).labels
    assert once["logout", False].service.errors == 1
    run = execution("avg-rt>500ms", *filter(None, [cover]), labels=labels | once)
    verdict = judge(MeasuredRun((run,)))
    assert (verdict.verdict, verdict.exit_code) == (("PASS", 0) if cover else ("FAIL", 3))
    said = verdict.executions[0].warnings if cover else [it.text for it in verdict.reasons]
    assert any("every request of logout failed (n=1)" in line for line in said)


def test_a_tolerance_that_is_exceeded_fails():
    labels = execution("hits<1").labels
    once = execution(label="logout", service=counts(1, 1, failed=1)).labels
    for criterion in ("fail of logout>5%", "fail>0%", "rc500>0"):
        verdict = judge(MeasuredRun((execution(criterion, labels=labels | once),)))
        assert (verdict.verdict, verdict.exit_code) == ("FAIL", 3)


def test_a_service_that_recovers_from_failures_is_not_given_up_at_the_first_look():
    course = InterimHistory(30.0, 240.0, (10.0,))
    made = execution(TIMES[0], service=counts(failed=600), course=course)
    for at_s, settled in ((10.0, False), (30.0, True)):
        here = replace(made, course=replace(course, looks_s=(at_s,)))
        (found,) = results_of([here], JudgeSettings())
        assert found[0].verdict == "FAIL"
        assert is_settled(here.criteria, found, here.course) is settled
