"""CPU of JMeter per request, beyond its start, in the plans that follow a schedule.

    scripts/dev/bench generator [PLAN ...] [--rounds N] [--rate N] [--requests N]

Each plan runs twice against one server of app/, for a moment and so much longer that it sends
--requests more; the difference in CPU time of the JVM (getrusage of the process, the compiling of
its code included) over the difference in requests is the figure. All plans send the same: sums and
searches in turn.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.common import machine, table
from tollgate.base.paths import ROOT, jmeter_home
from tollgate.plan.inline import put_in_place
from tollgate.record.environment import jmeter_version
from tollgate.taurus.jmeter import QUIET

#: The run that the other one is compared with lasts so long, in seconds.
MOMENT_S = 2
#: Properties of the plans; no answer is too late.
EVERYWHERE = {
    "think": 0,
    "think_spread": 0,
    "response_timeout": 20_000,
    "sample_variables": "TESTSTART.MS",
}
FORECASTS = ("stress", "load", "soak")
PLANS = ("check", "compare", *FORECASTS)


class BenchError(Exception):
    """One line: what did not work."""


@contextmanager
def served() -> Iterator[int]:
    """The port of a server, as app/ starts it."""
    environment = os.environ | {"PORT": "0"}
    process = subprocess.Popen(
        ["node", "app/server.js"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        yield int(process.stdout.readline().rpartition(":")[2])
    finally:
        process.terminate()
        process.communicate()


def properties(plan: str, port: int, rate: int, seconds: int) -> dict[str, object]:
    """Of a run that sends half sums and half searches, at `rate` a second in all."""
    if plan in FORECASTS:
        schedule = f"rate({rate}/sec) random_arrivals({seconds} sec) pause(8 sec)"
        own = {"port": port, "schedule": schedule, "mix": "1000000000 sum:0.5 search:1"}
        # The pool of an Open Model Thread Group would keep JMeter up for a minute.
        return EVERYWHERE | own | {"jmeterengine.force.system.exit": "true"}
    own = {"warmup": 0, "measured": seconds}
    if plan == "compare":
        own |= {"base_port": port, "head_port": port, "period": round(2000 / rate)}
        return EVERYWHERE | own | {"sample_variables": "TESTSTART.MS,coin"}
    own |= {"port": port, "sum_rate": rate / 2, "search_rate": rate / 2}
    return EVERYWHERE | own | dict.fromkeys(("calculate_rate", "kittens_rate", "pi_rate"), 0.01)


def run(plan: Path, given: Mapping[str, object], folder: Path) -> np.ndarray:
    """[requests, ms of CPU, lines of the log] of a run to the end of the plan. Raises BenchError
    where a request fails, which would cost more."""
    jtl, log, said = (folder / name for name in ("out.jtl", "jmeter.log", "said"))
    jtl.unlink(missing_ok=True)
    words = [f"-J{name}={value}" for name, value in given.items()]
    command = [jmeter_home() / "bin" / "jmeter", "-n", "-t", plan, "-l", jtl, "-j", log]
    with said.open("w") as out:
        process = subprocess.Popen(
            [*command, *QUIET, *words], cwd=plan.parent, stdout=out, stderr=out
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    rows = jtl.read_text().splitlines()[1:] if jtl.exists() else []
    failed = [row for row in rows if ",false," in row]
    if process.returncode or failed or not rows:
        what = failed[0] if failed else said.read_text().strip()[-300:]
        raise BenchError(f"{plan.name}: {len(failed)} of {len(rows)} requests failed: {what}")
    cpu_ms = 1000 * (usage.ru_utime + usage.ru_stime)
    return np.array([len(rows), cpu_ms, len(log.read_text().splitlines())])


def cost(name: str, arguments: argparse.Namespace, port: int) -> np.ndarray:
    """[ms of CPU, lines of the log] of a request beyond the moment."""
    lengths_s = (MOMENT_S, MOMENT_S + arguments.requests // arguments.rate)
    with TemporaryDirectory(prefix="tollgate-bench-") as made:
        folder = Path(made)
        for each in ("plans", "data"):
            shutil.copytree(ROOT / each, folder / each)
        plan = folder / "plans" / f"{name}.jmx"
        put_in_place(plan, plan.parent)
        moment, longer = (
            run(plan, properties(name, port, arguments.rate, it), folder) for it in lengths_s
        )
    requests, *more = longer - moment
    return np.array(more) / requests


def measured(arguments: argparse.Namespace) -> str:
    """The table, of rounds by turns."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in arguments.plans}
    with served() as port:
        for _ in range(arguments.rounds):
            for name, costs in found.items():
                costs.append(cost(name, arguments, port))
                print(f"{name}: {costs[-1][0]:.2f} ms", file=sys.stderr)
    rows = []
    for name, costs in found.items():
        ms, lines = np.transpose(costs)
        cpu = f"{np.median(ms):.2f} ms ({ms.min():.2f} to {ms.max():.2f})"
        rows.append([name, cpu, f"{np.median(lines):.2f}"])
    return table(["plan", "CPU a request", "lines of jmeter.log a request"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("plans", nargs="*", metavar="PLAN", default=list(PLANS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=110, help="requests a second in all")
    parser.add_argument("--requests", type=int, default=3_400, help="beyond those of the moment")
    arguments = parser.parse_args()
    if unknown := set(arguments.plans) - set(PLANS):
        parser.error(f"no such plan: {', '.join(sorted(unknown))}; there are {', '.join(PLANS)}")
    try:
        print(measured(arguments), machine(), f"JMeter {jmeter_version()}.", sep="\n\n")
    except BenchError as problem:
        sys.exit(f"generator: {problem}")


if __name__ == "__main__":
    main()
