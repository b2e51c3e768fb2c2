"""Reads the design of the study, a row for each cell, and makes the blocks of a run of it.

plans/study.jmx reads the blocks from a file.

    experiment,arm,app,users,published,rounds,seconds,lead_s,each,path,answer
    pi,one server,fork,10,50,8,60,0,5,/pi,^Pi: 3
    pi,three servers,balancer,10,50,8,60,0,5,/pi,^Pi: 3
    ...

What each column means says Cell. All cells of an experiment ask for the same path and have the same
number of rounds, so that they can be compared round by round.

After a warm-up of all of them (`warm_up`), each experiment runs to its end before the next begins,
in rounds: a *randomised complete block design* (Fisher, "The Design of Experiments", 1935) in which
a round, our unit of resampling, has each cell once, in an order of its own. What drifts more slowly
than a round lasts hits all cells of the round alike; what drifts faster hits each of them as often
as any other.
"""

from __future__ import annotations

import csv
import math
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

from tollgate.base.csv_file import FieldError, Row, Values, parse_rows, read_rows
from tollgate.base.text import FileError, closest, shown
from tollgate.study.model import AUTOCANNON, CROSSCHECK, JMETER, Block, Cell, Key

#: Those that plans/study.jmx has a sampler for.
EXPERIMENTS = ("calculate", "sum", "search", "kittens", "pi", CROSSCHECK)
#: The columns of a cell, by the names that Cell has for them.
COLUMNS = tuple(field.name for field in fields(Cell))


class DesignError(FileError):
    """A design, or its blocks, that can't be used: one line for each thing wrong, in `errors`."""


def _whole(least: int, advice: str) -> Callable[[str], int]:
    """A reader of whole numbers from `least` on."""

    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or int(text) < least:
            raise FieldError(f"is no whole number from {least} on: {advice}")
        return int(text)

    return read


def _seconds(text: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII) or not math.isfinite(float(text)):
        raise FieldError("is no number from 0 on: write seconds such as 0.25")
    return float(text)


def _experiment(text: str) -> str:
    if text not in EXPERIMENTS:
        raise FieldError(f"is none that plans/study.jmx has: take one of {', '.join(EXPERIMENTS)}")
    return text


def _name(text: str) -> str:
    if not text or not text.isprintable():
        raise FieldError("is no name: write one on a single line")
    return text


def _path(text: str) -> str:
    if not re.fullmatch(r"/[!-~]*", text) or text.startswith("//"):
        raise FieldError("is no path: begin it with a slash, and write a blank in it as %20")
    return text


def _answer(text: str) -> str:
    if not text or not text.isprintable():
        raise FieldError("is no regular expression: write one on a single line that answers match")
    try:
        re.compile(text)
    except re.error as error:
        raise FieldError(f"is no regular expression ({error}): correct it") from None
    return text


_PARSERS: dict[str, Callable[[str], object]] = {
    "experiment": _experiment,
    "arm": _name,
    "app": _name,
    "users": _whole(1, "write how many send requests at a time"),
    "published": _whole(0, "write the published requests, 0 for none"),
    "rounds": _whole(1, "write how often the cell is measured"),
    "seconds": _whole(1, "JMeter's Runtime Controller knows no less than a second"),
    "lead_s": _seconds,
    "each": _whole(0, "write the requests of each user, 0 for as many as fit"),
    "path": _path,
    "answer": _answer,
}

#: What a smoke cuts each block down to.
_SHORT_S = 2
_SHORT_EACH = 2
#: What the file has for `each` where a cell has 0: a Loop Controller's word for endless.
ENDLESS = "-1"
_BLOCK_PARSERS: dict[str, Callable[[str], object]] = {
    "block": _whole(1, "number the blocks"),
    "round": _whole(0, "number the rounds"),
    **_PARSERS,
    "each": lambda text: 0 if text == ENDLESS else _PARSERS["each"](text),
    "port": str,
}
#: Between two blocks, seconds: for the last answers, which take as long as an answer does under
#: that load, and for all threads to begin the next. Measured over the design on two cores.
_BETWEEN_S = 0.1
#: What a request takes of a block that ends with its requests, about, before the warm-up measured
#: it: an answer of pi on one core takes 0.15 s, and several servers share them.
_REQUEST_S = 0.13


def read_design(path: str | Path) -> tuple[Cell, ...]:
    """The cells of a design in the file's order.

    Raises DesignError, whose lines name file, row, column, value and the next step.
    """
    rows, values = _read(path, _PARSERS)
    cells = tuple(Cell(**each) for each in values)
    errors = [*_contradictions(rows, cells), *_incomparable(path, cells)]
    if errors:
        raise DesignError(*errors)
    return cells


def _read(
    path: str | Path, parsers: Mapping[str, Callable[[str], object]]
) -> tuple[list[Row], list[Values]]:
    """The rows below the header, and their values; the columns may stand in any order."""
    header, *rows = read_rows(path, DesignError, ",".join(parsers))
    errors = [*_header_errors(header, parsers)]
    if errors:
        raise DesignError(*errors)
    return rows, parse_rows(rows, header.fields, parsers, DesignError, _lead_problem)


