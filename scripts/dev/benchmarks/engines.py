"""The most samples a second that one controller takes from remote engines, beside shards.

    scripts/dev/bench engines [--engines N] [--seconds N] [--most RATE]

All of them run on this machine, and their samples take no time and ask nobody: what remains is what
JMeter and the way of a sample cost. Rates double until one is not kept. It is kept where each
engine's last quarter of samples came, in the median, within 200 ms of when they were due: the k-th
of a Poisson stream is due at k / rate, give or take the square root of k.
"""

from __future__ import annotations

import argparse
import csv
import math
import socket
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import BenchError, machine

from tollgate.base.paths import jmeter_home
from tollgate.run import engines
from tollgate.run.environment import jmeter_version

ADDRESS = "127.0.0.1"
FIRST_RATE, LATE_MS = 1000, 200.0
THREADS = 20
#: Seconds for JVMs to start, and to be done after the last sample.
PATIENCE_S = 120
PLAN = """<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="samples"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="group">
<intProp name="ThreadGroup.num_threads">{threads}</intProp>
<boolProp name="ThreadGroup.scheduler">true</boolProp>
<stringProp name="ThreadGroup.duration">{seconds}</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"
 guiclass="LoopControlPanel" testclass="LoopController">
<intProp name="LoopController.loops">-1</intProp></elementProp></ThreadGroup><hashTree>
<PreciseThroughputTimer guiclass="TestBeanGUI" testclass="PreciseThroughputTimer" testname="timer">
<intProp name="exactLimit">10000000</intProp><stringProp name="throughput">{rate}</stringProp>
<intProp name="throughputPeriod">1</intProp><stringProp name="duration">{seconds}</stringProp>
<intProp name="batchSize">1</intProp><intProp name="batchThreadDelay">0</intProp>
<stringProp name="randomSeed">7</stringProp></PreciseThroughputTimer><hashTree/>
<JavaSampler guiclass="JavaTestSamplerGui" testclass="JavaSampler" testname="nothing">
<stringProp name="classname">org.apache.jmeter.protocol.java.test.JavaTest</stringProp>
<elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="Sleep_Time" elementType="Argument">
<stringProp name="Argument.name">Sleep_Time</stringProp>
<stringProp name="Argument.value">0</stringProp></elementProp>
<elementProp name="Sleep_Mask" elementType="Argument">
<stringProp name="Argument.name">Sleep_Mask</stringProp>
<stringProp name="Argument.value">0x0</stringProp></elementProp>
</collectionProp></elementProp></JavaSampler><hashTree/></hashTree></hashTree></hashTree>
</jmeterTestPlan>
"""


@dataclass(frozen=True)
class Kept:
    """samples: that came. late_ms: the worst engine's median lateness in its last quarter."""

    samples: int
    late_ms: float


