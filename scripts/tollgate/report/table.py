"""A table as data, and as lines of the console and of Markdown. Pages render it in
kit/macros.html.jinja. Pure."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tollgate.base.text import code, escaped, one_line
from tollgate.judge.verdicts import FAIL, INCONCLUSIVE, INVALID, PASS

#: The verdict of what is measured and reported, but can't make a run fail.
INFORMATIONAL = "informational"
#: Kinds of columns. The console has verdicts first, Markdown last. Text of unknown origin is code.
VERDICT, CODE = "verdict", "code"
#: Colours of a terminal, by verdict.
COLOURS = {PASS: "32", FAIL: "31", INCONCLUSIVE: "33", INVALID: "35"}
#: Longer names lose their middle on the console; verdict.json has all of it.
CODE_WIDTH = 72
_GAP = "  "
#: Verdicts of rows that Markdown and pages show folded. `not decided` was known before the load.
_FOLDED = (PASS, INFORMATIONAL, "not decided")


@dataclass(frozen=True)
class Bar:
    """A value and the ends of its interval, None for unknown; pages draw it on its column's scale.
    verdict: gives its colour; without one the side of no difference does."""

    value: float | None
    low: float | None = None
    high: float | None = None
    verdict: str = ""


@dataclass(frozen=True)
class TableCell:
    """A text with more than that. badge: an answer after it. note, small: what a page adds to the
    line and below it. title: is shown by pointing at it. href: another page. bar: a drawing above
    it, or shares of a whole."""

    text: str = ""
    badge: str = ""
    note: str = ""
    small: str = ""
    title: str = ""
    href: str = ""
    bar: Bar | Sequence[float] | None = None

    def __str__(self) -> str:
        return f"{self.text} {self.badge}".strip()


@dataclass(frozen=True)
class Column:
    """kind: VERDICT, CODE, or CSS classes such as `number`; only pages have one of kind `bar`.
    scale: of its drawings, kit/bars.py: Ruler, or the name of the limit that they all have."""

    heading: str
    kind: str = ""
    scale: Any = None


@dataclass(frozen=True)
class Table:
    """kind: CSS classes; on a narrow screen a row of `cards` becomes a card. is_grouped: whether on
    a page the first cell stands once above the rows that share it."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str | TableCell]]
    kind: str = ""
    is_grouped: bool = False

    @property
    def has_verdicts(self) -> bool:
        """Whether each row has one."""
        return any(it.kind == VERDICT for it in self.columns)


def split(table: Table, name: str = "") -> tuple[Table, Table]:
    """The rows that want to be read, and those that hold or have no say, whose caption says how
    many there are of each verdict, behind a name: `Times: 26 PASS, 2 informational`."""
    at = next(at for at, it in enumerate(table.columns) if it.kind == VERDICT)
    open_ = [row for row in table.rows if str(row[at]) not in _FOLDED]
    folded = [row for row in table.rows if str(row[at]) in _FOLDED]
    counted = Counter(str(row[at]) for row in folded)
    counts = ", ".join(f"{counted[verdict]} {verdict}" for verdict in _FOLDED if counted[verdict])
    caption = f"{name}: {counts}" if name else counts
    return replace(table, rows=open_), replace(table, rows=folded, caption=caption)


def numeric(*headings: str) -> tuple[Column, ...]:
    """Columns of numbers."""
    return tuple(Column(heading, "number") for heading in headings)


def to_markdown(table: Table) -> Iterator[str]:
    """The lines of a table whose texts are no markup."""
    places = _places(table, verdicts_last=True)
    yield _row([table.columns[at].heading for at in places])
    yield _row(["---"] * len(places))
    for row in table.rows:
        yield _row([_markdown(row[at], table.columns[at]) for at in places])


def _markdown(cell: str | TableCell, column: Column) -> str:
    text = str(cell)
    if column.kind == CODE:
        return code(text)
    if column.kind == VERDICT:
        return text if text in (PASS, INFORMATIONAL) else f"**{text}**"
    return text if column.kind == "number" else escaped(text)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def to_console(table: Table, colour: bool = False, most: int | None = None) -> Iterator[str]:
    """A line for each row, in the colour of a verdict that is not PASS. most: characters of a line,
    for which the last column gives way."""
    places = _places(table, verdicts_last=False)
    columns = [table.columns[at] for at in places]
    cells = [["" if it.kind == VERDICT else it.heading for it in columns]]
    cells += [[_console(row[at], table.columns[at]) for at in places] for row in table.rows]
    if most is not None:
        left = most - sum(widths(cells)[:-1]) - len(_GAP) * len(columns)
        cells = [[*row[:-1], shorten(row[-1], left)] for row in cells]
    heading, *lines = aligned(cells)
    yield heading
    for row, line in zip(cells[1:], lines, strict=True):
        is_striking = columns[0].kind == VERDICT and row[0] in COLOURS and row[0] != PASS
        yield paint(line, row[0], colour) if is_striking else line


def _console(cell: str | TableCell, column: Column) -> str:
    text = one_line(str(cell))
    return shorten(text, CODE_WIDTH) if column.kind == CODE else text


def _places(table: Table, verdicts_last: bool) -> list[int]:
    """Of the columns that are no drawings."""
    places = [at for at, it in enumerate(table.columns) if not it.kind.startswith("bar")]
    return sorted(places, key=lambda at: (table.columns[at].kind == VERDICT) == verdicts_last)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line for each row, with columns of the same width."""
    wide = widths(rows)
    padded = ([c + " " * (w - width(c)) for c, w in zip(row, wide, strict=True)] for row in rows)
    return [f"{_GAP}{_GAP.join(cells)}".rstrip() for cells in padded]


def widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Of each column."""
    return [max(map(width, column)) for column in zip(*rows, strict=True)]


def width(text: str) -> int:
    """How many columns of a terminal a printable text takes."""
    wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return len(text) + wide - sum(unicodedata.combining(each) > 0 for each in text)


def shorten(text: str, most: int) -> str:
    """At most so many characters: the middle gives way, for the end of a criterion is its limit."""
    if len(text) <= most:
        return text
    kept = most - len("...")
    return f"{text[: kept - kept // 2]}...{text[len(text) - kept // 2 :]}"


def paint(text: str, verdict: str, colour: bool) -> str:
    """In the colour of a verdict, if colours are wanted."""
    return f"\033[{COLOURS[verdict]}m{text}\033[0m" if colour else text
