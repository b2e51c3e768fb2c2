import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.executions import counts, execution, result_of, verdict_on
from support.golden import check_golden
from tollgate.base.text import format_number
from tollgate.criteria.grammar import parse_all
from tollgate.judge.facts import JudgeSettings, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.stats.counts import Counts

VERDICTS = {
    # The p95 is 195 ms, its interval about 194 to 196 ms.
    "p95 of search>250ms": "PASS",
    "p95 of search>150ms": "FAIL",
    "p95 of search>195ms": "INCONCLUSIVE",
    "p95 of search<150ms": "PASS",
    "p95 of search<250ms": "FAIL",
    "p95>=250ms": "PASS",
    "avg-rt of search>160ms": "PASS",
    "avg-rt of search>140ms": "FAIL",
    "avg-rt of search>150ms": "INCONCLUSIVE",
    "stdev-rt of search>40ms": "PASS",
    "stdev-rt of search>20ms": "FAIL",
    "avg-lt of search>80ms": "PASS",
    "avg-lt of search>70ms": "FAIL",
    "avg-ct of search>1ms": "PASS",
    "fail of search>0": "PASS",
    "fail of search>0%": "PASS",
    "succ of search<100%": "PASS",
    "rc200 of search<1%": "PASS",
    "rc2?? of search>10%": "FAIL",
    "hits of search<3000": "PASS",
    "hits of search<3001": "FAIL",
    "bytes<1mb": "FAIL",
    "concurr of search>7": "PASS",
    "concurr of search>=7": "FAIL",
}


@pytest.mark.parametrize(("criterion", "verdict"), VERDICTS.items())
def test_a_criterion_passes_fails_or_cannot_be_told(criterion, verdict):
    result = result_of(criterion)
    assert result.verdict == verdict
    check_golden("judge/results.txt", criterion, f"{result.verdict} {result.line}: {result.reason}")


EXITS = {
    "p95 of search>250ms": ("PASS", 0, 0),
    "p95 of search>150ms": ("FAIL", 3, 3),
    "p95 of search>195ms": ("INCONCLUSIVE", 5, 0),
    "p95 of misspelt>1s": ("INVALID", 4, 4),
}


@pytest.mark.parametrize(("criterion", "expected"), EXITS.items())
def test_the_exit_code_follows_from_the_verdict(criterion, expected):
    strict = verdict_on(criterion)
    lenient = verdict_on(criterion, settings=JudgeSettings(inconclusive_passes=True))
    assert (strict.verdict, strict.exit_code, lenient.exit_code) == expected


def test_too_few_samples_are_inconclusive_but_for_a_clear_violation_and_for_errors():
    few = counts(240, 30)
    result = result_of("p99 of search>10s", service=few)
    assert (result.verdict, result.high) == ("INCONCLUSIVE", math.inf)
    assert result.samples_needed >= 368
    assert f"at least {result.samples_needed}" in result.reason
    check_golden("judge/results.txt", "too few", f"{result.verdict} {result.line}: {result.reason}")
    assert result_of("p99 of search>150ms", service=few).verdict == "FAIL"
    errors = result_of("fail of search>1%", service=few)
    assert (errors.verdict, errors.observed) == ("PASS", 0)
    assert (errors.low, errors.high) == (None, None)


def test_a_few_seconds_are_inconclusive_however_many_samples_they_hold():
    result = result_of("p50 of search>10s", service=counts(3000, 4))
    assert result.verdict == "INCONCLUSIVE"
    assert result.reason == "4 s of samples: at least 5 s are needed"


