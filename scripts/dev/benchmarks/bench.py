"""Times readers of a JTL against each other; see scripts/dev/bench.

Every reading is a process of its own, and wait4 tells its peak memory: of the largest process in
it, which for JMeter is the JVM. This process imports nothing large, because a child's peak memory
begins with that of the process which started it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from tollgate.base.paths import jmeter_home
from tollgate.run.environment import cpu_model, jmeter_version

HERE = Path(__file__).parent
MIB = 1 << 20
#: ru_maxrss counts KiB on Linux, bytes on macOS.
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


class BenchError(Exception):
    """One line: what did not work, and what to do."""


@dataclass
class Reader:
    """One row of the table: wall times in seconds and peak memory in bytes, one a round."""

    name: str
    command: list[str]
    rows: int
    seconds: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)

    def read(self, folder: Path) -> None:
        """One round."""
        command = [each.replace("{fresh}", tempfile.mkdtemp(dir=folder)) for each in self.command]
        seconds, memory, said = measured(command, folder)
        if said.isdecimal() and int(said) != self.rows:
            raise BenchError(f"{self.name} read {said} of {self.rows} samples")
        self.seconds.append(seconds)
        self.memory.append(memory)

    def row(self) -> str:
        """`| name | rows | time | memory |`."""
        low, middle, high = min(self.seconds), statistics.median(self.seconds), max(self.seconds)
        return (
            f"| {self.name} | {self.rows:,} | {middle:.1f} s ({low:.1f} to {high:.1f}) "
            f"| {max(self.memory) / MIB:.0f} MiB |"
        )


def measured(command: list[str], folder: Path) -> tuple[float, int, str]:
    """(wall seconds, peak memory in bytes, what it printed) of a command."""
    log = folder / "output"
    with log.open("w") as out:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    said = log.read_text(errors="replace").strip()
    if process.returncode:
        last = said.splitlines()[-1] if said else "nothing was printed"
        raise BenchError(f"{' '.join(command[:3])} exited with {process.returncode}: {last}")
    return seconds, usage.ru_maxrss * MAXRSS_UNIT, said


def make(rows: int, folder: Path) -> Path:
    """A JTL of so many rows, read once so that every reader finds it in the page cache."""
    path = folder / f"rows-{rows}.jtl"
    if not path.exists():
        measured([sys.executable, str(HERE / "readers.py"), "make", str(path), str(rows)], folder)
        measured(["cksum", str(path)], folder)
    return path


def readers(arguments: argparse.Namespace, folder: Path) -> list[Reader]:
    """Those to measure: Tollgate with all rows, and all of them with as many as others take."""

    def python(name: str, path: Path) -> list[str]:
        return [sys.executable, str(HERE / "readers.py"), name, str(path)]

    few, large = arguments.rows_others, make(arguments.rows, folder)
    found = [Reader("Tollgate", python("tollgate", large), arguments.rows)]
    if not few:
        return found
    path = make(few, folder)
    jmeter = [str(jmeter_home() / "bin" / "jmeter"), "-g", str(path), "-o", "{fresh}"]
    if few != arguments.rows:
        found.append(Reader("Tollgate", python("tollgate", path), few))
    found.append(Reader("bzt's JTL reader", python("bzt", path), few))
    found.append(Reader("JMeter's dashboard", [*jmeter, "-j", "{fresh}.log"], few))
    return found


def report(found: list[Reader], rounds: int, sizes: dict[int, int]) -> str:
    """The table, the machine and the method, as Markdown."""
    lines = ["| reader | rows | wall time | peak memory |", "|---|---|---|---|"]
    lines += [each.row() for each in found]
    files = ", ".join(f"{rows:,} rows are {size / MIB:.0f} MiB" for rows, size in sizes.items())
    packages = ("tollgate", "bzt", "duckdb", "numpy")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    lines += [
        "",
        machine(),
        f"Versions: JMeter {jmeter_version()}, {versions}.",
        f"Method: median (least to most) of {rounds} rounds by turns. Each reading is a process of "
        "its own, its start included; memory is the most of all rounds, by getrusage. The file is "
        f"in the page cache; {files}. Tollgate counts exactly, bzt keeps histograms, JMeter draws "
        "its dashboard with default settings: they do not do the same work.",
    ]
    return "\n".join(lines)


def machine() -> str:
    """What the figures were taken on."""
    return f"Machine: {cpu_model()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}."


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="for Tollgate")
    parser.add_argument("--rows-others", type=int, default=1_000_000, help="for all; 0: not at all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="for temporary files, some 150 bytes a row")
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    with tempfile.TemporaryDirectory(prefix="tollgate-bench-", dir=arguments.folder) as name:
        folder = Path(name)
        try:
            found = readers(arguments, folder)
            for number in range(arguments.rounds):
                for each in found:
                    print(f"round {number + 1}: {each.name}, {each.rows:,} rows", file=sys.stderr)
                    each.read(folder)
        except BenchError as problem:
            sys.exit(f"bench: {problem}")
        sizes = {each.rows: make(each.rows, folder).stat().st_size for each in found}
        print(report(found, arguments.rounds, sizes))


if __name__ == "__main__":
    main()
