"""Requests that were sent with a variable that had no value, by their samples."""

import pytest

from support import jmx_text as jmx
from support import own_run

LOGIN, TOKEN = jmx.get("login", "/login"), jmx.regex("token", "(.+)", "NOT_FOUND")
CART = jmx.get("cart", "/cart/${token}")
THREAD = {"name": "TG", "threads": 1, "loops": 100, "duration": None}
PLAN = jmx.plan(jmx.group(LOGIN, TOKEN, CART, **THREAD))
SAID = "Test failed: request data expected not to contain /{}/"


def found(folder, *, failed_logins=0, without=0, text="${token}", plan=PLAN):
    """(verdict, INVALID's faults and texts, warnings) of a run of 100 logins and 100 carts."""
    message = SAID.format(text)
    lines = own_run.rows("login", failed=failed_logins, message="down")
    lines += own_run.rows("cart", failed=without, message=message)
    verdict = own_run.verdict_on(folder, plan, sorted(lines), "fail>30%").executions[0]
    reasons = [(it.fault, it.text) for it in verdict.reasons if it.verdict == "INVALID"]
    return verdict.verdict, reasons, [it for it in verdict.warnings if "without data" in it]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${token}", "${token} had no value"),
        ("%24%7Btoken%7D", "${token} had no value"),
        ("/cart/NOT_FOUND", "'NOT_FOUND' is the default of RegexExtractor 'token'"),
    ],
)
def test_one_request_without_its_data_is_no_pass_where_no_answer_explains_it(tmp_path, text, words):
    verdict, ((fault, line),), _ = found(tmp_path, without=1, text=text)
    assert (verdict, fault) == ("INVALID", "operator")
    assert line.startswith("1 of 100 requests of 'cart' were sent without data: ")
    assert words in line


def test_an_assertion_that_ignores_the_status_makes_no_right_request_of_it(tmp_path):
    said = SAID.format("${token}")
    rows = [f"{it},{said if 'cart' in it else ''}" for it in own_run.rows("cart")]
    rows += [f"{it}," for it in own_run.rows("login")]
    header = f"{own_run.COLUMNS},failureMessage"
    judged = own_run.verdict_on(tmp_path, PLAN, sorted(rows), "fail>30%", header=header)
    assert "100 of 100 requests of 'cart' were sent without data" in judged.reasons[0].text


def test_what_failed_answers_have_taken_away_is_a_failure_and_told(tmp_path):
    verdict, reasons, (warning,) = found(tmp_path, failed_logins=10, without=12)
    assert (verdict, reasons) == ("PASS", [])
    assert "up to 10 % of other requests had failed" in warning
    verdict, reasons, _ = found(tmp_path, failed_logins=10, without=50)
    assert verdict == "INVALID"


def test_an_assertion_of_the_users_own_is_none_of_ours(tmp_path):
    verdict, reasons, warnings = found(tmp_path, without=1, text="something else")
    assert (verdict, reasons, warnings) == ("PASS", [], [])


def test_a_file_at_its_end_is_never_explained_by_failed_answers(tmp_path):
    feed = jmx.element("CSVDataSet", "users", variableNames="token", recycle="false")
    plan = jmx.plan(jmx.group(feed, LOGIN, CART, **THREAD))
    verdict, ((_, line),), _ = found(tmp_path, failed_logins=20, without=3, text="<EOF>", plan=plan)
    assert verdict == "INVALID"
    assert "CSVDataSet 'users' was at the end of its file" in line


def test_data_that_ended_is_told_in_place_of_a_slow_generator(tmp_path):
    feed = jmx.element("CSVDataSet", "users", variableNames="u", recycle="false", stopThread="true")
    group = jmx.group(jmx.sampler("home", jmx.timer()), feed, name="TG")
    lines = own_run.rows("home", n=40, seconds=4)

    def reasons(words):
        ends = {"TG 1": {words: 4}}
        verdict = own_run.verdict_on(
            tmp_path, jmx.plan(group), lines, "fail>99%", thread_ends=ends
        ).executions[0]
        return {it.fault: it.text for it in verdict.reasons if "not sent" in it.text}

    end = "the data of CSVDataSet 'users' ended"
    assert reasons("Stop Thread seen for thread")["operator"].endswith(end)
    assert [*reasons("Stopping")] == ["generator"]
