"""JTLs that are compacted in tests, and ways to see that nothing of them was lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from jtl_rows import HEADER, START_MS
from tollgate import compact
from tollgate.jtl import read_jtl
from tollgate.jtl_layout import read_layout
from tollgate.jtl_restore import restored
from tollgate.jtl_samples import read_samples
from tollgate.jtl_scan import column, database, read_into, text


def quoted(field: str, delimiter: str = ",") -> str:
    """A field as JMeter 5.6.3 writes it, see CSVSaveService.quoteDelimiters."""
    if any(special in field for special in (delimiter, '"', "\r", "\n")):
        return '"' + field.replace('"', '""') + '"'
    return field


def lines(rows: Iterable[Iterable[object]], delimiter: str = ",", header: str = HEADER) -> bytes:
    """The bytes of a JTL with these fields; lone surrogates stand for bytes that are not UTF-8."""
    head = header.replace(",", delimiter)
    text = "".join(
        delimiter.join(quoted(str(field), delimiter) for field in row) + "\n" for row in rows
    )
    return f"{head}\n{text}".encode("utf-8", "surrogateescape")


def fields(number: int, message="OK", label="search", thread=None, code="200", elapsed=7) -> tuple:
    """One sample of an open model under the columns of jtl_rows: a thread name each."""
    thread = f"{label} 1-{number + 1}" if thread is None else thread
    start, ok = START_MS + 10 * number, "true" if code == "200" else "false"
    return (start, elapsed, label, code, message, thread, ok, 120, 2, 3, elapsed, "h", 1)


def usual(count: int, message: str = 'said "no",\nand went') -> bytes:
    """A JTL of so many samples, one in ten of them failed with this message."""
    return lines(
        fields(number, message, code="500", elapsed=number % 37)
        if number % 10 == 3
        else fields(number, label=("search", "sum")[number % 2], elapsed=number % 41)
        for number in range(count)
    )


def all_samples(path: Path) -> list[tuple]:
    """Every column of every sample, in no order."""
    layout = read_layout(path)
    columns = [column(layout, name) for name in layout.columns]
    query = f"SELECT {', '.join(columns)}, 1 AS n, false AS wrong FROM {{jtl}}"
    with database(path) as con:
        read_into(con, "everything", query, path, layout)
        found = zip(*con.execute("SELECT * FROM everything").fetchall(), strict=True)
        meant = [text(con, it) if isinstance(it[0], str) else it for it in found]
        return sorted(zip(*meant, strict=True), key=repr)


def readings(path: Path) -> dict[str, object]:
    """What every reader makes of a JTL, in a form that can be compared."""
    jtl = read_jtl(path)
    found = {
        kind: {
            name: [
                np.asarray(getattr(part, field)).tolist()
                for part in (label.counts, label.totals)
                for field in part.__dataclass_fields__
                if field != "codes"
            ]
            + [label.counts.codes]
            for name, label in getattr(jtl, kind).items()
        }
        for kind in ("samplers", "transactions")
    }
    for name in ("origin_ms", "rows", "first_start_ms", "last_end_ms", "threads_max", "cut_line"):
        found[name] = getattr(jtl, name)
    samples = read_samples(path, jtl.samplers)
    found["samples"] = {
        label: [getattr(it, field).tolist() for field in ("start_ms", "elapsed_ms", "ok", "number")]
        + [[it.groups[group] for group in it.group]]
        for label, it in samples.items()
    }
    found["columns"] = all_samples(path)
    return found


def text_of(path: Path) -> bytes:
    """What `tollgate samples` writes."""
    return b"".join(restored(path))


def in_pieces(path: Path, size: int, finished: bool = True) -> Path:
    """The JTL, compacted in this process in pieces of so many bytes."""
    compact.compact(path, path.stat().st_size, size, punching=not finished)
    if finished:
        compact.finish(path)
    return path


def compacting(path: Path, *words: object, code: str = "") -> subprocess.CompletedProcess:
    """The command as the service starts it; code runs before, in the same process."""
    program = f"import sys; from tollgate import compact\n{code}\ncompact.main()"
    arguments = [sys.executable, "-c", program, str(path), *map(str, words)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=240)
