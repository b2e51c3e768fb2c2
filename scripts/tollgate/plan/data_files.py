"""The files that a plan reads: JMeter looks for them in its folder when its threads begin."""

from __future__ import annotations

import codecs
import csv
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from tollgate.plan.expressions import PROPERTY, Expander
from tollgate.plan.jmx import CSV_DATA_SET, Element, read_tree
from tollgate.plan.variables import running_expander_of

#: Elements of a setUp thread group that may write files, beside scripts.
_WRITING = ("SystemSampler", "ResultSaver", "ResultCollector")
#: Characters of a header line; more is none.
_HEADER = 65_536
_QUOTED = "tick 'Allow quoted data?', or write `quoted: true` of data-sources"
#: What JMeter sets once a file is at its end.
EOF = "<EOF>"


def may_be_written(root: Element) -> bool:
    """Whether a setUp thread group may write files before the others read them."""
    setup = (it for it in root.thread_groups if it.kind == "SetupThreadGroup")
    inside = [it for group in setup for it in group.walk()]
    texts = (text for it in inside for _, _, text in it.references)
    is_written = any("__StringToFile(" in text for text in texts)
    return is_written or any(it.is_script or it.kind in _WRITING for it in inside)


def knows_of_ends(root: Element) -> bool:
    """Whether something of a plan asks for the end of a file, such as a condition."""
    return any(EOF in text for it in root.walk() for _, _, text in it.references)


