"""What apps are asked before any load, by servers that answer in any way."""

import contextlib
import json
import logging
import os
import re
import socket
import threading
import time
from contextlib import contextmanager
from http.server import HTTPServer

import pytest

from support.http_server import Handler, serving
from tollgate.base.urls import Url
from tollgate.targets import probe
from tollgate.targets.pm2 import App
from tollgate.targets.scenarios import Probe

UP, DOWN = {"status": "up", "reason": None}, {"status": "down", "reason": "GET /healthz: 500"}


def asked(pattern):
    return Probe("/a", re.compile(pattern))


class Balancer(Handler):
    """Answers GET /balancer/healthz with the server's next view, the last one for ever."""

    def respond(self):
        views = self.server.views
        status, view = views.pop(0) if len(views) > 1 else views[0]
        body = json.dumps(view) if self.path == "/balancer/healthz" else "[]"
        self.answer(status, body)


@contextmanager
def balancer(*views):
    """The app, which tells these views, (status, servers by name), one after the other."""
    told = [
        (status, {"servers": [{"name": name, **server} for name, server in servers.items()]})
        for status, servers in views
    ]
    with serving(Balancer, views=told) as server:
        yield App("balancer", server.server_port, "fork", 1, deals_to="^pi-")


def refusal(app):
    with pytest.raises(probe.ProbeError) as caught:
        probe.wait_for_balancer("127.0.0.1", app, ["pi-1", "pi-2"], 0.2)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_balancer_is_waited_for_until_it_deals_to_all_of_its_servers():
    views = [(503, {}), (200, {"pi-1": UP}), (200, {"pi-1": UP, "pi-2": DOWN})]
    with balancer(*views, (200, {"pi-1": UP, "pi-2": UP})) as app:
        probe.wait_for_balancer("127.0.0.1", app, ["pi-1", "pi-2"], 60)


def test_a_balancer_that_one_server_is_not_behind_is_refused_with_the_reason():
    with balancer((200, {"pi-1": UP, "pi-2": DOWN})) as app:
        assert "did not deal to all of its servers" in refusal(app)
        assert "(pi-2: GET /healthz: 500)" in refusal(app)
    with balancer((200, {"pi-1": UP})) as app:
        assert "(pi-2: not found yet)" in refusal(app)
    with balancer((503, {})) as app:
        assert "HTTP Error 503" in refusal(app)
    assert "Connection refused" in refusal(app)


class Foreign(Handler):
    """Gives the next of the server's answers, (status, headers), the last one for ever."""

    def respond(self):
        answers = self.server.answers
        status, headers = answers.pop(0) if len(answers) > 1 else answers[0]
        self.answer(status, "ok", **headers)


@contextmanager
def server(*answers):
    """The port of a server that answers so."""
    with serving(Foreign, answers=list(answers)) as listener:
        yield listener.server_port


def answered(port, mode="fork", instances=1, seconds=60, name="fork"):
    """What is said of the answers of an app on this port."""
    return probe.answers("127.0.0.1", App(name, port, mode, instances), instances, seconds)


FIRST, SECOND = ((200, {"X-Worker": number}) for number in "01")
ILL = 503, {"X-Worker": "0"}


def test_each_worker_of_ours_has_to_answer_and_one_that_is_not_well_is_waited_for():
    with server(FIRST, FIRST, SECOND) as port:
        assert answered(port, "cluster", 2) == ""
    with server(FIRST) as port, pytest.raises(probe.ProbeError, match="only 1 of 2 workers"):
        answered(port, "cluster", 2, 0.2)
    with server(ILL, ILL, FIRST) as port:
        assert answered(port) == ""
    with server(ILL) as port, pytest.raises(probe.ProbeError, match="HTTP Error 503"):
        answered(port, seconds=0.2)


@pytest.mark.parametrize("status", [200, 404, 500])
def test_any_answer_does_of_an_app_that_names_no_worker(status):
    with server((status, {})) as port:
        assert answered(port, name="shop") == ""
        said = answered(port, "cluster", 4, name="shop")
    assert said.startswith("responses of shop have no X-Worker header, so it is unknown whether")
    assert "each of its 4 workers" in said


def test_a_service_is_there_whatever_it_answers_and_redirects_are_not_followed():
    for answer in [(200, {}), (404, {}), (500, {}), (302, {"Location": "http://127.0.0.1:1/"})]:
        with server(answer) as port:
            probe.is_there(Url("http", "127.0.0.1", port))


