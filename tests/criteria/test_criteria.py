import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.golden import check_golden
from tollgate.criteria.check import check, lower_bound_errors
from tollgate.criteria.grammar import CriterionError, parse, parse_all

LABELS = ("search", "calculate", "GET /a:b", "a>b", "a, b", "list of things", "IndexPage")
#: What is read of a text, with the last ones of PLAINLY where it stops before.
PLAINLY = (None, None, True, True)
READ = {
    "p95 of search>250ms": ("p95", "search", ">", 250, "ms"),
    "p99.9>1s": ("p99.9", "", ">", 1000, "ms"),
    "avg-rt of IndexPage>150ms for 10s, stop as failed": (
        *("avg-rt", "IndexPage", ">", 150, "ms", "for", 10),
    ),
    "failures of calculate>1% within 10s, continue as non-failed": (
        *("fail", "calculate", ">", 1, "%", "within", 10, False, False),
    ),
    "success of search<99%": ("succ", "search", "<", 99, "%"),
    "rc5?? of search>=1% over 30s": ("rc5??", "search", ">=", 1, "%", "over", 30),
    "rcSocketException>0": ("rcSocketException", "", ">", 0, "count"),
    "hits of search<100 over 5": ("hits", "search", "<", 100, "count", "over", 5),
    "bytes>10kb": ("bytes", "", ">", 10240, "bytes"),
    "concurrency==5": ("concurr", "", "=", 5, "users"),
    "p95 of search > 1m30s": ("p95", "search", ">", 90_000, "ms"),
    "p95 of GET /a:b>250ms": ("p95", "GET /a:b", ">", 250, "ms"),
    "p95 of a>b>=250ms": ("p95", "a>b", ">=", 250, "ms"),
    "p95 of a, b>250ms, continue": ("p95", "a, b", ">", 250, "ms", None, None, False),
    "rss-slope of worker>1MB/min": ("rss-slope", "worker", ">", 1, "MB/min"),
    "rss-slope>=1.5GiB/h, continue": (
        *("rss-slope", "worker", ">=", 25.6, "MB/min", None, None, False),
    ),
    "time-left of worker<24h": ("time-left", "worker", "<", 1440, "min"),
    "rss>0.5GB": ("rss", "worker", ">", 512, "MB"),
    "cpu of worker>120%": ("cpu", "worker", ">", 120, "%"),
    "loop-delay-p50>20ms": ("loop-delay-p50", "worker", ">", 20, "ms"),
    "loop-delay-p95 of worker>0.05s": ("loop-delay-p95", "worker", ">", 50, "ms"),
    "restarts>0": ("restarts", "worker", ">", 0, "count"),
    "p95-slope of search>0.06s/h": ("p95-slope", "search", ">", 1, "ms/min"),
    "p99.9-slope>1ms/s, stop as non-failed": (
        *("p99.9-slope", "", ">", 60, "ms/min", None, None, True, False),
    ),
    "p95 of list of things>250ms": ("p95", "list of things", ">", 250, "ms"),
}


def fields(c):
    window = c.logic, c.timeframe_s
    return c.subject, c.label, c.condition, c.threshold, c.unit, *window, c.stop, c.fail


@pytest.mark.parametrize(("text", "expected"), READ.items())
def test_taurus_grammar_is_read(text, expected):
    assert fields(parse(text, LABELS)) == (*expected, *PLAINLY[len(expected) - 5 :])


def dictionary(c):
    """The criterion with Taurus's fields, by its canonical text."""
    head = c.subject + (f" of {c.label}" if c.label else "") + c.condition
    threshold = re.split(r"[ ,]", c.text.removeprefix(head), maxsplit=1)[0]
    window = {"logic": c.logic, "timeframe": f"{c.timeframe_s}s"} if c.logic else {}
    names = ("subject", "label", "condition", "stop", "fail", "message")
    return {name: getattr(c, name) for name in names} | {"threshold": threshold} | window


@pytest.mark.parametrize("text", READ)
def test_the_dictionary_form_and_the_canonical_text_say_the_same_as_the_text(text):
    criterion = parse(text, LABELS)
    assert parse(criterion.text, LABELS) == criterion
    again = parse(dictionary(criterion), LABELS)
    assert fields(again) == fields(criterion)
    assert again.text == criterion.text


