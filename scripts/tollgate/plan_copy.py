"""Keeps the plan that a run was made with in the run's folder, so that it can be judged again."""

from __future__ import annotations

import shutil
from pathlib import Path

from lxml import etree

from tollgate.jmx import PlanError

FOLDER = "plan"


def copy(plan: Path, run: Path) -> str:
    """Copy a plan and the fragments it includes; returns the copy's path relative to the run.

    What is included from outside of the plan's folder, or can't be found, is left out: reading
    the copy then says what is missing. Raises PlanError where another plan of the run has put an
    unlike file in the same place.
    """
    for file in _with_includes(plan.resolve(), plan.resolve().parent, []):
        target = run / FOLDER / file.relative_to(plan.resolve().parent)
        if target.exists() and target.read_bytes() != file.read_bytes():
            raise PlanError(f"{file}: another plan of this run has an unlike file of that name")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return f"{FOLDER}/{plan.name}"


def _with_includes(file: Path, base: Path, found: list[Path]) -> list[Path]:
    found.append(file)
    try:
        tree = etree.parse(str(file))
    except etree.XMLSyntaxError:
        return found
    for element in tree.iterfind(".//stringProp[@name='IncludeController.includepath']"):
        included = (base / (element.text or "")).resolve()
        if included.is_file() and included.is_relative_to(base) and included not in found:
            _with_includes(included, base, found)
    return found