@pytest.mark.parametrize("subject", ["avg-rt", "avg-lt", "avg-ct", "stdev-rt"])
def test_a_mean_of_a_few_samples_is_inconclusive_however_alike_they_are(subject):
    few = Counts.of([0, 30, 59], [240, 240, 240])
    result = result_of(f"{subject} of search>250ms", service=few)
    assert (result.verdict, result.samples_needed) == ("INCONCLUSIVE", 10)
    enough = Counts.of(range(0, 60, 6), [160] * 10)
    assert result_of(f"{subject} of search>250ms", service=enough).verdict == "PASS"


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 2000), st.sampled_from([50, 90, 95, 99, 99.9]), st.integers(5, 60))
def test_a_percentile_never_passes_with_fewer_samples_than_it_needs(n, p, seconds):
    independent = math.ceil(math.log(0.025) / math.log(max(p, 100 - p) / 100))
    result = result_of(f"p{p} of search>1h", service=counts(n, seconds))
    if result.verdict == "PASS":
        assert n >= independent
    else:
        assert result.verdict == "INCONCLUSIVE"


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["p50", "p95", "avg-rt", "fail", "p95 for", "hits over"]),
    st.lists(st.integers(1, 400), min_size=2, max_size=6),
)
def test_raising_a_limit_never_makes_a_verdict_worse(subject, limits):
    subject, _, logic = subject.partition(" ")
    unit = "" if subject in ("fail", "hits") else "ms"
    window = f" {logic} 5s" if logic else ""
    service = counts(2000, 40, low=1, high=400, failed=60)
    order = ("FAIL", "INCONCLUSIVE", "PASS")
    verdicts = [
        order.index(result_of(f"{subject}>{limit}{unit}{window}", service=service).verdict)
        for limit in sorted(limits)
    ]
    assert verdicts == sorted(verdicts)


def test_response_time_is_judged_where_a_schedule_exists_and_service_time_on_demand():
    late, on_service = counts(low=300, high=400), JudgeSettings(latency="service")
    by_default = result_of("p95 of search>250ms", response=late)
    on_demand = result_of("p95 of search>250ms", response=late, settings=on_service)
    assert (by_default.verdict, by_default.basis) == ("FAIL", "response time")
    assert (on_demand.verdict, on_demand.basis) == ("PASS", "service time")
    assert result_of("avg-lt of search>1s", response=late).basis == "time to first byte"


def test_all_samplers_together_are_judged_without_a_label_and_transactions_are_not():
    first = execution("hits<3000", "p95>150ms").labels
    other = execution(label="buy", service=counts(1000, low=900, high=901)).labels["buy", False]
    bought = {("buy", True): replace(other, is_transaction=True)}
    verdict = verdict_on("hits>3000", "hits of buy<1000", labels=first | bought)
    assert [it.verdict for it in verdict.executions[0].criteria] == ["PASS", "PASS"]


def test_warm_up_is_left_out():
    service = counts(3000, 60) + counts(500, 10, low=5000, high=6000)
    hot = result_of("p95 of search>250ms", service=service)
    warm = result_of("p95 of search>250ms", service=service, warmup_s=10.0, measured_s=50.0)
    assert hot.observed > 5000
    assert warm.verdict == "PASS"
    assert warm.samples == 2500


def test_failed_samples_count_in_latencies_and_are_warned_about_unless_a_criterion_covers_them():
    service = counts(failed=30)
    result = result_of("p95 of search>250ms", service=service)
    assert result.verdict == "PASS"
    assert result.reason.endswith("; 30 failed samples count too")
    (warning, *_) = verdict_on("p95 of search>250ms", service=service).executions[0].warnings
    assert warning.startswith("30 of 3000 requests of search failed, and no criterion")
    covered = verdict_on("p95 of search>250ms", "fail>5%", service=service).executions[0].warnings
    assert not any("failed" in warning for warning in covered)


def test_a_run_in_which_every_request_fails_never_passes():
    verdict = verdict_on("p95 of search>250ms", service=counts(failed=3000))
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 3)
    assert verdict.reasons[0].text == "search-fork: every request of search failed (n=3000)"
    assert verdict.reasons[0].fault == "service"


def failing_with(code, failed=30):
    """Samples of which some failed, with this code; all others have 200."""
    of = counts(failed=failed)
    return Counts.of(of.second, of.elapsed_ms, of.ok, (~of.ok).astype(int), ("200", code), of.n)


UNSEEN = [
    *(("rc500 of search>1000", "200"), ("rc5??>1000", "404"), ("rc200 of search<1%", "200")),
    *(("rc500=1000", "500"), ("p95>1s", "500"), ("rc500>1000, continue as non-failed", "500")),
]
SEEN = [
    *(("fail of search>50%", "200"), ("fail>1000", "404"), ("succ of search<50%", "200")),
    *(("rc500 of search>1000", "500"), ("rc5??>50%", "503"), ("rc200 of search<50%", "404")),
    ("rcSocketException>1000", "Non HTTP response code: java.net.SocketException"),
]


@pytest.mark.parametrize(("criterion", "code"), UNSEEN)
def test_failures_whose_code_no_criterion_is_about_are_warned_about(criterion, code):
    verdict = verdict_on("hits<1", criterion, service=failing_with(code))
    (warning, *_) = verdict.executions[0].warnings
    assert verdict.verdict == "PASS"
    assert warning.startswith("30 of 3000 requests of search failed, and no criterion")


