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
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import AfterValidator, Field, FiniteFloat, TypeAdapter, ValidationError

from tollgate.base.csv_file import FieldError, Row, Values, parse_rows, read_rows
from tollgate.base.text import FileError, shown
from tollgate.study.model import AUTOCANNON, CROSSCHECK, JMETER, Block, Cell, Key

#: Those that plans/study.jmx has a sampler for.
EXPERIMENTS = ("calculate", "sum", "search", "kittens", "pi", CROSSCHECK)
#: The columns of a cell, by the names that Cell has for them.
COLUMNS = tuple(Cell.__dataclass_fields__)


class DesignError(FileError):
    """A design, or its blocks, that can't be used: one line for each thing wrong, in `errors`."""


def _line(text: str) -> str:
    if not text or not text.isprintable():
        raise ValueError("write something on a single line")
    return text


def _path(text: str) -> str:
    if not re.fullmatch(r"/[!-~]*", text) or text.startswith("//"):
        raise ValueError("begin it with a slash, and write a blank in it as %20")
    return text


def _expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"it is no regular expression ({error})") from None
    return text


_Line = Annotated[str, AfterValidator(_line)]
#: What a design may have in its columns, beside what Cell says of them.
_TYPES = get_type_hints(Cell, include_extras=True) | {
    "experiment": Literal[EXPERIMENTS],
    "arm": _Line,
    "app": _Line,
    "lead_s": Annotated[FiniteFloat, Field(ge=0)],
    "path": Annotated[str, AfterValidator(_path)],
    "answer": Annotated[_Line, AfterValidator(_expression)],
}


def _reader(kind: Any) -> Callable[[str], Any]:
    """Reads a column's text as a value of a type."""
    adapter = TypeAdapter(kind)

    def read(text: str) -> Any:
        try:
            return adapter.validate_python(text)
        except ValidationError as error:
            why = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise FieldError(f"can't be used: {why}") from None

    return read


_READERS = {name: _reader(of) for name, of in _TYPES.items()}

#: What a smoke cuts each block down to.
_SHORT_S = 2
_SHORT_EACH = 2
#: What the file has for `each` where a cell has 0: a Loop Controller's word for endless.
ENDLESS = "-1"
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
    header, *rows = read_rows(path, DesignError, ",".join(COLUMNS))
    if sorted(header.fields) != sorted(COLUMNS):
        raise DesignError(f"{header.place}: the columns must be {', '.join(COLUMNS)}, each once")
    values = parse_rows(rows, header.fields, _READERS, DesignError, _lead_problem)
    cells = tuple(Cell(**each) for each in values)
    errors = [*_contradictions(rows, cells), *_incomparable(path, cells)]
    if errors:
        raise DesignError(*errors)
    return cells


def _lead_problem(values: Values) -> str | None:
    lead_s, seconds = values["lead_s"], values["seconds"]
    if lead_s < seconds:
        return None
    return f"lead_s = {lead_s:g} leaves nothing of a block of {seconds} s to measure: write less"


def _contradictions(rows: Sequence[Row], cells: Sequence[Cell]) -> Iterator[str]:
    """What rows say that earlier ones say otherwise."""
    first: dict[tuple[object, ...], tuple[Cell, str]] = {}
    for row, cell in zip(rows, cells, strict=True):
        other, place = first.setdefault(cell.key, (cell, row.place))
        if other is not cell:
            what = f"{cell.experiment}, {cell.arm}, {cell.users} users"
            yield f"{row.place}: repeats the cell of {place} ({what}): take one of them out"
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
            yield (f"{path}: {experiment} has only the arm {arms.pop()!r}: add rows of another one")


def only(cells: Sequence[Cell], experiments: Collection[str]) -> tuple[Cell, ...]:
    """The cells of these experiments, in the design's order."""
    return tuple(cell for cell in cells if cell.experiment in experiments)


def shorten(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The design cut down to a smoke: each arm at its least and its most users, in one round of
    short blocks. It shows that everything works, and measures nothing."""
    return tuple(_short(cell) for cell in cells if cell.users in _ends(cells, cell))


def _ends(cells: Sequence[Cell], cell: Cell) -> tuple[int, int]:
    users = [c.users for c in cells if (c.experiment, c.arm) == (cell.experiment, cell.arm)]
    return min(users), max(users)


def _short(cell: Cell) -> Cell:
    if cell.each:
        # Their seconds are a limit, which a slow machine may need.
        return replace(cell, rounds=1, each=min(cell.each, _SHORT_EACH))
    seconds = min(cell.seconds, _SHORT_S)
    return replace(cell, rounds=1, seconds=seconds, lead_s=min(cell.lead_s, seconds / 4))


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


def seconds_of(blocks: Sequence[Block], takes: Mapping[Key, float] | None = None) -> float:
    """About how long these blocks take, in seconds. takes: by cell, where that is known."""
    known = takes or {}
    return sum((known.get(block.cell.key) or _expected_s(block.cell) for block in blocks), 0.0)


def _expected_s(cell: Cell) -> float:
    if not cell.each:
        return cell.seconds + _BETWEEN_S
    return min(cell.seconds, cell.users * cell.each * _REQUEST_S) + _BETWEEN_S


def write_blocks(
    path: str | Path, blocks: Sequence[Block], ports: Mapping[str, int], append: bool = False
) -> None:
    """Write the blocks as plans/study.jmx reads them, its variables named by the header.

    ports: by app. `each` is -1 in the file where a cell has 0. append: behind those that are there,
    which JMeter has open.
    """
    with Path(path).open("a" if append else "w", encoding="utf-8", newline="") as file:
        names = ("block", "round", *COLUMNS, "port")
        writer = csv.DictWriter(file, names, lineterminator="\n")
        if not append:
            writer.writeheader()
        for block in blocks:
            cell = block.cell
            row = {name: getattr(cell, name) for name in COLUMNS}
            row |= {"lead_s": f"{cell.lead_s:g}", "each": cell.each or ENDLESS}
            row |= {"block": block.number, "round": block.round, "port": ports[cell.app]}
            writer.writerow(row)


def read_blocks(path: str | Path) -> tuple[Block, ...]:
    """The blocks that write_blocks has written. Raises DesignError."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            blocks = tuple(map(_block, csv.DictReader(file, strict=True)))
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise DesignError(f"{path}: can't be read ({error}); run the study again") from None
    if [block.number for block in blocks] != [*range(1, len(blocks) + 1)]:
        raise DesignError(f"{path}: is not the file that the study wrote; run it again")
    return blocks


def _block(row: Mapping[str, str]) -> Block:
    texts = {**row, "each": "0" if row["each"] == ENDLESS else row["each"]}
    cell = Cell(**{name: read(texts[name]) for name, read in _READERS.items()})
    return Block(int(row["block"]), int(row["round"]), cell)
