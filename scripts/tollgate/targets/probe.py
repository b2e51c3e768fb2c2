"""Asks a target, before any load, whether it is what the run needs and whether it answers right."""

from __future__ import annotations

import errno
import http.client
import json
import logging
import math
import os
import re
import signal
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tollgate.base import json_schema
from tollgate.base.answers import body_of
from tollgate.base.paths import ECOSYSTEM, SUITE
from tollgate.base.text import telling
from tollgate.base.time_limit import within
from tollgate.base.urls import Url
from tollgate.targets import leftovers, pm2
from tollgate.targets.scenarios import Probe, Probes

#: The loopback of IPv6.
HOST_6 = "::1"
#: Seconds for one request. The slowest target computes for less than one.
REQUEST_TIMEOUT = 15
#: Seconds between two looks at something that is not ready yet.
LOOK_AGAIN = 0.05
#: Seconds that an app may take from `ready` to its first answer. One that tells no `ready` starts
#: meanwhile, in a comparison beside seven others.
ANSWER_TIMEOUT = 60
#: Seconds and bytes in which an answer to a probe has to end.
LONGEST_ANSWER, LARGEST_ANSWER = 60, 50_000_000
#: How often what is expected within a time is asked before it counts as slower.
TRIES = 3
#: What may come in place of an answer: nothing, something that is not HTTP, or no question at all,
#: because the host's name can't be one.
NO_ANSWER = (OSError, http.client.HTTPException, UnicodeError)
#: Some services refuse whoever does not say what it is; JMeter does.
_HEADERS = {"Connection": "close", "User-Agent": "Tollgate"}


class ProbeError(Exception):
    """One line: what was asked, what came back, and what to do."""


@dataclass(frozen=True)
class Proven:
    """What is known of apps that answer, by their names."""

    lines: Mapping[str, str]
    """What can't be proven of one."""
    hosts: Mapping[str, str]
    """Where one listens that does so at the IPv6 loopback alone."""


def why_taken(host: str, port: int) -> str:
    """Why nothing can listen on a TCP port there; an empty string if it can."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as candidate:
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind((host, port))
        except OSError as problem:
            return problem.strerror or str(problem)
    return ""


def port_is_free(host: str, port: int, app: str) -> None:
    """Raise ProbeError when something listens on the port that an app is going to need."""
    # Where there is no IPv6, nothing can be in the way there.
    taken = os.strerror(errno.EADDRINUSE)
    if why_taken(host, port) or (host == pm2.HOST and why_taken(HOST_6, port) == taken):
        raise ProbeError(
            f"port {port} of app {app!r} is in use by {leftovers.port_owner(port)}: "
            f"stop it, or change the port in {ECOSYSTEM.name}"
        )


def workers_of(app: pm2.App, workers: Iterable[dict[str, Any]]) -> int:
    """Count the workers of an app; raise ProbeError unless they are as ecosystem.config.js asks."""
    mine = [worker for worker in workers if worker["name"] == app.name]
    dead = [worker for worker in mine if worker["pm2_env"]["status"] != "online"]
    restarted = [worker for worker in mine if worker["pm2_env"]["restart_time"]]
    if dead or restarted or not mine:
        raise ProbeError(f"app {app.name!r} died at start: {last_error(app.name)}")
    mode = mine[0]["pm2_env"]["exec_mode"].removesuffix("_mode")
    if mode != app.exec_mode:
        raise ProbeError(f"app {app.name!r} runs in {mode} mode, asked for was {app.exec_mode}")
    if len(mine) != app.instances:
        raise ProbeError(f"app {app.name!r} has {len(mine)} of {app.instances} workers")
    return len(mine)


def last_error(app: str) -> str:
    """The last line that an app wrote to its error log, and where the rest is."""
    for log in sorted((pm2.PM2_HOME / "logs").glob(f"{app}-error*.log")):
        said = telling(log.read_text("utf-8", "replace"), r"\w*(Error|Exception)\b")
        if said:
            taken = re.search(r"EADDRINUSE.*:(\d+)\b", said[-1])  # may be another than its PORT
            holder = f", held by {leftovers.port_owner(int(taken[1]))}" if taken else ""
            return f"{said[-1]}{holder} (all of it: pm2-{log.name} in the run's folder)"
    return f"it wrote nothing: start its script of {ECOSYSTEM.name} by hand to see why"


def listening_at(host: str, app: pm2.App, timeout: float) -> str:
    """Wait until an app takes connections, and return where: at this host, or, if that is the
    loopback, at the IPv6 one, to which `localhost` may lead a server. Raises ProbeError."""
    hosts = [host, HOST_6] if host == pm2.HOST else [host]
    connected: list[str] = []

    def missing() -> str:
        problem = ""
        for each in reversed(hosts):
            try:
                socket.create_connection((each, app.port), REQUEST_TIMEOUT).close()
                connected.append(each)
            except OSError as error:
                problem = str(error)
        return "" if connected else problem

    _wait(missing, f"app {app.name!r} did not answer on {host}:{app.port}", app, timeout)
    return connected[-1]


def answers(host: str, app: pm2.App, workers: int, timeout: float) -> str:
    """Wait until an app answers and, by their X-Worker, each of its workers has done so.

    Any answer does of an app whose answers carry no X-Worker, as it is none of ours; returns what
    is not proven then, an empty string if nothing is left open. Raises ProbeError."""
    seen: set[str | None] = set()  # None: an answer without X-Worker

    def missing() -> str:
        try:
            seen.add(_worker_that_answers(host, app.port))
        except NO_ANSWER as error:
            return str(error) or type(error).__name__
        is_proven = None in seen or len(seen) >= workers
        return "" if is_proven else f"only {len(seen)} of {workers} workers answered"

    _wait(missing, f"app {app.name!r} did not answer on {host}:{app.port}", app, timeout)
    if workers == 1 or None not in seen:
        return ""
    return (
        f"responses of {app.name} have no X-Worker header, so it is unknown whether each of its "
        f"{workers} workers answers; PM2 reports that they run"
    )


def _wait(missing: Callable[[], str], failed: str, app: pm2.App, timeout: float) -> None:
    """Until nothing is missing any more. failed: what to say of an app where that takes longer."""
    deadline = time.monotonic() + timeout
    while problem := missing():
        if time.monotonic() > deadline:
            raise ProbeError(f"{failed} within {timeout:g} s ({problem}): {last_error(app.name)}")
        time.sleep(LOOK_AGAIN)


def _worker_that_answers(host: str, port: int) -> str | None:
    """The X-Worker of one answer, None without one. Raises one of NO_ANSWER; also where a worker
    of ours says that it isn't well."""
    with _get(Url("http", host, port), "/healthz") as answer:
        worker = answer.headers.get("X-Worker")
        if worker is not None:
            _refuse_error(answer)
        return worker


