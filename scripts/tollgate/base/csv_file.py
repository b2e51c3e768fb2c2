"""A CSV file that a person wrote: its values, or all that is wrong with them by line and column.

The csv module reads it, not DuckDB, for the sake of errors that name line and column.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tollgate.base.text import FileError, shown

Values = dict[str, Any]


class FieldError(ValueError):
    """What is wrong with a value, and what to do: the reader adds file, line and column."""


@dataclass(frozen=True)
class Row:
    """A line of the file that isn't blank. place: `data/study.csv:3`. fields: stripped."""

    place: str
    fields: tuple[str, ...]


def read_rows(path: str | Path, raises: type[FileError], columns: str) -> list[Row]:
    """The header and the rows below it, at least one. columns: what a header looks like.

    Raises `raises` for a file that can't be read, is no CSV in UTF-8, or has no rows.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise raises(f"{path}: can't be read: {error.strerror}: name a file that can be") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise raises(f"{path}:{line}: is not UTF-8: save the file as 'CSV UTF-8'") from None
    rows, line = [], 1
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for fields in reader:
            if any(map(str.strip, fields)):
                rows.append(Row(f"{path}:{reader.line_num}", tuple(map(str.strip, fields))))
            line = reader.line_num + 1
    except csv.Error as error:
        raise raises(f"{path}:{line}: is not CSV ({error}): correct this line") from None
    if len(rows) < 2:
        raise raises(f"{path}: has no rows: write a header `{columns}` and rows below it")
    return rows


def parse_rows(
    rows: Sequence[Row],
    columns: Sequence[str],
    parsers: Mapping[str, Callable[[str], Any]],
    raises: type[FileError],
    check: Callable[[Values], str | None],
) -> list[Values]:
    """The values of each row by column.

    parsers: by column; they may raise FieldError. check: what is wrong with the values of one row
    together, None if nothing is. Raises `raises` with a line for each error of all rows.
    """
    parsed: list[Values] = []
    errors: list[str] = []
    for row in rows:
        values: Values = {}
        wrong = [*_row_errors(row, columns, parsers, values)] or [*filter(None, [check(values)])]
        errors += [f"{row.place}: {error}" for error in wrong]
        parsed.append(values)
    if errors:
        raise raises(*errors)
    return parsed


def _row_errors(
    row: Row, columns: Sequence[str], parsers: Mapping[str, Callable[[str], Any]], values: Values
) -> Iterator[str]:
    """What is wrong with a row's values; those that are right are added to `values`."""
    count = len(row.fields)
    if count != len(columns):
        more = "write 7.5, not 7,5, and a text that holds commas between quotes"
        hint = more if count > len(columns) else "fill in what is missing"
        yield f"has {count} fields, the header has {len(columns)}: {hint}"
        return
    for column, text in zip(columns, row.fields, strict=True):
        try:
            values[column] = parsers[column](text)
        except FieldError as error:
            yield f"{column} = {shown(text)} {error}"
