"""Everything that the study says, from what was measured of each cell: claims beside their answers.

A claim is answered only by a measurement that could have said the contrary: with all of its cells,
enough rounds, no failed request, and a generator that did not hold back the throughput. Everything
else is `cannot tell`, and the reason says why. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from tollgate.base.text import format_number
from tollgate.study.model import (
    JMETER,
    Answer,
    Cell,
    CellData,
    CellResult,
    Check,
    Claim,
    Estimate,
    Key,
    StudyOutage,
    StudyResult,
)
from tollgate.study.published import CLAIMS, Published, Rule, StudyMachine, other_work
from tollgate.study.record import StudyRun
from tollgate.study.scaling import BASELINES, PAIRS, comparisons, concurrency_performance, curves
from tollgate.study.stats import MIN_BLOCKS, cell_result, estimate, widest
from tollgate.study.windows import BALANCER, BEHIND_IT
from tollgate.study.words import AGREES, CANNOT_TELL, DISAGREES, interval, number, users

#: Answers that end outside of a block's measured seconds are not counted; where one takes a greater
#: part of these, those that are counted are the fast ones.
SLOW = 1 / 3


def claims(
    data: Mapping[Cell, CellData], results: Sequence[CellResult], machine: StudyMachine, seed: int
) -> tuple[Claim, ...]:
    """An answer for every row of published.CLAIMS, also for those that this run did not measure.

    data, results: of the same cells.
    """
    measured = {cell.key: data[cell] for cell in data}
    by_key = {result.cell.key: result for result in results}
    return tuple(_claim(row, measured, by_key, machine, seed) for row in CLAIMS)


def answer_of(estimate: Estimate, rule: Rule) -> Answer:
    """`agrees`, `disagrees` or `cannot tell` for an estimate with an interval."""
    if estimate.low is None or estimate.high is None:
        return CANNOT_TELL
    if rule.low <= estimate.low and estimate.high <= rule.high:
        return AGREES
    if estimate.high < rule.below or estimate.low > rule.above:
        return DISAGREES
    return CANNOT_TELL


def _claim(
    row: Published,
    measured: Mapping[Key, CellData],
    by_key: Mapping[Key, CellResult],
    machine: StudyMachine,
    seed: int,
) -> Claim:
    missing = [key for key in row.cells if key not in measured or not by_key[key].requests]
    if missing:
        experiment = row.cells[0][0]
        is_part = any(own == experiment for own, _, _ in measured)
        lacking = _names(missing) if is_part else f"this run left {experiment} out"
        nothing = Estimate(None, note=f"not measured: {lacking}")
        return Claim(row, nothing, CANNOT_TELL, nothing.note)
    cells = [measured[key] for key in row.cells]
    quantity = estimate(partial(row.quantity, machine), cells, seed)
    obstacles = [*_obstacles([by_key[key] for key in row.cells])]
    if machine.cores < row.cores:
        obstacles.append("one core has nothing that several processes could share")
    obstacles += other_work(row.cells, measured)
    if quantity.low is None:
        obstacles.insert(0, quantity.note)
    if obstacles:
        reason = f"{'; '.join(obstacles)}; {_value(row, quantity)} is no answer"
        return Claim(row, quantity, CANNOT_TELL, reason)
    headrooms = [by_key[key].bottleneck.headroom for key in row.cells]
    wide = widest(partial(row.quantity, machine), cells, headrooms, quantity, seed)
    answer = answer_of(quantity, row.rule)
    context = [row.context.format(machine=machine), *_performances(row, measured, seed)]
    if answer not in (CANNOT_TELL, answer_of(wide, row.rule)):
        answer = CANNOT_TELL
        context.insert(0, _held_back(row, wide, [by_key[key] for key in row.cells], machine))
    reason = "; ".join(filter(None, [_verdict(row, quantity), *context]))
    return Claim(row, quantity, answer, reason)


def _held_back(
    row: Published, wide: Estimate, results: Sequence[CellResult], machine: StudyMachine
) -> str:
    """Why an interval on one side is no answer: the generator took the cores that it needed."""
    held = [
        f"{_names([result.cell.key])} got {result.cpu['service']:.2f} cores beside JMeter's "
        f"{result.cpu['generator']:.2f}{_others(result, machine)}, and could use more"
        for result in results
        if result.bottleneck.headroom > 1
    ]
    ends = f"{_apart(wide.low, row.rule)} to {_apart(wide.high, row.rule)}"
    return f"but {' and '.join(held)}: with these it could be anything from {ends}"


def _others(result: CellResult, machine: StudyMachine) -> str:
    others = machine.cores - sum(it or 0.0 for it in result.cpu.values())
    return f" and others' {others:.2f}" if others >= 0.05 else ""


def _obstacles(results: Sequence[CellResult]) -> Iterator[str]:
    """What keeps the cells of a claim from answering it."""
    for result in results:
        if result.failed:
            share = f"{result.failed:,} of {result.requests:,}"
            yield f"{share} requests failed ({_names([result.cell.key])})"
        cell, mean = result.cell, result.metrics["mean"].value
        if not cell.each and mean and mean / 1000 > SLOW * (cell.seconds - cell.lead_s):
            answers = f"{format_number(mean)} ms each ({_names([cell.key])})"
            yield f"a block holds too few answers of {answers}"
        if result.bottleneck.who == "generator":
            yield f"the generator was the bottleneck ({_names([result.cell.key])})"
        elif result.bottleneck.who == "unknown":
            reason = result.bottleneck.reason
            yield f"whether the generator was the bottleneck is not known: {reason}"


def _verdict(row: Published, estimate: Estimate) -> str:
    """`0.61, 95 % interval 0.58 to 0.63, is wholly below 0.98`."""
    rule = row.rule
    agreed, refused = _inside(rule), _outside(rule, estimate)
    where = {
        AGREES: f"is wholly {agreed}",
        DISAGREES: f"is wholly {refused}",
        CANNOT_TELL: f"is neither wholly {agreed} nor wholly {refused}",
    }[answer_of(estimate, rule)]
    ends = " to ".join(_apart(end, rule) for end in (estimate.low, estimate.high))
    return f"{_value(row, estimate)}, 95 % interval {ends}, {where}"


def _apart(value: float | None, rule: Rule) -> str:
    """In digits enough to see on which side of the rule's limits it lies."""
    if value is None:
        return "unknown"
    limits = filter(math.isfinite, (rule.low, rule.high, rule.below, rule.above))
    return max((format_number(value, against=limit) for limit in limits), key=len)