def is_there(url: Url) -> None:
    """Raise ProbeError unless something answers where a URL points."""
    why = unanswered(url)
    if why:
        raise ProbeError(
            f"nothing answers at {url.url} ({why}): start it first; what a scenario names by its "
            "`url` is neither started nor stopped by a run"
        )


def unanswered(url: Url) -> str:
    """Why nothing answers there as a web server does, whatever its status; "" if something does."""
    try:
        _get(url, "/").close()
    except NO_ANSWER as error:
        return " ".join(str(error).split()) or type(error).__name__
    return ""


def wait_for_balancer(host: str, app: pm2.App, servers: Iterable[str], timeout: float) -> None:
    """Wait until a balancer deals to each of these apps. It passes on whatever else it is asked, so
    that its answers carry the X-Worker of the server behind."""
    failed = f"app {app.name!r} on {host}:{app.port} did not deal to all of its servers"
    _wait(lambda: _missing_in_the_deal(host, app.port, servers), failed, app, timeout)


def _missing_in_the_deal(host: str, port: int, servers: Iterable[str]) -> str:
    """Which servers a balancer does not deal to yet and why; an empty string if to all."""
    try:
        with _get(Url("http", host, port), "/balancer/healthz") as answer:
            _refuse_error(answer)
            view = {each["name"]: each for each in json.load(answer)["servers"]}
    except (*NO_ANSWER, ValueError) as error:
        return str(error) or type(error).__name__
    found = [(name, view.get(name, {"status": "", "reason": "not found yet"})) for name in servers]
    return "; ".join(f"{name}: {it['reason']}" for name, it in found if it["status"] != "up")


def answer_is_right(remote: Url, probe: Probe) -> float:
    """How many milliseconds the answer took. Raises ProbeError unless its body contains the
    pattern, and matches the schema."""
    path, where, began = probe.path, f"{remote.host}:{remote.port}", time.monotonic()
    try:
        with within(LONGEST_ANSWER, signal.ITIMER_REAL), _get(remote, path) as answer:
            status, data = answer.status, body_of(answer, LARGEST_ANSWER + 1)
        if len(data) > LARGEST_ANSWER:
            raise OSError(f"the answer has more than {LARGEST_ANSWER} bytes")
    except NO_ANSWER as error:
        raise ProbeError(f"GET {path} on {where} failed: {error}") from None
    took_ms, body = (time.monotonic() - began) * 1000, data.decode(errors="replace")
    if status != 200 or (probe.answer and not probe.answer.search(body)):
        expected = repr(probe.answer.pattern) if probe.answer else "status 200"
        raise ProbeError(
            f"GET {path} on {where} gave {status} {json.dumps(body[:120])}, not {expected}: {_MEND}"
        )
    if probe.schema and (problem := _mismatch(probe.schema, body)):
        raise ProbeError(
            f"GET {path} on {where} does not match {probe.schema} ({problem}): {_MEND}"
        )
    return took_ms


