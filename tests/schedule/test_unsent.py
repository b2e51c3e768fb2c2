"""Scheduled requests that were not sent count against whatever would hold only without them."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.executions import counts, execution
from tollgate.judge.facts import MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.plan.arrivals import EvenArrivals
from tollgate.schedule.model import NEVER_MS, TIMED_OUT, Schedule, Unanswered
from tollgate.schedule.queues import Queue
from tollgate.stats.counts import Counts

#: Epoch milliseconds.
ORIGIN = 1_795_359_354_868


def unanswered(n, slow_ms=5000, at=20, labels=("search",)):
    return Unanswered(labels, Counts.of([at] * n, [slow_ms] * n, [False] * n, codes=(TIMED_OUT,)))


def judged(criterion, *missing, **measured):
    made = execution(criterion, **measured)
    return judge(MeasuredRun((replace(made, unanswered=missing),)))


def verdict_of(criterion, *missing, service=None):
    verdict = judged(criterion, *missing, service=counts() if service is None else service)
    (result,) = verdict.executions[0].criteria
    return result.verdict


#: Of 3,000 requests 30 were not sent, and would have timed out after five seconds.
VERDICTS = {
    "PASS": (
        *("fail of search>2%", "fail of search>1% for 3s", "hits of search<2990"),
        *("p50 of search>250ms", "p95 of search>250ms", "avg-rt of search>1s"),
    ),
    "FAIL": ("p99.5 of search>100ms",),
    "INCONCLUSIVE": (
        *("fail of search>0%", "fail>0", "succ of search<100%", "rc500>0", "rc5??>0%"),
        *("rcSocketTimeoutException>0", "rc*Exception>0", "rc200 of search<100%"),
        *("hits of search>3010", "p99.5 of search>250ms", "avg-rt of search>160ms"),
        *("avg-lt of search>80ms", "fail of search>10% over 3s"),
    ),
}


@pytest.mark.parametrize(
    ("criterion", "verdict"), [(each, it) for it, many in VERDICTS.items() for each in many]
)
def test_a_criterion_passes_only_if_it_would_with_each_of_them_failed_and_timed_out(
    criterion, verdict
):
    assert verdict_of(criterion, unanswered(30)) == verdict


def test_without_a_timeout_a_mean_cannot_be_told_and_a_median_can():
    assert verdict_of("avg-rt of search>1h", unanswered(1, NEVER_MS)) == "INCONCLUSIVE"
    assert verdict_of("p50 of search>1s", unanswered(1, NEVER_MS)) == "PASS"


def test_those_of_a_shared_schedule_may_all_have_been_of_one_rare_label():
    rare = counts(180, 60)
    shared = unanswered(90, labels=("often", "search"))
    assert verdict_of("fail of search>30%", shared, service=rare) == "INCONCLUSIVE"
    assert verdict_of("fail of search>40%", shared, service=rare) == "PASS"


def test_those_of_other_labels_and_of_the_warm_up_do_not_count():
    assert verdict_of("fail of search>0%", unanswered(30, labels=("buy",))) == "PASS"
    early = unanswered(30, at=9)
    assert judged("fail of search>0%", early, warmup_s=10.0, measured_s=50.0).verdict == "PASS"


def test_an_inconclusive_criterion_says_how_many_were_not_sent():
    (reason,) = judged("fail of search>0%", unanswered(30)).reasons
    assert "30 scheduled requests were not sent" in reason.text


def test_of_a_closed_loop_it_says_how_many_had_no_answer():
    (reason,) = judged("fail of search>0%", replace(unanswered(7), waited_for=True)).reasons
    assert "7 requests of closed loops had no answer yet" in reason.text
    assert "scheduled" not in reason.text


@given(st.integers(0, 10**6), st.integers(0, 10**5))
@example(2019, 27_981)
def test_a_load_that_is_cut_short_ends_in_the_millisecond_that_was_given(end_ms, ahead_ms):
    schedule = Schedule("group", (), EvenArrivals(0, 1))
    until_s = (end_ms + ahead_ms) / 1000
    queue = Queue(schedule, (), ()).until(until_s, ORIGIN, ORIGIN + ahead_ms)
    assert queue.schedule.end_s == float(Fraction(end_ms, 1000))
