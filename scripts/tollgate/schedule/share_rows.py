"""The rows of a plan's data files that one engine of several sends.

`copy`: all of them, each engine beginning at another one. `split`: row i, from 0, goes to engine
i mod N + 1, so that no two engines send the same. JMeter reads a file of the engine's own then, by
the property that names it: a CSV Data Set opens in the GUI, and runs alone, as before.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tollgate.base import atomic
from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import CSV_DATA_SET, Element, read_tree
from tollgate.plan.read import expander_of
from tollgate.schedule.share import Share, ShareError
from tollgate.schedule.share_load import PROPERTY

COPY, SPLIT = "copy", "split"
HOW = (COPY, SPLIT)


@dataclass(frozen=True)
class Feed:
    """A CSV Data Set. file: as JMeter finds it. property: that names it, empty where none does.
    is_headed: its first row names columns. is_quoted: quotes may hold line breaks."""

    name: str
    file: Path
    property: str
    is_headed: bool
    is_quoted: bool
    encoding: str


def read_feeds(plan: Path, given: Mapping[str, str]) -> list[Feed]:
    """Those of a plan's file with the properties `given`, each file of a property once. Raises
    ShareError and PlanError."""
    root, folder = read_tree(plan, given), plan.absolute().parent
    expander = expander_of(root, given)
    feeds = [_feed(it, folder, expander) for it in root.walk() if it.kind == CSV_DATA_SET]
    firsts = {it.property: it for it in reversed(feeds)}
    return [it for it in feeds if not it.property or firsts[it.property] is it]


def _feed(element: Element, folder: Path, expander: Expander) -> Feed:
    """folder: of the plan, from which JMeter reads relative names."""

    def value(name: str) -> str:
        return (expander.expand(element.props.get(name, "")).value or "").strip()

    if not value("filename"):
        raise ShareError(f"which file {element.title} reads is not known before the run")
    named = PROPERTY.fullmatch(element.props["filename"].strip())
    return Feed(
        name=element.title,
        file=folder / value("filename"),
        property=named[1] if named else "",
        is_headed=not value("variableNames") or value("ignoreFirstLine") == "true",
        is_quoted=value("quotedData") == "true",
        encoding=value("fileEncoding") or "UTF-8",
    )


def records_of(text: str, is_quoted: bool) -> list[str]:
    """The rows of a CSV file, each with its line break, as JMeter reads them."""
    found: list[str] = []
    held = ""
    for line in io.StringIO(text, newline=""):
        held += line
        if not (is_quoted and held.count('"') % 2):
            found.append(held)
            held = ""
    if held:
        found.append(held)
    return [each if each.endswith(("\r", "\n")) else f"{each}\n" for each in found]


def share_of_rows(feed: Feed, text: str, share: Share, how: str) -> str:
    """The content of the engine's own file. Raises ShareError."""
    rows = records_of(text, feed.is_quoted)
    head = [rows.pop(0)] if feed.is_headed and rows else []
    if how == SPLIT:
        if len(rows) < share.of:
            raise ShareError(
                f"{feed.file} has {len(rows)} rows, too few to be split among {share.of} engines: "
                "add rows, take fewer engines, or let each have all (modules.load.rows=copy)"
            )
        own = rows[share.number - 1 :: share.of]
    else:
        first = (share.number - 1) * len(rows) // share.of
        own = rows[first:] + rows[:first]
    return "".join([*head, *own])


def read_rows(feed: Feed, share: Share, how: str) -> str:
    """The content of the engine's own file, from that of all engines. Raises ShareError."""
    try:
        with feed.file.open(encoding=feed.encoding, newline="") as file:
            text = file.read()
    except (OSError, ValueError, LookupError) as problem:
        raise ShareError(f"{feed.file} of {feed.name} can't be read: {problem}") from None
    return share_of_rows(feed, text, share, how)


def write_rows(feed: Feed, rows: str, folder: Path) -> Path:
    """Write the engine's own file into a folder. Returns its path."""
    target = folder / row_file(feed)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic.replacing(target, encoding=feed.encoding, newline="") as file:
        file.write(rows)
    return target


def row_file(feed: Feed) -> str:
    """What the engine's own file is called."""
    return f"{feed.property}.csv"
