"""A server whose path and answer are hard to carry through CSV files, and that counts."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: What CSV files and regular expressions could stumble over.
ODD_PATH = "/odd?list=1,2&quoted=%22"
ODD_ANSWER = '{"said": "yes, \\"indeed\\"", "list": [1, 2]}'
ODD_PATTERN = r'"said": "yes, \\"indeed\\"", "list": \[1, 2\]'


class Odd(BaseHTTPRequestHandler):
    """Gives its odd answer as a server behind a balancer does, and counts connections."""

    protocol_version = "HTTP/1.1"  # keep-alive

    def setup(self) -> None:
        super().setup()
        self.is_counted = False

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.requests[self.path] += 1
            self.server.connections += not self.is_counted
        self.is_counted = True
        answer = '{"status":"ok"}' if self.path == "/healthz" else ODD_ANSWER
        self.send_response(418 if self.path == "/teapot" else 200)
        self.send_header("X-Server", "pi-2")
        self.send_header("X-Worker", "5")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def odd_server() -> Iterator[ThreadingHTTPServer]:
    """The server, with `requests` counted by path, and `connections`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    server.daemon_threads = True
    server.lock, server.requests, server.connections = threading.Lock(), Counter(), 0
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