def _value(row: Published, estimate: Estimate) -> str:
    if estimate.value is None:
        return "what is not known"
    return f"{format_number(estimate.value)} {row.unit}".strip()


def _inside(rule: Rule) -> str:
    low, high = format_number(rule.low), format_number(rule.high)
    if math.isinf(rule.high):
        return f"above {low}"
    return f"below {high}" if math.isinf(rule.low) else f"within {low} to {high}"


def _outside(rule: Rule, estimate: Estimate) -> str:
    sides = [("below", rule.below), ("above", rule.above)]
    if answer_of(estimate, rule) == DISAGREES and estimate.high is not None:
        sides = sides[:1] if estimate.high < rule.below else sides[1:]
    return " or ".join(f"{side} {format_number(end)}" for side, end in sides if math.isfinite(end))


def _performances(row: Published, measured: Mapping[Key, CellData], seed: int) -> Iterator[str]:
    """The concurrency performance of the row's arms, in the terms in which it was published."""
    baseline, users = row.cells[0], row.cells[-1][2]
    for arm in row.performances:
        key = (baseline[0], arm, users)
        if key in measured:
            cells = [measured[baseline], measured[key]]
            performance = estimate(concurrency_performance, cells, seed)
            ends = interval(performance) or performance.note
            yield f"concurrency performance of {arm} {number(performance.value)} ({ends})"


def _names(keys: Iterable[Key]) -> str:
    return " and ".join(f"{arm} at {users(count)}" for _, arm, count in keys)


#: Apps whose work is done by further processes, as many as may run at once.
WITH_CHILDREN = ("search-per-search", "search-per-carrier")
_ARMS = (*BASELINES, *(arm for arm, _ in PAIRS), JMETER)


def build(
    data: Mapping[Cell, CellData],
    checks: tuple[Check, ...],
    outages: Sequence[StudyOutage],
    machine: StudyMachine,
    how: StudyRun,
) -> StudyResult:
    """The whole study. data: of all cells, those without a block that counts as well."""
    mine, seed = in_order(data), how.seed
    usable = {cell: usable_cores(cell.app, machine) for cell in mine}
    results = tuple(cell_result(it, machine.cores, usable[of], seed) for of, it in mine.items())
    return StudyResult(
        seed=seed,
        cores=machine.cores,
        cells=results,
        comparisons=comparisons(mine, seed),
        curves=curves(mine, seed),
        claims=claims(mine, results, machine, seed),
        checks=checks,
        outages=tuple(outages),
        notes=tuple(_notes(mine, how)),
    )


def in_order(data: Mapping[Cell, CellData]) -> dict[Cell, CellData]:
    """The cells that JMeter drove: by experiment as they ran, arm (one process first) and users."""
    experiments = [*dict.fromkeys(cell.experiment for cell in data)]
    arms = [*_ARMS, *sorted({cell.arm for cell in data} - {*_ARMS})]

    def place(cell: Cell) -> tuple[int, int, int]:
        return experiments.index(cell.experiment), arms.index(cell.arm), cell.users

    return {cell: data[cell] for cell in sorted((it for it in data if it.by_jmeter), key=place)}


def usable_cores(app: str, machine: StudyMachine) -> int:
    """How many cores an app could use at most if it were alone: one for each Node process."""
    cores, instances = machine.cores, machine.instances
    if app in WITH_CHILDREN:
        return cores
    names = [name for name in instances if name.startswith(BEHIND_IT)]
    served_by = names if app == BALANCER else [app]
    return max(1, min(cores, sum(instances.get(name, 1) for name in served_by)))


def _notes(cells: Iterable[Cell], how: StudyRun) -> Iterator[str]:
    """What keeps the study from saying more."""
    if how.short:
        yield "this was the short study: it shows that everything works, its figures prove nothing"
    fewest = min((cell.rounds for cell in cells), default=MIN_BLOCKS)
    if fewest < MIN_BLOCKS:
        rounds = "one round" if fewest == 1 else f"{fewest} rounds"
        yield f"there are no answers from {rounds}: they need {MIN_BLOCKS}"
    yield from how.left_out
