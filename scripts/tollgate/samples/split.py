"""Some of a JTL's samples in a file of their own: those of each engine, which one JMeter has
written into one file, or those up to a moment."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from tollgate.samples.layout import read_layout, rows_of

#: What a remote engine's threads are called: its host, this, and the name that they have alone.
_BEHIND = "-"


def split(path: Path, targets: Mapping[str, Path]) -> int:
    """Write each engine's samples to a file of its own, with its threads' names as they are of a
    run by itself. targets: by the host, with its port, that JMeter calls the engine.

    Returns how many samples are of none of them. An incomplete row goes to the first file, whose
    reader reports it. Raises JtlError for what is no JTL, and OSError.
    """
    layout = read_layout(path)
    at = layout.index("threadName") if "threadName" in layout else None
    foreign = 0
    with ExitStack() as opened:
        source = opened.enter_context(path.open(encoding="utf-8", errors="replace", newline=""))
        rows = rows_of(path, source, layout)
        writers = {}
        for host, target in targets.items():
            file = opened.enter_context(target.open("w", encoding="utf-8", newline=""))
            writers[host] = csv.writer(file, delimiter=layout.delimiter, lineterminator="\n")
        header = next(rows)
        for writer in writers.values():
            writer.writerow(header)
        first = next(iter(writers.values()))
        # No host is the beginning of another one with the dash: each ends in its port.
        prefixes = {f"{host}{_BEHIND}": writer for host, writer in writers.items()}
        for row in rows:
            if len(row) != len(header):
                first.writerow(row)
                continue
            name = "" if at is None else row[at]
            # A host may hold dashes itself, and so may a thread group.
            prefix = next((it for it in prefixes if name.startswith(it)), None)
            if at is None or prefix is None:
                foreign += 1
                continue
            row[at] = name[len(prefix) :]
            prefixes[prefix].writerow(row)
    return foreign


def copy_until(path: Path, target: Path, ended_ms: int) -> None:
    """Write the samples that had ended by then (epoch ms), and what is no whole row, as it is.

    Raises JtlError for what is no JTL, and OSError."""
    layout = read_layout(path)
    start, elapsed = layout.index("timeStamp"), layout.index("elapsed")
    with (
        path.open(encoding="utf-8", errors="surrogateescape", newline="") as source,
        target.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file,
    ):
        lines: list[str] = []

        def remembered() -> Iterator[str]:  # csv knows rows, and not what they were read from
            for line in source:
                lines.append(line)
                yield line

        rows = rows_of(path, remembered(), layout)
        # JMeter knows the columns of variables by their quotes.
        file.write(source.readline())
        for row in rows:
            times = [row[it] for it in (start, elapsed)] if len(row) == len(layout.columns) else []
            if not all(it.isdecimal() for it in times) or sum(map(int, times)) <= ended_ms:
                file.writelines(lines)
            lines.clear()
