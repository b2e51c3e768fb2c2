"""The slow, exact reading of a JTL that DuckDB refused: which physical line is wrong, and why.

DuckDB reads fast but reports errors in its own words and rounds `5.7` to 6 where a whole number
is due. So the fast path only decides *that* something is wrong, and this reader, one record at a
time and in constant memory, finds the first wrong line or the record that a crash cut off.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tollgate.samples.layout import (
    EARLIEST_MS,
    LATEST_MS,
    NUMBERS,
    RECORD_BYTES,
    TIMES,
    JtlError,
    Layout,
)

# Eleven days: a longer sample is a damaged number.
LONGEST_MS = 999_999_999
# A record of more lines is an opening quote that was never closed, not a long message.
RECORD_LINES = 10_000

MS_HELP = "set jmeter.save.saveservice.timestamp_format=ms, if it was another, and run again"
DAMAGED_HELP = "the file is damaged: restore it from where the run was archived, or run again"
NAME_HELP = (
    "the plan, or data of its, has a name with a line break: take that out, and run again; or "
    + DAMAGED_HELP
)
CLOCK_HELP = "the clock was set back while JMeter ran: set sampleresult.useNanoTime=true"


@dataclass(frozen=True)
class Place:
    """The beginning of a record: its physical line, from 1, and its byte."""

    line: int
    offset: int


@dataclass(frozen=True)
class Reading:
    """What the slow reading found: how many records are whole, and where one that was cut off
    begins, if any."""

    records: int
    cut: Place | None


def first_record(layout: Layout) -> Place:
    """Where the first record begins."""
    return Place(2, layout.header_bytes)


class Records:
    """Records of a JTL from `begin` to byte `end`, with the physical line and byte offset at which
    each begins."""

    def __init__(self, path: str | Path, layout: Layout, begin: Place, end: int):
        self.path, self.layout, self.end = path, layout, end
        self.line, self.offset = begin.line, begin.offset
        self._read_line, self._read_offset = begin.line - 1, begin.offset

    def __iter__(self) -> Iterator[list[str]]:
        with Path(self.path).open("rb") as file:
            file.seek(self.offset)
            rows = csv.reader(self._lines(file), delimiter=self.layout.delimiter, strict=True)
            while True:
                self.line, self.offset = self._read_line + 1, self._read_offset
                row = next(rows, None)
                if row is None:
                    return
                yield row

    def _lines(self, file: BinaryIO) -> Iterator[str]:
        while self._read_offset < self.end:
            raw = file.readline(self.end - self._read_offset)
            if not raw:
                return
            self._read_line += 1
            self._read_offset += len(raw)
            if self._read_line - self.line > RECORD_LINES:
                raise csv.Error("a quote was opened and not closed")
            try:
                yield raw.decode("utf-8")
            except UnicodeDecodeError:
                raise csv.Error("it holds bytes that are not UTF-8") from None


def read_slowly(path: str | Path, layout: Layout, begin: Place, end: int) -> Reading:
    """Reads the file from `begin` to byte `end`, record by record, and checks each.

    Raises JtlError at the first record that is wrong and is not just the last one cut off.
    """
    records, count = Records(path, layout, begin, end), 0
    limit = csv.field_size_limit(RECORD_BYTES)
    try:
        for row in records:
            if row:
                _check_record(records, row)
                count += 1
    except csv.Error as error:
        if "unexpected end" in str(error):
            return Reading(count, Place(records.line, records.offset))
        problem = f"not CSV: {str(error).split(' - ')[0]}"
        raise JtlError(path, problem, line=records.line, help_=DAMAGED_HELP) from None
    finally:
        csv.field_size_limit(limit)
    return Reading(count, None)


def _check_record(records: Records, row: list[str]) -> None:
    path, layout, line = records.path, records.layout, records.line
    if len(row) != len(layout.columns):
        problem = f"has {len(row)} fields where the header has {len(layout.columns)}"
        raise JtlError(path, problem, line=line, help_=DAMAGED_HELP)
    values = dict(zip(layout.columns, row, strict=True))
    for field, faults in _FAULTS.items():
        for is_wrong, problem, help_ in faults if field in values else ():
            if is_wrong(values[field]):
                value = values[field]
                raise JtlError(path, problem, line=line, field=field, value=value, help_=help_)


def _unlike(pattern: str) -> Callable[[str], bool]:
    return lambda value: not re.fullmatch(pattern, value)


_NEGATIVE = re.compile(r"-\d+").fullmatch, "negative", CLOCK_HELP
_NO_NUMBER = _unlike(r"-?\d{0,18}"), "not a whole number", DAMAGED_HELP
_BROKEN_NAME = (
    lambda value: "\n" in value,
    "holds a line break, so that it may have swallowed other samples",
    NAME_HELP,
)
#: For each field what may be wrong with a value; the first that applies is reported.
_FAULTS = {
    "timeStamp": (
        (_unlike(r"\d{1,18}"), "not a whole number of milliseconds since 1970", MS_HELP),
        (
            lambda value: not EARLIEST_MS <= int(value) < LATEST_MS,
            "not a time between the years 2000 and 2100 in milliseconds since 1970",
            MS_HELP,
        ),
    ),
    "elapsed": (
        _NEGATIVE,
        (_unlike(r"\d{1,18}"), "not a whole number of milliseconds", DAMAGED_HELP),
        (lambda value: int(value) > LONGEST_MS, f"longer than {LONGEST_MS} ms", DAMAGED_HELP),
    ),
    "success": ((_unlike("true|false"), "neither true nor false", DAMAGED_HELP),),
    "label": (_BROKEN_NAME,),
    "responseCode": (_BROKEN_NAME,),
    **dict.fromkeys(NUMBERS, (_NO_NUMBER,)),
    **dict.fromkeys(TIMES, (_NEGATIVE, _NO_NUMBER)),
}
