"""CPU of JMeter per request, beyond its start, in the plans that follow a schedule.

    scripts/dev/bench generator [PLAN ...] [--rounds N] [--rate N] [--requests N] [--alone]
                            [--project FOLDER]

Each plan runs twice against one server of app/, for a moment and so much longer that it sends
--requests more; the difference in CPU time of the JVM (getrusage of the process, the compiling of
its code included) over the difference in requests is the figure. All plans send the same: sums and
searches in turn. As Tollgate runs a plan, unless --alone: then as `jmeter -n -t` does.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import BenchError, machine

from tollgate.base.paths import ROOT, jmeter_home
from tollgate.plan.inline import put_in_place
from tollgate.run.environment import jmeter_version
from tollgate.taurus.jmeter import QUIET

#: The run that the other one is compared with lasts so long, in seconds.
MOMENT_S = 2
#: Properties of the plans; no answer is too late.
EVERYWHERE = {"think": 0, "think_spread": 0, "response_timeout": 20_000}
FORECASTS = ("stress", "load", "soak")
PLANS = ("check", "compare", *FORECASTS)


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
    half = {"sum_rate": rate / 2, "search_rate": rate / 2}
    if plan in FORECASTS:
        schedule = f"rate({rate}/sec) random_arrivals({seconds} sec) pause(8 sec)"
        own = {"port": port, "schedule": schedule, "mix": "1000000000 sum:0.5 search:1"}
        # The pool of an Open Model Thread Group would keep JMeter up for a minute.
        own["jmeterengine.force.system.exit"] = "true"
    elif plan == "compare":
        ends = {"base_port": port, "head_port": port, "sample_variables": "TESTSTART.MS,coin"}
        ends["jmeterengine.force.system.exit"] = "true"  # as the plan of an older check-out needs
        ends["period"] = round(2000 / rate)  # where older ones have rates
        own = half | ends | {"warmup": 0, "measured": seconds}
    else:
        rare = dict.fromkeys(("calculate_rate", "kittens_rate", "pi_rate"), 0.01)
        own = half | rare | {"port": port, "warmup": 0, "measured": seconds}
    return EVERYWHERE | {"sample_variables": "TESTSTART.MS"} | own


@dataclass(frozen=True)
class Cost:
    """Of one JMeter: CPU time in seconds, and what it left."""

    cpu_s: float
    requests: int
    log_lines: int


def run(plan: Path, given: Mapping[str, object], folder: Path, options: Sequence[str]) -> Cost:
    """Run a plan to its end. Raises BenchError where a request fails, which would cost more."""
    jtl, log, said = (folder / name for name in ("out.jtl", "jmeter.log", "said"))
    jtl.unlink(missing_ok=True)
    words = [f"-J{name}={value}" for name, value in given.items()]
    command = [jmeter_home() / "bin" / "jmeter", "-n", "-t", plan, "-l", jtl, "-j", log]
    with said.open("w") as out:
        process = subprocess.Popen(
            [*command, *options, *words], cwd=plan.parent, stdout=out, stderr=out
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    rows = jtl.read_text().splitlines()[1:] if jtl.exists() else []
    failed = [row for row in rows if ",false," in row]
    if process.returncode or failed or not rows:
        what = failed[0] if failed else said.read_text().strip()[-300:]
        raise BenchError(f"{plan.name}: {len(failed)} of {len(rows)} requests failed: {what}")
    return Cost(usage.ru_utime + usage.ru_stime, len(rows), len(log.read_text().splitlines()))


def cost(name: str, arguments: argparse.Namespace, port: int, folder: Path) -> tuple[float, float]:
    """(CPU in ms, lines of jmeter.log) of a request beyond the moment."""
    plan, options = folder / "plans" / f"{name}.jmx", () if arguments.alone else QUIET
    if not arguments.alone:
        put_in_place(plan, plan.parent)
    seconds = MOMENT_S + arguments.requests // arguments.rate
    moment, longer = (
        run(plan, properties(name, port, arguments.rate, it), folder, options)
        for it in (MOMENT_S, seconds)
    )
    more = longer.requests - moment.requests
    return 1000 * (longer.cpu_s - moment.cpu_s) / more, (longer.log_lines - moment.log_lines) / more


def table(arguments: argparse.Namespace) -> Iterator[str]:
    """Lines of Markdown, rounds by turns."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in arguments.plans}
    with served() as port:
        for _ in range(arguments.rounds):
            for name, costs in found.items():
                with TemporaryDirectory(prefix="tollgate-bench-") as folder:
                    for each in ("plans", "data"):
                        shutil.copytree(arguments.project / each, Path(folder) / each)
                    costs.append(cost(name, arguments, port, Path(folder)))
                print(f"{name}: {costs[-1][0]:.2f} ms", file=sys.stderr)
    yield from ("| plan | CPU a request | lines of jmeter.log a request |", "|---|---|---|")
    for name, costs in found.items():
        cpu = [it[0] for it in costs]
        spread = f"{min(cpu):.2f} to {max(cpu):.2f}"
        lines = statistics.median(it[1] for it in costs)
        yield f"| {name} | {statistics.median(cpu):.2f} ms ({spread}) | {lines:.2f} |"
    yield from ("", machine(), f"Versions: JMeter {jmeter_version()}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("plans", nargs="*", metavar="PLAN", default=list(PLANS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=110, help="requests a second in all")
    parser.add_argument("--requests", type=int, default=3_400, help="beyond those of the moment")
    parser.add_argument("--alone", action="store_true", help="as JMeter runs a plan by itself")
    parser.add_argument("--project", type=Path, default=ROOT, help="whose plans; another check-out")
    arguments = parser.parse_args()
    if unknown := set(arguments.plans) - set(PLANS):
        parser.error(f"no such plan: {', '.join(sorted(unknown))}; there are {', '.join(PLANS)}")
    try:
        print("\n".join(table(arguments)))
    except BenchError as problem:
        sys.exit(f"generator: {problem}")


if __name__ == "__main__":
    main()
