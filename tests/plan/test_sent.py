"""What no request of a plan must hold, and where the run's copy of the plan looks for it."""

import random
import re
from urllib.parse import quote

import pytest
from lxml import etree

from support import jmx_text as jmx
from tollgate.plan.sent import HEADERS, REQUEST, traces, watch

LOGIN = jmx.get("login", "/login")


@pytest.fixture
def looked_for(tmp_path):
    """The texts that the requests and the headers of a plan must not hold."""

    def find(*children, **variables):
        path = tmp_path / "own.jmx"
        path.write_text(jmx.plan(*children, **variables))
        found = traces(path, {}, tmp_path)
        return {*found[REQUEST]}, {*found[HEADERS]}

    return find


def test_what_only_the_run_sets_is_looked_for_where_it_is_sent(looked_for):
    token = jmx.regex("token", "(.+)")
    bearer = jmx.headers(Authorization="Bearer ${token}")
    unset = {"${token}", "%24%7Btoken%7D"}
    assert looked_for(jmx.group(LOGIN, token, jmx.get("a", "/${token}"))) == (unset, set())
    assert looked_for(jmx.group(LOGIN, token, bearer)) == (set(), unset)
    assert looked_for(jmx.group(jmx.post("a", "/", '{"u": "${user}"}')), user="a") == (set(), set())
    escaped = jmx.post("a", "/", "\\${token} ${__P(host)}")
    assert looked_for(jmx.group(escaped)) == (set(), set())


def test_a_plan_without_such_variables_runs_as_it_was(tmp_path):
    path = tmp_path / "own.jmx"
    feed = jmx.element("CSVDataSet", "f", variableNames="user", recycle="true", filename="a.csv")
    path.write_text(jmx.plan(feed, jmx.group(jmx.get("a", "/${user}/${n}"), jmx.counter("n"))))
    before = path.read_bytes()
    watch(path, traces(path, {}, tmp_path))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("props", "others", "is_looked_for"),
    [
        ({"recycle": "false"}, [], True),
        ({"recycle": "true"}, [], False),
        ({"recycle": "false", "stopThread": "true"}, [], False),
        ({"recycle": "false"}, [("WhileController", '"${user}" != "<EOF>"')], False),
    ],
)
def test_the_end_of_a_file_is_looked_for_where_it_would_be_sent(
    looked_for, props, others, is_looked_for
):
    feed = jmx.element("CSVDataSet", "f", variableNames="user", filename="a.csv", **props)
    around = [jmx.element(kind, "c", **{f"{kind}__condition": text}) for kind, text in others]
    request, _ = looked_for(jmx.group(feed, *around, jmx.post("a", "/", "${user}")))
    assert ("<EOF>" in request, "%3CEOF%3E" in request) == (is_looked_for, is_looked_for)


def test_the_end_of_a_file_is_looked_for_in_what_reads_of_it_alone(looked_for, tmp_path):
    (tmp_path / "users.csv").write_text("user\nann\n")
    users = jmx.element("CSVDataSet", "f", filename="users.csv", recycle="true")
    arrivals = jmx.element("CSVDataSet", "f", filename="absent.csv", recycle="false")
    assert looked_for(jmx.group(users, arrivals, jmx.get("a", "/${user}"))) == (set(), set())
    once = jmx.element("CSVDataSet", "f", filename="users.csv", recycle="false")
    request, _ = looked_for(jmx.group(once, jmx.get("a", "/${user}")))
    assert request == {"<EOF>", "%3CEOF%3E"}


SAYS_SO = ["NOT_FOUND", "NF", "not found", "TOKEN_NOT_FOUND", "ERROR", "no-match", "MISSING_ID"]
MAY_BE_MEANT = ["", "0", "1", "home", "EUR", "default", "null", "confirm", "NORWAY", "Notes"]


@pytest.mark.parametrize("default", SAYS_SO)
def test_a_default_that_says_that_nothing_was_found_is_looked_for_in_its_place(looked_for, default):
    token = jmx.regex("token", "(.+)", default)
    body = jmx.post("a", "/", '{"a": "${x}", "token": "${token}", "b": "' + default + '"}')
    request, _ = looked_for(jmx.group(LOGIN, token, body), x="1")
    (text,) = [it for it in request if default in it and "%" not in it and "${" not in it]
    assert text in f'{{"a": "1", "token": "{default}", "b": "{default}"}}'
    assert text not in f'{{"a": "1", "token": "t1", "b": "{default}"}}'


@pytest.mark.parametrize("default", MAY_BE_MEANT)
def test_a_default_that_may_be_meant_to_be_sent_is_not(looked_for, default):
    token = jmx.regex("token", "(.+)", default)
    request, _ = looked_for(jmx.group(LOGIN, token, jmx.get("a", "/x/${token}")))
    assert request == {"${token}", "%24%7Btoken%7D"}


def test_an_argument_and_a_header_are_known_by_their_names(looked_for):
    token = jmx.regex("token", "(.+)", "not found")
    argument = jmx.sampler("a", extra=jmx.arguments(t="${token}"))
    request, headers = looked_for(jmx.group(LOGIN, token, argument, jmx.headers(X_Id="${token}")))
    assert {"t=not found", "t=not+found"} <= request
    assert "X-Id: not found" in headers


