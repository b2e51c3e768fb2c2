"""What a person is told about a study before and while it runs. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tollgate.study.design import seconds_of
from tollgate.study.model import Block


def announce(blocks: Sequence[Block], seed: int) -> str:
    """`40 blocks of sum, pi, in random order (seed 21), about 3 min`."""
    experiments = ", ".join(dict.fromkeys(block.cell.experiment for block in blocks))
    length = length_text(seconds_of(blocks))
    return f"{len(blocks)} blocks of {experiments}, in random order (seed {seed}), about {length}"


def position_text(blocks: Sequence[Block], number: int) -> str:
    """`kittens, round 3 of 10; block 312 of 640, about 6 min left`, for a block under way."""
    block = blocks[number - 1]
    rounds = f"round {block.round} of {block.cell.rounds}" if block.round else "warm-up"
    left = f"about {length_text(seconds_of(blocks[number:]))} left"
    return f"{block.cell.experiment}, {rounds}; block {number} of {len(blocks)}, {left}"


def length_text(seconds: float) -> str:
    """`6 min`, `30 s`: whole minutes or tens of seconds, rounded up: nobody knows it better."""
    if seconds <= 50:
        return f"{max(1, math.ceil(seconds / 10))}0 s"
    return f"{math.ceil(seconds / 60)} min"
