"""With what a comparison sets out after its rehearsal: the labels that both sides answer, the pace,
and what it will probably find. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tollgate.compare import answers, mix, pace, words
from tollgate.compare.answers import AnswersError, Rehearsal
from tollgate.compare.mix import Mix
from tollgate.compare.model import ALL_LABELS, CPU
from tollgate.compare.pace import Pace
from tollgate.compare.pooled import together
from tollgate.compare.power import REHEARSED_OF_ROW, Power, power_of
from tollgate.compare.record import CompareRecord


@dataclass(frozen=True)
class Schedule:
    """labels: that the plan has. found: what it mixes, None of one with rates of its own. usual,
    fixed: its period and lag, and what of them properties set. seed: of the sequence of a mix."""

    labels: Sequence[str]
    found: Mix | None
    usual: Mapping[str, int]
    fixed: Mapping[str, int]
    seed: int = 1


@dataclass(frozen=True)
class Outset:
    """properties: more of them for the plan. warnings, lines: for people."""

    record: CompareRecord
    properties: dict[str, object]
    warnings: list[str]
    lines: list[str]


def set_out(
    record: CompareRecord, of: Schedule, seen: Rehearsal, cores: int, share: float
) -> Outset:
    """cores: that the run can use, and of these the share that it may need. Raises AnswersError
    where nothing is left to compare, or CPU time is to decide that says nothing."""
    judged = answers.judge(seen.answers, of.labels)
    record, kept = _without_new(record, of, judged.left_out)
    if CPU in record.settings.gates and record.cpu_doubt:
        raise AnswersError(f"modules.compare.gates names cpu, but {record.cpu_doubt}: leave it out")
    warnings = [*judged.broken]
    if record.left_out:
        warnings.append(words.left_out(record.left_out))
    if not of.usual:
        return Outset(
            record, {}, warnings, [*words.power(_power_by_answers(record, of.labels, seen))]
        )
    found, properties = _pace(of, seen, cores, share)
    if kept:
        properties[mix.PROPERTY] = mix.sequence(kept.weights, of.seed)
    record = replace(record, pace=found)
    record = replace(record, power=_power(record, of.labels, kept, seen))
    known = record.power
    lines = [words.pace(found, record.weights), *words.power(known), *words.undecidable(known)]
    return Outset(record, properties, warnings, lines)


def _without_new(
    record: CompareRecord, of: Schedule, new: Sequence[str]
) -> tuple[CompareRecord, Mix | None]:
    """Without labels that base does not know, and what comes with them in an arrival."""
    parts = of.found.parts_with(new) if of.found else ()
    left_out = {*new, *(label for it in parts for label in it.labels)}
    chosen = record.settings.labels or of.labels
    if chosen and left_out.issuperset(chosen):
        raise AnswersError(f"base answers none of {', '.join(chosen)}: nothing is left to compare")
    record = replace(record, left_out=tuple(it for it in of.labels if it in left_out))
    if not of.found:
        return record, None
    kept = of.found.without([it.name for it in parts])
    weights = {it.name: n for it, n in zip(kept.parts, kept.weights, strict=True)}
    return replace(record, weights=weights), kept


def _pace(
    of: Schedule, seen: Rehearsal, cores: int, share: float
) -> tuple[Pace, dict[str, object]]:
    found = Pace.of(of.usual, of.fixed, cores, share)
    if seen.problem and not of.fixed:
        found = replace(found, why=pace.UNKNOWN)
    if not seen.cost:
        return found, {}
    given = pace.fitting(of.usual, seen.cost, cores, share, is_mix=of.found is not None)
    period_ms = given[pace.PERIOD]
    return replace(found, period_ms=period_ms, why=pace.MEASURED, cost=seen.cost), {**given}


def _power_by_answers(
    record: CompareRecord, labels: Sequence[str], seen: Rehearsal
) -> tuple[Power, ...]:
    """Of a plan of a user's own, whose labels are asked as often as in the later half of the
    rehearsal. Nothing where threads are what was randomized. It is no part of the record: as the
    threads of such a plan still come, it decides nothing."""
    ends_ms = sorted(it.end_ms for it in seen.answers)
    if record.is_by_thread or not ends_ms:
        return ()
    half_ms, last_ms = ends_ms[len(ends_ms) // 2], ends_ms[-1]
    budget_ms = 1000 * record.settings.budget_s
    times = {it: own for it, own in answers.times(seen.answers, labels).items() if len(own.row)}
    asked = {
        label: int(
            sum(it.label == label and it.end_ms > half_ms for it in seen.answers)
            * (budget_ms / max(1, last_ms - half_ms) / 2)
        )
        for label in times
    }
    looks = record.first_s, record.every_s
    return power_of(record.settings, times, asked, record.processes, looks)


def _power(
    record: CompareRecord, labels: Sequence[str], kept: Mix | None, seen: Rehearsal
) -> tuple[Power, ...]:
    settings, compared = record.settings, [it for it in labels if it not in record.left_out]
    times = {it: own for it, own in answers.times(seen.answers, compared).items() if len(own.row)}
    arrivals = 1000 * settings.budget_s / record.pace.period_ms / 2
    asked = {it: int(arrivals * (kept.share(it) if kept else 1)) for it in times}
    chosen = [it for it in times if it in (settings.labels or times)]
    if kept and len(chosen) > 1:
        (pool,) = together([[times[it]] for it in chosen], REHEARSED_OF_ROW)
        times = {ALL_LABELS: pool} | times
        asked[ALL_LABELS] = sum(asked[it] for it in chosen)
    looks = record.first_s, record.every_s
    return power_of(settings, times, asked, record.processes, looks)
