"""What evidence.py gathers about thread groups that sent nothing, or ended before their time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from tollgate.judge.ended_early import (
    SampledThreads,
    Thread,
    early_ends,
)
from tollgate.judge.facts import ExecutionFacts
from tollgate.judge.missing_samples import silent_parts
from tollgate.plan.bounds import stops_of
from tollgate.plan.jmx import read_tree
from tollgate.plan.model import Plan
from tollgate.plan.read import expander_of
from tollgate.record.manifest import Execution as Planned
from tollgate.samples.counts import Jtl
from tollgate.samples.store import Store
from tollgate.samples.threads import ThreadRows, longest_gaps, thread_groups, thread_rows
from tollgate.schedule.threads import bounded_groups, named_alike, unscheduled_groups


def with_silent(
    facts: ExecutionFacts, plan: Plan, store: Store, jtl: Jtl, until_s: float | None
) -> ExecutionFacts:
    """The facts with what of the plan left no sample, of which jtl has the counts; as they are
    where the run was interrupted or stopped early, for then much may be. until_s: when the load was
    ended before its time. Raises JtlError and OSError."""
    if facts.interrupted or facts.stopped_by:
        return facts
    labels = {*jtl.samplers, *jtl.transactions}
    found = silent_parts(plan, labels, lambda: thread_groups(store), until_s)
    return replace(facts, silent=found.faults, notes=(*facts.notes, *found.doubts))


def with_early_ends(
    facts: ExecutionFacts,
    plan: Plan,
    planned: Planned,
    store: Store,
    jtl: Jtl,
    until_s: float | None,
    parents: Collection[str],
) -> ExecutionFacts:
    """The facts with the groups of the plan that ended before their time; as they are where the run
    was interrupted or stopped early, and where JMeter did not end by itself: whoever ended it ended
    them as well. until_s: when the load was ended on purpose. parents: labels of parent
    samples. Raises JtlError and OSError."""
    was_ended = facts.interrupted or facts.stopped_by or facts.ended_by_force
    if was_ended or facts.generator_exit or not unscheduled_groups(plan):
        return facts
    root = read_tree(plan.path, planned.properties)
    stops = stops_of(root, expander_of(root, planned.properties))
    found = early_ends(plan, stops, _came(plan, planned, store, jtl, parents), until_s)
    return replace(facts, early_ends=found.faults, notes=(*facts.notes, *found.doubts))


def _came(
    plan: Plan, planned: Planned, store: Store, jtl: Jtl, parents: Collection[str]
) -> SampledThreads:
    rows = thread_rows(store, parents, lambda name: bool(_looping(plan, name)))
    threads = None if rows is None else _by_place(plan, rows, jtl.origin_ms)
    labels = {**{name: jtl.transactions[name] for name in parents}, **jtl.samplers}

    def gaps() -> dict[int, float]:
        found = longest_gaps(store, parents) if threads else {}
        return {place: gap for name, gap in found.items() for place in _looping(plan, name)}

    return SampledThreads(
        whole=Thread(
            {name: label.counts.total for name, label in labels.items()},
            (jtl.last_end_ms - jtl.origin_ms) / 1000,
        ),
        threads=threads,
        failed=[name for name, label in labels.items() if label.counts.errors],
        ended_s=None if planned.ended is None else planned.ended - jtl.origin_ms / 1000,
        gaps=gaps,
        log=_logged(plan, planned.thread_ends),
        start_is_known=jtl.test_starts_ms is not None,
    )


def _logged(
    plan: Plan, ends: Mapping[str, Mapping[str, int]] | None
) -> dict[int, Counter[str]] | None:
    """By place in plan.groups. JMeter's log may have lost letters beyond ASCII."""
    if ends is None:
        return None
    found: dict[int, Counter[str]] = {}
    groups = [
        replace(it, name=_ascii(it.name, "?"), name_pattern=_ascii(it.name_pattern, "."))
        for it in plan.groups
    ]
    for name, words in ends.items():
        for place in _named(replace(plan, groups=tuple(groups)), _ascii(name, "?")):
            found.setdefault(place, Counter()).update(words)
    return found


def _ascii(text: str, other: str) -> str:
    return re.sub(r"[^\x00-\x7f]", other, text)


def _named(plan: Plan, name: str) -> list[int]:
    return named_alike(plan, range(len(plan.groups)), name)


def _looping(plan: Plan, name: str) -> list[int]:
    """Places of the thread groups that may have a thread of this name, but for those in which each
    arrival has one of its own."""
    return [it for it in _named(plan, name) if not plan.groups[it].is_open_model]


def _by_place(
    plan: Plan, rows: Mapping[str, tuple[ThreadRows, ...]], origin_ms: int
) -> dict[int, dict[int, Thread]] | None:
    """By place in plan.groups and number of the thread; None where names do not tell which group a
    thread is of."""
    found: dict[int, dict[int, Thread]] = {}
    has_strangers = False
    for name, its_rows in rows.items():
        places = _named(plan, name)
        if len(places) > 1:
            return None
        has_strangers |= not places
        if its_rows:
            threads = _threads(its_rows, origin_ms)
            is_whole = plan.groups[places[0]].length_s is not None
            found[places[0]] = {1: _together(threads)} if is_whole else threads
    if has_strangers and any(place not in found for place in bounded_groups(plan)):
        return None
    return found


def _together(threads: Mapping[int, Thread]) -> Thread:
    samples = sum((Counter(each.samples) for each in threads.values()), Counter())
    return Thread(samples, max(each.last_end_s for each in threads.values()))


def _threads(rows: tuple[ThreadRows, ...], origin_ms: int) -> dict[int, Thread]:
    samples: dict[int, Counter[str]] = {}
    ends: dict[int, int] = {}
    for row in rows:
        samples.setdefault(row.number, Counter())[row.label] += row.n
        ends[row.number] = max(row.last_end_ms, ends.get(row.number, row.last_end_ms))
    return {
        number: Thread(counts, (ends[number] - origin_ms) / 1000)
        for number, counts in samples.items()
    }