@contextmanager
def ended(processes: Sequence[subprocess.Popen]) -> Iterator[None]:
    """What still runs afterwards is killed."""
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def jmeter(folder: Path, name: str, *words: str) -> subprocess.Popen:
    """A JMeter whose log and output are named."""
    with (folder / f"{name}.out").open("w") as out:
        return subprocess.Popen(
            [str(jmeter_home() / "bin" / "jmeter"), "-j", str(folder / f"{name}.log"), *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )


@contextmanager
def started(folder: Path, number: int) -> Iterator[tuple[list[str], Path]]:
    """The hosts of so many engines, and their key."""
    key = folder / "engines.keystore"
    engines.make_keystore(key)
    ports = [free_port() for _ in range(2 * number)]
    processes, hosts = [], []
    for first, second in zip(ports[::2], ports[1::2], strict=True):
        at = (f"-Jserver_port={first}", f"-Jserver.rmi.localport={second}")
        words = ("-s", *engines.tls(ADDRESS, key), *at)
        processes.append(jmeter(folder, f"engine-{first}", *words))
        hosts.append(f"{ADDRESS}:{first}")
    with ended(processes):
        deadline = time.monotonic() + PATIENCE_S
        while not all(listens(it) for it in ports):
            if time.monotonic() > deadline:
                raise BenchError(f"the engines did not start: see {folder}")
            time.sleep(0.1)
        yield hosts, key


def free_port() -> int:
    with socket.socket() as found:
        found.bind((ADDRESS, 0))
        return found.getsockname()[1]


def listens(port: int) -> bool:
    with socket.socket() as candidate:
        return candidate.connect_ex((ADDRESS, port)) == 0


def sent(folder: Path, rate: int, seconds: int, hosts: Sequence[str], key: Path | None) -> Kept:
    """What came of a rate, by remote engines; by as many JMeters of their own without a key."""
    plan = folder / "plan.jmx"
    share = rate / len(hosts)
    plan.write_text(PLAN.format(threads=THREADS, seconds=seconds, rate=share))
    options = ("-n", "-t", str(plan), "-Jsample_variables=TESTSTART.MS", "-Jsummariser.name=")
    names = ["all"] if key else [f"shard-{k}" for k in range(len(hosts))]
    remote = (*engines.tls(ADDRESS, key), *engines.BATCHES, "-R", ",".join(hosts)) if key else ()
    for name in names:
        (folder / f"{name}.jtl").unlink(missing_ok=True)
    processes = [
        jmeter(folder, name, *options, "-l", str(folder / f"{name}.jtl"), *remote) for name in names
    ]
    with ended(processes):
        for process in processes:
            process.wait(seconds + PATIENCE_S)
    return kept([folder / f"{name}.jtl" for name in names], share, seconds)


def kept(paths: Sequence[Path], rate: float, seconds: int) -> Kept:
    """rate: of one engine."""
    starts: dict[tuple[Path, str], list[int]] = defaultdict(list)
    for path in paths:
        with path.open(newline="") as rows:
            for row in csv.DictReader(rows):
                since_ms = int(row["timeStamp"]) - int(row["TESTSTART.MS"])
                if since_ms < 1000 * seconds:  # the timer begins anew where threads live on
                    host, is_remote, _ = row["threadName"].partition("-group ")
                    starts[path, host if is_remote else ""].append(since_ms)
    late = [math.inf]
    if starts:
        late = [
            statistics.median(
                since_ms - 1000 * k / rate
                for k, since_ms in enumerate(sorted(each))
                if 4 * k >= 3 * len(each)
            )
            for each in starts.values()
        ]
    return Kept(sum(map(len, starts.values())), max(late))


def table(arguments: argparse.Namespace) -> Iterator[str]:
    """Lines of Markdown."""
    number, seconds = arguments.engines, arguments.seconds
    yield from ("| samples a second | remote engines | shards |", "|---|---|---|")
    with TemporaryDirectory(prefix="tollgate-bench-") as name:
        folder = Path(name)
        with started(folder, number) as (hosts, key):
            sent(folder, FIRST_RATE, seconds, hosts, key)  # compiles what the others need
            keep, rate = {"remote": True, "shards": True}, FIRST_RATE
            while any(keep.values()) and rate <= arguments.most:
                cells = []
                for way, its_key in (("remote", key), ("shards", None)):
                    if not keep[way]:
                        cells.append("")
                        continue
                    found = sent(folder, rate, seconds, hosts, its_key)
                    keep[way] = found.late_ms <= LATE_MS
                    cells.append(f"{found.late_ms:.0f} ms late, {found.samples} sent")
                    print(f"{rate}/s, {way}: {cells[-1]}", file=sys.stderr)
                yield f"| {rate} | {' | '.join(cells)} |"
                rate *= 2
    yield from ("", machine(), f"{number} engines, {seconds} s a rate; JMeter {jmeter_version()}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--engines", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=20, help="of each rate")
    parser.add_argument("--most", type=int, default=64_000, help="samples a second in all")
    try:
        print("\n".join(table(parser.parse_args())))
    except (BenchError, engines.EngineError) as problem:
        raise SystemExit(f"bench: {problem}") from None


if __name__ == "__main__":
    main()
