"""What it costs to be watched, measured; see docs/telemetry.md.

    scripts/dev/bench watching                    at 38 requests a second, four pairs
    scripts/dev/bench watching --rate 1000 --pairs 6

Runs of the kind `check` in fork mode, in pairs: one at a terminal, with its live page open and
exported to a collector, the other without both, first by turns. All figures are of the load alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import psutil
from scipy import stats

from benchmarks.common import table
from certification.live import BZT
from tollgate.base.paths import SUITE

#: The rates of the plan together, and what of them stays where sums are asked faster.
USUAL, OTHERS = 38, ("calculate", "search", "kittens", "pi")
WARMUP_S, MEASURED_S = 10, 40
_URL = re.compile(r"Live: (http://127\.0\.0\.1:\d+/\S+/)")


@dataclass(frozen=True)
class Cost:
    """cpu: of bzt's own process, a share of one core. service_ms: the mean service time.
    late_ms: the 99th percentile of lateness, the mean of all schedules. sent: requests a second."""

    cpu: float
    service_ms: float
    late_ms: float
    sent: float


class _Collector(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")  # an empty answer: all of it is taken
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def _collecting() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _look(terminal: int) -> None:
    """Read what a terminal shows, and have the page open whose address stands there."""
    shown, is_open = "", False
    with suppress(OSError):  # the run has ended
        while part := os.read(terminal, 1 << 16):
            shown += part.decode(errors="replace")
            if not is_open and (found := _URL.search(shown)):
                is_open = True
                threading.Thread(target=_follow, args=(found[1],), daemon=True).start()


def _follow(url: str) -> None:
    with suppress(OSError), urllib.request.urlopen(f"{url}events") as events:  # noqa: S310
        for _ in events:
            pass


def _run(folder: Path, options: list[str], watched: str | None) -> Cost:
    """watched: the collector's address; None for a run that nobody sees."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    env |= {"MODE": "fork", "CI": "", "LIVE": "" if watched else "off"}
    if watched:
        env["OTEL_EXPORTER_OTLP_ENDPOINT"] = watched
    command = [BZT, "taurus.yml", "-o", f"settings.artifacts-dir={folder}"]
    command += [word for it in options for word in ("-o", it)]
    ours, theirs = os.openpty()
    with subprocess.Popen(
        command, cwd=SUITE, env=env, stdout=theirs if watched else subprocess.DEVNULL
    ) as process:
        os.close(theirs)
        threading.Thread(target=_look, args=(ours,), daemon=True).start()
        spent = list(_spent(process))
    os.close(ours)
    return _cost(folder, spent)


def _spent(process: subprocess.Popen) -> Iterator[tuple[float, float]]:
    """(epoch s, CPU s of the process without its children) until it ends."""
    bzt = psutil.Process(process.pid)
    while process.poll() is None:
        with suppress(psutil.NoSuchProcess):
            times = bzt.cpu_times()
            yield time.time(), times.user + times.system
        time.sleep(0.2)


def _cost(folder: Path, spent: list[tuple[float, float]]) -> Cost:
    with (folder / "kpi.jtl").open(encoding="utf-8", newline="") as lines:
        rows = [(int(it["timeStamp"]) / 1000, int(it["elapsed"])) for it in csv.DictReader(lines)]
    began_s = min(at for at, _ in rows) + WARMUP_S
    ended_s = began_s + MEASURED_S
    at, cpu = np.array(spent).T
    first, last = np.interp([began_s, ended_s], at, cpu)
    elapsed = [it for at, it in rows if began_s <= at < ended_s]
    verdict = json.loads((folder / "verdict.json").read_text())
    late = [it["lateness_p99_ms"] for it in verdict["executions"][0]["schedules"]]
    share = (last - first) / MEASURED_S
    return Cost(share, float(np.mean(elapsed)), float(np.mean(late)), len(elapsed) / MEASURED_S)


def _options(folder: Path, rate: float) -> list[str]:
    properties: Mapping[str, object] = {"warmup": WARMUP_S, "measured": MEASURED_S}
    if rate != USUAL:
        # Sums that take next to nothing, so that JMeter and the target keep up.
        (folder / "sum.csv").write_text("n,sum\n1000,500500\n", encoding="utf-8")
        properties = {
            **properties,
            **{f"{it}_rate": 1 for it in OTHERS},
            "sum_rate": rate - len(OTHERS),
            "sum_data": folder / "sum.csv",
        }
    off = ("modules.report.dashboards=false", "modules.stop-when-decided.budget=off")
    return [*off, *(f"modules.jmeter.properties.{it}={at}" for it, at in properties.items())]


def _line(name: str, digits: int, pairs: list[tuple[float, float]]) -> tuple[str, ...]:
    on, off = np.array(pairs).T
    more = on - off
    reach = stats.t.ppf(0.975, len(more) - 1) * more.std(ddof=1) / len(more) ** 0.5
    ends = (more.mean() - reach, more.mean() + reach)
    figures = (on.mean(), off.mean(), more.mean())
    interval = " to ".join(f"{it:+.{digits}f}" for it in ends)
    return name, *(f"{it:.{digits}f}" for it in figures), interval


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="scripts/dev/bench watching", description=__doc__)
    parser.add_argument("--rate", type=float, default=USUAL, help="requests a second")
    parser.add_argument("--pairs", type=int, default=4)
    arguments = parser.parse_args()
    pairs: list[tuple[Cost, Cost]] = []
    with tempfile.TemporaryDirectory(prefix="tollgate-") as kept, _collecting() as collector:
        options = _options(Path(kept), arguments.rate)
        for number in range(arguments.pairs):
            costs = {}
            for watched in (True, False) if number % 2 else (False, True):
                folder = Path(kept) / f"{number}-{watched}"
                costs[watched] = _run(folder, options, collector if watched else None)
                print(f"pair {number + 1}, {'watched' if watched else 'alone'}: {costs[watched]}")
            pairs.append((costs[True], costs[False]))
    figures = (
        ("CPU of bzt, % of a core", 2, [(100 * a.cpu, 100 * b.cpu) for a, b in pairs]),
        ("service time, ms", 2, [(a.service_ms, b.service_ms) for a, b in pairs]),
        ("lateness, p99, ms", 2, [(a.late_ms, b.late_ms) for a, b in pairs]),
        ("requests a second", 1, [(a.sent, b.sent) for a, b in pairs]),
    )
    heads = ("", "watched", "alone", "difference", "95 % interval")
    print(table(heads, [_line(*it) for it in figures]))


if __name__ == "__main__":
    main()