@contextmanager
def greeting():
    """The port of something that speaks first, and no HTTP, to the one who asks."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet():
            connection, _ = listener.accept()
            connection.sendall(b"SSH-2.0-hello\r\n")
            connection.close()

        thread = threading.Thread(target=greet)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def test_what_speaks_no_http_is_no_answer():
    with greeting() as port, pytest.raises(probe.ProbeError, match="nothing answers at http"):
        probe.is_there(Url("http", "127.0.0.1", port))
    with greeting() as port:
        app = App("balancer", port, "fork", 1, deals_to="^pi-")
        with pytest.raises(probe.ProbeError, match=r"SSH-2\.0-hello"):
            probe.wait_for_balancer("127.0.0.1", app, ["pi-1"], 0)


def test_a_probe_asks_for_a_body_and_tells_what_came_instead():
    with server((200, {}), (200, {}), (404, {})) as port:
        service = Url("http", "127.0.0.1", port)
        probe.answer_is_right(service, asked("^ok$"))
        with pytest.raises(probe.ProbeError, match=r'gave 200 "ok", not '):
            probe.answer_is_right(service, asked("fine"))
        with pytest.raises(probe.ProbeError, match="gave 404 "):
            probe.answer_is_right(service, asked("ok"))


class Wary(Handler):
    """Answers those alone who say what they are."""

    def respond(self):
        self.answer(200 if self.headers["User-Agent"] else 403, "[]")


def test_a_service_is_told_what_asks_it():
    with serving(Wary) as server:
        probe.answer_is_right(Url("http", "127.0.0.1", server.server_port), Probe("/a"))


class Endless(Handler):
    """Answers with a status of the server's, piece by piece until nobody listens any more."""

    def respond(self):
        self.send_response(self.server.status)
        self.send_header("Content-Length", "999999999")
        self.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(self.server.pieces):
                self.wfile.write(b"ok" * self.server.length)
                time.sleep(0.02)
        self.close_connection = True


class KeptOpen(Handler):
    """Answers, in chunks or not, and keeps the connection, whatever it is asked."""

    def respond(self):
        self.send_response(200)
        chunked = self.server.chunked
        self.send_header(
            *(("Transfer-Encoding", "chunked") if chunked else ("Content-Length", "2"))
        )
        self.end_headers()
        self.wfile.write(b"2\r\nok\r\n0\r\n\r\n" if chunked else b"ok")
        self.wfile.flush()
        self.server.is_over.wait(20)


@pytest.mark.parametrize("chunked", [True, False])
def test_an_answer_ends_where_it_says_so_though_its_connection_stays(chunked):
    began = time.monotonic()
    with serving(KeptOpen, chunked=chunked, is_over=threading.Event()) as server:
        probe.answer_is_right(Url("http", "127.0.0.1", server.server_port), asked("^ok$"))
        server.is_over.set()
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize(
    ("length", "pieces", "why"),
    [
        (1, 500, "takes longer than 0.3 s"),
        (900, 500, "more than 2000 bytes"),
        (9, 1, "its answer ends early"),
    ],
)
def test_an_answer_without_end_is_refused_in_a_line(status, length, pieces, why, monkeypatch):
    monkeypatch.setattr(probe, "LONGEST_ANSWER", 0.3)
    monkeypatch.setattr(probe, "LARGEST_ANSWER", 2000)
    began = time.monotonic()
    with serving(Endless, status=status, length=length, pieces=pieces) as endless:
        service = Url("http", "127.0.0.1", endless.server_port)
        with pytest.raises(probe.ProbeError, match=f"GET /a .* failed: .*{why}"):
            probe.answer_is_right(service, asked("ok"))
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(("expected_ms", "lines"), [(None, 0), (1e-6, 1), (60_000, 0)])
def test_answers_slower_than_the_load_was_made_for_are_told_in_one_line(caplog, expected_ms, lines):
    state = {"status": "online", "exec_mode": "fork_mode", "restart_time": 0}
    probes = [Probe(path, re.compile("^ok$"), expected_ms) for path in ("/a", "/b")]
    with server((200, {})) as port:
        apps = [App("one", port, "fork", 1), App("two", port, "fork", 1)]
        workers = [{"name": app.name, "pm2_env": state} for app in apps]
        asked = {app.name: probes for app in apps}
        probe.prove_apps(apps, workers, asked, logging.getLogger())
    slow = [line for line in caplog.messages if "slower than the load" in line]
    assert len(slow) == lines
    assert all("GET /a took" in line and "GET /b took" in line for line in slow)


