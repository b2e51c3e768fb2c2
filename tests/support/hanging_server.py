"""A server that answers for a while and then never again, and plans that ask it."""

import threading
import time
from contextlib import contextmanager

from support import jmx_text as jmx
from support.http_server import Handler, serving

#: Three threads that ask one after another for ever.
CLOSED = {"make": jmx.group, "name": "visitors", "threads": 3, "extra": jmx.main_loop(-1)}
CLOSED["duration"] = None
#: Ten arrivals a second for two minutes.
ARRIVING = {"schedule": "rate(10/s) random_arrivals(2 min)", "seed": 7, "name": "arriving"}
CONTROLLER = '<elementProp name="ThreadGroup.main_controller" elementType="{}Controller"/>'
OPEN = {"make": jmx.open_group, "extra": CONTROLLER.format("OpenModelThreadGroup"), **ARRIVING}


def write_plan(folder, port, group=CLOSED, timeout_ms=""):
    """A plan whose threads ask the server on this port, by default without a response timeout."""
    at = {"domain": "127.0.0.1", "port": port, "protocol": "http", "path": "/", "method": "GET"}
    at |= {"use_keepalive": "true", "response_timeout": timeout_ms}
    asks = jmx.sampler("home", **{f"HTTPSampler__{key}": value for key, value in at.items()})
    how = {"ThreadGroup__on_sample_error": "continue", **group}
    plan = folder / "hanging.jmx"
    plan.write_text(jmx.loadable(jmx.plan(how.pop("make")(asks, **how))))
    return plan


class Hanging(Handler):
    """Takes 20 ms for an answer."""

    def respond(self):
        server = self.server
        with server.lock:
            server.asked_at = server.asked_at or time.monotonic()
        hangs = time.monotonic() - server.asked_at >= server.answers_s
        if server.ends.wait(None if hangs else 0.02):
            return
        self.answer(body="ok")


@contextmanager
def hanging_server(answers_s):
    """Its port; it answers for so many seconds from the first request on."""
    ends = threading.Event()
    with serving(Hanging, ends=ends, asked_at=None, answers_s=answers_s) as server:
        try:
            yield server.server_port
        finally:
            ends.set()