def _header_errors(header: Row, columns: Collection[str]) -> Iterator[str]:
    for name in dict.fromkeys(header.fields):
        if name not in columns:
            close = closest(name, columns)
            meant = f"; did you mean {close!r}?" if close else ""
            yield f"{header.place}: column {shown(name)} is unknown: take it out{meant}"
        elif header.fields.count(name) > 1:
            yield f"{header.place}: column {name!r} stands there twice: take one of them out"
    for name in columns:
        if name not in header.fields:
            yield f"{header.place}: has no column {name!r}: add it"


def _lead_problem(values: Values) -> str | None:
    lead_s, seconds = values["lead_s"], values["seconds"]
    if lead_s < seconds:
        return None
    return (
        f"lead_s = {lead_s:g} leaves nothing of a block of {seconds} s to be measured: write less"
    )


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
        if not cell.by_jmeter and cell.arm != AUTOCANNON:
            what = f"{row.place}: arm = {shown(cell.arm)} is no load generator"
            yield f"{what}: write {JMETER} or {AUTOCANNON}"
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
    short blocks. It shows that everything works, and measures nothing."""
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


def blocks(cells: Sequence[Cell], seed: int) -> tuple[Block, ...]:
    """The blocks of a run in their order, each as long as the design has it."""
    first = warm_up(cells, seed)
    return (*first, *rounds(cells, seed, len(first)))


def warm_up(cells: Sequence[Cell], seed: int) -> tuple[Block, ...]:
    """Round 0 of all experiments, from which the others get their length (study/lengths.py); none
    of an experiment of a single round, which is a smoke without results.

    A cell of the fewest users opens it, cold, and closes it: before that load the plan waits for
    the blocks that follow.
    """
    order = [cell for round_, cell in _turns(cells, seed) if round_ == 0]
    ends = sorted((cell for cell in order if cell.by_jmeter), key=lambda cell: cell.users)[:1]
    return tuple(Block(at, 0, it) for at, it in enumerate([*ends, *order, *ends], start=1))


def rounds(cells: Sequence[Cell], seed: int, after: int = 0) -> tuple[Block, ...]:
    """The blocks that are measured: experiments as they first appear, and of each its rounds 1 to
    R of all its cells, each round in random order. after: how many blocks come before.

    An experiment's order depends on the seed and its cells, not on what else is measured.
    """
    turns = (turn for turn in _turns(cells, seed) if turn[0])
    return tuple(Block(at, round_, it) for at, (round_, it) in enumerate(turns, start=after + 1))


def _turns(cells: Sequence[Cell], seed: int) -> Iterator[tuple[int, Cell]]:
    """(round, cell) of one experiment after the other, each from round 0 on, or its only one."""
    for experiment in dict.fromkeys(cell.experiment for cell in cells):
        mine = [cell for cell in cells if cell.experiment == experiment]
        # Sorted by random(): of all that the module draws, the one sequence that Python promises to
        # keep for a seed from version to version. A sort by it is a permutation of equal chances.
        draw = random.Random(f"{seed} {experiment}")  # noqa: S311 - no secret
        for round_ in range(0 if mine[0].rounds > 1 else 1, mine[0].rounds + 1):
            for cell in sorted(mine, key=lambda _: draw.random()):
                yield round_, cell


def seconds_of(of: Sequence[Block], takes: Mapping[Key, float] | None = None) -> float:
    """About how long these blocks take, in seconds. takes: by cell, where that is known."""
    known = takes or {}
    return sum((known.get(block.cell.key) or _expected_s(block.cell) for block in of), 0.0)


def _expected_s(cell: Cell) -> float:
    if not cell.each:
        return cell.seconds + _BETWEEN_S
    return min(cell.seconds, cell.users * cell.each * _REQUEST_S) + _BETWEEN_S


def write_blocks(
    path: str | Path, of: Sequence[Block], ports: Mapping[str, int], append: bool = False
) -> None:
    """Write the blocks as plans/study.jmx reads them, its variables named by the header.

    ports: by app. `each` is -1 in the file where a cell has 0. append: behind those that are there,
    which JMeter has open. Raises DesignError for an app that has no port, before anything is
    written.
    """
    missing = dict.fromkeys(b.cell.app for b in of if b.cell.app not in ports)
    if missing:
        raise DesignError(
            *(
                f"{path}: the app {app!r} has no port: name one of ecosystem.config.js"
                for app in missing
            )
        )
    with Path(path).open("a" if append else "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _BLOCK_PARSERS, lineterminator="\n")
        if not append:
            writer.writeheader()
        for block in of:
            cell = block.cell
            row = {name: getattr(cell, name) for name in COLUMNS}
            row |= {"lead_s": f"{cell.lead_s:g}", "each": cell.each or ENDLESS}
            row |= {"block": block.number, "round": block.round, "port": ports[cell.app]}
            writer.writerow(row)


def read_blocks(path: str | Path) -> tuple[Block, ...]:
    """The blocks that write_blocks has written. Raises DesignError."""
    found = []
    for number, values in enumerate(_read(path, _BLOCK_PARSERS)[1], start=1):
        if values["block"] != number:
            raise DesignError(
                f"{path}: block {values['block']} stands where {number} is due: this is not the "
                "file that the study wrote; run it again"
            )
        cell = Cell(**{name: values[name] for name in COLUMNS})
        found.append(Block(number, values["round"], cell))
    return tuple(found)
