"""When the blocks of a study were under load, which of them count, and in what windows. Pure.

A block counts if the load was the design's from its first to its last request and all of its
workers lived through it. One that does not is left out with the reason; samples that contradict the
design itself, so that what was measured is unknown, are an error.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tollgate.base.text import shown
from tollgate.study.model import Block, Cell, StudyOutage

#: Label of the one sample of a block in which another load generator sent the requests.
ANOTHER_GENERATOR = "another generator"
#: Label of the requests by which the users of a block connect, before its load.
CONNECT = "connect"
#: By which the times of a block may be off: JMeter sets its clock anew every five seconds, and
#: begins to count a block's seconds a moment before the first request. A lead_s is longer.
TOLERANCE_MS = 100
BALANCER, BEHIND_IT = "balancer", "pi-"


class StudyDataError(ValueError):
    """Samples that contradict the design. One line: field, value, what is wrong, next step."""


@dataclass(frozen=True)
class Span:
    """What one block's samples with one label say. block: as it stands in the JTL. users: how many
    threads sent them. first_ms, last_ms: first start and last end, epoch milliseconds."""

    block: str
    label: str
    users: int
    first_ms: int
    last_ms: int
    requests: int


@dataclass(frozen=True)
class Window:
    """Requests that end in [from_ms, to_ms), epoch milliseconds, count for the block.

    length_s is the measured time: to the last end, where `each` bounds the block.
    """

    block: Block
    from_ms: float
    to_ms: float
    length_s: float


def windows(
    blocks: Sequence[Block],
    spans: Iterable[Span],
    outages: Sequence[StudyOutage] = (),
    origin_s: float = 0.0,
) -> tuple[list[Window], dict[Cell, tuple[str, ...]]]:
    """The window of each block that counts, and for each cell why its other blocks don't.

    Round 0 has no window and is left out. origin_s: zero of the outages' seconds, since the epoch.
    Raises StudyDataError.
    """
    by_block = _by_block(blocks, spans)
    _check_order(by_block)
    counted: list[Window] = []
    planned = [block for block in blocks if block.round]
    # A run that ended in its warm-up has planned no other blocks.
    left_out: dict[Cell, list[str]] = {block.cell: [] for block in planned or blocks}
    for block in sorted(planned, key=lambda block: block.round):
        span = by_block.get(block.number)
        why = _left_out(block, span, outages, origin_s)
        if span is None or why:
            left_out[block.cell].append(f"round {block.round}: {why}")
        else:
            counted.append(_window(block, span))
    return counted, {cell: tuple(reasons) for cell, reasons in left_out.items()}


def away_ms(outage: StudyOutage, origin_s: float) -> tuple[float, float]:
    """From when to when a worker was away, in epoch milliseconds; infinite where it did not come
    back. In whole ones, as the watch took them: those of a request may be equal."""
    from_s, to_s = outage["from_s"], outage["to_s"]
    from_ms = round((origin_s + from_s) * 1000)
    if to_s is None:
        return from_ms, math.inf
    # A successor may be online before: a reload starts it first.
    return from_ms, max(from_ms, round((origin_s + to_s) * 1000))


def _by_block(blocks: Sequence[Block], spans: Iterable[Span]) -> dict[int, Span]:
    """The load of each block that has samples, by its number, checked one by one."""
    designed = {str(block.number): block for block in blocks}
    by_block: dict[int, Span] = {}
    for span in spans:
        block = designed.get(span.block)
        if block is None:
            raise _error(span, f"{span.requests} samples of a block that blocks.csv does not have")
        if span.label == CONNECT:
            continue
        if span.label not in (block.cell.experiment, ANOTHER_GENERATOR):
            what = f"samples with the label {shown(span.label)} in a block of"
            raise _error(span, f"{what} {shown(block.cell.experiment)}")
        if block.number in by_block:
            raise _error(span, "samples both of JMeter and of another generator")
        if span.label != ANOTHER_GENERATOR:
            _check_load(block, span)
        by_block[block.number] = span
    return by_block


def _check_load(block: Block, span: Span) -> None:
    cell = block.cell
    if span.users > cell.users or (span.users < cell.users and not _ended_early(block, span)):
        raise _error(span, f"{span.users} users sent requests where the design has {cell.users}")
    if cell.each and span.requests > cell.users * cell.each:
        meant = f"{cell.users} x {cell.each} are the design's"
        raise _error(span, f"{span.requests} requests where {meant}")


def _check_order(by_block: Mapping[int, Span]) -> None:
    """Refuses blocks that overlap: then none of the two was under the load that it stands for."""
    for one, other in itertools.pairwise(by_block[number] for number in sorted(by_block)):
        overlap = one.last_ms - other.first_ms
        if overlap > TOLERANCE_MS:
            problem = f"began {overlap} ms before block {one.block} had ended"
            raise _error(other, f"{problem}: the barrier of plans/study.jmx did not hold")


def _left_out(
    block: Block, span: Span | None, outages: Sequence[StudyOutage], origin_s: float
) -> str:
    if span is None:
        return "no samples, the run ended before"
    if span.label == ANOTHER_GENERATOR:
        return "another generator sent the requests"
    if _ended_early(block, span):
        lasted = (span.last_ms - span.first_ms) / 1000
        return f"the load ended too early, after {lasted:.1f} s and {span.requests} requests"
    for outage in outages:
        from_ms, to_ms = away_ms(outage, origin_s)
        meets = from_ms <= span.last_ms and to_ms >= span.first_ms
        app, target = outage["app"], block.cell.app
        if meets and (app == target or (target == BALANCER and app.startswith(BEHIND_IT))):
            return f"worker {outage['worker']} of {outage['app']} died"
    return ""


def _ended_early(block: Block, span: Span) -> bool:
    """Whether the block ended before its time, with requests left to send: an interruption cut it
    off, or JMeter, still cold, began to send long after it began to count the seconds."""
    cell = block.cell
    done = cell.each and span.requests >= cell.users * cell.each
    return not done and span.last_ms < span.first_ms + 1000 * cell.seconds - TOLERANCE_MS


def _window(block: Block, span: Span) -> Window:
    cell = block.cell
    if cell.each:
        length_s = (span.last_ms - span.first_ms) / 1000
        return Window(block, span.first_ms, span.last_ms + 1, length_s)
    from_ms, to_ms = (span.first_ms + 1000 * it for it in (cell.lead_s, cell.seconds))
    return Window(block, from_ms, to_ms, cell.seconds - cell.lead_s)


def _error(span: Span, problem: str) -> StudyDataError:
    help_ = "kpi.jtl and blocks.csv are not of one run of the study as it is: run it again"
    return StudyDataError(f"block = {shown(span.block)}: {problem}; {help_}")
