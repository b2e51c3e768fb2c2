"""The rows of a plan's data files that one engine of several sends.

`copy`: all of them, each engine beginning at another one. `split`: row i, from 0, goes to engine
i mod N + 1, so that no two engines send the same. JMeter reads a file of the engine's own then, by
the property that names it: a CSV Data Set opens in the GUI, and runs alone, as before.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

from tollgate.base import atomic
from tollgate.plan.data_files import Feed, feed_of
from tollgate.plan.jmx import CSV_DATA_SET, read_tree
from tollgate.plan.variables import expander_of
from tollgate.schedule.share import Share, ShareError

COPY, SPLIT = "copy", "split"
HOW = (COPY, SPLIT)


def read_feeds(plan: Path, properties: Mapping[str, str]) -> list[Feed]:
    """Those of a plan's file with these properties, each file of a property once. Raises ShareError
    and PlanError."""
    root, folder = read_tree(plan, properties), plan.absolute().parent
    expander = expander_of(root, properties)
    feeds = [feed_of(it, folder, expander) for it in root.walk() if it.kind == CSV_DATA_SET]
    for feed in feeds:
        if feed.file is None:
            raise ShareError(f"which file {feed.title} reads is not known before the run")
    firsts = {it.named_by: it for it in reversed(feeds)}
    return [it for it in feeds if not it.named_by or firsts[it.named_by] is it]


def records_of(text: str, is_quoted: bool) -> list[str]:
    """The rows of a CSV file, each with its line break, as JMeter reads them."""
    rows: list[str] = []
    held = ""
    for line in io.StringIO(text, newline=""):
        held += line
        if not (is_quoted and held.count('"') % 2):
            rows.append(held)
            held = ""
    if held:
        rows.append(held)
    return [each if each.endswith(("\r", "\n")) else f"{each}\n" for each in rows]


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
        with feed.path.open(encoding=feed.encoding, newline="") as file:
            text = file.read()
    except (OSError, ValueError, LookupError) as problem:
        raise ShareError(f"{feed.file} of {feed.title} can't be read: {problem}") from None
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
    return f"{feed.named_by}.csv"
