"""Time and peak memory of judging a soak of 48 hours, by its number of samples: judging.py ROWS...

Each judging is a process of its own, from the run's folder to the verdict. The more samples, the
higher the rate of the run; its length and so the number of its bins stay the same.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from bench import HERE, MIB, BenchError, measured

from tollgate.run import cpu_model


def row(rows: int, folder: Path) -> str:
    """`| samples | JTL | time | memory |`; the run's folder is gone afterwards."""
    run = folder / f"soak-{rows}"
    child = [sys.executable, str(HERE / "soak_run.py")]
    measured([*child, "make", str(rows), str(run)], folder)
    size = (run / "kpi.jtl").stat().st_size
    seconds, memory, said = measured([*child, "judge", str(run)], folder)
    shutil.rmtree(run)
    return f"| {int(said):,} | {size / MIB:.0f} MiB | {seconds:.1f} s | {memory / MIB:.0f} MiB |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", type=int, nargs="*", default=[1_000_000, 5_000_000, 20_000_000])
    parser.add_argument("--folder", help="for temporary files, some 200 bytes a row")
    arguments = parser.parse_args()
    print("| samples | JTL | wall time | peak memory |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tollgate-bench-", dir=arguments.folder) as name:
        for rows in arguments.rows:
            try:
                print(row(rows, Path(name)), flush=True)
            except BenchError as problem:
                sys.exit(f"judging: {problem}")
    print(f"\nMachine: {cpu_model()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
