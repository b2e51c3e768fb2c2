"""Reads a forecast of production: a CSV file with a row for each step of a day.

    hour,tps,calculate,sum,search
    0,3.2,34,36,30
    ...

The first column (`hour`, `time` or `step`) names the step, `tps` is its requests a second, and each
other column is a target with its share of them in percent. The rows cover 24 hours evenly: 24 rows
are an hour each, 96 are 15 minutes each. Under `hour` and `time` stand times of day (`7`, `07:30`);
under `step` any names, of which times and whole numbers are checked for their order.

The csv module reads it, not DuckDB, for the sake of errors that name line and column.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tollgate.base.text import FileError, closest
from tollgate.forecast import fields
from tollgate.forecast.model import Forecast, ForecastStep
from tollgate.samples.layout import shown

NAME_COLUMNS = ("hour", "time", "step")
RATE_COLUMN = "tps"

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
# A target's name stands in the plan's expression between blanks, colons and quotes.
_TARGET = re.compile(r"\w[\w.-]*")
DAY_S = 86_400.0
#: A row a minute. The plan looks through the steps for every visitor.
MOST_ROWS = 1440


class ForecastError(FileError):
    """A forecast that can't be used: one line for each thing wrong with it, in `errors`."""


@dataclass(frozen=True)
class ForecastRow:
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

    def cell(self, row: ForecastRow, column: str) -> str:
        return row.cells[self.columns.index(column)]

    def number(self, row: ForecastRow, column: str) -> float:
        """The number in that column. Raises FieldError."""
        return fields.number(self.cell(row, column))


def read_header(path: str, row: ForecastRow, targets: Iterable[str] | None) -> Header:
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
    near = closest(name, known)
    return f"; did you mean {near!r}?" if near else ""


def read_forecast(path: str | Path, targets: Iterable[str] | None = None) -> Forecast:
    """The forecast in a file; the shares of a step are scaled to sum 1.

    targets: those that the plan knows; then the file may have columns for no others, and one
    without a column has no share.
    Raises ForecastError, whose lines name file, line, column, value and the next step.
    """
    first, *rows = _rows(path)
    header = read_header(str(path), first, targets)
    if not rows:
        raise ForecastError(f"{path}: has a header and no rows: add one for each step of the day")
    if len(rows) > MOST_ROWS:
        raise ForecastError(f"{path}: has more than {MOST_ROWS} rows: take longer steps")
    errors = [error for row in rows for error in _row_errors(path, header, row)]
    if not errors:
        errors = [*_name_errors(path, header, rows)]
    if not errors and not any(header.number(row, RATE_COLUMN) for row in rows):
        errors = [f"{path}: {RATE_COLUMN} is 0 in every row: write the rate that is expected"]
    if errors:
        raise ForecastError(*errors)
    timed = _is_timed(header, rows)
    steps = tuple(_step(header, row, timed) for row in rows)
    return Forecast(str(path), DAY_S / len(steps), steps)


def _rows(path: str | Path) -> list[ForecastRow]:
    """All lines that are not blank, the header first, and no more of them than can be used."""
    rows: list[ForecastRow] = []
    line = 1
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    rows.append(ForecastRow(reader.line_num, tuple(cell.strip() for cell in cells)))
                line = reader.line_num + 1
                if len(rows) > MOST_ROWS + 1:
                    break
    except OSError as error:
        text = f"{path}: can't be read: {error.strerror}: name a file that can be"
        raise ForecastError(text) from None
    except UnicodeDecodeError:
        text = f"{path}:{_first_bad_line(path)}: is not UTF-8: save the file as 'CSV UTF-8'"
        raise ForecastError(text) from None
    except csv.Error as error:
        raise ForecastError(f"{path}:{line}: is not CSV ({error}): correct this line") from None
    if not rows:
        raise ForecastError(f"{path}: is empty: write a header `hour,tps,...` and a row a step")
    return rows


def _first_bad_line(path: str | Path) -> int:
    """The line at which the file stops being UTF-8."""
    line = 0
    with Path(path).open("rb") as file:
        for line, raw in enumerate(file, start=1):  # noqa: B007 - the last one is the answer
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError:
                break
    return line


def _row_errors(path: str | Path, header: Header, row: ForecastRow) -> Iterator[str]:
    place = f"{path}:{row.line}"
    if len(row.cells) != len(header.columns):
        more = len(row.cells) > len(header.columns)
        hint = "is there a decimal comma? write 7.5, not 7,5" if more else "fill in what is missing"
        yield f"{place}: has {len(row.cells)} fields, the header has {len(header.columns)}: {hint}"
        return
    numbers: dict[str, float] = {}
    for column in header.columns[1:]:
        try:
            numbers[column] = header.number(row, column)
        except fields.FieldError as error:
            yield f"{place}: {column} = {shown(header.cell(row, column))} {error}"
    if len(numbers) == len(header.columns) - 1:
        problem = fields.shares_problem([numbers[target] for target in header.targets])
        if problem:
            yield f"{place}: {' + '.join(header.targets)} {problem}"


def _is_timed(header: Header, rows: Sequence[ForecastRow]) -> bool:
    """Whether the steps are called by times of day."""
    return header.name != "step" or all(fields.is_time(row.cells[0]) for row in rows)


def _name_errors(path: str | Path, header: Header, rows: Sequence[ForecastRow]) -> Iterator[str]:
    """Names that are missing or twice there, and times or numbers that are out of order."""
    names = [row.cells[0] for row in rows]
    places = [f"{path}:{row.line}: {header.name} = {shown(row.cells[0])}" for row in rows]
    if "" in names:
        yield f"{places[names.index('')]} is empty: name the step"
        return
    minutes: list[float] = []
    if _is_timed(header, rows):
        for place, name in zip(places, names, strict=True):
            try:
                minutes.append(fields.minute_of_day(name))
            except fields.FieldError as error:
                yield f"{place} {error}"
        problem = fields.spacing_problem(minutes) if len(minutes) == len(names) else None
    else:
        problem = fields.order_problem(names)
    if problem:
        yield f"{places[problem[0]]} {problem[1]}"


def _step(header: Header, row: ForecastRow, timed: bool) -> ForecastStep:
    name = row.cells[0]
    shares = {target: header.number(row, target) for target in header.targets}
    total = math.fsum(shares.values())
    return ForecastStep(
        name=fields.clock(fields.minute_of_day(name)) if timed else name,
        tps=header.number(row, RATE_COLUMN),
        shares={target: share / total for target, share in shares.items()},
    )
