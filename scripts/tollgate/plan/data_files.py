"""The files that a plan reads: JMeter looks for them in its folder when its threads begin."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import CSV_DATA_SET, Element, read_tree
from tollgate.plan.variables import running_expander_of


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
