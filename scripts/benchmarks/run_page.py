"""index.html of a soak of two days: how large it is, how long it takes to make and to open.

Every step is a process of its own, and wait4 tells its peak memory; see scripts/bench.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench import HERE, MIB, BenchError, machine, measured

from tollgate.base import ROOT

OPEN = ROOT / "tests" / "browser" / "open-page.js"
#: Openings of which the slowest is told.
ROUNDS = 3


def drawn_after(page: Path, folder: Path) -> float:
    """Seconds until headless Chromium had drawn all charts of the page, at worst."""
    seconds = []
    for _ in range(ROUNDS):
        _, _, said = measured(["node", str(OPEN), str(page), "--offline"], folder)
        seen = json.loads(said)
        problems = [*seen["consoleErrors"], *seen["pageErrors"], *seen["failedRequests"]]
        if problems or seen.get("drawnAfter") is None:
            raise BenchError(f"the page does not work: {problems or 'it drew no chart'}")
        seconds.append(seen["drawnAfter"] / 1000)
    return max(seconds)


def row(rows: int, folder: Path) -> str:
    """`| samples | JTL | judging | judging and page | page | charts drawn after |`."""
    run = folder / f"soak-{rows}"
    child = [sys.executable, str(HERE / "soak_run.py")]
    measured([*child, "make", str(rows), str(run)], folder)
    size = (run / "kpi.jtl").stat().st_size
    judging, least, said = measured([*child, "judge", str(run)], folder)
    making, memory, _ = measured([*child, "page", str(run)], folder)
    samples = int(said.split()[0])
    page = run / "index.html"
    return (
        f"| {samples:,} | {size / MIB:.0f} MiB | {judging:.1f} s, {least / MIB:.0f} MiB "
        f"| {making:.1f} s, {memory / MIB:.0f} MiB | {page.stat().st_size / 1e6:.2f} MB "
        f"| {drawn_after(page, folder):.2f} s |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", help="for temporary files, some 200 bytes a row")
    arguments = parser.parse_args()
    print("| samples | JTL | judging | judging and page | page | charts drawn after |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tollgate-bench-", dir=arguments.folder) as name:
        try:
            print(row(arguments.rows, Path(name)))
        except BenchError as problem:
            sys.exit(f"bench: {problem}")
    print(f"\n{machine()}")
    print(
        f"Method: a soak of 48 h by an open model; drawn: until all charts were, the slowest of "
        f"{ROUNDS} openings in headless Chromium."
    )


if __name__ == "__main__":
    main()
