"""A table of plain text, as data for the macro `table` of macros.html.jinja. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """kind: a CSS class for its cells, e.g. `number`."""

    heading: str
    kind: str = ""


@dataclass(frozen=True)
class Group:
    """A row that names those which follow. title: is shown by pointing at it."""

    text: str
    title: str = ""


@dataclass(frozen=True)
class Link:
    """A cell that leads to another page."""

    text: str
    href: str


Cell = str | Link
Row = Sequence[Cell] | Group


@dataclass(frozen=True)
class Table:
    """The first cell of a row is its heading. kind: CSS classes; a row of a table of `cards`
    becomes a card on a narrow screen."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    kind: str = ""


def numeric(*headings: str) -> tuple[Column, ...]:
    """Columns of numbers."""
    return tuple(Column(heading, "number") for heading in headings)
