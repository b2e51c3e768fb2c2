"""Time and peak memory of `tollgate merge` beside a bare scan of the shares' JTLs.

    scripts/dev/bench merge [--shares N] [--rate R] [--seconds S] [--rounds N]

In each round DuckDB counts the rows of all JTLs and reads each of their fields, and Tollgate merges
and judges the shares: each in a process of its own, whose start is not counted. Ratios are of one
round, so that whatever else the machine does falls out of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench import HERE, MIB, BenchError, machine, measured
from judging import parts_table

#: What merge_run.py measures, in the order of a round.
PARTS = {
    "count": "bare scan, rows counted",
    "scan": "bare scan, each field read",
    "merge": "merged, judged, and its page written",
}


def table(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """Lines of Markdown."""
    child = [sys.executable, str(HERE / "merge_run.py")]
    size = [str(it) for it in (arguments.shares, arguments.rate, arguments.seconds)]
    measured([*child, "make", *size, str(folder)], folder)
    total = sum(path.stat().st_size for path in folder.glob("share-*/kpi.jtl"))
    seconds: dict[str, list[float]] = {part: [] for part in PARTS}
    memory: dict[str, list[int]] = {part: [] for part in PARTS}
    rows = 0
    for _ in range(arguments.rounds):
        for part in PARTS:
            _, peak, said = measured([*child, part, str(folder)], folder)
            counted, took = said.splitlines()[-1].split()
            rows = max(rows, int(counted))
            seconds[part].append(float(took))
            memory[part].append(peak)
    told = (
        f"{arguments.shares} shares, {rows:,} samples, {total / MIB:.0f} MiB, "
        f"{arguments.rounds} rounds"
    )
    return [told, "", *parts_table(PARTS, seconds, memory)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shares", type=int, default=100)
    parser.add_argument("--rate", type=float, default=1000, help="requests a second of each share")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="for temporary files, some 150 bytes a row")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tollgate-bench-", dir=arguments.folder) as name:
        try:
            print("\n".join(table(arguments, Path(name))), flush=True)
        except BenchError as problem:
            sys.exit(f"merging: {problem}")
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
