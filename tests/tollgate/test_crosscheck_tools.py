"""The other load generators for real, against a server that counts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import support
from tollgate.study import crosscheck_tools
from tollgate.study.crosscheck import crosscheck_command
from tollgate.study.crosscheck_results import ToolError, recorded
from tollgate.study.crosscheck_tools import TOOLS, Load, available, refuse_elsewhere, run

SERVER = Path(__file__).with_name("counting-server.js")
USERS, SECONDS = 5, 2
EACH = [
    pytest.param(tool, marks=[pytest.mark.needs("ab")] if tool == "ab" else [], id=tool)
    for tool in TOOLS
]


class Server:
    """A counting server; `counts` ends it."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(["node", SERVER], stdin=pipe, stdout=pipe, text=True)
        self.port = int(self.process.stdout.readline())

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def counts(self) -> dict[str, int]:
        return json.loads(self.process.communicate(timeout=support.PATIENCE)[0])

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def server() -> Iterator[Server]:
    started = Server()
    yield started
    started.end()


def crosscheck(*words: object) -> subprocess.CompletedProcess[str]:
    return support.run(crosscheck_command(), *words)


def generators() -> list[str]:
    """The command lines of the generators that this session's tests have left running."""
    lines = [" ".join(process.cmdline()) for process in support.ours()]
    return [line for line in lines if "http://127.0.0.1" in line]


@pytest.mark.parametrize("tool", EACH)
def test_every_request_that_a_tool_tells_of_has_reached_the_server(tool, server):
    result = run(tool, Load(server.url(), USERS, SECONDS))
    counts = server.counts()
    # Those in flight at the end have reached the server and count nowhere.
    assert result.requests <= counts["requests"] <= result.requests + USERS
    assert result.requests > USERS * SECONDS
    assert result.failed == 0
    assert result.throughput == pytest.approx(result.requests / result.seconds)
    assert result.p50_ms > 0
    assert result.cpu_s > 0
    assert result.version == available()[tool]


@pytest.mark.parametrize("tool", EACH)
def test_each_user_keeps_one_connection_and_one_request_at_a_time(tool, server):
    run(tool, Load(server.url(), USERS, SECONDS))
    counts = server.counts()
    assert counts["mostOpen"] <= USERS
    assert counts["connections"] == USERS


@pytest.mark.parametrize("tool", EACH)
def test_the_command_writes_the_result_into_its_file(tool, server, tmp_path):
    path = tmp_path / "7.json"
    done = crosscheck(tool, server.url(), USERS, SECONDS, 0.5, path)
    assert (done.returncode, done.stderr) == (0, "")
    assert recorded(path.read_text()).tool == tool
    assert [each.name for each in tmp_path.iterdir()] == ["7.json"]


@pytest.mark.parametrize("tool", EACH)
@pytest.mark.parametrize("path", ["/no", None], ids=["answers 500", "is not there"])
def test_a_server_that_answers_nothing_good_fails_the_command_in_one_line(
    tool, path, server, tmp_path
):
    url = server.url(path) if path else f"http://127.0.0.1:{support.free_port()}/"
    done = crosscheck(tool, url, USERS, 1, 0, tmp_path / "7.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"crosscheck: {tool}: ")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.needs("ab")
def test_ab_is_refused_where_it_cannot_keep_its_connections(server):
    with pytest.raises(ToolError, match="kept only 0 connections"):
        run("ab", Load(server.url("/endless"), USERS, 1))


@pytest.mark.parametrize("tool", EACH)
def test_a_tool_that_does_not_end_is_ended(tool, server):
    with pytest.raises(ToolError, match="did not end within"):
        run(tool, Load(server.url("/late"), USERS, SECONDS), grace_s=-SECONDS + 0.5)
    assert not generators()


def test_a_tool_that_ends_badly_is_told_of_with_its_last_word(monkeypatch):
    said = "process.stderr.write('no\\n\\nout of memory\\n'); process.exit(9)"
    monkeypatch.setattr(crosscheck_tools, "_command", lambda *_: ["node", "-e", said])
    with pytest.raises(ToolError, match=r"^loadtest: ended with exit code 9: out of memory$"):
        run("loadtest", Load("http://127.0.0.1:1/", USERS, 1))


def test_a_command_that_is_told_to_end_takes_its_tool_along(server, tmp_path):
    words = ["loadtest", server.url("/late"), str(USERS), "60", "0", str(tmp_path / "7.json")]
    process = subprocess.Popen([crosscheck_command(), *words])
    support.wait_until(lambda: any("crosscheck-loadtest" in it for it in generators()), "it runs")
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(support.PATIENCE) == 1
    support.wait_until(lambda: not generators(), "it is gone")  # killed, and not reaped at once


def test_settings_of_the_users_do_not_reach_loadtest(server, tmp_path, monkeypatch):
    (tmp_path / ".loadtestrc").write_text('{"headers": {"x": "y"}, "maxRequests": 3}')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run("loadtest", Load(server.url(), USERS, 1)).requests > 3


@pytest.mark.parametrize(
    "url",
    [
        *("http://10.0.0.1:80/", "http://example.org:80/", "https://127.0.0.1:3001/"),
        *("http://127.0.0.1/", "127.0.0.1:3001", "", "file:///etc/passwd"),
        *("http://127.0.0.1.example.org:80/", "http://localhost@example.org:80/"),
        "http://127.0.0.1:no/",
    ],
)
def test_another_machine_is_never_loaded(url):
    with pytest.raises(ToolError, match="other generators load this machine alone"):
        refuse_elsewhere(url)
    with pytest.raises(ToolError, match="other generators load this machine alone"):
        run("ab", Load(url, 1, 1))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "[::1]", "localhost"])
def test_loopback_may_be_loaded(host):
    refuse_elsewhere(f"http://{host}:3001/sum/500000")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ab"], "1 arguments given, usage: crosscheck ARM URL USERS"),
        (["wrk", "http://127.0.0.1:1/", "1", "1", "0", "x"], "ARM is 'wrk'"),
        (["ab", "http://127.0.0.1:1/", "0", "1", "0", "x"], "USERS is '0'"),
        (["ab", "http://127.0.0.1:1/", "1", "1.5", "0", "x"], "SECONDS is '1.5'"),
        (["ab", "http://127.0.0.1:1/", "1", "1", "1", "x"], "LEAD_S is '1'"),
        (["ab", "http://127.0.0.1:1/", "1", "1", "nan", "x"], "LEAD_S is 'nan'"),
        (["ab", "http://10.0.0.1:1/", "1", "1", "0", "x"], "the URL is 'http://10.0.0.1:1/'"),
    ],
)
def test_arguments_that_make_no_sense_are_named(words, said):
    done = crosscheck(*words)
    assert done.returncode == 1
    assert done.stderr.startswith(f"crosscheck: {said}")
    assert done.stderr.count("\n") == 1


def test_a_tool_that_is_not_installed_has_no_version(tmp_path, monkeypatch):
    monkeypatch.setattr(crosscheck_tools, "MODULES", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert available() == dict.fromkeys(TOOLS)
    with pytest.raises(ToolError, match="autocannon is not installed"):
        run("autocannon", Load("http://127.0.0.1:1/", 1, 1))
