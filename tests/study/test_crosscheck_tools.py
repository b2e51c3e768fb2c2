"""autocannon for real, against a server that counts."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import support
from tollgate.commands import crosscheck as command
from tollgate.study import crosscheck_tools
from tollgate.study.crosscheck import crosscheck_command
from tollgate.study.crosscheck_tools import (
    TOOL,
    ToolError,
    ToolLoad,
    installed_version,
    recorded,
    refuse_elsewhere,
    run,
)

SERVER = Path(__file__).with_name("counting-server.js")
USERS, SECONDS = 5, 2


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
    lines = []
    for process in support.ours():
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended since
            lines.append(" ".join(process.cmdline()))
    return [line for line in lines if "http://127.0.0.1" in line]


def test_every_request_that_it_tells_of_has_reached_the_server(server):
    result = run(ToolLoad(server.url(), USERS, SECONDS))
    counts = server.counts()
    # Those in flight at the end have reached the server and count nowhere.
    assert result.requests <= counts["requests"] <= result.requests + USERS
    assert result.requests > USERS * SECONDS
    assert result.failed == 0
    assert result.throughput == pytest.approx(result.requests / result.seconds)
    assert result.p50_ms > 0
    assert result.cpu_s > 0
    assert result.version == installed_version()


def test_each_user_keeps_one_connection_and_one_request_at_a_time(server):
    run(ToolLoad(server.url(), USERS, SECONDS))
    counts = server.counts()
    assert counts["mostOpen"] <= USERS
    assert counts["connections"] == USERS


def test_the_command_writes_the_result_into_its_file(server, tmp_path):
    path = tmp_path / "7.json"
    done = crosscheck(TOOL, server.url(), USERS, SECONDS, 0.5, path)
    assert (done.returncode, done.stderr) == (0, "")
    assert recorded(path.read_text()).tool == TOOL
    assert [each.name for each in tmp_path.iterdir()] == ["7.json"]


@pytest.mark.parametrize("path", ["/no", None], ids=["answers 500", "is not there"])
def test_a_server_that_answers_nothing_good_fails_the_command_in_one_line(path, server, tmp_path):
    url = server.url(path) if path else f"http://127.0.0.1:{support.free_port()}/"
    done = crosscheck(TOOL, url, USERS, 1, 0, tmp_path / "7.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"crosscheck: {TOOL}: ")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_run_that_does_not_end_is_ended(server):
    with pytest.raises(ToolError, match="did not end within"):
        run(ToolLoad(server.url("/late"), USERS, SECONDS), grace_s=-SECONDS + 0.5)
    assert not generators()


def test_a_run_that_ends_badly_is_told_of_with_its_last_word(monkeypatch):
    said = "process.stderr.write('no\\n\\nout of memory\\n'); process.exit(9)"
    monkeypatch.setattr(crosscheck_tools, "_command", lambda *_: ["node", "-e", said])
    with pytest.raises(ToolError, match=r"^autocannon: ended with exit code 9: out of memory$"):
        run(ToolLoad("http://127.0.0.1:1/", USERS, 1))


def test_a_command_that_is_told_to_end_takes_its_tool_along(server, tmp_path):
    words = [TOOL, server.url("/late"), str(USERS), "60", "0", str(tmp_path / "7.json")]
    process = subprocess.Popen([crosscheck_command(), *words])
    support.wait_until(lambda: any("autocannon.js" in it for it in generators()), "it runs")
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(support.PATIENCE) == 1
    support.wait_until(lambda: not generators(), "it is gone")  # killed, and not reaped at once


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
        run(ToolLoad(url, 1, 1))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "[::1]", "localhost"])
def test_loopback_may_be_loaded(host):
    refuse_elsewhere(f"http://{host}:3001/sum/500000")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([TOOL], "1 arguments given, usage: crosscheck ARM URL USERS"),
        (["wrk", "http://127.0.0.1:1/", "1", "1", "0", "x"], "ARM is 'wrk'"),
        ([TOOL, "http://127.0.0.1:1/", "0", "1", "0", "x"], "USERS is '0'"),
        ([TOOL, "http://127.0.0.1:1/", "1", "1.5", "0", "x"], "SECONDS is '1.5'"),
        ([TOOL, "http://127.0.0.1:1/", "1", "1", "1", "x"], "LEAD_S is '1'"),
        ([TOOL, "http://127.0.0.1:1/", "1", "1", "nan", "x"], "LEAD_S is 'nan'"),
        ([TOOL, "http://10.0.0.1:1/", "1", "1", "0", "x"], "the URL is 'http://10.0.0.1:1/'"),
    ],
)
def test_arguments_that_make_no_sense_are_named(words, said, monkeypatch, capsys):
    monkeypatch.setattr(command.signal, "signal", lambda *_: None)
    assert command.main(words) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"crosscheck: {said}")


def test_a_tool_that_is_not_installed_has_no_version(tmp_path, monkeypatch):
    monkeypatch.setattr(crosscheck_tools, "PACKAGE", tmp_path)
    assert installed_version() is None
    with pytest.raises(ToolError, match="autocannon is not installed"):
        run(ToolLoad("http://127.0.0.1:1/", 1, 1))
