"""Reads the rows of a CSV file as cells of the study, or says why it can't: for the design and for
the blocks of a run.

The csv module reads them, not DuckDB, for the sake of errors that name row and column.
"""

from __future__ import annotations

import csv
import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from tollgate.base import FileError
from tollgate.samples import shown
from tollgate.study.model import CROSSCHECK, Cell

#: Those that plans/study.jmx has a sampler for.
EXPERIMENTS = ("calculate", "sum", "search", "kittens", "pi", CROSSCHECK)
#: The columns of a cell, by the names that Cell has for them.
COLUMNS = tuple(field.name for field in fields(Cell))


class DesignError(FileError):
    """A design, or its blocks, that can't be used: one line for each thing wrong, in `errors`."""


class _FieldError(ValueError):
    """What is wrong with a value, and what to do."""


@dataclass(frozen=True)
class Row:
    """A line of the file below its header: its number, and its values by column."""

    place: str
    values: Mapping[str, str]


def read_rows(path: str | Path, columns: Sequence[str]) -> list[Row]:
    """The rows of a CSV file that has exactly these columns, in any order.

    Raises DesignError, also for a file that can't be read or has no rows.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            lines = [(reader.line_num, [text.strip() for text in line]) for line in reader]
    except OSError as error:
        text = f"{path}: can't be read: {error.strerror}: name a file that can be"
        raise DesignError(text) from None
    except (UnicodeDecodeError, csv.Error) as error:
        text = f"{path}: is not CSV in UTF-8 ({error}): save it as 'CSV UTF-8'"
        raise DesignError(text) from None
    lines = [(number, line) for number, line in lines if any(line)]
    if len(lines) < 2:
        raise DesignError(f"{path}: has no rows: write a header {','.join(columns)} and rows")
    (number, header), *others = lines
    errors = [*_header_errors(f"{path}:{number}", header, columns)]
    errors = errors or [
        f"{path}:{number}: has {len(line)} fields, the header has {len(header)}: put a value that "
        'holds commas between quotes, and write "" for a quote in it'
        for number, line in others
        if len(line) != len(header)
    ]
    if errors:
        raise DesignError(*errors)
    return [
        Row(f"{path}:{number}", dict(zip(header, line, strict=True))) for number, line in others
    ]


def _header_errors(place: str, header: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    for name in dict.fromkeys(header):
        if name not in columns:
            close = difflib.get_close_matches(name.lower(), columns, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            yield f"{place}: column {shown(name)} is unknown: take it out{meant}"
        elif header.count(name) > 1:
            yield f"{place}: column {name!r} stands there twice: take one of them out"
    for name in columns:
        if name not in header:
            yield f"{place}: has no column {name!r}: add it"


def cell_of(row: Row) -> Cell:
    """The cell that a row describes. Raises DesignError, with a line for each value in it that
    can't be used."""
    values, errors = {}, []
    for column in COLUMNS:
        try:
            values[column] = _READ[column](row.values[column])
        except _FieldError as error:
            errors.append(f"{row.place}: {column} = {shown(row.values[column])} {error}")
    if not errors and values["lead_s"] >= values["seconds"]:
        errors.append(
            f"{row.place}: lead_s = {values['lead_s']:g} leaves nothing of a block of "
            f"{values['seconds']} s to be measured: write less"
        )
    if errors:
        raise DesignError(*errors)
    return Cell(**values)


def whole(least: int, advice: str) -> Callable[[str], int]:
    """A reader of whole numbers from `least` on."""

    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or int(text) < least:
            raise _FieldError(f"is no whole number from {least} on: {advice}")
        return int(text)

    return read


def number_of(row: Row, column: str, read: Callable[[str], int]) -> int:
    """The number that a row has in a column of its own. Raises DesignError."""
    try:
        return read(row.values[column])
    except _FieldError as error:
        text = f"{row.place}: {column} = {shown(row.values[column])} {error}"
        raise DesignError(text) from None


def _seconds(text: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII) or not math.isfinite(float(text)):
        raise _FieldError("is no number from 0 on: write seconds such as 0.25")
    return float(text)


def _experiment(text: str) -> str:
    if text not in EXPERIMENTS:
        raise _FieldError(f"is none that plans/study.jmx has: take one of {', '.join(EXPERIMENTS)}")
    return text


def _name(text: str) -> str:
    if not text or not text.isprintable():
        raise _FieldError("is no name: write one on a single line")
    return text


def _path(text: str) -> str:
    if not re.fullmatch(r"/[!-~]*", text) or text.startswith("//"):
        raise _FieldError("is no path: begin it with a slash, and write a blank in it as %20")
    return text


def _answer(text: str) -> str:
    if not text or not text.isprintable():
        raise _FieldError("is no regular expression: write one on a single line that answers match")
    try:
        re.compile(text)
    except re.error as error:
        raise _FieldError(f"is no regular expression ({error}): correct it") from None
    return text


_READ: dict[str, Callable[[str], object]] = {
    "experiment": _experiment,
    "arm": _name,
    "app": _name,
    "users": whole(1, "write how many send requests at a time"),
    "published": whole(0, "write the published requests, 0 for none"),
    "rounds": whole(1, "write how often the cell is measured"),
    "seconds": whole(1, "JMeter's Runtime Controller knows no less than a second"),
    "lead_s": _seconds,
    "each": whole(0, "write the requests of each user, 0 for as many as fit"),
    "path": _path,
    "answer": _answer,
}
