"""The answers of pi one by one: when each came since its block began, and how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import numpy as np

from tollgate.samples.requests import block_answers, require
from tollgate.samples.store import Store, using
from tollgate.study.model import Block

EXPERIMENT = "pi"
#: Answers of an arm, at most: more dots hide each other, and make the page large.
MOST_ANSWERS = 3000


@dataclass(frozen=True)
class Answers:
    """The answers of one arm in its measured rounds, by the time at which they came.

    seconds: float[N], since the first request of the answer's block began. elapsed_ms: int[N].
    failed: bool[N]. rounds: how many rounds these are, the first of `of_rounds`.
    """

    arm: str
    seconds: np.ndarray
    elapsed_ms: np.ndarray
    failed: np.ndarray
    rounds: int
    of_rounds: int


def pi_series(source: Store | Path, blocks: Sequence[Block]) -> tuple[Answers, ...]:
    """The answers of each arm of pi at its most users; whole rounds, as many as MOST_ANSWERS take.

    Raises JtlError.
    """
    mine = [it for it in blocks if it.cell.experiment == EXPERIMENT and it.round > 0]
    if not mine:
        return ()
    most = max(block.cell.users for block in mine)
    chosen = [block for block in mine if block.cell.users == most]
    with using(source) as store:
        require(store, ("block",), "only a run of the study has it: name one under reports/")
        rows = block_answers(store, EXPERIMENT, [block.number for block in chosen])
    arms = dict.fromkeys(block.cell.arm for block in chosen)
    return tuple(_arm(arm, [it for it in chosen if it.cell.arm == arm], rows) for arm in arms)


def _arm(arm: str, blocks: Sequence[Block], rows: np.ndarray) -> Answers:
    """rows: int[N, 4] of block, start_ms, elapsed_ms, failed, ascending by block, then start."""
    numbers = [block.number for block in sorted(blocks, key=attrgetter("round"))]
    parts = [_since_began(rows[rows[:, 0] == number]) for number in numbers]
    # All rounds that fit, but for the first, which is there in any case.
    shown = max(1, int((np.cumsum([*map(len, parts)]) <= MOST_ANSWERS).sum()))
    answers = np.concatenate(parts[:shown])
    answers = answers[np.argsort(answers[:, 0], kind="stable")]
    seconds, elapsed, failed = answers[:, 0] / 1000, answers[:, 1], answers[:, 2] != 0
    return Answers(arm, seconds, elapsed, failed, shown, len(blocks))


def _since_began(part: np.ndarray) -> np.ndarray:
    """int[N, 3] of a block's rows: when the answer came, in ms since the block began; the rest."""
    start, elapsed = part[:, 1], part[:, 2]
    began = start.min() if len(start) else 0
    return np.column_stack([start - began + elapsed, elapsed, part[:, 3]])
