"""How long blocks must be to hold enough answers, from what the warm-up measured. Pure.

A closed loop of u users with response times of r seconds gives u * s / r answers in s seconds
(the response time law, P. J. Denning and J. P. Buzen, ACM Computing Surveys 10(3), 1978), so that
one block gives r of its cell: users * seconds / requests. A mean of the times that were written
down would be too short where a block holds but the first answers: there the last of a queue have
waited for the others, and the first for none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tollgate.study.model import Block, Cell, Key
from tollgate.study.published import CLAIMS
from tollgate.study.windows import ANOTHER_GENERATOR, CONNECT, Span

#: Response times that the measured part of a block lasts. An answer needs three of them; the
#: rest is for a warm-up of one block, which a busy moment of the machine may have hit or spared.
TURNS = 5
#: Answers that a block of a claim holds at least. Its first and last cut one of each user off, so
#: that one user's throughput is off by up to 1 / ANSWERS.
ANSWERS = 20
#: What requests may take beyond what they took in the warm-up before a block is cut off.
MARGIN = 2
#: Seconds of a block at most: a round of three such arms takes a minute and a half. A block that
#: ends with its requests may last MARGIN times as long as the design has it.
MOST_S = 30
CLAIMED = {key for claim in CLAIMS for key in claim.cells}


@dataclass(frozen=True)
class Warmed:
    """What the warm-up measured of a cell. response_s: by the response time law, None of another
    generator's. over_s: how long its block took, to the first request of the next one, beyond the
    seconds that it was to last; all of it where the block ends with its requests."""

    experiment: str
    arm: str
    users: int
    response_s: float | None
    over_s: float


@dataclass(frozen=True)
class WarmUp:
    """warm-up.json, for which plans/study.jmx waits. load_s: how long the load was then expected to
    take, the warm-up included."""

    load_s: float
    cells: tuple[Warmed, ...]


def warmed(blocks: Sequence[Block], spans: Iterable[Span]) -> dict[Key, Warmed]:
    """What was measured of each cell in its last block that another one follows; cells without
    requests are not there."""
    spans = list(spans)
    began: dict[str, int] = {}
    for span in spans:
        began[span.block] = min(span.first_ms, began.get(span.block, span.first_ms))
    loads = {span.block: span for span in spans if span.label != CONNECT}
    by_cell = {}
    for block, following in pairwise(blocks):
        number, after = str(block.number), str(following.number)
        if number in loads and after in began:
            took_s = (began[after] - began[number]) / 1000
            by_cell[block.cell.key] = _warmed(block.cell, loads[number], took_s)
    return by_cell


def length_s(spans: Sequence[Span]) -> float:
    """Seconds from the first sample of these spans to the last."""
    return (max(it.last_ms for it in spans) - min(it.first_ms for it in spans)) / 1000


def _warmed(cell: Cell, load: Span, took_s: float) -> Warmed:
    response_s = cell.users * (load.last_ms - load.first_ms) / 1000 / load.requests
    known_s = None if load.label == ANOTHER_GENERATOR else response_s
    over_s = took_s if cell.each else took_s - cell.seconds
    return Warmed(*cell.key, response_s=known_s, over_s=over_s)


def lengthened(cells: Sequence[Cell], warmed: Mapping[Key, Warmed]) -> tuple[Cell, ...]:
    """The cells with blocks as long as they must be, no shorter than the design's and no longer
    than the most. All arms of an experiment at the same number of users get the same, so that
    they are compared alike; the part that is left out grows in proportion."""
    needed: dict[tuple[str, int], float] = {}
    for cell in cells:
        group = cell.experiment, cell.users
        most_s = MARGIN * cell.seconds if cell.each else MOST_S
        mine = min(_needed_s(cell, warmed.get(cell.key)), most_s)
        needed[group] = max(needed.get(group, 0), cell.seconds, mine)
    return tuple(_lasting(cell, math.ceil(needed[cell.experiment, cell.users])) for cell in cells)


def _needed_s(cell: Cell, measured: Warmed | None) -> float:
    if measured is None or measured.response_s is None:
        return 0.0
    if cell.each:
        return MARGIN * cell.each * measured.response_s
    answers = ANSWERS if cell.key in CLAIMED else 0
    window_s = max(TURNS, answers / cell.users) * measured.response_s
    return window_s / (1 - cell.lead_s / cell.seconds)


def _lasting(cell: Cell, seconds: int) -> Cell:
    return replace(cell, seconds=seconds, lead_s=round(cell.lead_s * seconds / cell.seconds, 3))


def takes(cells: Iterable[Cell], warmed: Mapping[Key, Warmed]) -> dict[Key, float]:
    """How many seconds a block of each cell takes, with what lies between it and the next."""
    mine = [(cell, warmed[cell.key]) for cell in cells if cell.key in warmed]
    return {it.key: warm.over_s + (0 if it.each else it.seconds) for it, warm in mine}
