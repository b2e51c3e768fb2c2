"""Time and peak memory of judging a soak of 48 hours beside a bare scan of its JTL, and its page.

    scripts/dev/bench judge [ROWS ...] [--rounds N]

In each round DuckDB counts the rows of the CSV and reads each of its fields; Tollgate reads it into
its store, and judges the run, seal and store included, once without and once with its page: each
in a process of its own, whose start is not counted. Ratios are of one round, so that whatever else
the machine does falls out of them. The more samples, the higher the rate of the run; the number of
its bins stays the same.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench import HERE, MIB, BenchError, machine, measured

from tollgate.base.paths import ROOT

OPEN = ROOT / "tests" / "support" / "browser" / "open-page.js"

#: What soak_run.py measures, in the order of a round.
PARTS = {
    "count": "bare scan, rows counted",
    "scan": "bare scan, each field read",
    "store": "into the store",
    "judge": "sealed, read, joined and judged",
    "page": "judged, and its page written",
}


def table(rows: int, rounds: int, folder: Path) -> list[str]:
    """Lines of Markdown; the run's folder is gone afterwards."""
    run = folder / f"soak-{rows}"
    child = [sys.executable, str(HERE / "soak_run.py")]
    measured([*child, "make", str(rows), str(run)], folder)
    size = (run / "kpi.jtl").stat().st_size
    seconds: dict[str, list[float]] = {part: [] for part in PARTS}
    memory: dict[str, list[int]] = {part: [] for part in PARTS}
    samples = 0
    for _ in range(rounds):
        for part in PARTS:
            _, peak, said = measured([*child, part, str(run)], folder)
            samples, took = int(said.split()[0]), float(said.split()[1])
            seconds[part].append(took)
            memory[part].append(peak)
    page = f"index.html: {(run / 'index.html').stat().st_size / 1e6:.2f} MB, {drawn(run, folder)}"
    shutil.rmtree(run)
    told = f"{samples:,} samples, {size / MIB:.0f} MiB, {rounds} rounds"
    return [told, "", *parts_table(PARTS, seconds, memory), "", page]


def parts_table(
    parts: Mapping[str, str],
    seconds: Mapping[str, list[float]],
    memory: Mapping[str, list[int]],
) -> list[str]:
    """Lines of Markdown: each part's time, also as multiples of DuckDB's two scans, and its memory.
    parts: what they are called in it, by name. seconds, memory: a number a round, of bytes."""
    lines = [
        "| | wall time | of counting rows | of reading fields | peak memory |",
        "|---|---|---|---|---|",
    ]
    for part, name in parts.items():
        ratios = [
            spread([one / other for one, other in zip(seconds[part], seconds[base], strict=True)])
            for base in ("count", "scan")
        ]
        peak = f"{max(memory[part]) / MIB:.0f} MiB"
        lines.append(f"| {name} | {spread(seconds[part])} s | {' | '.join(ratios)} | {peak} |")
    return lines


def drawn(run: Path, folder: Path) -> str:
    """When headless Chromium had drawn all charts of the page."""
    try:
        _, _, said = measured(["node", str(OPEN), str(run / "index.html"), "--offline"], folder)
    except BenchError as problem:
        return f"which was not opened: {problem}"
    seen = json.loads(said)
    problems = [*seen["consoleErrors"], *seen["pageErrors"], *seen["failedRequests"]]
    if problems or seen.get("drawnAfter") is None:
        raise BenchError(f"the page does not work: {problems or 'it drew no chart'}")
    return f"all charts drawn in Chromium after {seen['drawnAfter'] / 1000:.2f} s"


def spread(values: list[float]) -> str:
    """The median, least and most."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", type=int, nargs="*", default=[10_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="for temporary files, some 200 bytes a row")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tollgate-bench-", dir=arguments.folder) as name:
        for rows in arguments.rows:
            try:
                print("\n".join(table(rows, arguments.rounds, Path(name))), flush=True)
            except BenchError as problem:
                sys.exit(f"judging: {problem}")
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
