"""With what a comparison sets out after its rehearsal: the labels that both sides answer, the pace,
and what it will probably find. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tollgate.compare import answers, mix, words
from tollgate.compare.answers import AnswersError, Rehearsal
from tollgate.compare.mix import Mix
from tollgate.compare.model import ALL_LABELS, CPU, Requests
from tollgate.compare.pace import MEASURED, PERIOD, UNKNOWN, Pace, fitting
from tollgate.compare.pooled import together
from tollgate.compare.power import REHEARSED_OF_ROW, Power, power_of
from tollgate.compare.record import CompareRecord


@dataclass(frozen=True)
class Schedule:
    """What a plan sends when."""

    labels: Sequence[str]
    """That it has."""
    mix: Mix | None
    """None of one with rates of its own."""
    usual: Mapping[str, int]
    """Its period and lag."""
    fixed: Mapping[str, int]
    """What of them properties set."""
    seed: int = 1
    """Of the sequence of a mix."""


@dataclass(frozen=True)
class Outset:
    """properties: more of them for the plan. warnings, lines: for people."""

    record: CompareRecord
    properties: dict[str, object]
    warnings: list[str]
    lines: list[str]


def set_out(
    record: CompareRecord, schedule: Schedule, seen: Rehearsal, cores: int, share: float
) -> Outset:
    """cores: that the run can use, and of these the share that it may need. Raises AnswersError
    where nothing is left to compare, or CPU time is to decide that says nothing."""
    judged = answers.judge(seen.answers, schedule.labels)
    record, kept = _without_new(record, schedule, judged.left_out)
    if CPU in record.settings.gates and record.cpu_doubt:
        raise AnswersError(f"modules.compare.gates names cpu, but {record.cpu_doubt}: leave it out")
    warnings = [*judged.broken]
    if record.left_out:
        warnings.append(words.left_out(record.left_out))
    if not schedule.usual:
        power = _power_by_answers(record, schedule.labels, seen)
        return Outset(record, {}, warnings, [*words.power(power)])
    pace, properties = _pace(schedule, seen, cores, share)
    if kept:
        properties[mix.PROPERTY] = mix.sequence(kept.weights, schedule.seed)
    power = _power(record, schedule.labels, pace, kept, seen)
    lines = [words.pace(pace, record.weights), *words.power(power), *words.undecidable(power)]
    return Outset(replace(record, pace=pace, power=power), properties, warnings, lines)


def _without_new(
    record: CompareRecord, schedule: Schedule, new: Sequence[str]
) -> tuple[CompareRecord, Mix | None]:
    """Without labels that base does not know, and what comes with them in an arrival."""
    parts = schedule.mix.parts_with(new) if schedule.mix else ()
    left_out = {*new, *(label for it in parts for label in it.labels)}
    chosen = record.settings.labels or schedule.labels
    if chosen and left_out.issuperset(chosen):
        raise AnswersError(f"base answers none of {', '.join(chosen)}: nothing is left to compare")
    record = replace(record, left_out=tuple(it for it in schedule.labels if it in left_out))
    if not schedule.mix:
        return record, None
    kept = schedule.mix.without([it.name for it in parts])
    weights = {it.name: n for it, n in zip(kept.parts, kept.weights, strict=True)}
    return replace(record, weights=weights), kept


def _pace(
    schedule: Schedule, seen: Rehearsal, cores: int, share: float
) -> tuple[Pace, dict[str, object]]:
    usual, fixed = schedule.usual, schedule.fixed
    pace = Pace.of(usual, fixed, cores, share)
    if seen.problem and not fixed:
        pace = replace(pace, why=UNKNOWN)
    if not seen.cost:
        return pace, {}
    fits = fitting(usual, seen.cost, cores, share, is_mix=schedule.mix is not None)
    return replace(pace, period_ms=fits[PERIOD], why=MEASURED, cost=seen.cost), {**fits}


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
    times = 1000 * record.settings.budget_s / max(1, last_ms - half_ms) / 2
    later = Counter(it.label for it in seen.answers if it.end_ms > half_ms)
    by_label = answers.times(seen.answers, labels)
    return _power_of(record, by_label, {label: int(later[label] * times) for label in by_label})


def _power(
    record: CompareRecord, labels: Sequence[str], pace: Pace, kept: Mix | None, seen: Rehearsal
) -> tuple[Power, ...]:
    settings = record.settings
    times = answers.times(seen.answers, [it for it in labels if it not in record.left_out])
    arrivals = 1000 * settings.budget_s / pace.period_ms / 2
    requests = {it: int(arrivals * (kept.share(it) if kept else 1)) for it in times}
    chosen = [it for it in times if it in (settings.labels or times)]
    if kept and len(chosen) > 1:
        (pool,) = together([[times[it]] for it in chosen], REHEARSED_OF_ROW)
        times = {ALL_LABELS: pool} | times
        requests[ALL_LABELS] = sum(requests[it] for it in chosen)
    return _power_of(record, times, requests)


def _power_of(
    record: CompareRecord, times: Mapping[str, Requests], requests: Mapping[str, int]
) -> tuple[Power, ...]:
    looks = record.first_s, record.every_s
    return power_of(record.settings, times, requests, record.processes, looks)
