"""Plans whose variables have no value at times, run by the real bzt against a server that keeps
what it is sent."""

import re

import pytest

from e2e.bzt_run import Run, judged_by, seconds
from support import jmx_text as jmx
from support.http_server import Handler, serving

FEED = {"filename": "accounts.csv", "variableNames": "user", "delimiter": ",", "recycle": "false"}
FEED |= {"stopThread": "false", "shareMode": "shareMode.all"}
FOUND, UNSET = jmx.regex("token", '"token": "(.+?)"'), jmx.regex("token", '"tokn": "(.+?)"')
DEFAULT = jmx.regex("token", '"tokn": "(.+?)"', "NOT_FOUND")
TRACEPARENT = re.compile(r"00-(000\d{13}[0-9a-f]{16})-[0-9a-f]{16}-00")
BEARER = jmx.headers(Accept="*/*", Authorization="Bearer ${token}")


class Login(Handler):
    def respond(self):
        size = int(self.headers.get("Content-Length") or 0)
        body, token = self.rfile.read(size).decode(), self.headers.get("Authorization", "")
        with self.server.lock:
            self.server.sent.append((self.path, body, token))
            self.server.traces.append(self.headers.get("traceparent", "none"))
        self.answer(200, '{"token": "t1"}')


def feed(**more):
    return jmx.element("CSVDataSet", "accounts", **FEED | more)


def users(name, *inside, loops=9, **more):
    return jmx.looping(*inside, jmx.constant_timer(20), name=name, threads=2, loops=loops, **more)


def plans(port):
    """By name, the groups of plans without a value in a body, in a header and in a path, or of a
    file; with all of them; and of a schedule that outlasts its data."""
    login = jmx.get("login", "/login", port)
    odd = "${__char(36)}{odd} ${user} ${token}"
    late = feed(filename="${__changeCase(ACCOUNTS,LOWER)}.csv", stopThread="true")
    return {
        "without": [
            users("b", login, UNSET, jmx.post("body", "/b", '{"u": "${token}"}', port=port)),
            users("h", login, DEFAULT, jmx.get("header", "/h", port), BEARER),
            users("p", login, DEFAULT, jmx.get("path", "/p/${token}", port)),
            users(
                "f", feed(), jmx.post("file", "/f", "u=${user}", port=port), loops=-1, duration=2
            ),
        ],
        "with": [
            users("all", login, FOUND, jmx.post("all", "/all", odd, port=port), BEARER),
            feed(recycle="true"),
        ],
        "outlasted": [
            jmx.open_group(
                late,
                jmx.get("timed", "/t/${user}", port),
                schedule="rate(5/s) random_arrivals(6 s)",
            )
        ],
    }


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """One run of all plans, what the server was sent, and the `traceparent` of each request."""
    folder = tmp_path_factory.mktemp("unfilled")
    (folder / "accounts.csv").write_text("".join(f"u{number} ${{odd}}\n" for number in range(10)))
    with serving(Login, sent=[], traces=[]) as server:
        config = {"~execution": [], "scenarios": {}, **judged_by(["fail>0%"])}
        for name, groups in plans(server.server_port).items():
            path = folder / f"{name}.jmx"
            path.write_text(jmx.loadable(jmx.plan(*groups)))
            config["~execution"].append({"scenario": name})
            config["scenarios"][name] = {"script": str(path)}
        ended = Run(folder, *seconds(0, 0), config=config).end()
    return ended, server.sent, server.traces


def verdict_on(ran, name):
    (found,) = [each for each in ran[0].verdict["executions"] if each["name"] == name]
    return found


def invalid(execution):
    """(fault, text) of what makes it INVALID."""
    reasons = [it for it in execution["reasons"] if it["verdict"] == "INVALID"]
    return [(it["fault"], it["text"]) for it in reasons]


def test_what_was_sent_without_a_value_is_the_plans_fault_and_named_with_its_place(ran):
    texts = {text for fault, text in invalid(verdict_on(ran, "without")) if fault == "operator"}
    for label, words in {
        "body": "${token} had no value",
        "header": "Bearer NOT_FOUND",
        "path": "/p/NOT_FOUND",
        "file": "CSVDataSet 'accounts' was at the end of its file",
    }.items():
        assert any(f"requests of {label!r} were" in it and words in it for it in texts), (
            label,
            texts,
        )
    sent = {(path, body, token) for path, body, token in ran[1] if path in ("/b", "/h", "/f")}
    assert {("/b", '{"u": "${token}"}', ""), ("/f", "u=<EOF>", "")} <= sent
    assert ("/h", "", "Bearer NOT_FOUND") in sent


def test_what_looks_like_a_variable_and_is_data_is_none(ran):
    execution = verdict_on(ran, "with")
    assert execution["verdict"] == "PASS"
    assert not [line for line in execution["warnings"] if "without data" in line]
    bodies = {body for path, body, _ in ran[1] if path == "/all"}
    assert "${odd} u0 ${odd} t1" in bodies


def test_a_schedule_that_outlasts_its_data_is_no_slow_generator(ran):
    found = invalid(verdict_on(ran, "outlasted"))
    end = "scheduled requests of timed were not sent: the data of CSVDataSet 'accounts' ended"
    assert [fault for fault, text in found if text.endswith(end)] == ["operator"]
    assert not any("too slow" in text for _, text in found)


def test_each_request_has_a_trace_of_its_own_and_the_page_names_those_of_the_slowest(ran):
    ended, sent, traces = ran
    ids = [told[1] for told in map(TRACEPARENT.fullmatch, traces) if told]
    assert len(ids) == len(set(ids)) == len(sent)
    _, after = ended.page.split("<caption>The slowest requests of the measured time")
    table, *_ = after.split("</table>")
    named = re.findall(r"\b[0-9a-f]{32}\b", table)
    assert 5 < len(named) == len(set(named)) == table.count("<tr>") - 1
    assert set(named) <= set(ids)