@pytest.mark.parametrize(("criterion", "code"), SEEN)
def test_failures_that_a_criterion_would_see_are_not_warned_about(criterion, code):
    verdict = verdict_on(criterion, service=failing_with(code))
    assert verdict.verdict == "PASS"
    assert not any("failed" in warning for warning in verdict.executions[0].warnings)


def test_of_failures_with_several_codes_those_that_nobody_would_see_are_counted():
    service = failing_with("500", 30) + failing_with("200", 7)
    (warning, *_) = verdict_on("rc500>1000", service=service).executions[0].warnings
    assert warning.startswith("7 of 6000 requests of search failed")


def test_closed_loops_carry_the_coordinated_omission_warning():
    (warning,) = verdict_on("p95 of search>250ms").executions[0].warnings
    assert "coordinated omission" in warning
    assert verdict_on("p95 of search>250ms", response=counts()).executions[0].warnings == ()


def test_a_non_failed_criterion_is_reported_without_a_say():
    verdict = verdict_on("p95 of search>250ms", "p95 of search>100ms, continue as non-failed")
    notice = verdict.executions[0].criteria[1]
    assert (verdict.verdict, notice.verdict, notice.decides) == ("PASS", "FAIL", False)


def test_a_label_that_gave_no_samples_makes_the_run_invalid():
    for criterion in ("p95 of basket>250ms", "fail of basket>0"):
        verdict = verdict_on("p95 of search>250ms", criterion)
        assert verdict.verdict == "INVALID"
        assert "gave no samples" in verdict.reasons[0].text


def test_a_column_that_the_jtl_lacks_makes_the_run_invalid():
    made = execution("avg-lt of search>1s", "avg-ct of search>1s")
    data = made.labels["search", False]
    bare = replace(data, totals=replace(data.totals, latency_ms=None))
    result = judge(MeasuredRun((replace(made, labels={("search", False): bare}),)))
    assert [it.verdict for it in result.executions[0].criteria] == ["INVALID", "PASS"]
    assert "the JTL has no column Latency, which avg-lt needs" in result.reasons[0].text


def test_invalid_beats_fail_beats_inconclusive_beats_pass():
    criteria = [f"p95 of {it}" for it in ("search>250ms", "search>195ms", "search>150ms", "no>1s")]
    for count, verdict in enumerate(("PASS", "INCONCLUSIVE", "FAIL", "INVALID"), start=1):
        assert verdict_on(*criteria[:count]).verdict == verdict


def test_the_worst_reason_comes_first_and_names_its_execution():
    verdict = verdict_on("p95 of search>195ms", "p95 of search>150ms", facts={"cut_off_line": 7})
    assert [reason.verdict for reason in verdict.reasons] == ["INVALID", "FAIL", "INCONCLUSIVE"]
    assert all(reason.text.startswith("search-fork: ") for reason in verdict.reasons)
    for index, reason in enumerate(verdict.reasons):
        text = f"{reason.verdict} ({reason.fault}) {reason.text}"
        check_golden("judge/results.txt", f"reason {index}", text)


def test_one_invalid_execution_makes_the_run_invalid():
    both = execution("p95 of search>250ms"), execution("p95 of basket>250ms")
    assert judge(MeasuredRun(both)).verdict == "INVALID"


def test_judging_twice_gives_the_same_verdict():
    run = MeasuredRun((execution("p95 of search>195ms", "fail>1%", service=counts(failed=7)),))
    assert judge(run) == judge(run)


def test_the_message_is_the_canonical_text_whatever_the_form():
    text, mapping = parse_all(["success of a<99%"]), parse_all({"Too low": "succ of a<99%"})
    assert text[0].text == mapping[0].text == "succ of a<99%"


FIGURES = [
    *((231.4, None, "231"), (23.14, None, "23.1"), (2.314, None, "2.31"), (0.0231, None, "0.023")),
    *((250.04, 250, "250.04"), (249.6, 250, "249.6"), (250, 250, "250"), (0, None, "0")),
    *((100, None, "100"), (1000.0, None, "1000"), (math.inf, 250, "inf"), (99.96, 100, "99.96")),
]


@pytest.mark.parametrize(("value", "against", "text"), FIGURES)
def test_figures_are_short_but_never_rounded_onto_their_limit(value, against, text):
    assert format_number(value, against) == text
