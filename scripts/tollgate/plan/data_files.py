"""The files that a plan reads: JMeter looks for them in its folder when its threads begin."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import CSV_DATA_SET, Element, read_tree
from tollgate.plan.variables import running_expander_of

#: Elements of a setUp thread group that may write files, beside scripts.
_WRITING = ("SystemSampler", "ResultSaver", "ResultCollector")
#: Characters of a header line; more is none.
_HEADER = 65_536
#: What JMeter sets once a file is at its end.
EOF = "<EOF>"


class FeedError(Exception):
    """What a CSV Data Set will read is not known before the run."""


def may_be_written(root: Element) -> bool:
    """Whether a setUp thread group may write files before the others read them."""
    setup = (it for it in root.thread_groups if it.kind == "SetupThreadGroup")
    inside = [it for group in setup for it in group.walk()]
    return any(it.is_script or it.kind in _WRITING for it in inside)


def ends(element: Element, expander: Expander) -> bool:
    """Whether it is a CSV Data Set that does not begin anew at the end of its file."""
    recycle = expander.expand(element.props.get("recycle", "")).value
    return element.kind == CSV_DATA_SET and recycle == "false"


def stops_threads(element: Element, expander: Expander) -> bool:
    """Whether a CSV Data Set ends threads at the end of its file."""
    return expander.expand(element.props.get("stopThread", "")).value == "true"


def file_of(element: Element, folder: Path, expander: Expander, stale: bool) -> Path:
    """What a CSV Data Set reads. stale: whether that may be another file by then. Raises
    FeedError."""
    name = (expander.expand(element.props.get("filename", "")).value or "").strip()
    if stale or not name or not (folder / name).is_file():
        raise FeedError
    return folder / name


def columns_of(element: Element, folder: Path, expander: Expander, stale: bool) -> list[str]:
    """The variables that a CSV Data Set sets: those that it names, or the header of its file does.
    Raises FeedError."""
    names = expander.expand(element.props.get("variableNames", "")).value
    if names is None:
        raise FeedError
    split = names.split(",")
    if not names.strip():
        file, delimiter = file_of(element, folder, expander, stale), _delimiter(element, expander)
        with _opened(file, element) as lines:
            split = next(csv.reader([lines.readline(_HEADER)], delimiter=delimiter), [])
    return [each.strip() for each in split]


def rows_of(element: Element, file: Path) -> int:
    """How many rows a CSV Data Set reads of its file, once through. Raises FeedError."""
    has_header = not element.props.get("variableNames", "").strip()
    is_quoted = element.props.get("quotedData") == "true"
    with _opened(file, element) as lines:
        try:
            plain = (line.strip("\r\n") for line in lines)  # an empty one is an end to JMeter
            rows = sum(1 for row in (csv.reader(lines) if is_quoted else plain) if row)
        except csv.Error:
            raise FeedError from None
    return rows - (has_header or element.props.get("ignoreFirstLine") == "true")


def _opened(file: Path, element: Element) -> TextIO:
    encoding = element.props.get("fileEncoding", "").strip() or "utf-8-sig"
    encoding = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
    try:
        return file.open(encoding=encoding, errors="replace", newline="")
    except (LookupError, OSError):
        raise FeedError from None


def _delimiter(element: Element, expander: Expander) -> str:
    delimiter = expander.expand(element.props.get("delimiter", "")).value
    if delimiter is None:
        raise FeedError
    return "\t" if delimiter == "\\t" else (delimiter or ",")[0]


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
