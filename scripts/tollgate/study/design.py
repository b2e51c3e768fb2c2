"""Reads the design of the study, a row for each cell, and makes the blocks of a run of it.

    experiment,arm,app,users,published,rounds,seconds,lead_s,each,path,answer
    pi,one server,fork,10,50,8,60,0,5,/pi,^Pi: 3
    pi,three servers,balancer,10,50,8,60,0,5,/pi,^Pi: 3
    ...

What each column means says Cell. All cells of an experiment ask for the same path and have the same
number of rounds, so that they can be compared round by round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tollgate.study.blocks import blocks, read_blocks, seconds_of, write_blocks
from tollgate.study.model import Cell
from tollgate.study.rows import COLUMNS, EXPERIMENTS, DesignError, Row, cell_of, read_rows

__all__ = [
    "EXPERIMENTS",
    "DesignError",
    "blocks",
    "only",
    "read_blocks",
    "read_design",
    "seconds_of",
    "shorten",
    "write_blocks",
]

#: What a smoke cuts each block down to.
_SHORT_S = 2
_SHORT_EACH = 2


def read_design(path: str | Path) -> tuple[Cell, ...]:
    """The cells of a design in the file's order.

    Raises DesignError, whose lines name file, row, column, value and the next step.
    """
    rows = read_rows(path, COLUMNS)
    cells: list[Cell] = []
    errors: list[str] = []
    for row in rows:
        try:
            cells.append(cell_of(row))
        except DesignError as error:
            errors += error.errors
    if not errors:
        errors = [*_contradictions(rows, cells), *_incomparable(path, cells)]
    if errors:
        raise DesignError(*errors)
    return tuple(cells)


def _contradictions(rows: Sequence[Row], cells: Sequence[Cell]) -> Iterator[str]:
    """What rows say that earlier ones say otherwise."""
    seen: dict[tuple, str] = {}
    first: dict[tuple, tuple[Cell, str]] = {}
    for row, cell in zip(rows, cells, strict=True):
        key = (cell.experiment, cell.arm, cell.users)
        if key in seen:
            what = f"{cell.experiment}, {cell.arm}, {cell.users} users"
            yield f"{row.place}: repeats the cell of {seen[key]} ({what}): take one of them out"
        seen.setdefault(key, row.place)
        same = [
            ((cell.experiment,), "rounds", "all cells of an experiment have as many"),
            ((cell.experiment,), "path", "all cells of an experiment ask for the same"),
            ((cell.experiment, cell.arm), "app", "an arm is one app"),
        ]
        for of, column, why in same:
            other, place = first.setdefault((*of, column), (cell, row.place))
            if getattr(cell, column) != getattr(other, column):
                yield (
                    f"{row.place}: {column} = {getattr(cell, column)!r} of {', '.join(of)} is "
                    f"{getattr(other, column)!r} at {place}: {why}, so write the same in both"
                )


def _incomparable(path: str | Path, cells: Sequence[Cell]) -> Iterator[str]:
    for experiment in dict.fromkeys(cell.experiment for cell in cells):
        arms = {cell.arm for cell in cells if cell.experiment == experiment}
        if len(arms) < 2:
            yield (
                f"{path}: {experiment} has no arm but {arms.pop()!r}, which leaves nothing to "
                "compare: add rows of another arm"
            )


def only(cells: Sequence[Cell], experiments: Collection[str]) -> tuple[Cell, ...]:
    """The cells of these experiments, in the design's order."""
    return tuple(cell for cell in cells if cell.experiment in experiments)


def shorten(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The design cut down to a smoke: each arm at its least and its most users, in one round of
    short blocks. It shows that everything works, and tells nothing."""
    return tuple(_short(cell) for cell in cells if cell.users in _ends(cells, cell))


def _ends(cells: Sequence[Cell], of: Cell) -> tuple[int, int]:
    users = [c.users for c in cells if (c.experiment, c.arm) == (of.experiment, of.arm)]
    return min(users), max(users)


def _short(cell: Cell) -> Cell:
    if cell.each:
        # Their seconds are a limit, which a slow machine may need.
        return replace(cell, rounds=1, each=min(cell.each, _SHORT_EACH))
    seconds = min(cell.seconds, _SHORT_S)
    return replace(cell, rounds=1, seconds=seconds, lead_s=min(cell.lead_s, seconds / 4))