def test_what_a_file_that_is_not_there_yet_may_set_is_not_looked_for(looked_for):
    feed = jmx.element("CSVDataSet", "f", filename="arrivals.csv", recycle="true")
    inside = [feed, LOGIN, jmx.regex("token", "(.+)"), jmx.get("a", "/${row}/${token}")]
    assert looked_for(jmx.group(*inside)) == ({"${token}", "%24%7Btoken%7D"}, set())


def assertions(path):
    """By the label of the sampler that each is right below: (field, texts)."""
    found = {}
    for node in etree.parse(path).iter("ResponseAssertion"):
        texts = [it.text for it in node.iterfind("collectionProp/stringProp")]
        field = node.findtext("stringProp[@name='Assertion.test_field']")
        of = node.getparent().getprevious().get("testname")
        found.setdefault(of, []).append((field, texts))
    return found


def test_a_header_around_all_requests_is_looked_at_from_the_one_on_that_has_its_value(tmp_path):
    path = tmp_path / "own.jmx"
    login = jmx.sampler("login", jmx.regex("token", "(.+)"))
    first, last = jmx.get("first", "/"), jmx.get("last", "/")
    bearer = jmx.headers(Authorization="Bearer ${token}")
    path.write_text(jmx.plan(jmx.group(bearer, first, login, last)))
    watch(path, traces(path, {}, tmp_path))
    texts = ["${__char(36)}{token}", "%24%7Btoken%7D"]
    assert assertions(path) == {"last": [("Assertion.request_headers", texts)]}


def test_a_request_is_looked_at_for_what_it_refers_to(tmp_path):
    login = jmx.sampler("login", jmx.regex("a", "(.+)"), jmx.regex("b", "(.+)", "NOT_FOUND"))
    defaults = jmx.element("ConfigTestElement", "all", HTTPSampler__path="/${c}")
    sent = {"a": "/${a}", "b": "/x/${b}", "any": "/${__eval(${a})}", "table": "/${whole}"}
    asked = [jmx.get(name, path) for name, path in sent.items()]
    path = jmx.write(tmp_path, jmx.group(defaults, login, *asked), whole="${b}")
    watch(path, traces(path, {}, tmp_path))
    found = {label: set(texts) for label, ((_, texts),) in assertions(path).items()}
    shared = {"${__char(36)}{b}", "%24%7Bb%7D", "${__char(36)}{c}", "%24%7Bc%7D"}
    its = {"${__char(36)}{a}", "%24%7Ba%7D"}
    assert found["login"] == found["table"] == shared
    assert found["a"] == shared | its
    assert found["b"] == shared | {"/x/NOT_FOUND", "%2Fx%2FNOT_FOUND"}
    assert found["any"] == found["a"] | found["b"]


def test_what_is_looked_for_is_what_is_sent_and_not_certain(looked_for):
    seed = random.SystemRandom().randrange(10**9)
    draw = random.Random(seed)
    for _ in range(40):
        names = [f"v{number}x{draw.randrange(10**4)}" for number in range(6)]
        certain, extracted, unread = names[:2], names[2:4], names[4:]
        inside = [jmx.regex(it, "(.+)") for it in (*extracted, *unread)]
        inside += [jmx.post("a", "/", f"{{${{{it}}}}}") for it in (*certain, *extracted)]
        draw.shuffle(inside)
        request, headers = looked_for(jmx.group(*inside), **dict.fromkeys(certain, "1"))
        assert {it for it in request if "%" not in it} == {f"${{{it}}}" for it in extracted}, (
            f"seed {seed}"
        )
        assert headers == set()


def test_what_a_user_defined_variable_was_given_too_early_is_looked_for_where_it_is_read(
    looked_for, tmp_path
):
    (tmp_path / "users.csv").write_text("user\nann\n")
    users = jmx.element("CSVDataSet", "f", filename="users.csv", recycle="true")
    reading = [jmx.post("a", "/", "${whole}"), jmx.headers(X_Id="${whole}")]
    for table in ({"whole": "x-${user}"}, {"whole": "x-${host}", "host": "a"}):
        of_a_run = set(re.findall(r"\${.+?}", table["whole"]))
        unset = {text for it in of_a_run for text in (it, quote(it))}
        assert looked_for(users, jmx.group(*reading), **table) == (unset, unset)
    later = jmx.element("Arguments", "later", extra=jmx.arguments(whole="x-${host}"))
    assert looked_for(later, jmx.group(*reading), host="a") == (set(), set())


def test_a_function_that_jmeter_does_not_have_is_looked_for(looked_for):
    calls = "${__uuid()} ${__MD5(${__UUID()})} ${__time(YMD)} ${__threadNum} ${__jm__shop__idx}"
    request, _ = looked_for(jmx.group(jmx.post("a", "/", calls)))
    assert {it for it in request if "%" not in it} == {"${__uuid(", "${__MD5("}


@pytest.mark.parametrize("is_in_a_table", [False, True])
def test_what_is_in_a_file_that_is_sent_unread_is_looked_for(looked_for, is_in_a_table):
    call = "${__FileToString(a.json)}"
    table = {"user": "a", "body": call if is_in_a_table else "b"}
    sent = jmx.post("a", "/", "${body}" if is_in_a_table else call)
    request, _ = looked_for(jmx.group(sent), **table)
    assert {"${user}", "${__", "%24%7Buser%7D", "**ERR**"} <= request