PLAIN = [
    "p95 of search>250ms",
    "avg-rt of IndexPage>150ms for 10s, stop as failed",
    "Too many: fail of calculate>1% within 10s, continue as non-failed",
    "rc5?? of search>1% over 30s",
    "hits of search<100 over 5s",
]


@pytest.mark.parametrize("text", PLAIN)
def test_bzt_itself_reads_plain_criteria_the_same_way(text):
    passfail = pytest.importorskip("bzt.modules.passfail")
    ours, theirs = dictionary(parse(text)), passfail.DataCriterion.string_to_config(text)
    assert all(ours[key] == theirs[key] for key in ours if key != "logic")


def test_bzt_misreads_two_character_conditions_behind_a_label():
    passfail = pytest.importorskip("bzt.modules.passfail")
    text = "rc500 of search>=5"
    assert passfail.DataCriterion.string_to_config(text)["label"] == "search>"
    assert parse(text).label == "search"


def test_a_message_ends_at_a_colon_that_is_not_the_labels():
    assert parse("Slow: p95 of GET /a:b>1s", LABELS).message == "Slow"
    assert parse("Slow, again: really: p95>1s").message == "Slow, again: really"
    assert parse("fail of a: p95 of search>1s", LABELS).message == "fail of a"
    assert parse({"Slow": "p95>1s"}).message == "Slow"


def test_a_mapping_of_messages_and_a_list_are_both_read():
    messages = {"A": "p95>1s", "B": {"subject": "hits", "condition": "<", "threshold": 5}}
    assert [c.message for c in parse_all(messages)] == ["A", "B"]
    assert len(parse_all(["p95>1s", "fail>1%"])) == 2


def test_only_a_windowed_stop_can_end_a_run_early():
    early = {text: parse(text).can_stop_early for text in ("p95>1s", "p95>1s for 5s")}
    assert early == {"p95>1s": False, "p95>1s for 5s": True}
    assert not parse("p95>1s for 5s, continue as failed").can_stop_early
    assert not parse("p95>1s for 5s, stop as non-failed").can_stop_early


REFUSED = [
    *("", "p95", "p95 of search", ">250ms", "p95>", "p95 250ms"),
    *("p95>250", "p95>250 ms", "p95 of search>0.25", "avg-rt>1 s for 5s", "p95>-5ms", "p95>inf"),
    *("p95>5%", "fail>1s", "fail>5m", "fail>0.5", "hits>1k", "bytes>5%", "bytes>1tb"),
    *("fial>1%", "latency>5ms", "cpu of search>5%", "P95>5ms", "failover>1"),
    *("p0>1s", "p100>1s", "p101>1s", "rc5xx>0", "rc50>1", "rc0??>1", "rc>0"),
    *("succ>100%", "fail<0%", "fail>=0%", "succ<=100%", "hits<0", "hits>=0", "p95<0ms", "p95>=0ms"),
    *("p95=>1s", "p95<>1s", "p95=1s", "p95>>1s", "fail>1 %"),
    *("p95>1s for", "p95>1s for 0s", "p95>1s for 500ms", "p95>1s within", "p95>1s since 10s"),
    *("p95>1s, continue as nonfailed", "p95>1s, stop as non failed", "p95>1s,", "p95>1s, p99>2s"),
    *("rcSocketTimeoutExeption>0", "rcsockettimeoutexception>0", "rcSocketTimeout of search>1%"),
    *("rcjava.net.SocketTimeoutException>0", "rcjava.net.*Exception>0", "rcjava.net.*>0"),
    *("Bad: rcConectException>0", "SocketTimeoutException>0", "rcMyOwnException>0 for 5s"),
    *("rcNon HTTP response code: java.net.SocketTimeoutException>0", "rccom.acme.Outer$Inner>0"),
    *("rc2.0>0", "rc200.>0"),
    "fail of a: p95 of b>1s",
    *("rss-slope of search>1MB/min", "restarts of GET /a:b>0", "p95-slope of search>1MB/min"),
    *("rss-slope>1MB", "rss-slope>1/min", "rss-slope>1MB/d", "rss-slope>5%", "rss-slope=0MB/min"),
    *("rss>400", "rss>5%", "rss<0MB", "cpu>90", "cpu>=0%", "time-left<0s", "time-left<24"),
    *("restarts>1%", "restarts>=0", "restarts>1.5", "p0-slope>1ms/min", "rss-slop>1MB/min"),
    *("rss-slope>1MB/min for 10s", "restarts>0 within 10s", "p95-slope>1ms/min over 1m"),
    *("loop-delay-p99>50ms", "loop-delay-p95>50", "heap>5MB"),
]


