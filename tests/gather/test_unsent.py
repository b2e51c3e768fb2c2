"""Requests that never left JMeter, redirects that it does not follow as asked, and labels that were
sent too rarely: nobody's failure but the plan's."""

import pytest

from support import jmx_text as jmx
from support.jtl_rows import HEADER, START_MS, jtl, quoted, row
from support.run_folder import reasons, verdict_of, write_record
from tollgate.report.console import verdict_table
from tollgate.report.junit import to_junit
from tollgate.report.markdown import to_markdown

NO_URI = "java.net.URISyntaxException"
URL = "http://127.0.0.1:18100/q?u=<EOF>&token=S3CRET-in-the-url"
ASKS = jmx.sampler("q")


def sample(place, code="200", sent=120, label="q", url="http://h/q", is_ok=None):
    text = code if "." not in code else f"Non HTTP response code: {code}"
    is_ok = code[0] in "23" if is_ok is None else is_ok
    return row(place * 30, code=text, label=label, ok=is_ok) + f",{sent},{quoted(url)}"


def judged(folder, *rows, children=(ASKS,), criteria=("fail of q>1%",)):
    (folder / "plan.jmx").write_text(jmx.plan(jmx.group(*children, duration=9)))
    (folder / "kpi.jtl").write_text(jtl(*rows, header=f"{HEADER},sentBytes,URL"))
    span = {"began": START_MS / 1000, "ended": START_MS / 1000 + 9.1}
    write_record(folder, {"name": "own", "plan": "plan.jmx", **span}, criteria=list(criteria))
    return verdict_of(folder)


def mixed(bad, code, sent=0, good=300, url=URL, is_ok=None):
    sent_bad = (sample(it, code, sent, url=url, is_ok=is_ok) for it in range(bad))
    return [*sent_bad, *map(sample, range(bad, good))]


@pytest.mark.parametrize("code", [NO_URI, "java.net.ConnectException"])
@pytest.mark.parametrize("bad", [4, 300])
def test_what_was_never_sent_is_no_success_because_the_plan_calls_it_one(tmp_path, code, bad):
    found = judged(tmp_path, *mixed(bad, code, is_ok=True))
    assert (found.verdict, found.reasons[0].fault) == ("INVALID", "operator")
    assert f"{bad} of 300 requests of q were never sent" in found.reasons[0].text


def test_an_answer_that_a_plan_waits_for_until_it_times_out_may_be_a_success(tmp_path):
    rows = mixed(300, "java.net.SocketTimeoutException", sent=120, is_ok=True)
    assert judged(tmp_path, *rows).verdict == "PASS"


@pytest.mark.parametrize(
    "code",
    [
        *(NO_URI, "java.net.UnknownHostException", "java.io.FileNotFoundException"),
        *("java.nio.charset.UnsupportedCharsetException", "java.lang.IllegalArgumentException"),
        "org.apache.http.client.ClientProtocolException",
    ],
)
def test_what_never_left_jmeter_is_the_plans_fault_with_its_first_url(tmp_path, code):
    found = judged(tmp_path, *mixed(200, code))
    first = found.reasons[0]
    assert (found.verdict, first.fault) == ("INVALID", "operator")
    said = f"200 of 300 requests of q were never sent: {code.rpartition('.')[2]}, first for "
    assert said in first.text
    assert "q?u=<EOF>&token=" in first.text
    assert "S3CRET" not in reasons(found)


@pytest.mark.parametrize(
    ("code", "sent"),
    [
        *((it, 0) for it in ("java.net.ConnectException", "java.net.SocketTimeoutException")),
        *((it, 0) for it in ("org.apache.http.NoHttpResponseException", "java.io.EOFException")),
        (NO_URI, 317),  # of a redirect: the service was asked, and named the URL
    ],
)
def test_what_the_service_did_stays_its_fault(tmp_path, code, sent):
    found = judged(tmp_path, *mixed(200, code, sent))
    assert found.verdict == "FAIL"
    assert {it.fault for it in found.reasons} == {"service"}


def test_of_a_label_that_was_never_sent_at_all_no_service_is_accused(tmp_path):
    found = judged(tmp_path, *mixed(300, NO_URI), criteria=["p95 of q>1s"])
    assert found.verdict == "INVALID"
    assert "every request of q failed" not in reasons(found)


def test_a_few_are_told_and_decide_nothing(tmp_path):
    found = judged(tmp_path, *mixed(2, NO_URI))
    (execution,) = found.executions
    assert found.verdict == "PASS"
    assert any("2 of 300 requests of q were never sent" in it for it in execution.warnings)


def told(found):
    return "\n".join(found.executions[0].warnings)


@pytest.mark.parametrize(("code", "how"), [("307", "follow"), ("308", "auto")])
def test_a_redirect_that_jmeter_does_not_follow_is_told_with_the_reason(tmp_path, code, how):
    moved = [sample(it, code) for it in range(300)]
    asks = jmx.sampler("q", **{f"HTTPSampler__{how}_redirects": "true"})
    found = judged(tmp_path, *moved, children=(asks,))
    assert f"300 answers of q were {code}, which JMeter 5.6.3 does not follow" in told(found)
    assert code not in told(judged(tmp_path, *moved))  # it was not to be followed


def test_an_error_of_the_server_that_the_plan_takes_for_a_success_is_told(tmp_path):
    found = judged(tmp_path, *mixed(300, "503", sent=120, is_ok=True))
    assert found.verdict == "PASS"
    assert "300 answers of q were 503, and the plan counts them as successes" in told(found)
    assert "503" not in told(judged(tmp_path, *mixed(3, "404", sent=120, is_ok=True)))


def test_a_label_far_below_its_share_makes_a_run_invalid(tmp_path):
    deal = jmx.element("InterleaveControl", "deal", [jmx.sampler("a"), jmx.sampler("b")])
    rows = [it for n in range(300) for it in (sample(n), sample(n, label="a"))]
    found = judged(tmp_path, *rows, children=(jmx.sampler("q"), deal))
    assert (found.verdict, found.reasons[0].fault) == ("INVALID", "operator")
    assert "'b' was sent in 0 of 300 turns" in found.reasons[0].text


def test_each_report_names_the_exception(tmp_path):
    found = judged(tmp_path, *mixed(200, NO_URI))
    for text in (verdict_table(found), to_junit(found, "plan"), to_markdown(found, "plan")):
        assert "URISyntaxException, first for" in " ".join(text.split())
