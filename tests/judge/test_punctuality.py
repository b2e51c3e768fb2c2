"""Lateness counts in response times; the generator is to blame only where it decides."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.executions import counts, execution, verdict_on
from tollgate.judge.criterion import decided_by_lateness
from tollgate.schedule.lateness import Displacement


def result(criterion, response, without_generator_lateness):
    """Of a label whose response times have these counts, and these without the generator's part."""
    data = replace(
        execution(response=response).labels["search", False],
        without_generator_lateness=without_generator_lateness,
    )
    verdict = verdict_on(criterion, labels={("search", False): data})
    return verdict.executions[0].criteria[0], verdict


SLOW, FAST = counts(low=300, high=400), counts(low=100, high=200)


def test_a_criterion_that_holds_with_all_lateness_counted_in_holds():
    found, verdict = result("p95 of search>500ms", SLOW, FAST)
    assert (found.verdict, verdict.verdict) == ("PASS", "PASS")
    assert found.observed > 300


def test_a_criterion_that_only_the_generators_lateness_breaks_is_invalid_by_the_generators_fault():
    found, verdict = result("p95 of search>250ms", SLOW, FAST)
    assert (found.verdict, verdict.exit_code) == ("INVALID", 4)
    assert verdict.reasons[0].fault == "generator"
    assert "without it, it is 195 ms" in found.reason


def test_a_criterion_that_breaks_without_the_generators_lateness_too_fails_by_the_service():
    found, verdict = result("p95 of search>150ms", SLOW, FAST)
    assert (found.verdict, verdict.reasons[0].fault) == ("FAIL", "service")
    assert result("p95 of search>250ms", SLOW, None)[0].verdict == "FAIL"


def test_a_median_does_not_feel_the_lateness_of_a_few():
    few = counts(2970, 60, low=100, high=200) + counts(30, 60, low=2000, high=2100)
    assert result("p50 of search>250ms", few, FAST)[0].verdict == "PASS"
    assert result("p99.5 of search>250ms", few, FAST)[0].verdict == "INVALID"


def test_a_criterion_on_too_fast_an_answer_is_not_kept_by_lateness():
    assert result("p95 of search<250ms", SLOW, FAST)[0].verdict == "INVALID"
    assert result("p95 of search<100ms", SLOW, FAST)[0].verdict == "PASS"
    assert result("p95 of search<450ms", SLOW, FAST)[0].verdict == "FAIL"


VERDICTS = st.sampled_from(["PASS", "INCONCLUSIVE", "FAIL"])


@given(st.sampled_from([">", ">=", "<", "<="]), VERDICTS, VERDICTS)
def test_lateness_never_turns_what_fails_without_it_into_a_pass(condition, with_it, without):
    found = decided_by_lateness(condition, with_it, without)
    if condition.startswith("<"):
        assert found != "PASS" or without == "PASS"
    if found == "FAIL":
        assert with_it == "FAIL"
        assert without == "FAIL" or condition.startswith("<")


def displaced(due_ms, late_ms):
    found = Displacement()
    found.add(np.asarray(due_ms, float), np.broadcast_to(np.asarray(late_ms, float), len(due_ms)))
    return found.requests


def test_what_stays_in_its_second_or_is_replaced_by_its_neighbour_is_not_displaced():
    even = np.arange(0, 30_000, 10.0)
    assert displaced(even, 5.0) == 0
    # Each second hands ten requests on and gets ten; the first and the last one do not.
    assert displaced(even, 100.0) == 10
    assert displaced([], 0.0) == 0


def test_requests_that_a_stall_holds_back_are_displaced():
    due = np.arange(0, 10_000, 10.0)
    late = np.where((due >= 4000) & (due < 6000), 6000 - due, 0)
    assert displaced(due, late) == 200


@given(st.lists(st.tuples(st.floats(0, 9000), st.floats(0, 5000)), max_size=40), st.integers(0, 40))
def test_requests_taken_in_by_parts_are_displaced_as_in_one(requests, cut):
    due, late = np.array(requests).reshape(-1, 2).T
    parts = Displacement()
    parts.add(due[:cut], late[:cut])
    parts.add(due[cut:], late[cut:])
    assert parts.requests == displaced(due, late) <= len(due)


@pytest.mark.parametrize(("rate", "share"), [(1, 0.52), (10, 0.178), (100, 0.056)])
def test_another_stream_of_the_same_rate_is_displaced_by_what_chance_gives(rate, share):
    random = np.random.default_rng(5)
    due, sent = (np.sort(random.uniform(0, 1e7, rate * 10_000)) for _ in range(2))
    # Half of the mean difference of two Poisson numbers, over their mean.
    assert displaced(due, sent - due) / len(due) == pytest.approx(share, rel=0.1)


def test_a_request_that_a_clock_made_years_late_is_one_that_is_displaced():
    found = Displacement()
    found.add(np.array([0.0, 500.0]), np.array([0.0, 9.5e11]))
    assert found.requests == 1
