"""All the looks that a comparison takes at its samples, the same live as afterwards. Pure.

The moments follow from the settings and from what earlier looks decided, never from when the file
happened to be read: so `tollgate judge` comes to what the run came to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tollgate.compare.decide import close, look, next_look_s
from tollgate.compare.model import Blocks, Gate
from tollgate.compare.record import CompareRecord
from tollgate.stats.sequential import LEAST_STEP


def judge_blocks(
    record: CompareRecord, blocks: Sequence[Blocks], seconds: float, live: bool
) -> Gate:
    """The gate after every look that `seconds` of measuring have room for.

    blocks: one for each label, of at least so many seconds. live: whether the run goes on. If not,
    a run that ended between two looks gets a last one at its end, and what is still open then is
    inconclusive; what came after the run had decided to end (decided_s) does not count. Without
    time for a single look the gate has no findings.
    """
    settings = record.settings
    if record.decided_s is not None:
        seconds = min(seconds, record.decided_s)
    blocks = prepared(record, blocks)
    gate = record.first_gate
    while (at_s := next_look_s(gate, record.every_s, record.first_s)) is not None:
        if at_s > seconds:
            break
        gate = _looked(gate, blocks, at_s)
    if live:
        return gate
    last_s = gate.looks_s[-1] if gate.looks_s else 0.0
    end_s = min(seconds, settings.budget_s)
    if not gate.finished and end_s - last_s >= LEAST_STEP * settings.budget_s:
        gate = _looked(gate, blocks, end_s)
    return close(gate)


def prepared(record: CompareRecord, blocks: Sequence[Blocks]) -> list[Blocks]:
    """With what the record says of the seconds, of the processes and of the coin."""
    beside = [each.beside(record.background_cpu) for each in blocks]
    cpu = record.cpu_times(len(beside[0].base.n)) if beside else None
    return [replace(each, repeats=record.repeats, cpu=cpu) for each in beside]


def course(
    record: CompareRecord, blocks: Sequence[Blocks], looks_s: Sequence[float]
) -> Iterator[Gate]:
    """The gate after each of these looks, taken anew."""
    gate, blocks = record.first_gate, prepared(record, blocks)
    for at_s in looks_s:
        gate = _looked(gate, blocks, at_s)
        yield gate


def _looked(gate: Gate, blocks: Sequence[Blocks], at_s: float) -> Gate:
    return look(gate, [each.first(int(at_s)) for each in blocks], at_s)
