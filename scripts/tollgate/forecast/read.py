"""Reads a forecast of production: a CSV file with a row for each step of a day.

    hour,tps,calculate,sum,search
    0,3.2,34,36,30
    ...

The first column (`hour`, `time` or `step`) names the step, `tps` is its requests a second, and each
other column is a target with its share of them in percent. The rows cover 24 hours evenly: 24 rows
are an hour each, 96 are 15 minutes each. Under `hour` and `time` stand times of day (`7`, `07:30`);
under `step` any names, of which times and whole numbers are checked for their order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tollgate.base.csv_file import Row, Values, parse_rows, read_rows
from tollgate.base.text import FileError, closest, shown
from tollgate.forecast import fields
from tollgate.forecast.model import Forecast, ForecastStep

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


def read_forecast(
    path: str | Path,
    targets: Iterable[str] | None = None,
    shares: Mapping[str, float] | None = None,
) -> Forecast:
    """The forecast in a file; the shares of a step are scaled to sum 1.

    targets: those that the plan knows; then the file may have columns for no others, and one
    without a column has no share. shares: of each step of a file that has a column for none of the
    targets; it may have one for others.
    Raises ForecastError, whose lines name file, line, column, value and the next step.
    """
    header, *rows = read_rows(path, ForecastError, "hour,tps,...")
    first, *others = columns = header.fields
    of_plan = None if targets is None else [*targets]
    is_total = shares is not None and not {*others} & {*(of_plan or ())}
    errors = [*_header_errors(columns, None if is_total else of_plan, is_total)]
    if errors:
        raise ForecastError(*(f"{header.place}: {error}" for error in errors))
    if len(rows) > MOST_ROWS:
        raise ForecastError(f"{path}: has more than {MOST_ROWS} rows: take longer steps")
    shared = [] if is_total else [name for name in others if name != RATE_COLUMN]

    def shares_problem(values: Values) -> str | None:
        if is_total:
            return None
        problem = fields.shares_problem([values[name] for name in shared])
        return problem and f"{' + '.join(shared)} {problem}"

    timed = first != "step" or all(fields.is_time(row.fields[0]) for row in rows)
    parsers: dict[str, Callable[[str], Any]] = dict.fromkeys(others, fields.number)
    parsers[first] = fields.minute_of_day if timed else fields.step_name
    steps = parse_rows(rows, columns, parsers, ForecastError, shares_problem)
    _check_order(rows, first, [step[first] for step in steps], timed)
    if not any(step[RATE_COLUMN] for step in steps):
        text = f"{path}: {RATE_COLUMN} is 0 in every row: write the rate that is expected"
        raise ForecastError(text)
    forecast = tuple(_step(step, first, shared, timed, shares) for step in steps)
    return Forecast(str(path), DAY_S / len(forecast), forecast)


def _header_errors(
    columns: Sequence[str], targets: Sequence[str] | None, is_total: bool
) -> Iterator[str]:
    """targets: those that may have a column; None: any may. is_total: none needs to."""
    first = columns[0]
    if len(columns) == 1 and (separator := re.search(r"[;\t|]", first)):
        yield (
            f"fields are separated by {_SEPARATORS[separator[0]]}: save the file with commas "
            "between fields and points in numbers"
        )
    elif re.match(r"[\d.]", first):
        yield "has no header: write `hour,tps,...` with the targets' names above it"
    elif first not in NAME_COLUMNS:
        due = f"{', '.join(NAME_COLUMNS)} is due: rename it{_meant(first, NAME_COLUMNS)}"
        yield f"column 1 is {shown(first)}, where {due}"
    else:
        for number, name in enumerate(columns[1:], start=2):
            problem = _column_problem(name, columns[: number - 1], targets)
            if problem:
                yield f"column {number} {problem}"
        if RATE_COLUMN not in columns:
            yield f"has no column {RATE_COLUMN!r} for the requests a second: add it"
        if not is_total and not {*columns[1:]} - {RATE_COLUMN}:
            yield "has no column for a target: add one for each with its share in percent"


def _column_problem(name: str, before: Sequence[str], targets: Sequence[str] | None) -> str | None:
    if not name:
        return "has no name: name it or take it out"
    if name in before:
        return f"repeats {shown(name)}: take one of them out"
    if name == RATE_COLUMN:
        return None
    if name in NAME_COLUMNS:
        return f"is {shown(name)}, a second name of the step: take it out"
    if targets is not None and name not in targets:
        meant = _meant(name, [*targets, RATE_COLUMN])
        due = ", ".join(targets)
        return f"is {shown(name)}, which the plan does not have: it has {due}{meant}"
    if not _TARGET.fullmatch(name):
        letters = "a target's name is made of letters, digits, '.', '-' and '_'"
        return f"is {shown(name)}: {letters}: rename it"
    return None


def _meant(name: str, names: Iterable[str]) -> str:
    near = closest(name, names)
    return f"; did you mean {near!r}?" if near else ""


def _check_order(rows: Sequence[Row], column: str, names: Sequence[Any], timed: bool) -> None:
    """Refuses times or numbers that are out of order, and names that come twice."""
    misplaced = fields.spacing_problem(names) if timed else fields.order_problem(names)
    if misplaced:
        row, problem = rows[misplaced[0]], misplaced[1]
        raise ForecastError(f"{row.place}: {column} = {shown(row.fields[0])} {problem}")


def _step(
    values: Values,
    first: str,
    shared: Sequence[str],
    timed: bool,
    shares: Mapping[str, float] | None,
) -> ForecastStep:
    """shares: those of a file that has none."""
    total = math.fsum(values[name] for name in shared)
    return ForecastStep(
        name=fields.clock(values[first]) if timed else values[first],
        tps=values[RATE_COLUMN],
        shares={name: values[name] / total for name in shared} or dict(shares or {}),
    )