CODES = ("429", "5??", "*", "*Timeout*", "Socket*Exception", "MyOwn*", "5*", "UnknownHostException")


@pytest.mark.parametrize("code", [*CODES, "OutOfMemoryError", "NoHttpResponseException"])
def test_codes_that_jmeter_may_write_are_let_through_and_so_are_masks_of_others(code):
    assert parse(f"rc{code} of search>1%", LABELS).subject == f"rc{code}"


@pytest.mark.parametrize("text", REFUSED)
def test_what_taurus_would_misread_or_never_judge_is_refused(text):
    with pytest.raises(CriterionError) as refused:
        parse(text)
    check_golden("criteria/refusals.txt", repr(text).replace(": ", ":_"), str(refused.value))


WHOLE_RUN = [
    *("rss-slope>1MB/min", "time-left<1h", "rss>1GB", "cpu>90%", "restarts>0"),
    *("loop-delay-p50>9ms", "loop-delay-p95>9ms", "p95-slope>1ms/min"),
]


@pytest.mark.parametrize("text", WHOLE_RUN)
def test_what_taurus_does_not_know_takes_no_window_and_so_never_reaches_it(text):
    assert not parse(text).can_stop_early
    for window in ("for 10s", "within 10s", "over 10s"):
        with pytest.raises(CriterionError, match="judged over the whole run; leave the window out"):
            parse(f"{text} {window}")


@pytest.mark.parametrize("text", WHOLE_RUN[:-1])
def test_worker_may_be_left_out_and_is_no_label_of_the_plans(text):
    subject = parse(text).subject
    assert parse(text) == parse(text.replace(subject, f"{subject} of worker", 1))
    assert check([parse(text)], LABELS, measured_s=30) == []


AMOUNTS = st.integers(1, 10**6)


@given(AMOUNTS, st.sampled_from(["MB", "MiB", "mb"]), st.sampled_from([("s", 60), ("h", 1 / 60)]))
def test_a_slope_is_the_same_in_whatever_unit_it_is_written(amount, unit, per):
    name, factor = per
    assert parse(f"rss-slope>{amount}{unit}/min").threshold == amount
    assert parse(f"rss-slope>{amount}{unit}/{name}").threshold == pytest.approx(amount * factor)
    assert parse(f"rss-slope>{amount * 1024}KB/min").threshold == amount
    assert parse(f"p95-slope>{amount}s/{name}").threshold == pytest.approx(1000 * amount * factor)


OF_WORKERS = r"\A(rss-slope|time-left|rss|cpu|p9-slope|restarts)[<>=]{1,2}[\w.%/-]{0,9}\Z"


@given(st.text(max_size=40) | st.from_regex(OF_WORKERS))
def test_any_text_is_read_or_refused_in_one_line(text):
    refusal = ""
    try:
        assert parse(parse(text, LABELS).text, LABELS) == parse(text, LABELS)
    except CriterionError as error:
        refusal = str(error)
    assert len(refusal.splitlines()) <= 1


REFUSED_DICTIONARIES = {
    "misspelt field": {"subject": "hits", "condition": "<", "treshold": 5},
    "no threshold": {"subject": "hits", "condition": "<"},
    "no condition": {"subject": "hits", "threshold": 5},
    "seconds meant or not": {"subject": "p95", "condition": ">", "threshold": 250},
    "stop as text": {"subject": "hits", "condition": "<", "threshold": 5, "stop": "no"},
    "a code as JMeter writes it": {
        **{"subject": "rcNon HTTP response code: java.net.SocketTimeoutException"},
        **{"condition": ">", "threshold": 0},
    },
    "a misspelt code": {"subject": "rcSocketTimeoutExeption", "condition": ">", "threshold": 0},
    "unknown logic": {"subject": "hits", "condition": "<", "threshold": 5, "logic": "in"},
    "monitoring": {"class": "bzt.modules.monitoring.MonitoringCriteria", "subject": "local/cpu"},
}


@pytest.mark.parametrize("name", REFUSED_DICTIONARIES)
def test_dictionaries_are_read_as_strictly(name):
    with pytest.raises(CriterionError) as refused:
        parse(REFUSED_DICTIONARIES[name])
    check_golden("criteria/refusals.txt", name, str(refused.value))


