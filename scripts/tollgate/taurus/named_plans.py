"""The plans of a user's own that a run names, and the files beside them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import javaproperties
from bzt import TaurusConfigError

from tollgate.base.settings import SettingError
from tollgate.plan.properties import leave_out

USAGE = "PLAN=path/to/their.jmx tollgate run -plan"
#: Of criteria, one a line, beside a plan of the same name.
CRITERIA = ".criteria"
_UNFIT = re.compile(r"[^\w .-]+")


@dataclass(frozen=True)
class NamedPlan:
    """name: of its execution. path: absolute. criteria: of the file beside it, empty without."""

    name: str
    path: Path
    criteria: tuple[str, ...] = ()


def named_plans(patterns: Sequence[str], only: str) -> list[NamedPlan]:
    """Plans by paths and patterns, each once. only: what a single one is called. Raises
    TaurusConfigError."""
    paths = list(dict.fromkeys(path for each in patterns for path in _paths(each.strip())))
    if not paths:
        raise TaurusConfigError(f"plan: PLAN says which one: {USAGE}")
    for folder in dict.fromkeys(it.parent for it in paths):
        if not os.access(folder, os.W_OK):
            raise TaurusConfigError(
                f"plan: {folder} can't be written to, and Taurus keeps its copy of the plan "
                "beside it while it runs: copy the folder to a place of yours"
            )
    names = [only] if len(paths) == 1 else _names(paths)
    return [NamedPlan(name, it, _criteria(it)) for name, it in zip(names, paths, strict=True)]


def _paths(named: str) -> Iterator[Path]:
    if not named:
        return
    path = Path(named).expanduser().absolute()
    # Taurus's own copies lie beside plans that are under way.
    pattern = str(path.relative_to(path.anchor))
    paths = [path] if path.is_file() else sorted(Path(path.anchor).glob(pattern))
    paths = [it for it in paths if it.is_file() and not it.name.startswith("modified_")]
    if not paths:
        raise TaurusConfigError(f"plan: PLAN is {named!r}, and there is no such file: {USAGE}")
    yield from paths


def _names(paths: Sequence[Path]) -> list[str]:
    """By their files, and by their folders where two files are alike."""
    stems = Counter(it.stem for it in paths)
    stated = (it.stem if stems[it.stem] == 1 else f"{it.parent.name}-{it.stem}" for it in paths)
    names = [_UNFIT.sub("-", it).lstrip(" .-") or "plan" for it in stated]
    twice = Counter(names)
    return [name if twice[name] == 1 else f"{name} {n}" for n, name in enumerate(names, 1)]


def _criteria(plan: Path) -> tuple[str, ...]:
    beside = plan.with_suffix(CRITERIA)
    if not beside.is_file():
        return ()
    try:
        lines = map(str.strip, beside.read_text(encoding="utf-8-sig").splitlines())
    except UnicodeDecodeError:
        raise TaurusConfigError(f"plan: {beside} is no UTF-8: save it as UTF-8") from None
    criteria = tuple(it for it in lines if it and not it.startswith("#"))
    if not criteria:
        raise TaurusConfigError(f"plan: {beside} holds no criterion: write one, such as p95>300ms")
    return criteria


def properties_of(files: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """(what files of JMeter's properties say, as its option -q does: a later one replaces an
    earlier one's; lines on what of them is left out). Raises SettingError."""
    together: dict[str, str] = {}
    lines: list[str] = []
    for name in files:
        try:
            with Path(name).expanduser().open("rb") as file:
                properties = javaproperties.load(file)
        except OSError as problem:
            raise SettingError(
                f"modules.plan.property-files: {name!r}: {problem.strerror}: correct its path"
            ) from None
        except ValueError as problem:
            raise SettingError(f"{name}: is no file of properties ({problem})") from None
        lines += filter(None, [leave_out(properties, name)])
        together |= properties
    return together, lines
