"""Memory of every process, and disk, over one long real run; see scripts/dev/bench.

bzt drives a light target with as many requests as asked for. Memory is PSS (shared pages shared
out; RSS where the system doesn't tell), read every few seconds; disk is the size of
kpi.jtl.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import psutil
from bench import HERE, MIB, machine

from tollgate.base.paths import ROOT
from tollgate.targets import pm2

THREADS = 8
PERIOD_S = 5
BZT = Path(sys.executable).with_name("bzt")
#: What a process is, by a piece of its command line; the first that fits.
KINDS = (
    ("watch-workers", "watcher"),
    ("ApacheJMeter", "JMeter"),
    ("PM2", "PM2's daemon"),
    ("server.js", "a worker"),
    ("bzt", "bzt with Tollgate"),
)


def config(rows: int, run: Path) -> dict:
    """What is laid over taurus.yml."""
    properties = {"threads": THREADS, "loops": rows // THREADS, "warmup": 0, "measured": 0}
    return {
        "settings": {"artifacts-dir": str(run)},
        "~execution": [{"scenario": "cluster"}],
        "scenarios": {"cluster": {"script": str(HERE / "long_run.jmx"), "properties": properties}},
        "~reporting": [
            {"module": "verdict"},
            {"module": "passfail", "criteria": ["avg-rt of light>1000ms", "fail of light>0%"]},
        ],
        "modules": {"jmeter": {"properties": {"warmup": 0, "measured": 0}}},
    }


def memory(process: psutil.Process) -> int:
    """Bytes that are this process's own."""
    try:
        return process.memory_full_info().pss
    except (AttributeError, psutil.AccessDenied):
        return process.memory_info().rss


def look(bzt: psutil.Process) -> dict[str, int]:
    """Bytes by kind of process; of several of a kind the largest."""
    found: dict[str, int] = defaultdict(int)
    daemon = pm2.daemon_pid()
    roots = [bzt, *([psutil.Process(daemon)] if daemon else [])]
    for process in [*roots, *(child for root in roots for child in root.children(recursive=True))]:
        try:
            command = " ".join(process.cmdline())
            kind = next((name for text, name in KINDS if text in command), "")
            if kind:
                found[kind] = max(found[kind], memory(process))
        except psutil.NoSuchProcess:
            continue
    return dict(found)


def disk(run: Path) -> int:
    """Bytes on disk that hold samples."""
    return sum(file.stat().st_size for file in run.glob("kpi*.jtl"))


def follow(process: subprocess.Popen, run: Path) -> list[tuple[float, dict[str, int], int]]:
    """(seconds, memory by kind, disk) every PERIOD_S, until the run has ended."""
    began, looks = time.monotonic(), []
    while process.poll() is None:
        try:
            seen = look(psutil.Process(process.pid))
        except psutil.NoSuchProcess:
            break
        looks.append((time.monotonic() - began, seen, disk(run)))
        time.sleep(PERIOD_S)
    return looks


def table(looks: list[tuple[float, dict[str, int], int]]) -> str:
    """Markdown: memory of each kind in the four quarters of the run, and the most."""
    kinds = sorted({kind for _, seen, _ in looks for kind in seen})
    size = max(1, -(-len(looks) // 4))
    quarters = [looks[start : start + size] for start in range(0, len(looks), size)]
    lines = ["| most memory, MiB | " + " | ".join(f"quarter {n + 1}" for n in range(len(quarters)))]
    lines[0] += " |"
    lines.append("|---" * (len(quarters) + 1) + "|")
    for kind in kinds:
        cells = [max(seen.get(kind, 0) for _, seen, _ in part) / MIB for part in quarters]
        shown = " | ".join(f"{cell:.0f}" if cell else "-" for cell in cells)
        lines.append(f"| {kind} | {shown} |")
    sizes = " | ".join(f"{max(held for *_, held in part) / MIB:.0f}" for part in quarters)
    lines.append(f"| samples on disk | {sizes} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory(prefix="tollgate-bench-") as folder:
        run = Path(folder) / "run"
        over = Path(folder) / "over.json"
        over.write_text(json.dumps(config(rows, run)))
        with (Path(folder) / "bzt.out").open("w") as out:
            began = time.monotonic()
            process = subprocess.Popen(
                [str(BZT), "taurus.yml", str(over)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
            looks = follow(process, run)
            seconds = time.monotonic() - began
        if process.wait() not in (0, 3):
            said = (Path(folder) / "bzt.out").read_text()
            sys.exit(f"the run ended with {process.returncode}:\n{said}")
        samples = rows // THREADS * THREADS
        print(table(looks))
        print(
            f"\n{samples:,} samples in {seconds:.0f} s, judging included; "
            f"{disk(run) / samples:.1f} bytes a sample."
        )
        print(machine())


if __name__ == "__main__":
    main()
