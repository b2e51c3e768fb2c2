"""The settings under modules.study, and what of its design a run measures. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tollgate.base.fields import Count, Whole
from tollgate.base.settings import Names, SettingError, Word, configured, read
from tollgate.base.text import did_you_mean
from tollgate.study.design import only, shorten
from tollgate.study.model import AUTOCANNON, CROSSCHECK, Cell
from tollgate.study.stats import MIN_BLOCKS
from tollgate.study.windows import ANOTHER_GENERATOR

#: What app/settings.js and app/balancer/settings.js read that changes what an arm is. The apps of
#: ecosystem.config.js set it where an arm wants it; PM2 would hand the caller's to all others.
ENVIRONMENT = (
    *("USE_RANDOM_DELAY", "USE_CHILD_PROCESSES", "KITTENS_LEAK", "PI_POINTS", "LOG_REQUESTS"),
    *("INJECT_DELAY_MS", "BALANCER_UPSTREAMS", "BALANCER_TIMEOUT_MS"),
)
#: What slows the work of all arms alike, as a slower machine would.
SLOWER = "INJECT_WORK_PERCENT"
DEFAULT_SEED = 21


class SetupError(SettingError):
    """One line: what can't be measured and what to do."""


@configured
class StudySettings:
    """The published experiments, measured here; without a design none is."""

    design: Word | None = None
    """The file that says what each arm is."""
    seed: Count = DEFAULT_SEED
    """Of the order in which the arms take turns."""
    short: bool = False
    """Whether to measure for about a minute only, as a smoke test without conclusions."""
    rounds: Whole | None = None
    """In place of the design's."""
    experiments: Names = ()
    """Those that are to run; by default all."""


def read_settings(settings: Mapping[str, object]) -> StudySettings:
    """Raises SettingError, and SetupError for settings that do not go together."""
    found = read(StudySettings, settings, "modules.study")
    if found.short and (found.rounds or 0) >= MIN_BLOCKS:
        raise SetupError(
            f"short is true and rounds is {found.rounds}: so many rounds answer claims, for which "
            "the short design is too short; leave one of them out"
        )
    return found


def refuse_environment(environment: Mapping[str, str]) -> None:
    """Raises SetupError for a variable that would make an arm another one; empty counts as unset,
    as it does for the apps."""
    for name in ENVIRONMENT:
        if environment.get(name):
            raise SetupError(f"{name} is {environment[name]!r}, which changes the study: unset it")


def chosen(cells: Sequence[Cell], wanted: StudySettings) -> tuple[Cell, ...]:
    """The cells of a run: all, or some experiments; shortened, or with other rounds, as wanted.
    Raises SetupError."""
    known = [*dict.fromkeys(cell.experiment for cell in cells)]
    for name in wanted.experiments:
        if name not in known:
            raise SetupError(f"experiments names {name!r}: {did_you_mean(name, known)}")
    found = only(cells, wanted.experiments) if wanted.experiments else cells
    found = shorten(found) if wanted.short else found
    return tuple(replace(cell, rounds=wanted.rounds or cell.rounds) for cell in found)


def without_missing_autocannon(
    cells: Sequence[Cell], version: str | None
) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """(the cells that can be measured here, why the others can't).

    version: of autocannon, None where it is not installed. Without it JMeter would be checked
    against nothing.
    """
    kept = tuple(cell for cell in cells if version is not None or cell.experiment != CROSSCHECK)
    if len(kept) == len(cells):
        return kept, ()
    why = f"{AUTOCANNON} is not installed, so that {CROSSCHECK} is left out: run `tollgate install`"
    return kept, (why,)


def labels_of(cells: Sequence[Cell]) -> set[str]:
    """The labels that the plan gives the requests of these cells."""
    return {cell.experiment if cell.by_jmeter else ANOTHER_GENERATOR for cell in cells}
