"""The files of the plan's CSV Data Sets: JMeter opens each when its threads begin."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tollgate.plan.jmx import CSV_DATA_SET, read_tree
from tollgate.plan.variables import running_expander_of


def missing(path: Path, properties: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """(CSV Data Set, file) where the file can't be read. Relative names are read from the folder of
    the plan. A name that the plan itself sets while it runs is not known, and a plan with a setUp
    thread group may write its files first: neither counts. Raises PlanError."""
    root = read_tree(path, properties)
    if any(each.kind == "SetupThreadGroup" for each in root.walk()):
        return
    expander, folder = running_expander_of(root, properties), path.absolute().parent
    for each in root.walk():
        for written in each.files if each.kind == CSV_DATA_SET else ():
            name = (expander.expand(written).value or "").strip()
            if name and not os.access(folder / name, os.R_OK):
                yield each.title, folder / name