#: The next step where an answer is not right.
_MEND = "correct the target, its data or its probe in taurus.yml; a scenario's `probes` come first"


def _mismatch(named: str, body: str) -> str:
    """How a body differs from a JSON Schema; empty where it matches. Raises ProbeError."""
    file, _, name = named.partition("#")
    try:
        schemas = json.loads((SUITE / file).read_text(encoding="utf-8"))
        schema = schemas[name] if name else schemas
    except (OSError, ValueError, LookupError, TypeError) as error:
        why = getattr(error, "strerror", None) or f"it has no {name!r}"
        raise ProbeError(f"a probe names the schema {named}, which can't be read: {why}") from None
    return json_schema.mismatch(schema, body)


def _get(url: Url, path: str) -> http.client.HTTPResponse:
    """Asks as JMeter does: by no proxy, whatever http_proxy says, and with any certificate; follows
    no redirect. Raises one of NO_ANSWER."""
    connection = http.client.HTTPConnection(url.host, url.port, timeout=REQUEST_TIMEOUT)
    if url.protocol == "https":
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(
            url.host, url.port, timeout=REQUEST_TIMEOUT, context=trusting
        )
    connection.request("GET", path.partition("#")[0], headers=_HEADERS)
    return connection.getresponse()


def _refuse_error(answer: http.client.HTTPResponse) -> None:
    """Raises HTTPException for a status of 300 or more."""
    if answer.status >= 300:
        raise http.client.HTTPException(f"HTTP Error {answer.status}: {answer.reason}")


def prove_apps(
    apps: Sequence[pm2.App],
    running: Iterable[dict[str, Any]],
    probes: Mapping[str, Probes],
    log: logging.Logger,
) -> Proven:
    """Ask each app that runs under PM2.

    running: the workers, as pm2.workers gives them. Raises ProbeError."""
    running = list(running)
    unproven: dict[str, str] = {}
    slow: dict[str, str] = {}
    hosts = dict.fromkeys((app.name for app in apps), pm2.host())
    for app in apps:
        workers = workers_of(app, running)
        if app.deals_to:
            servers = pm2.servers_behind(app, apps)
            wait_for_balancer(pm2.host(), app, servers, ANSWER_TIMEOUT)
        else:
            each = workers if len(app.ports) == 1 else 1
            for port in app.ports:
                process = replace(app, port=port)
                host = hosts[app.name] = listening_at(pm2.host(), process, ANSWER_TIMEOUT)
                if line := answers(host, process, each, ANSWER_TIMEOUT):
                    log.warning("targets: %s", line)
                    unproven[app.name] = line
        try:
            for port in app.ports:
                slow |= _ask(Url("http", hosts[app.name], port), probes[app.name])
        except ProbeError as problem:
            raise ProbeError(f"app {app.name!r}: {problem}") from None
        listed = ", ".join(map(str, app.ports))
        log.info("Target %s: %d worker(s) on %s:%s", app.name, workers, hosts[app.name], listed)
    _warn_of_slow(slow, log)
    return Proven(unproven, {name: host for name, host in hosts.items() if host == HOST_6})


def ask_elsewhere(remotes: Iterable[tuple[str, Url, Probes]], log: logging.Logger) -> None:
    """Ask each service that the run does not start: those of wanted_remotes. Raises ProbeError."""
    for name, remote, probes in remotes:
        if not remote.is_loopback:
            log.warning(
                "targets: execution %s sends its load to %s, which is not this machine: be sure "
                "that whoever runs it agrees",
                *(name, remote.url),
            )
        is_there(remote)
        _warn_of_slow(_ask(remote, probes), log)
        log.info("Service %s of %s answers; it is neither started nor stopped", remote.url, name)


def _ask(remote: Url, probes: Probes) -> dict[str, str]:
    """Ask it all, and return what is slower than expected: by path, how much. Raises ProbeError."""
    slow = {}
    for each in probes:
        expected_ms = each.expected_ms or math.inf
        took_ms = math.inf
        for _ in range(TRIES):  # a first answer may be slow for once
            took_ms = min(took_ms, answer_is_right(remote, each))
            if took_ms <= expected_ms:
                break
        else:
            slow[each.path] = f"GET {each.path} took {took_ms:.0f} ms instead of {expected_ms:g}"
    return slow


def _warn_of_slow(slow: Mapping[str, str], log: logging.Logger) -> None:
    if slow:
        log.warning(
            "targets: slower than the load of taurus.yml was made for: %s: the run may end "
            "INCONCLUSIVE; send less (-o modules.jmeter.properties.pi_rate=0.2, say) or allow more "
            "measuring (-o modules.stop-when-decided.budget=8m)",
            "; ".join(slow.values()),
        )
