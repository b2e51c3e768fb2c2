"""The header of a forecast: which column is what, or why it can't be told. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tollgate.base import FileError
from tollgate.forecast import fields
from tollgate.samples import shown

NAME_COLUMNS = ("hour", "time", "step")
RATE_COLUMN = "tps"

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
# A target's name stands in the plan's expression between blanks, colons and quotes.
_TARGET = re.compile(r"\w[\w.-]*")


class ForecastError(FileError):
    """A forecast that can't be used: one line for each thing wrong with it, in `errors`."""


@dataclass(frozen=True)
class Row:
    """A line of the file that isn't blank, its fields without the blanks around them."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Header:
    """The columns in the file's order; the first names the step."""

    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.columns[0]

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns[1:] if name != RATE_COLUMN)

    def cell(self, row: Row, column: str) -> str:
        return row.cells[self.columns.index(column)]

    def number(self, row: Row, column: str) -> float:
        """The number in that column. Raises FieldError."""
        return fields.number(self.cell(row, column))


def read_header(path: str, row: Row, targets: Iterable[str] | None) -> Header:
    """The header in the first line. targets: those that may have a column; None: any may.

    Raises ForecastError.
    """
    place = f"{path}:{row.line}"
    separator = re.search(r"[;\t|]", row.cells[0]) if len(row.cells) == 1 else None
    if separator:
        raise ForecastError(
            f"{place}: fields are separated by {_SEPARATORS[separator[0]]}: save the file with "
            "commas between fields and points in numbers"
        )
    if row.cells[0] not in NAME_COLUMNS:
        raise ForecastError(_first_column_error(place, row.cells[0]))
    header = Header(row.cells)
    errors = [*_errors(place, header, None if targets is None else list(targets))]
    if errors:
        raise ForecastError(*errors)
    return header


def _first_column_error(place: str, name: str) -> str:
    if re.match(r"[\d.]", name):
        return f"{place}: has no header: write `hour,tps,...` with the targets' names above it"
    return (
        f"{place}: column 1 is {shown(name)}, where {', '.join(NAME_COLUMNS)} is due: rename it"
        f"{_meant(name, NAME_COLUMNS)}"
    )


def _errors(place: str, header: Header, targets: list[str] | None) -> Iterator[str]:
    names = header.columns
    for number, name in enumerate(names, start=1):
        if not name:
            yield f"{place}: column {number} has no name: name it or take it out"
        elif name in names[: number - 1]:
            yield f"{place}: column {number} repeats {shown(name)}: take one of them out"
        elif number > 1 and name != RATE_COLUMN:
            yield from _target_errors(f"{place}: column {number} is {shown(name)}", name, targets)
    if RATE_COLUMN not in names:
        yield f"{place}: has no column {RATE_COLUMN!r} for the requests a second: add it"
    if not header.targets:
        yield f"{place}: has no column for a target: add one for each with its share in percent"


def _target_errors(what: str, name: str, targets: list[str] | None) -> Iterator[str]:
    if name in NAME_COLUMNS:
        yield f"{what}, a second name of the step: take it out"
    elif targets is not None and name not in targets:
        meant = _meant(name, [*targets, RATE_COLUMN])
        yield f"{what}, which the plan does not have: it has {', '.join(targets)}{meant}"
    elif not _TARGET.fullmatch(name):
        yield f"{what}: a target's name is made of letters, digits, '.', '-' and '_': rename it"


def _meant(name: str, known: Iterable[str]) -> str:
    of = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), of, n=1)
    return f"; did you mean {of[close[0]]!r}?" if close else ""
