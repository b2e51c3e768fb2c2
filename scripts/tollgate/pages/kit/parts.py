"""The parts that a page is put together from, as elements whose text can't become markup. Pure.

Every text goes through ElementTree, which escapes it; there is no way to put in HTML as text.
Inline styles are not used: the page's Content Security Policy refuses them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: White space that is shown though Python does not call it printable.
_SPACES = "\n\u00a0"
#: What an element may hold: text, elements, nothing.
Child = str | ET.Element | None


def element(tag: str, *children: Child, **attributes: object) -> ET.Element:
    """An HTML or SVG element. Of an attribute's name a last `_` is dropped and the others become
    `-`: `class_`, `aria_label`. Attributes that are None or False are left out."""
    made = ET.Element(tag)
    for name, value in attributes.items():
        if value is not None and value is not False:
            key = name.rstrip("_").replace("_", "-")
            made.set(key, "" if value is True else printable(str(value)))
    for child in children:
        if isinstance(child, str):
            _add_text(made, printable(child))
        elif child is not None:
            made.append(child)
    return made


def printable(text: str) -> str:
    """What no screen shows (control characters, those that turn the direction of reading, halves
    of surrogate pairs, which no file takes) becomes a question mark."""
    return "".join(each if each.isprintable() or each in _SPACES else "?" for each in text)


def _add_text(parent: ET.Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


@dataclass(frozen=True)
class Column:
    """A column of a table. kind: a CSS class for its cells, e.g. `number`. below: something below
    the heading, e.g. the numbers of a scale."""

    heading: str
    kind: str | None = None
    below: ET.Element | None = None


@dataclass(frozen=True)
class Group:
    """A row of a table that names those which follow."""

    content: Sequence[Child]


Row = Sequence[Child] | Group


def table(
    caption: str, columns: Sequence[Column], rows: Iterable[Row], kind: str = ""
) -> ET.Element:
    """A table in a box of its own, within which it scrolls where the screen is narrow. The first
    cell of a row is its heading."""
    headings = (element("th", it.heading, it.below, scope="col", class_=it.kind) for it in columns)
    head = element("tr", *headings)
    made = element(
        *("table", element("caption", caption), element("thead", head)),
        element("tbody", *(_row(columns, row) for row in rows)),
        class_=kind or None,
    )
    # A box that scrolls must be reachable by keyboard, and named, to be scrolled without a mouse.
    return element("div", made, class_="scrolls", tabindex=0, role="region", aria_label=caption)


def _row(columns: Sequence[Column], cells: Row) -> ET.Element:
    if isinstance(cells, Group):
        heading = element("th", *cells.content, scope="rowgroup", colspan=len(columns))
        return element("tr", heading, class_="group")
    first, *others = zip(columns, cells, strict=True)
    heading = element("th", first[1], scope="row", class_=first[0].kind)
    # data-label names the cell where a narrow screen shows a row as a card.
    return element(
        *("tr", heading),
        *(element("td", cell, class_=it.kind, data_label=it.heading) for it, cell in others),
    )


def details(summary: str, *content: Child, open_: bool = False) -> ET.Element:
    """Something to unfold."""
    return element("details", element("summary", summary), *content, open=open_)


def paragraph(*content: Child, kind: str | None = None) -> ET.Element:
    return element("p", *content, class_=kind)


def listing(items: Iterable[Child]) -> ET.Element:
    return element("ul", *(element("li", item) for item in items))


def terms(pairs: Iterable[tuple[str, Child]]) -> ET.Element:
    """Names and what they stand for, e.g. the machine and the versions."""
    made = element("dl")
    made.extend(element("div", element("dt", name), element("dd", value)) for name, value in pairs)
    return made


def badge(text: str, tone: str) -> ET.Element:
    """A short answer in a colour. tone: `good`, `bad`, `unsure`; the word says it as well."""
    return element("span", text, class_=f"badge {tone}")
