"""How well the CPU time of an answered request is known, measured; see docs/compare-explained.md.

    scripts/dev/bench cpu                       both senders, quiet and beside a neighbour
    scripts/dev/bench cpu --only client --rounds 2 --seconds 90
    scripts/dev/bench cpu --runs reports/*-compare    of comparisons of HEAD with itself, under PM2
    scripts/dev/bench cpu --runs scripts/dev/certification/data/2026-11-26*aa*    of its files

Eight processes of app/server.js, all of the same code, get what a comparison sends: a sum every so
many milliseconds, and a search a little later, each to a process at random. Four of them stand for
base and four for head. Sent by a client that needs little CPU time, or by JMeter in a comparison by
URL, on the same cores. The neighbour is that of a certification. Each round has new processes.

*Luck* is the standard deviation of what the processes differ by and keep: of the levels of both
halves of the time, the root of their covariance. *Noise* is the standard error of the change that
time takes away. Both are in per cent of the CPU time of an answer.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import itertools
import logging
import math
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp
import numpy as np

from benchmarks.common import table
from certification.live import BZT, blocks_of
from certification.processes import ended, neighbour, run_to_end
from certification.store import read_blocks
from tollgate.base.paths import SUITE
from tollgate.base.urls import read_url
from tollgate.compare.cpu import CpuChange, cpu_change
from tollgate.compare.cpu_times import CpuTimes
from tollgate.compare.model import Blocks, Requests, Side
from tollgate.compare.samples import BASE, HEAD
from tollgate.samples.layout import peek_test_start
from tollgate.targets.lock import free_port
from tollgate.targets.probe import unanswered
from tollgate.workers.worker_cpu import NAME, WorkerCpuRecorder

#: Processes in all, and for each side.
PROCESSES, OF_SIDE = 8, 4
#: Seconds of load before what counts, between two pairs of requests, and to the search of a pair.
WARMUP_S, PERIOD_S, LAG_S = 15, 0.028, 0.016
#: Seconds for a server to answer, and for bzt beyond the load.
PATIENCE_S, MOST_BEYOND_S = 30, 300
#: Of a client's requests: where they go, by a row of a file.
PATHS = {
    "sum": ("compare-sum.csv", "/sum/{n}"),
    "search": ("search.csv", "/search?origin={origin}&destination={destination}&date={date}"),
}
LOG = logging.getLogger("bench")
Measured = tuple[Sequence[Blocks], CpuTimes]
#: A request: its label, row and process, when it was sent, and how many ms it took.
Answer = tuple[str, int, int, float, float]


@contextmanager
def served(folder: Path) -> Iterator[tuple[list[int], list[str], WorkerCpuRecorder]]:
    """(pids, URLs, what records their CPU time) of the processes, children of this one."""
    with ExitStack() as to_end:
        pids, urls = [], []
        for _ in range(PROCESSES):
            port = free_port(socket.SOCK_STREAM)
            environment = os.environ | {"HOST": "127.0.0.1", "PORT": str(port)}
            streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            command = ["node", str(SUITE / "app" / "server.js")]
            process = to_end.enter_context(ended(command, environment, **streams))
            pids.append(process.pid)
            urls.append(f"http://127.0.0.1:{port}")
            deadline = time.monotonic() + PATIENCE_S
            while unanswered(read_url("server", urls[-1])):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"bench: app/server.js does not answer at {urls[-1]}")
                time.sleep(0.1)
        recorder = WorkerCpuRecorder(folder / NAME, os.getpid(), LOG)
        recorder.start()
        try:
            yield pids, urls, recorder
        finally:
            recorder.stop()


def by_client(folder: Path, seconds: int) -> Measured:
    """Sent from this process."""
    with served(folder) as (pids, urls, recorder):
        began_s = time.time() + 1.0
        recorder.phase_s = began_s % 1.0
        answers = asyncio.run(_ask(urls, began_s, WARMUP_S + seconds))
        recorder.stop()
        from_s = began_s + WARMUP_S
        return _labels(answers, from_s, seconds), _used(recorder, pids, from_s, seconds)


async def _ask(urls: Sequence[str], began_s: float, seconds: int) -> list[Answer]:
    """A pair of requests each PERIOD_S, each to a process at random."""
    rows = {label: _rows(file) for label, (file, _) in PATHS.items()}
    found: list[Answer] = []
    rng = random.Random()  # noqa: S311 - a coin, not a secret

    async def one(session: aiohttp.ClientSession, label: str, due_s: float) -> None:
        await asyncio.sleep(due_s - time.time())
        row, process = rng.randrange(len(rows[label])), rng.randrange(PROCESSES)
        url = urls[process] + PATHS[label][1].format(**rows[label][row])
        sent_s = time.time()
        async with session.get(url) as response:
            await response.read()
            response.raise_for_status()
        found.append((label, row, process, sent_s, 1000 * (time.time() - sent_s)))

    async with aiohttp.ClientSession() as session:
        under_way: set[asyncio.Task] = set()
        for number in range(int(seconds / PERIOD_S)):
            due_s = began_s + number * PERIOD_S
            await asyncio.sleep(due_s - time.time())
            for label, lag_s in zip(PATHS, (0.0, LAG_S), strict=True):
                task = asyncio.create_task(one(session, label, due_s + lag_s))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
        await asyncio.gather(*under_way)
    return found


def _rows(file: str) -> list[dict[str, str]]:
    with (SUITE / "data" / file).open(newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


def _labels(answers: Sequence[Answer], from_s: float, seconds: int) -> list[Blocks]:
    """The first process is base's, the second head's, and so on, as the coin of a plan has it."""
    found = []
    for label in PATHS:
        columns = np.array([it[1:] for it in answers if it[0] == label])
        row, coin, at_s, took_ms = columns[columns[:, 2].argsort()].T
        block = np.floor(at_s - from_s).astype(np.int64)
        measured = (block >= 0) & (block < seconds)
        elapsed = np.rint(took_ms).astype(np.int64)
        values, sides = np.unique(elapsed[measured]), []
        for side in (BASE, HEAD):
            of = measured & (coin % 2 == side)
            numbers = row[of].astype(np.int64), elapsed[of], coin[of].astype(np.int64) // 2
            sides.append(
                Side.of(Requests(block[of], *numbers), values, np.zeros(seconds, np.int64))
            )
        found.append(Blocks(label, values, *sides))
    return found


def by_jmeter(folder: Path, seconds: int) -> Measured:
    """Sent by a comparison by URL."""
    with served(folder) as (pids, urls, recorder):
        run = folder / "run"
        options = {
            "settings.artifacts-dir": run,
            "modules.compare.budget": seconds,
            "modules.compare.first": seconds,  # so that nothing ends it before
            "modules.compare.profile": "false",
            "modules.report.dashboards": "false",
            "modules.jmeter.properties.period": round(1000 * PERIOD_S),
            "modules.jmeter.properties.search_lag": round(1000 * LAG_S),
        }
        command = [str(BZT), "taurus.yml", "-compare"]
        command += itertools.chain(*(["-o", f"{name}={it}"] for name, it in options.items()))
        sides = {"BASE_URL": ",".join(urls[0::2]), "HEAD_URL": ",".join(urls[1::2])}
        log, most_s = folder / "bzt.out", WARMUP_S + seconds + MOST_BEYOND_S
        run_to_end(command, os.environ | sides, log, most_s)
        recorder.stop()
        jtl = run / "kpi.jtl"
        if not jtl.exists():
            raise SystemExit(f"bench: bzt left no samples: see {log}")
        from_s = peek_test_start(jtl) / 1000 + WARMUP_S
        labels = blocks_of(run)
        return labels, _used(recorder, pids, from_s, len(labels[0].base.n))


def _used(recorder: WorkerCpuRecorder, pids: Sequence[int], from_s: float, n: int) -> CpuTimes:
    rows = recorder.used_ms([[pid] for pid in pids], from_s, n)
    return CpuTimes.of(rows, 1, OF_SIDE, n)


def levels(found: CpuChange) -> np.ndarray:
    """float[PROCESSES]: logarithms, less their mean."""
    both = np.log1p([*found.spread.base, *found.spread.head])
    return both - both.mean()


def shared(measured: Measured) -> float:
    """The covariance of what the processes differ by in both halves of the time."""
    labels, cpu = measured
    seconds = len(labels[0].base.n)
    half = seconds // 2
    later = np.roll(np.arange(seconds), -half)
    parts = [
        ([it.first(half) for it in labels], cpu.first(half)),
        (
            [it.reordered(later).first(seconds - half) for it in labels],
            replace(cpu, used_ms=cpu.used_ms[:, half:]),
        ),
    ]
    first, second = (levels(cpu_change(*it)) for it in parts)
    return float(first @ second) / (PROCESSES - 1)


def luck(shares: Sequence[float]) -> str:
    """Of the covariances of so many rounds."""
    return f"{100 * math.sqrt(max(0.0, float(np.mean(shares)))):.2f} %"


def row(measured: Measured, look_s: int) -> list[str]:
    """Figures of a round, at its first look and at its end."""
    labels, cpu = measured
    early = cpu_change([it.first(look_s) for it in labels], cpu.first(look_s)).change
    found = cpu_change(labels, cpu)
    answers = sum(it.base.total + it.head.total for it in labels)
    noise = (100 * it.error * math.sqrt(1 - it.lasting**2) for it in (early, found.change))
    return [
        f"{answers:,}",
        f"{found.change.base:.2f} ms",
        f"{100 * levels(found).std(ddof=1):.2f} %",
        luck([shared(measured)]),
        *(f"{it:.2f} %" for it in noise),
        f"{100 * math.expm1(found.change.value):+.2f} %",
    ]


def of_run(folder: Path) -> Measured:
    """What a comparison of apps under PM2 has recorded, in its folder or a certification's file."""
    labels = read_blocks(folder) if folder.is_file() else blocks_of(folder)
    if labels[0].cpu is None or len(labels[0].cpu.used_ms) != PROCESSES:
        raise SystemExit(f"bench: {folder} has no CPU time of {OF_SIDE} processes a side")
    return labels, labels[0].cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    senders = {"client": by_client, "jmeter": by_jmeter}
    parser.add_argument("--rounds", type=int, default=2, help="of new processes: default 2")
    parser.add_argument("--seconds", type=int, default=120, help="of measuring: default 120")
    parser.add_argument("--look", type=int, default=60, help="when to look first: default 60")
    parser.add_argument("--only", choices=senders, help="one of the senders alone")
    parser.add_argument("--runs", type=Path, nargs="*", default=[], help="A/A: folders or files")
    given = parser.parse_args()
    of_runs = [of_run(it) for it in given.runs]
    names = (["JMeter, PM2", "", it.stem] for it in given.runs)
    rows = [[*it, *row(of, given.look)] for it, of in zip(names, of_runs, strict=True)]
    if given.runs:
        given.rounds = 0
        print(f"luck over all of them: {luck([shared(it) for it in of_runs])}\n")
    chosen = [given.only] if given.only else [*senders]
    for number, noisy, name in itertools.product(range(given.rounds), (False, True), chosen):
        most_s = WARMUP_S + given.seconds + MOST_BEYOND_S
        with tempfile.TemporaryDirectory() as folder, neighbour(noisy, 1 + number, most_s):
            cells = row(senders[name](Path(folder), given.seconds), given.look)
        rows.append([name, "a neighbour" if noisy else "quiet", f"{1 + number}", *cells])
        print(f"{name}, round {1 + number}: {', '.join(cells)}", file=sys.stderr, flush=True)
    heads = ["sent by", "beside", "round", "answers", "CPU of one", "processes differ by", "luck"]
    heads += [f"noise after {given.look} s", f"after {given.seconds} s", "change"]
    print(table(heads, sorted(rows)))


if __name__ == "__main__":
    main()
