"""Asks a target, before any load, whether it is what the run needs and whether it answers right."""

from __future__ import annotations

import http.client
import json
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterable

from tollgate import leftovers, pm2

#: Seconds for one request. The slowest target computes for less than one.
REQUEST_TIMEOUT = 15
#: Seconds between two looks at something that is not ready yet.
LOOK_AGAIN = 0.05


class ProbeError(Exception):
    """One line: what was asked, what came back, and what to do."""


def port_is_free(host: str, port: int, app: str) -> None:
    """Raise ProbeError when something listens on the port that an app is going to need."""
    with socket.socket() as candidate:
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind((host, port))
        except OSError:
            raise ProbeError(
                f"port {port} of app {app!r} is in use by {leftovers.port_owner(port)}: "
                "stop it, or change the port in ecosystem.config.js"
            ) from None


def workers_of(app: pm2.App, workers: Iterable[dict]) -> int:
    """Count the workers of an app; raise ProbeError unless they are as ecosystem.config.js asks."""
    mine = [worker for worker in workers if worker["name"] == app.name]
    dead = [worker for worker in mine if worker["pm2_env"]["status"] != "online"]
    restarted = [worker for worker in mine if worker["pm2_env"]["restart_time"]]
    if dead or restarted or not mine:
        raise ProbeError(f"app {app.name!r} died at start: {last_words(app.name)}")
    mode = mine[0]["pm2_env"]["exec_mode"].removesuffix("_mode")
    if mode != app.exec_mode:
        raise ProbeError(f"app {app.name!r} runs in {mode} mode, asked for was {app.exec_mode}")
    if len(mine) != app.instances:
        raise ProbeError(
            f"app {app.name!r} has {len(mine)} worker(s), asked for were {app.instances}"
        )
    return len(mine)


def last_words(app: str) -> str:
    """The last line that an app wrote to its error log, and where the rest is."""
    for log in sorted((pm2.PM2_HOME / "logs").glob(f"{app}-error*.log")):
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
        errors = [line for line in lines if re.match(r"\w*(Error|Exception)\b", line)]
        said = errors or [line for line in lines if line]
        if said:
            return f"{said[-1]} (all of it: pm2-{log.name} in the run's folder)"
    return "it wrote nothing; start it by hand with `node app/server.js`"


def answers(host: str, app: pm2.App, workers: int, timeout: float) -> None:
    """Wait until an app answers and, by their X-Worker, each of its workers has done so."""
    seen: set[str] = set()
    deadline = time.monotonic() + timeout
    problem = "nothing came back"
    while len(seen) < workers:
        try:
            with _get(host, app.port, "/healthz") as answer:
                seen.add(answer.headers.get("X-Worker", ""))
                problem = f"only {len(seen)} of {workers} workers answered"
        except OSError as error:
            problem = str(error)
        if time.monotonic() > deadline:
            raise ProbeError(
                f"app {app.name!r} did not answer on {host}:{app.port} within {timeout:g} s "
                f"({problem}): {last_words(app.name)}"
            )
        if not seen:
            time.sleep(LOOK_AGAIN)


def deals(host: str, app: pm2.App, servers: Iterable[str], timeout: float) -> None:
    """Wait until a balancer deals to each of these apps. It passes on whatever else it is asked, so
    that its answers carry the X-Worker of the server behind."""
    deadline = time.monotonic() + timeout
    while problem := _missing_in_the_deal(host, app.port, servers):
        if time.monotonic() > deadline:
            raise ProbeError(
                f"app {app.name!r} on {host}:{app.port} does not deal to all of its servers after "
                f"{timeout:g} s ({problem}): {last_words(app.name)}"
            )
        time.sleep(LOOK_AGAIN)


def _missing_in_the_deal(host: str, port: int, servers: Iterable[str]) -> str:
    """Which servers a balancer does not deal to yet and why; an empty string if to all."""
    try:
        with _get(host, port, "/balancer/healthz") as answer:
            view = {each["name"]: each for each in json.load(answer)["servers"]}
    except (OSError, ValueError) as error:
        return str(error)
    found = [(name, view.get(name, {"status": "", "reason": "not found yet"})) for name in servers]
    return "; ".join(f"{name}: {it['reason']}" for name, it in found if it["status"] != "up")


def answer_is_right(host: str, port: int, path: str, pattern: str) -> None:
    """Raise ProbeError unless the body of the answer to GET path contains the pattern."""
    try:
        with _get(host, port, path) as answer:
            status, body = answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        status, body = error.code, error.read().decode(errors="replace")
    except OSError as error:
        raise ProbeError(f"GET {path} on {host}:{port} failed: {error}") from None
    if status != 200 or not re.search(pattern, body):
        raise ProbeError(
            f"GET {path} on {host}:{port} answered {status} {json.dumps(body[:120])}, "
            f"which does not match {pattern!r}: mend the target, or its probe in taurus.yml"
        )


def _get(host: str, port: int, path: str) -> http.client.HTTPResponse:
    # No proxy: whatever http_proxy says, a target on loopback is asked directly.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"http://{host}:{port}{path}", headers={"Connection": "close"})
    return opener.open(request, timeout=REQUEST_TIMEOUT)