class _Server6(HTTPServer):
    address_family = socket.AF_INET6


@contextmanager
def ipv6_server():
    """The port of a server at ::1 alone."""
    try:
        listener = _Server6(("::1", 0), Foreign)
    except OSError as problem:
        pytest.skip(f"no IPv6 here: {problem}")
    listener.answers = [(200, {})]
    thread = threading.Thread(target=listener.serve_forever)
    thread.start()
    yield listener.server_address[1]
    listener.shutdown()
    thread.join()
    listener.server_close()


def test_an_app_that_listens_at_the_ipv6_loopback_alone_is_found_there():
    state = {"status": "online", "exec_mode": "fork_mode", "restart_time": 0}
    with ipv6_server() as port, server((200, {})) as other:
        apps = [App("shop", port, "fork", 1), App("usual", other, "fork", 1)]
        running = [{"name": app.name, "pm2_env": state} for app in apps]
        asked = {"shop": [Probe("/a", re.compile("^ok$"))], "usual": []}
        proven = probe.prove_apps(apps, running, asked, logging.getLogger())
        assert proven.hosts == {"shop": "::1"}
        with pytest.raises(probe.ProbeError, match=f"port {port} of app 'shop' is in use by pid"):
            probe.port_is_free("127.0.0.1", port, "shop")


def test_each_port_of_an_app_has_to_answer(monkeypatch):
    monkeypatch.setattr(probe, "ANSWER_TIMEOUT", 0.2)
    state = {"status": "online", "exec_mode": "fork_mode", "restart_time": 0}
    running = [{"name": "shop", "pm2_env": state}] * 2
    with server((200, {})) as port:
        app = App("shop", port, "fork", 2, has_own_ports=True)
        with pytest.raises(probe.ProbeError, match=f"did not answer on .*:{port + 1} within"):
            probe.prove_apps([app], running, {"shop": []}, logging.getLogger())


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_an_answer_and_whoever_it_names_is_asked_nothing(status):
    with socket.create_server(("127.0.0.1", 0)) as foreign:
        elsewhere = {"Location": f"http://127.0.0.1:{foreign.getsockname()[1]}/"}
        with server((status, elsewhere)) as port:
            said = answered(port, "cluster", 2, name="shop")
            assert said.startswith("responses of shop have no X-Worker")
            with pytest.raises(probe.ProbeError, match=f"gave {status} "):
                probe.answer_is_right(Url("http", "127.0.0.1", port), asked("ok"))
        foreign.setblocking(False)
        with pytest.raises(BlockingIOError):
            foreign.accept()


@pytest.mark.parametrize("host", ["a..b", "a b", "a" * 64 + ".example"])
def test_a_host_that_is_none_is_one_line(host):
    for ask in (probe.is_there, lambda remote: probe.answer_is_right(remote, asked("ok"))):
        with pytest.raises(probe.ProbeError) as caught:
            ask(Url("http", host, 80))
        assert "\n" not in str(caught.value)


def test_a_port_in_use_is_refused_with_the_process_that_holds_it():
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        with pytest.raises(probe.ProbeError) as caught:
            probe.port_is_free("127.0.0.1", port, "cluster")
    said = f"port {port} of app 'cluster' is in use by pid {os.getpid()} ("
    assert str(caught.value).startswith(said)
    probe.port_is_free("127.0.0.1", port, "cluster")


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "object"}, ""),
        ({"required": ["id"]}, "'id' is a required property"),
    ],
)
def test_an_answer_must_match_the_schema_that_a_probe_names(tmp_path, monkeypatch, schema, said):
    monkeypatch.setattr(probe, "SUITE", tmp_path)
    (tmp_path / "answers.json").write_text(json.dumps({"list #1": schema}))
    asked = Probe("/", schema="answers.json#list #1")
    with serving(_Json) as server:
        remote = Url("http", "127.0.0.1", server.server_port)
        if not said:
            assert probe.answer_is_right(remote, asked) >= 0
            return
        with pytest.raises(probe.ProbeError, match=said):
            probe.answer_is_right(remote, asked)


def test_a_schema_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "SUITE", tmp_path)
    with serving(_Json) as server:
        remote = Url("http", "127.0.0.1", server.server_port)
        with pytest.raises(probe.ProbeError, match=r"schema gone\.json#x, which can't be read"):
            probe.answer_is_right(remote, Probe("/", schema="gone.json#x"))


class _Json(Handler):
    def respond(self):
        self.answer(200, "{}", Content_Type="application/json")
