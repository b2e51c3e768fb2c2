"""A server whose path and answer are hard to carry through CSV files, and that counts."""

from collections import Counter
from contextlib import contextmanager

from support.http_server import Handler, serving

#: What CSV files and regular expressions could stumble over.
ODD_PATH = "/odd?list=1,2&quoted=%22"
ODD_ANSWER = '{"said": "yes, \\"indeed\\"", "list": [1, 2]}'
ODD_PATTERN = r'"said": "yes, \\"indeed\\"", "list": \[1, 2\]'


class Odd(Handler):
    """Gives its odd answer as a server behind a balancer does, and counts connections."""

    def setup(self):
        super().setup()
        self.is_counted = False

    def respond(self):
        with self.server.lock:
            self.server.requests[self.path] += 1
            self.server.connections += not self.is_counted
        self.is_counted = True
        status = 418 if self.path == "/teapot" else 200
        body = '{"status":"ok"}' if self.path == "/healthz" else ODD_ANSWER
        self.answer(status, body, X_Server="pi-2", X_Worker="5")


@contextmanager
def odd_server():
    """The server, with `requests` counted by path, and `connections`."""
    with serving(Odd, requests=Counter(), connections=0) as server:
        yield server