@dataclass(frozen=True)
class Feed:
    """A CSV Data Set, as far as it is known before the run.

    file: as JMeter finds it, whether it is there or not; None where its name is not known.
    named_by: the property that alone names it, empty where none does. is_headed: its first row is
    none of data. is_quoted: quotes may hold delimiters and line breaks. names: of variables, empty
    where the header has them. ends: it does not begin anew at the end of its file. stops_threads:
    it ends threads there. names, delimiter, mode: None where that is not known.
    """

    title: str
    file: Path | None
    named_by: str
    is_headed: bool
    is_quoted: bool
    encoding: str
    names: str | None = ""
    delimiter: str | None = ","
    mode: str | None = None
    ends: bool = False
    stops_threads: bool = False

    @property
    def is_there(self) -> bool:
        file = self.file
        return file is not None and file.is_file() and os.access(file, os.R_OK)

    @property
    def path(self) -> Path:
        """Its file where that is known. Raises ValueError where it is not."""
        if self.file is None:
            raise ValueError(f"which file {self.title} reads is not known")
        return self.file

    @property
    def columns(self) -> list[str] | None:
        """The variables that it sets: those that it names, or the header of its file does. None
        where that is not known."""
        if self.names:
            return [each.strip() for each in self.names.split(",")]
        if self.names is None or not self.is_there or self.delimiter is None:
            return None
        with self._opened() as lines, suppress(csv.Error):
            header = csv.reader([lines.readline(_HEADER)], delimiter=self.delimiter[0])
            return [each.strip() for each in next(header, [])]
        return None

    @property
    def has_quotes_in_vain(self) -> bool:
        """Whether its header alone, which JMeter reads by another rule, loses its quotes."""
        with self._opened() as lines:
            return lines.read(1) == '"' and not self.names and not self.is_quoted

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The number of the line in which each row ends, with its fields: none of an empty one.
        Raises csv.Error."""
        delimiter = self.delimiter or ","
        with self._opened() as lines:
            if self.is_headed:
                lines.readline()
            if self.is_quoted:
                reader = csv.reader(lines, delimiter=delimiter[0])
                yield from ((reader.line_num + self.is_headed, row) for row in reader)
                return
            for number, line in enumerate(lines, 1 + self.is_headed):
                text = line.rstrip("\r\n")
                yield number, text.split(delimiter) if text else []

    def count(self) -> int:
        """How many rows JMeter reads, once through; very many of what is no CSV, of which that is
        not known."""
        with suppress(csv.Error):
            return sum(1 for _, row in self.rows() if row)
        return sys.maxsize

    def _opened(self) -> TextIO:
        with suppress(LookupError):
            is_utf_8 = codecs.lookup(self.encoding).name == "utf-8"
            encoding = "utf-8-sig" if is_utf_8 else self.encoding
            return self.path.open(encoding=encoding, errors="replace")
        return self.path.open(encoding="latin-1")


def feed_of(element: Element, folder: Path, expander: Expander) -> Feed:
    """folder: from which JMeter reads relative names. expander: knows what the run will."""

    def text(name: str) -> str | None:
        return expander.expand(element.props.get(name, "")).value

    def word(name: str) -> str:
        return (text(name) or "").strip()

    named = PROPERTY.fullmatch(element.props.get("filename", "").strip())
    delimiter, variables = text("delimiter"), text("variableNames")
    names = variables and variables.strip()
    return Feed(
        title=element.title,
        file=folder / word("filename") if word("filename") else None,
        named_by=named[1] if named else "",
        is_headed=names == "" or word("ignoreFirstLine") == "true",
        is_quoted=word("quotedData") == "true",
        encoding=word("fileEncoding") or "UTF-8",
        names=names,
        delimiter=None if delimiter is None else delimiter.replace("\\t", "\t") or ",",
        mode=text("shareMode"),
        ends=element.kind == CSV_DATA_SET and text("recycle") == "false",
        stops_threads=text("stopThread") == "true",
    )


def broken_rows(root: Element, folder: Path, expander: Expander) -> Iterator[str]:
    """One line for each CSV Data Set whose file has a row that does not fill the columns which the
    plan reads: for an empty one JMeter sends EOF, and what a short one lacks stays as it was.
    Source: JMeter 5.6.3, CSVDataSet.iterationStart."""
    if may_be_written(root):
        return
    every = [*root.walk_placed()]
    texts = {text for it in every for _, _, text in it.references}
    texts |= {text for it in every if it.is_script for text in it.props.values()}
    for feed in (feed_of(it, folder, expander) for it in every if it.kind == CSV_DATA_SET):
        names = feed.columns if feed.is_there and feed.delimiter else None
        uses = [(f"${{{it}}}", f'"{it}"', f"'{it}'") for it in names or ()]
        is_read = [any(use in text for use in each for text in texts) for each in uses]
        if names and any(is_read):
            with suppress(csv.Error):
                yield from islice(_broken(feed, names, is_read), 1)


def _broken(feed: Feed, names: list[str], is_read: list[bool]) -> Iterator[str]:
    in_vain, empty = feed.has_quotes_in_vain, 0
    for number, row in feed.rows():
        empty = empty or (0 if row else number)
        if empty and (row or not feed.ends):
            why = "is empty, which JMeter takes for a row: remove it"
        elif number == 1 and row == names:
            why = "is the names of columns: tick 'Ignore first line', or name no variables"
        elif in_vain and row and row[0][:1] == row[0][-1:] == '"':
            why = f"has values in quotes, which JMeter sends as well: {_QUOTED}"
        else:
            why = _why_broken(feed, row, names, is_read)
        if why:
            place = f"line {empty or number} of {os.path.normpath(feed.path)}"
            yield f"{place}, which {feed.title} reads, {why}"


def _why_broken(feed: Feed, row: list[str], names: list[str], is_read: list[bool]) -> str:
    """Empty for a row that is not, and for one without fields."""
    by_quotes, delimiter = row, feed.delimiter or ","
    if len(row) > len(names):
        with suppress(csv.Error):
            by_quotes = next(csv.reader([delimiter.join(row)], delimiter=delimiter[0]), row)
    if len(by_quotes) == len(names) < len(row):
        return f"has {delimiter!r} in quotes, at which JMeter parts it: {_QUOTED}"
    lacking = [name for at, name in enumerate(names) if at >= len(row) and is_read[at]]
    if row and lacking:
        return (
            f"has {len(row)} of {len(names)} columns apart by {delimiter!r}, so that "
            f"${{{lacking[0]}}} stays as it was before: complete it, or name the file's own "
            "delimiter"
        )
    if not feed.names and any(map(str.strip, row[len(names) :])):
        return f"has {len(row)} fields for {len(names)} columns: put what is one value in quotes"
    return ""


def absent(root: Element, folder: Path, expander: Expander) -> Iterator[tuple[Element, str]]:
    """(element, file) of each feed and script that can't be read, of those whose names are known
    before the run. expander: knows what the run will."""
    for element in root.walk():
        for written in element.files:
            name = (expander.expand(written).value or "").strip()
            if name and not os.access(folder / name, os.R_OK):
                yield element, name


def missing(path: Path, properties: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """(CSV Data Set, file) where the file can't be read. A plan with a setUp thread group may write
    its files first, so that none of its counts. Raises PlanError."""
    root, folder = read_tree(path, properties), path.absolute().parent
    if any(each.kind == "SetupThreadGroup" for each in root.walk()):
        return
    for element, name in absent(root, folder, running_expander_of(root, properties)):
        if element.kind == CSV_DATA_SET:
            yield element.title, folder / name
