"""Keeps the plan that a run was made with in the run's folder, so that it can be judged again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lxml import etree

from tollgate.plan.jmx import parsed

FOLDER = "plan"


def copy(plan: Path, run: Path, name: str) -> str:
    """Copy a plan and the fragments it includes; returns the copy's path relative to the run.

    All of them stand to each other as they did: a plan that includes `../shared/a.jmx` is copied
    with its own folder's name. What can't be found, or is named by an absolute path, is left out:
    reading the copy then says what is missing. name: of a folder for them, where another plan of
    the run has put an unlike file in the same place.
    """
    files = with_includes(plan)
    base = Path(os.path.commonpath([file.parent for file in files]))
    folder = Path(FOLDER)
    if any(_is_unlike(run / folder / it.relative_to(base), it) for it in files):
        folder /= name
    for file in files:
        target = run / folder / file.relative_to(base)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return f"{folder.as_posix()}/{files[0].relative_to(base).as_posix()}"


def _is_unlike(target: Path, file: Path) -> bool:
    return target.exists() and target.read_bytes() != file.read_bytes()


def with_includes(plan: Path) -> list[Path]:
    """A plan and all that it includes by a path relative to it; each once, the plan first."""
    plan = plan.absolute()
    found = [plan]
    for file in found:
        try:
            tree = parsed(file)
        except etree.XMLSyntaxError:
            continue
        for element in tree.iterfind(".//stringProp[@name='IncludeController.includepath']"):
            path = Path(element.text or "")
            included = Path(os.path.normpath(plan.parent / path))
            if not path.is_absolute() and included.is_file() and included not in found:
                found.append(included)
    return found