def test_criteria_that_are_neither_list_nor_mapping_are_refused():
    with pytest.raises(CriterionError, match="write a list"):
        parse_all("p95>1s")
    with pytest.raises(CriterionError, match="neither text nor a dictionary"):
        parse(5)


CHECKS = {
    "misspelt label": (["p95 of serach>1s"], {}),
    "label in the wrong case": (["p95 of indexpage>1s"], {}),
    "label like none": (["p95 of zzz>1s"], {}),
    "duplicate": (["p95>1s", "fail>1%", "p95>1000ms"], {}),
    "the same of workers": (["restarts>0", "restarts of worker>0"], {}),
    "window longer than the run": (["p95>1s for 60s"], {"measured_s": 30}),
    "equality in a window": (["hits=5 for 5s"], {}),
    "sampler or transaction": (["p95 of search>1s"], {"transactions": ["search"]}),
}


@pytest.mark.parametrize("name", CHECKS)
def test_criteria_that_do_not_fit_the_plan_are_refused(name):
    texts, extra = CHECKS[name]
    (error,) = check(parse_all(texts, LABELS), LABELS, **extra)
    check_golden("criteria/checks.txt", name, str(error))


FITTING = [
    ["p95 of search>250ms", "p99 of search>500ms", "fail>1%", "fail of search>1%"],
    ["hits<100", "hits>250", "succ<99%", "succ<5"],
    ["p50-slope>2ms/min", "p95>100ms", "rss-slope>1MB/min", "rss>1GB"],
    ["p95>200ms, continue as non-failed", "p95>250ms", "p95>250ms for 5s"],
    ["hits=0 for 5s", "p95 of buy>1s", "p95 of GET /item/17>1s"],
]


@pytest.mark.parametrize("texts", FITTING)
def test_criteria_that_fit_the_plan_are_let_through(texts):
    extra = {"transactions": ["buy"], "label_patterns": [r"GET /item/\d+"], "measured_s": 30}
    assert check(parse_all(texts, LABELS), LABELS, **extra) == []


UNITS = {"ms": "250ms", "%": "5%", "count": "3", "MB/min": "1MB/min", "ms/min": "1ms/min"}
LOW_IS_BETTER = {
    **dict.fromkeys(("p50", "p99.9", "avg-rt", "avg-lt", "avg-ct", "stdev-rt"), ("ms",)),
    **dict.fromkeys(("fail", "rc503", "rc5??", "rcSocketTimeoutException"), ("%", "count")),
    **{"loop-delay-p95": ("ms",), "cpu": ("%",), "restarts": ("count",)},
    **{"rss-slope": ("MB/min",), "p95-slope": ("ms/min",)},
}
LOWER_BOUNDS = st.sampled_from(sorted(LOW_IS_BETTER)).flatmap(
    lambda it: st.tuples(st.just(it), st.sampled_from(LOW_IS_BETTER[it]))
)


@given(LOWER_BOUNDS, st.sampled_from(["", *LABELS]), st.sampled_from(["<", "<="]))
def test_a_lower_bound_on_a_time_or_on_failures_is_refused_with_what_it_meant(of, label, condition):
    subject, unit = of
    is_of_workers = subject in ("loop-delay-p95", "cpu", "restarts", "rss-slope")
    head = subject + (f" of {'worker' if is_of_workers else label}" if label else "")
    written = parse(f"{head}{condition}{UNITS[unit]}", LABELS)
    (error,) = lower_bound_errors([written, parse("hits<1")])
    meant = parse(re.search(r"did you mean '(.*)'\?$", str(error))[1], LABELS)
    assert replace(meant, condition=condition, text=written.text) == written
    assert meant.condition == ">"
    assert lower_bound_errors([meant]) == []


LOWER_BOUNDS_TAKEN = [
    *("hits<1", "succ of search<99%", "succ<=5", "bytes<1mb", "concurr<5", "rc200<99%", "rc2??<1"),
    *("time-left<1h", "capacity of fork<120/s", "hits=0 for 3s", "rc429<1%"),
]


@pytest.mark.parametrize("text", LOWER_BOUNDS_TAKEN)
def test_a_lower_bound_on_what_must_be_there_is_taken(text):
    assert lower_bound_errors([parse(text, LABELS)]) == []
