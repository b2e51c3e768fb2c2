"""What a balancer is asked before any load, by a server that gives any view of itself."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tollgate import probe
from tollgate.pm2 import App

UP, DOWN = {"status": "up", "reason": None}, {"status": "down", "reason": "GET /healthz: 500"}


class Handler(BaseHTTPRequestHandler):
    """Answers GET /balancer/healthz with the server's next view, the last one for ever."""

    def do_GET(self) -> None:
        views = self.server.views
        status, view = views.pop(0) if len(views) > 1 else views[0]
        body = json.dumps(view).encode() if self.path == "/balancer/healthz" else b"[]"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def balancer(*views):
    """The app, which tells these views, (status, servers by name), one after the other."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.views = [
        (status, {"servers": [{"name": name, **server} for name, server in servers.items()]})
        for status, servers in views
    ]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield App("balancer", server.server_address[1], "fork", 1, deals_to="^pi-")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def refusal(app):
    with pytest.raises(probe.ProbeError) as caught:
        probe.deals("127.0.0.1", app, ["pi-1", "pi-2"], 0.2)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_balancer_is_waited_for_until_it_deals_to_all_of_its_servers():
    views = [(503, {}), (200, {"pi-1": UP}), (200, {"pi-1": UP, "pi-2": DOWN})]
    with balancer(*views, (200, {"pi-1": UP, "pi-2": UP})) as app:
        probe.deals("127.0.0.1", app, ["pi-1", "pi-2"], 60)


def test_a_balancer_that_one_server_is_not_behind_is_refused_with_the_reason():
    with balancer((200, {"pi-1": UP, "pi-2": DOWN})) as app:
        assert "does not deal to all of its servers" in refusal(app)
        assert "(pi-2: GET /healthz: 500)" in refusal(app)
    with balancer((200, {"pi-1": UP})) as app:
        assert "(pi-2: not found yet)" in refusal(app)


def test_a_balancer_that_is_not_there_or_says_that_no_server_is_up_is_refused():
    with balancer((503, {})) as app:
        assert "HTTP Error 503" in refusal(app)
    assert "Connection refused" in refusal(app)
