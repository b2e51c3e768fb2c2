"""How far a run of the study has come, and how long it takes."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from tollgate.base.text import duration_text
from tollgate.study.design import seconds_of
from tollgate.study.model import Block, Key

#: Bytes at the end of kpi.jtl that hold a whole record, even one with a long message.
TAIL_BYTES = 1 << 16
COLUMN = "block"


def last_block(jtl: Path) -> int | None:
    """The number of the block of the last whole record; None where there is none yet."""
    try:
        with jtl.open("rb") as opened:
            header = opened.readline().decode("utf-8", "replace")
            opened.seek(max(opened.tell(), jtl.stat().st_size - TAIL_BYTES))
            tail = opened.read().decode("utf-8", "replace")
    except OSError:
        return None
    names = next(csv.reader([header]), [])
    # JMeter writes in blocks of its own: the last line may be half of one.
    for line in reversed(tail[: tail.rfind("\n") + 1].splitlines()):
        fields = next(csv.reader([line]), [])
        record = dict(zip(names, fields, strict=False))
        # Anything else is one of the lines of a message.
        if len(fields) == len(names) and record.get(COLUMN, "").isdigit():
            return int(record[COLUMN])
    return None


def announce(blocks: Sequence[Block], seed: int, takes: Mapping[Key, float] | None = None) -> str:
    """`40 blocks of sum, pi, in random order (seed 21), about 3 min 20 s`; `a warm-up of 8 blocks
    of ...` of round 0."""
    experiments = ", ".join(dict.fromkeys(block.cell.experiment for block in blocks))
    count = f"{len(blocks)} blocks" if blocks[-1].round else f"a warm-up of {len(blocks)} blocks"
    length = duration_text(seconds_of(blocks, takes))
    return f"{count} of {experiments}, in random order (seed {seed}), about {length}"


def position_text(
    blocks: Sequence[Block], number: int, takes: Mapping[Key, float] | None = None
) -> str:
    """`kittens, round 3 of 10; block 312 of 640, about 6 min 5 s left`, for a block under way."""
    block = blocks[number - 1]
    of = f"round {block.round} of {block.cell.rounds}" if block.round else "warm-up"
    left = f"about {duration_text(seconds_of(blocks[number - 1 :], takes))} left"
    return f"{block.cell.experiment}, {of}; block {number} of {len(blocks)}, {left}"
