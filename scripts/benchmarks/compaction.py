"""What compaction of a JTL saves and costs; see scripts/bench.

Every step is a process of its own, and wait4 tells its peak memory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from bench import HERE, MIB, BenchError, machine, make, measured

from tollgate.jtl_pieces import digest, folder_of, read_index


def held(*files: Path) -> int:
    """Bytes that files take up on disk."""
    return sum(file.stat().st_blocks * 512 for file in files)


def pieces(jtl: Path) -> list[Path]:
    """The files that hold the compacted part of a JTL."""
    return list(folder_of(jtl).glob("*"))


def steps(jtl: Path, piece_mib: float, folder: Path) -> list[tuple[str, float, int, str]]:
    """(step, seconds, peak memory in bytes, what it printed), in their order."""
    compact = [sys.executable, "-m", "tollgate.compact", str(jtl)]
    size = ["--piece-bytes", str(int(piece_mib * MIB))]

    def reader(name: str) -> list[str]:
        return [sys.executable, str(HERE / "readers.py"), name, str(jtl)]

    commands = {
        "read the raw file": reader("tollgate"),
        "compact it while JMeter writes": [*compact, *size, "--until", str(jtl.stat().st_size)],
        "shorten it at the end": [*compact, *size, "--final"],
        "read the pieces": reader("tollgate"),
        "restore the text": reader("text"),
    }
    found = []
    for name, command in commands.items():
        print(name, file=sys.stderr)
        found.append((name, *measured(command, folder)))
    return found


def checked(done: list[tuple[str, float, int, str]], rows: int, digest: str) -> None:
    """Nobody is small or fast by losing something. Raises BenchError."""
    said = {name: printed for name, _, _, printed in done}
    if not said["read the raw file"] == said["read the pieces"] == str(rows):
        raise BenchError(f"{said['read the pieces']} of {rows} samples were read from the pieces")
    if said["restore the text"] != digest:
        raise BenchError("the restored text is not the one that was compacted")


def report(done, size: int, sizes: dict[str, tuple[int, int]]) -> str:
    """Two tables, the machine and the method, as Markdown. sizes: (bytes on disk, samples)."""
    lines = ["| file | samples | on disk | a sample |", "|---|---|---|---|"]
    for name, (taken, rows) in sizes.items():
        mib = f"{taken / MIB:.1f} MiB"
        lines.append(f"| {name} | {rows:,} | {mib} | {taken / rows:.1f} bytes |")
    lines += ["", "| step | wall time | text | peak memory |", "|---|---|---|---|"]
    for name, seconds, memory, _ in done:
        speed = f"{size / seconds / 1e6:.0f} MB/s"
        lines.append(f"| {name} | {seconds:.1f} s | {speed} | {memory / MIB:.0f} MiB |")
    versions = ", ".join(f"{it} {metadata.version(it)}" for it in ("tollgate", "duckdb", "numpy"))
    lines += [
        "",
        machine(),
        f"Versions: {versions}.",
        f"Method: samples of an open model, {size / MIB:.0f} MiB of text, once. Each step is a "
        "process of its own, its start included; memory by getrusage. Compacted includes the end "
        "of the file, less than one piece, which stays text. Every piece was compared with it.",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--piece-mib", type=float, default=32)
    parser.add_argument("--folder", help="for temporary files, some 200 bytes a row")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tollgate-bench-", dir=arguments.folder) as name:
        folder = Path(name)
        try:
            jtl = make(arguments.rows, folder, "arrivals")
            text, size, before = digest(jtl), jtl.stat().st_size, held(jtl)
            done = steps(jtl, arguments.piece_mib, folder)
            checked(done, arguments.rows, text)
            sizes = {
                "raw": (before, arguments.rows),
                "compacted": (held(jtl, *pieces(jtl)), arguments.rows),
                "its pieces alone": (held(*pieces(jtl)), read_index(jtl).rows),
            }
        except BenchError as problem:
            sys.exit(f"bench: {problem}")
        print(report(done, size, sizes))


if __name__ == "__main__":
    main()
