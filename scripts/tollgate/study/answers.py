"""From what was measured of each cell to everything that the study says. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tollgate.study.claims import claims
from tollgate.study.model import CROSSCHECK, JMETER, Cell, CellData, Check, Study
from tollgate.study.record import StudyRun
from tollgate.study.resampling import MIN_BLOCKS
from tollgate.study.rules import Machine
from tollgate.study.scaling import BASELINES, PAIRS, comparisons, curves, experiments_of
from tollgate.study.stats import cell_result
from tollgate.study.windows import BALANCER, BEHIND_IT

#: Apps whose work is done by further processes, as many as may run at once.
WITH_CHILDREN = ("search-per-search", "search-per-carrier")
_ARMS = (*BASELINES, *(arm for arm, _ in PAIRS), JMETER)


@dataclass(frozen=True)
class Ran:
    """Where and how the study ran. cores: of the machine; instances: of each app by its name."""

    cores: int
    instances: Mapping[str, int]
    how: StudyRun


def build(
    data: Mapping[Cell, CellData],
    checks: tuple[Check, ...],
    outages: Sequence[Mapping[str, Any]],
    ran: Ran,
) -> Study:
    """The whole study. data: of all cells, those without a block that counts as well."""
    mine = in_order(data)
    seed = ran.how.seed
    results = tuple(
        cell_result(found, ran.cores, usable_cores(cell.app, ran), seed)
        for cell, found in mine.items()
    )
    machine = Machine(ran.cores, ran.instances.get("cluster", ran.cores))
    return Study(
        seed=seed,
        cores=ran.cores,
        experiments=tuple(dict.fromkeys(cell.experiment for cell in mine)),
        cells=results,
        comparisons=comparisons(mine, seed),
        curves=curves(mine, seed),
        claims=claims(mine, results, machine, seed),
        checks=checks,
        outages=tuple(dict(outage) for outage in outages),
        notes=tuple(_notes(mine, ran.how)),
    )


def in_order(data: Mapping[Cell, CellData]) -> dict[Cell, CellData]:
    """The cells that JMeter drove: by experiment as they ran, arm (one process first) and users."""
    experiments = [*dict.fromkeys(cell.experiment for cell in data)]
    arms = [*_ARMS, *sorted({cell.arm for cell in data} - {*_ARMS})]

    def place(cell: Cell) -> tuple[int, int, int]:
        return experiments.index(cell.experiment), arms.index(cell.arm), cell.users

    mine = (it for it in data if it.experiment != CROSSCHECK or it.arm == JMETER)
    return {cell: data[cell] for cell in sorted(mine, key=place)}


def usable_cores(app: str, ran: Ran) -> int:
    """How many cores an app could use at most if it were alone: one for each Node process."""
    if app in WITH_CHILDREN:
        return ran.cores
    names = [name for name in ran.instances if name.startswith(BEHIND_IT)]
    served_by = names if app == BALANCER else [app]
    return max(1, min(ran.cores, sum(ran.instances.get(name, 1) for name in served_by)))


def _notes(cells: Iterable[Cell], how: StudyRun) -> Iterator[str]:
    """What keeps the study from saying more."""
    cells = [*cells]
    if how.short:
        yield "this was the short study: it shows that everything works, its figures prove nothing"
    fewest = min((cell.rounds for cell in cells), default=MIN_BLOCKS)
    if fewest < MIN_BLOCKS:
        rounds = "one round" if fewest == 1 else f"{fewest} rounds"
        yield f"there are no answers from {rounds}: they need {MIN_BLOCKS}"
    yield from how.left_out
    for experiment in experiments_of(cells):
        if not {cell.arm for cell in cells if cell.experiment == experiment} & {*BASELINES}:
            arms = ", ".join(BASELINES)
            yield f"{experiment} has no concurrency performance: none of its arms is {arms}"
