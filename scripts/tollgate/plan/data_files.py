"""The files that a plan reads: JMeter looks for them in its folder when its threads begin."""

from __future__ import annotations

import codecs
import csv
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from tollgate.plan.expressions import Expander
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


def ends(element: Element, expander: Expander) -> bool:
    """Whether it is a CSV Data Set that does not begin anew at the end of its file."""
    recycle = expander.expand(element.props.get("recycle", "")).value
    return element.kind == CSV_DATA_SET and recycle == "false"


def stops_threads(element: Element, expander: Expander) -> bool:
    """Whether a CSV Data Set ends threads at the end of its file."""
    return expander.expand(element.props.get("stopThread", "")).value == "true"


def file_of(element: Element, folder: Path, expander: Expander) -> Path | None:
    """What a CSV Data Set reads; None where that is not known, or not there."""
    name = (expander.expand(element.props.get("filename", "")).value or "").strip()
    return folder / name if name and (folder / name).is_file() else None


def columns_of(element: Element, folder: Path, expander: Expander) -> list[str] | None:
    """The variables that a CSV Data Set sets: those that it names, or the header of its file does.
    None where that is not known."""
    names = expander.expand(element.props.get("variableNames", "")).value
    if names is None or names.strip():
        return names and [each.strip() for each in names.split(",")]
    file = file_of(element, folder, expander)
    delimiter = _delimiter(element, expander)
    if file is None or delimiter is None:
        return None
    with _opened(file, element) as lines, suppress(csv.Error):
        header = next(csv.reader([lines.readline(_HEADER)], delimiter=delimiter[0]), [])
        return [each.strip() for each in header]
    return None


def _delimiter(element: Element, expander: Expander) -> str | None:
    written = expander.expand(element.props.get("delimiter", "")).value
    return None if written is None else written.replace("\\t", "\t") or ","


def _has_header(element: Element) -> bool:
    names = element.props.get("variableNames", "").strip()
    return not names or element.props.get("ignoreFirstLine") == "true"


def rows_of(element: Element, file: Path) -> int:
    """How many rows a CSV Data Set reads of its file, once through; very many for one that is no
    CSV, of which that is not known."""
    is_quoted = element.props.get("quotedData") == "true"
    with _opened(file, element) as lines, suppress(csv.Error):
        plain = (line.strip("\r\n") for line in lines)  # an empty one is an end to JMeter
        rows = sum(1 for row in (csv.reader(lines) if is_quoted else plain) if row)
        return rows - _has_header(element)
    return sys.maxsize


def broken_rows(root: Element, folder: Path, expander: Expander) -> Iterator[str]:
    """One line for each CSV Data Set whose file has a row that does not fill the columns which the
    plan reads: for an empty one JMeter sends EOF, and what a short one lacks stays as it was.
    Source: JMeter 5.6.3, CSVDataSet.iterationStart."""
    every = [*root.walk_placed()]
    texts = {text for it in every for text in (*it.props.values(), *(text for _, text in it.pairs))}
    texts |= {text for it in every for _, _, text in it.references}
    for element in every if not may_be_written(root) else ():
        names, file = columns_of(element, folder, expander), file_of(element, folder, expander)
        delimiter = _delimiter(element, expander)
        if element.kind != CSV_DATA_SET or not (names and file and delimiter):
            continue
        uses = [(f"${{{it}}}", f'"{it}"', f"'{it}'") for it in names]
        is_read = [any(use in text for use in each for text in texts) for each in uses]
        is_quoted, empty = _is_quoted_in_vain(element, file), 0
        for number, row in _numbered_rows(element, file, delimiter) if any(is_read) else ():
            empty = empty or (0 if row else number)
            why = _why_broken(row, names, is_read, delimiter) or _cut_off(element, row, names)
            if is_quoted and row and row[0][:1] == row[0][-1:] == '"':
                why = f"has values in quotes, which JMeter sends as well: {_QUOTED}"
            if number == 1 and row == names:
                why = "is the names of columns: tick 'Ignore first line', or name no variables"
            if empty and (row or not ends(element, expander)):
                why = "is empty, which JMeter takes for a row: remove it"
            if why:
                place = f"line {empty or number} of {os.path.normpath(file)}"
                yield f"{place}, which {element.title} reads, {why}"
                break


def _why_broken(row: list[str], names: list[str], is_read: list[bool], delimiter: str) -> str:
    """Empty for a row that is not, and for one without fields."""
    by_quotes = row
    if len(row) > len(names):
        with suppress(csv.Error):
            by_quotes = next(csv.reader([delimiter.join(row)], delimiter=delimiter[0]), row)
    if len(by_quotes) == len(names) < len(row):
        return f"has {delimiter!r} in quotes, at which JMeter parts it: {_QUOTED}"
    lacking = [name for at, name in enumerate(names) if at >= len(row) and is_read[at]]
    if not (row and lacking):
        return ""
    return (
        f"has {len(row)} of {len(names)} columns apart by {delimiter!r}, so that ${{{lacking[0]}}} "
        "stays as it was before: complete it, or name the file's own delimiter"
    )


def _cut_off(element: Element, row: list[str], names: list[str]) -> str:
    """Why a row has values without a column, where its file has a header."""
    more = [each for each in row[len(names) :] if each.strip()]
    if element.props.get("variableNames", "").strip() or not more:
        return ""
    return f"has {len(row)} fields for {len(names)} columns: put what is one value in quotes"


def _is_quoted_in_vain(element: Element, file: Path) -> bool:
    """Whether its header alone, which JMeter reads by another rule, loses its quotes."""
    has_names = element.props.get("variableNames", "").strip()
    with _opened(file, element) as lines:
        return lines.read(1) == '"' and not has_names and element.props.get("quotedData") != "true"


def _numbered_rows(element: Element, file: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The number of the line in which each row ends, with its fields; fewer of what is no CSV."""
    with _opened(file, element) as lines, suppress(csv.Error):
        if _has_header(element):
            lines.readline()
        if element.props.get("quotedData") == "true":
            reader = csv.reader(lines, delimiter=delimiter[0])
            yield from ((reader.line_num + _has_header(element), row) for row in reader)
            return
        for number, line in enumerate(lines, 1 + _has_header(element)):
            text = line.rstrip("\r\n")
            yield number, text.split(delimiter) if text else []


def _opened(file: Path, element: Element) -> TextIO:
    encoding = element.props.get("fileEncoding", "").strip() or "utf-8"
    with suppress(LookupError):
        is_utf_8 = codecs.lookup(encoding).name == "utf-8"
        return file.open(encoding="utf-8-sig" if is_utf_8 else encoding, errors="replace")
    return file.open(encoding="latin-1")


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
