"""autocannon for real, against a server that counts, and what it printed in a recorded run."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

import support
from support.golden import FOLDER
from tollgate.base import records
from tollgate.study import autocannon
from tollgate.study.autocannon import (
    AutocannonError,
    AutocannonResult,
    installed_version,
    result_of,
    run,
)

SERVER = Path(__file__).with_name("counting-server.js")
USERS, SECONDS = 5, 2
COMMAND = [sys.executable, "-m", autocannon.__name__]
PRINTED = (FOLDER / "crosscheck" / "autocannon.json").read_text()
RESULT = AutocannonResult(
    version="9.0.0", requests=4440, failed=0, seconds=3.05, p50_ms=12, step_ms=1, cpu_s=0.5
)


class Server:
    """A counting server; `counts` ends it."""

    def __init__(self):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(["node", SERVER], stdin=pipe, stdout=pipe, text=True)
        self.port = int(self.process.stdout.readline())

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.port}{path}"

    def counts(self):
        return json.loads(self.process.communicate(timeout=support.PATIENCE)[0])

    def end(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def server():
    started = Server()
    yield started
    started.end()


def generators():
    """The command lines of the generators that this session's tests have left running."""
    lines = []
    for process in support.ours():
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended since
            lines.append(" ".join(process.cmdline()))
    return [line for line in lines if "http://127.0.0.1" in line]


def test_every_counted_request_has_reached_the_server_on_one_connection_a_user(server):
    result = run(server.url(), USERS, SECONDS)
    counts = server.counts()
    # Those in flight at the end have reached the server and count nowhere.
    assert result.requests <= counts["requests"] <= result.requests + USERS
    assert result.requests > USERS * SECONDS
    assert (result.failed, result.version) == (0, installed_version())
    assert min(result.p50_ms, result.cpu_s) > 0
    assert counts["mostOpen"] <= USERS
    assert counts["connections"] == USERS


def test_the_command_writes_the_result_into_its_file(server, tmp_path):
    path = tmp_path / "7.json"
    done = support.run(*COMMAND, server.url(), USERS, SECONDS, path)
    assert (done.returncode, done.stderr) == (0, "")
    assert records.parse(AutocannonResult, json.loads(path.read_text())).requests > 0
    assert [each.name for each in tmp_path.iterdir()] == ["7.json"]


@pytest.mark.parametrize("path", ["/no", None], ids=["answers 500", "is not there"])
def test_a_server_that_answers_nothing_good_fails_the_command_in_one_line(path, server, tmp_path):
    url = server.url(path) if path else f"http://127.0.0.1:{support.free_port()}/"
    done = support.run(*COMMAND, url, USERS, 1, tmp_path / "7.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("study: autocannon: ")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_run_that_does_not_end_is_ended(server):
    with pytest.raises(AutocannonError, match="did not end within"):
        run(server.url("/late"), USERS, SECONDS, grace_s=-SECONDS + 0.5)
    assert not generators()


def test_the_error_of_a_failed_run_ends_with_its_last_line(monkeypatch, tmp_path):
    (tmp_path / "package.json").write_text('{"version": "9.0.0"}')
    said = "process.stderr.write('no\\n\\nout of memory\\n'); process.exit(9)"
    (tmp_path / "autocannon.js").write_text(said)
    monkeypatch.setattr(autocannon, "PACKAGE", tmp_path)
    with pytest.raises(AutocannonError, match=r"exit code 9: out of memory$"):
        run("http://127.0.0.1:1/", USERS, 1)


def test_a_command_that_is_asked_to_end_ends_autocannon(server, tmp_path):
    words = [server.url("/late"), str(USERS), "60", str(tmp_path / "7.json")]
    process = subprocess.Popen([*COMMAND, *words])
    support.wait_until(lambda: any("autocannon.js" in it for it in generators()), "it runs")
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(support.PATIENCE) == 1
    support.wait_until(lambda: not generators(), "it is gone")  # killed, and not reaped at once


@pytest.mark.parametrize(
    "url",
    [
        *("http://10.0.0.1:80/", "http://example.org:80/", "127.0.0.1:3001", "", "file:///etc"),
        *("http://127.0.0.1.example.org:80/", "http://localhost@example.org:80/"),
    ],
)
def test_another_machine_is_never_loaded(url):
    with pytest.raises(AutocannonError, match="autocannon may load this machine alone"):
        run(url, 1, 1)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "[::1]", "localhost"])
def test_loopback_may_be_loaded_but_not_without_autocannon(host, tmp_path, monkeypatch):
    monkeypatch.setattr(autocannon, "PACKAGE", tmp_path)
    assert installed_version() is None
    with pytest.raises(AutocannonError, match="autocannon is not installed"):
        run(f"http://{host}:3001/sum/500000", 1, 1)


def test_a_result_is_read_from_what_autocannon_printed():
    assert result_of(PRINTED, "9.0.0", cpu_s=0.5, seconds=3) == RESULT
    # Lost requests count among requests and failures.
    printed = json.loads(PRINTED) | {"errors": 7, "timeouts": 7, "non2xx": 3}
    result = result_of(json.dumps(printed), "9.0.0", cpu_s=0, seconds=3)
    assert (result.requests, result.failed) == (4447, 10)


FAILED = json.dumps(json.loads(PRINTED) | {"non2xx": 4440})
NO_RESULT = r"autocannon 9\.0\.0 printed no result: "


@pytest.mark.parametrize(
    ("text", "seconds", "why"),
    [
        *((it, 1, NO_RESULT) for it in ("", "[]", "Error: socket hang up", "null", "{}")),
        (FAILED, 3, "all 4440 requests failed"),
        (PRINTED, 4, r"autocannon: ended after 3\.05 s of 4"),
    ],
)
def test_output_that_is_no_result_is_refused(text, seconds, why):
    with pytest.raises(AutocannonError, match=why):
        result_of(text, "9.0.0", 0.0, seconds)


@pytest.mark.parametrize("more", [{}, {"tool": "ab", "p95_ms": None}], ids=["now", "older runs"])
def test_a_result_survives_being_written_and_read(more):
    assert records.parse(AutocannonResult, asdict(RESULT) | more) == RESULT


@pytest.mark.parametrize(("field", "value"), [("requests", "many"), ("p50_ms", None)])
def test_a_damaged_record_is_refused_by_its_field(field, value):
    with pytest.raises(ValueError, match=f"{field}: input should be a valid .+, not {value!r}"):
        records.parse(AutocannonResult, asdict(RESULT) | {field: value})
