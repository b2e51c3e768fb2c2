"""Ten seconds of A/A: two identical servers on loopback, each request sent to one by a coin."""

from __future__ import annotations

import http.client
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil

from tollgate.doctor.quiet import Samples

SERVER = Path(__file__).with_name("server.js")
HOST = "127.0.0.1"
#: Seconds that are measured, and those before them in which the servers get warm.
LENGTH_S, WARMUP_S = 10.0, 1.0
#: Requests a second to both together: with a millisecond of work each, a tenth of one core.
RATE = 100.0
SEED = 21
#: Seconds for one answer.
PATIENCE = 10.0


class CannotMeasure(Exception):  # noqa: N818 - nothing went wrong that the caller could mend
    """One line: why there was no A/A."""


def measure(length_s: float = LENGTH_S, warmup_s: float = WARMUP_S) -> Samples:
    """Raises CannotMeasure. The servers have ended when it returns, or when its process has."""
    try:
        with _server() as first, _server() as second:
            connections = [
                http.client.HTTPConnection(HOST, it, timeout=PATIENCE) for it in (first, second)
            ]
            coin = random.Random(SEED)  # noqa: S311 - a fair coin, no secret
            _ask(connections, coin, warmup_s)
            before, asked_from = psutil.cpu_times(), time.monotonic()
            rows = _ask(connections, coin, length_s)
            took = time.monotonic() - asked_from
            stolen = _stolen(psutil.cpu_times()) - _stolen(before)
    except (OSError, ValueError, http.client.HTTPException) as problem:
        raise CannotMeasure(f"the servers of the A/A did not answer: {problem}") from None
    at_s, side, took_ms, late_ms = np.array(rows).T
    cores = psutil.cpu_count() or 1
    return Samples(at_s, side.astype(int), took_ms, late_ms, length_s, stolen / (took * cores))


@contextmanager
def _server() -> Iterator[int]:
    """The port of a server that ends with the block."""
    process = subprocess.Popen(
        ["node", str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def _ask(
    connections: list[http.client.HTTPConnection], coin: random.Random, length_s: float
) -> list[tuple[float, int, float, float]]:
    """(when it was due in s, which server, ms that it took, ms that it was sent late) of each."""
    rows = []
    start = time.perf_counter()
    for number in range(round(length_s * RATE)):
        due = number / RATE
        time.sleep(max(0.0, start + due - time.perf_counter()))
        side = coin.randrange(2)
        sent = time.perf_counter()
        connections[side].request("GET", "/")
        connections[side].getresponse().read()
        ended = time.perf_counter()
        rows.append((due, side, 1000 * (ended - sent), 1000 * (sent - start - due)))
    return rows


def _stolen(times: object) -> float:
    """Seconds of core that the host gave to another machine; 0 where the system does not tell."""
    return getattr(times, "steal", 0.0)
