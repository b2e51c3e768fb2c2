"""The header of a JTL: its columns and its dialect; and the refusal that names a place."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tollgate.base.text import UserError, shown

REQUIRED = ("timeStamp", "elapsed", "label", "responseCode", "success")
#: Milliseconds of a sample beside `elapsed`.
TIMES = ("Latency", "Connect")
NUMBERS = ("bytes", "allThreads", *TIMES, "TESTSTART.MS")
DELIMITERS = (",", ";", "\t")
# The first line must fit: JMeter's widest header is some 200 bytes, so that a longer "line" is
# not a header, and reading on for a newline could swallow a file of any size.
HEADER_BYTES = 65_536
# DuckDB's max_line_size.
RECORD_BYTES = 2_000_000
# JMeter was born in 1998, and no clock of today says 2100: outside of these the field is not
# epoch milliseconds (seconds and microseconds since 1970 both fall outside).
EARLIEST_MS = 946_684_800_000
LATEST_MS = 4_102_444_800_000

CSV_HELP = "write it as CSV: jmeter.save.saveservice.output_format=csv"
JTL_HELP = "name a kpi.jtl that JMeter wrote as CSV, with print_field_names=true"


class JtlError(UserError, ValueError):
    """A JTL that cannot be read. Its text is one line: file, line, field, value and next step."""

    def __init__(
        self,
        path: str | Path,
        problem: str,
        *,
        line: int | None = None,
        field: str | None = None,
        value: object = None,
        help_: str | None = None,
    ) -> None:
        self.path, self.line, self.field, self.value = str(path), line, field, value
        place = f"{path}:{line}" if line else str(path)
        what = f" {field} = {shown(value)}:" if field else ""
        text = f"{place}:{what} {problem}" + (f"; {help_}" if help_ else "")
        super().__init__(" ".join(text.split()))


@dataclass(frozen=True)
class Layout:
    """How a JTL is written: its columns in order and its delimiter."""

    columns: tuple[str, ...]
    delimiter: str
    header_bytes: int

    def __contains__(self, column: str) -> bool:
        return column in self.columns

    def index(self, column: str) -> int:
        return self.columns.index(column)


def read_layout(path: str | Path) -> Layout:
    """The layout of the JTL at path, from its first line. Raises JtlError if it is not a JTL."""
    try:
        with Path(path).open("rb") as file:
            first = file.readline(HEADER_BYTES)
    except OSError as error:
        raise JtlError(path, f"cannot be read: {error.strerror}") from error
    if not first:
        raise JtlError(path, "the file is empty: JMeter wrote no samples; see jmeter.log")
    line = first.decode("utf-8-sig", "replace")
    if line.lstrip().startswith("<"):
        raise JtlError(path, "this JTL is XML, and only CSV is read", line=1, help_=CSV_HELP)
    delimiter = _delimiter(path, line)
    columns = tuple(_cells(path, line, delimiter))
    _check_columns(path, columns, line)
    return Layout(columns, delimiter, len(first))


def peek_test_start(path: str | Path, layout: Layout | None = None) -> int | None:
    """TESTSTART.MS of the first sample, in epoch ms; None where the JTL does not tell."""
    layout = layout or read_layout(path)
    if "TESTSTART.MS" not in layout:
        return None
    with Path(path).open(encoding="utf-8", errors="replace", newline="") as lines:
        rows = rows_of(path, lines, layout)
        next(rows)
        try:
            row = next(rows, [])
        except JtlError:
            return None
    value = row[layout.index("TESTSTART.MS")] if len(row) == len(layout.columns) else ""
    return int(value) if value.isdecimal() and EARLIEST_MS <= int(value) < LATEST_MS else None


def allow_long_cells() -> None:
    """Python's own limit, 131,072 characters, is less than an assertion that quotes an answer."""
    csv.field_size_limit(max(csv.field_size_limit(), RECORD_BYTES))


def rows_of(path: str | Path, lines: Iterable[str], layout: Layout) -> Iterator[list[str]]:
    """The cells of each row of a JTL. Raises JtlError for a row that is none of CSV, and for one
    with more than RECORD_BYTES in a cell."""
    allow_long_cells()
    try:
        yield from csv.reader(lines, delimiter=layout.delimiter)
    except csv.Error as problem:
        raise JtlError(path, f"a row is none of CSV: {problem}", help_=JTL_HELP) from None


def _delimiter(path: str | Path, line: str) -> str:
    """The one delimiter that makes required columns of the header line."""
    found = {it: len({*REQUIRED} & {*_cells(path, line, it)}) for it in DELIMITERS}
    best = max(DELIMITERS, key=found.__getitem__)
    if found[best]:
        return best
    problem = f"not a JTL: the first line {shown(line.strip())} names none of JMeter's columns"
    raise JtlError(path, problem, line=1, help_=JTL_HELP)


def _cells(path: str | Path, line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])
    except csv.Error:
        problem = f"not a JTL: the first line {shown(line.strip())} is none of CSV"
        raise JtlError(path, problem, line=1, help_=JTL_HELP) from None


def _check_columns(path: str | Path, columns: tuple[str, ...], line: str) -> None:
    missing = [column for column in REQUIRED if column not in columns]
    if missing:
        flags = {"label": "label", "responseCode": "response_code", "success": "successful"}
        names = [f"jmeter.save.saveservice.{flags.get(c, 'time')}=true" for c in missing]
        problem = f"the header has no column {', '.join(missing)}"
        raise JtlError(path, problem, line=1, help_=f"set {' and '.join(dict.fromkeys(names))}")
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if twice:
        raise JtlError(path, f"the header names {', '.join(twice)} twice", line=1)
    if not line.endswith("\n"):
        raise JtlError(path, "holds a header line that was cut off, and no samples", line=1)
