"""What evidence.py gathers about requests that had no answer when the load was ended."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from tollgate.base.text import format_duration
from tollgate.judge.facts import LabelData, MeasuredExecution
from tollgate.judge.missing_samples import LoadEnd, OmittedRequests, correct_coordinated_omission
from tollgate.plan.model import Plan, ThreadGroup
from tollgate.plan.threads import groups_before, is_done
from tollgate.record.manifest import Execution as Planned
from tollgate.samples.counts import Jtl
from tollgate.samples.store import Store
from tollgate.samples.threads import Key, Sent, ThreadRows, read_sent, thread_rows
from tollgate.schedule.model import Unanswered
from tollgate.schedule.threads import closed_groups, senders
from tollgate.stats.bins import Bins
from tollgate.stats.counts import Counts
from tollgate.stats.totals import COLUMNS, Totals

#: In the place of a response code.
NO_ANSWER = "no answer before the load was ended"
#: Seconds without a sample that need no reason.
SILENCE_S = 1.0


def with_waits(
    execution: MeasuredExecution,
    plan: Plan,
    planned: Planned,
    store: Store,
    jtl: Jtl,
    bins: Bins,
    is_complete: bool,
) -> MeasuredExecution:
    """The execution with requests that its threads waited for in vain, or could not send for it,
    among its failures. is_complete: whether JMeter wrote down whatever had ended. Raises JtlError
    and OSError."""
    ended = planned.stop_requested_at or (planned.ended if execution.facts.interrupted else None)
    if ended is None:
        return execution
    if not is_complete or "threadName" not in store.layout:
        return _silent(execution, plan, planned, jtl)
    parents = [
        name
        for (name, is_from_controller), data in execution.labels.items()
        if is_from_controller and not data.is_transaction
    ]
    ends_ms, is_lost = (ended * 1000, ended * 1000), planned.ended_by_force
    found = _omitted_by_group(execution.labels, plan, store, jtl, ends_ms, parents, is_lost)
    for groups, omitted in found:
        if omitted.requests:
            execution = _with_omitted(execution, groups, omitted, ended * 1000, jtl, bins)
    return execution


def omitted_requests(
    labels: Mapping[Key, LabelData],
    plan: Plan,
    store: Store,
    jtl: Jtl,
    until_s: tuple[float, float],
    bins: Bins,
    parents: Collection[str],
) -> tuple[Unanswered, ...]:
    """What threads in closed loops had under way, or could not send for it, at a look.

    until_s: the end of what is looked at, and the look, in seconds since the execution's start.
    Raises JtlError and OSError.
    """
    ends_ms = tuple(jtl.origin_ms + each * 1000 for each in until_s)
    found = []
    for _, omitted in _omitted_by_group(labels, plan, store, jtl, ends_ms, parents, True):
        for key, begins in omitted.begins_ms.items():
            second = _seconds(np.concatenate(begins), jtl, bins)
            slow = np.concatenate(omitted.elapsed_ms[key]).astype(np.int64)
            failed = np.zeros(len(slow), bool)
            counts = Counts.of(second, slow, failed, codes=(NO_ANSWER,), width=bins.width_s)
            found.append(Unanswered((key[0],), counts, waited_for=True))
    return tuple(found)


def _omitted_by_group(
    labels: Mapping[Key, LabelData],
    plan: Plan,
    store: Store,
    jtl: Jtl,
    ends_ms: tuple[float, float],
    parents: Collection[str],
    is_lost: bool,
) -> Iterator[tuple[list[ThreadGroup], OmittedRequests]]:
    """Of the thread groups in closed loops. Nobody knows which threads wait, so that each counts
    that was silent for longer than any answer had taken.

    ends_ms: until when requests were to be sent, and since when a silent thread has waited, epoch
    milliseconds. is_lost: whether a request that was under way then left no row.
    """
    loops = set(closed_groups(plan))

    def places_of(name: str) -> tuple[int, ...]:
        return tuple(senders(plan, range(len(plan.groups)), name))

    def is_in_loop(name: str) -> bool:
        return loops.issuperset(places_of(name))

    rows = thread_rows(store, parents, is_in_loop) if loops else None
    by_group: dict[tuple[int, ...], list[str]] = {}
    last_s: dict[int, float] = {}
    for name, its in (rows or {}).items():
        going_on = _going_on([plan.groups[it] for it in places_of(name)], its)
        by_group.setdefault(places_of(name), []).extend(f"{name}-{it}" for it in going_on)
        ends_s = [(it.last_end_ms - jtl.origin_ms) / 1000 for it in its]
        for place in places_of(name):
            last_s[place] = max([last_s.get(place, 0.0), *ends_s])
    for places, threads in by_group.items():
        groups = [plan.groups[place] for place in places]
        if any(group.is_setup for group in groups):
            continue
        # A thread that was silent when its time was over may have been so for a service that hangs.
        due_ms = jtl.origin_ms + 1000 * max(_due_s(plan, place, last_s) for place in places)
        sent = read_sent(store, threads, parents) or {}
        due_ends_ms = tuple(min(end_ms, due_ms) for end_ms in ends_ms)
        yield groups, _omitted(labels, groups, due_ends_ms, sent, is_lost)


def _going_on(groups: list[ThreadGroup], rows: Iterable[ThreadRows]) -> Iterator[int]:
    """Numbers of the threads in these groups that may have more to send."""
    samples: dict[int, Counter[str]] = {}
    for row in rows:
        samples.setdefault(row.number, Counter())[row.label] += row.n
    for number, counts in samples.items():
        if not all(is_done(group, counts) for group in groups):
            yield number


def _due_s(plan: Plan, place: int, last_s: Mapping[int, float]) -> float:
    """Until when a group was to send, by its duration; inf for no such. last_s: when the last
    sample of each place had ended."""
    group = plan.groups[place]
    length_s = group.duration_s or group.length_s or math.inf
    begin_s = max((last_s.get(it, 0.0) for it in groups_before(plan, place)), default=0.0)
    return begin_s + (group.delay_s or 0.0) + length_s


def _omitted(
    labels: Mapping[Key, LabelData],
    groups: list[ThreadGroup],
    ends_ms: tuple[float, float],
    sent: Mapping[str, Sent],
    is_lost: bool,
) -> OmittedRequests:
    pauses = [each.all_pauses_ms for each in groups[0].samplers]
    is_unknown = None in pauses or groups[0].may_be_cached

    def paced(key: Key) -> bool:
        return labels[key].response is None

    def began_ms(left: Sent) -> float:
        return ends_ms[0] if is_unknown else left.ended_ms + max(pauses, default=0)

    end = LoadEnd(*ends_ms, is_lost)
    return correct_coordinated_omission(end, sent, _labels(labels, groups), paced, began_ms)


def _labels(labels: Mapping[Key, LabelData], groups: Collection[ThreadGroup]) -> list[Key]:
    """That requests of the groups may have: those that came, or else those that the plan names."""
    known = [
        label
        for group in groups
        for label in (
            *(each.label for each in group.samplers if each.leaves_a_row),
            *(it.label for it in group.transactions if it.generate_parent_sample),
        )
    ]
    came = [
        key
        for key, data in labels.items()
        if not data.is_transaction and any(label.matches(key[0]) for label in known)
    ]
    return came or [(label.text, False) for label in dict.fromkeys(known)]


def _with_omitted(
    execution: MeasuredExecution,
    groups: list[ThreadGroup],
    omitted: OmittedRequests,
    ended_ms: float,
    jtl: Jtl,
    bins: Bins,
) -> MeasuredExecution:
    labels = dict(execution.labels)
    for key in omitted.begins_ms:
        elapsed = np.concatenate(omitted.elapsed_ms[key]).astype(np.int64)
        second = _seconds(np.concatenate(omitted.begins_ms[key]), jtl, bins)
        data = labels.get(key) or LabelData(key[0], Counts.of([], [], width=bins.width_s))
        labels[key] = _added(data, second, elapsed)
    facts = execution.facts
    note = _note(groups[0], omitted, ended_ms, jtl)
    facts = replace(facts, notes=(*facts.notes, note))
    return replace(execution, labels=labels, facts=facts)


def _seconds(begins_ms: np.ndarray, jtl: Jtl, bins: Bins) -> np.ndarray:
    return bins.begin(np.floor((begins_ms - jtl.origin_ms) / 1000).astype(np.int64))


def _added(data: LabelData, second: np.ndarray, elapsed: np.ndarray) -> LabelData:
    """The label with failures of these begins and lengths."""
    failed = np.zeros(len(second), bool)
    extra = Counts.of(second, elapsed, failed, codes=(NO_ANSWER,), width=data.service.width)
    seconds = extra.seconds
    sums = {
        "second": seconds,
        "n": extra.sum_by_second().astype(np.int64),
        "latency_ms": extra.sum_by_second(extra.elapsed_ms).astype(np.int64),
    }
    zeros = np.zeros(len(seconds), np.int64)
    totals = Totals(*(sums.get(name, zeros) for name in COLUMNS), extra.width)
    return replace(
        data,
        service=data.service + extra,
        response=None if data.response is None else data.response + extra,
        without_generator_lateness=None
        if data.without_generator_lateness is None
        else data.without_generator_lateness + extra,
        totals=Totals.merged([*filter(None, [data.totals]), totals]),
    )


def _note(group: ThreadGroup, omitted: OmittedRequests, ended_ms: float, jtl: Jtl) -> str:
    since, until = ((it - jtl.origin_ms) / 1000 for it in (omitted.began_ms, ended_ms))
    labels = ", ".join(omitted.guessed)
    which = f", those without a sample for each of {labels}" if labels else ""
    return (
        f"{omitted.threads} threads of the thread group {group.name!r} waited for an answer from "
        f"about {format_duration(max(0.0, since))} until the load was ended after "
        f"{format_duration(until)}: "
        f"{omitted.requests} requests that have no sample for it count as failed, and as slow as "
        f"what was left of the wait{which}"
    )


def _silent(
    execution: MeasuredExecution, plan: Plan, planned: Planned, jtl: Jtl
) -> MeasuredExecution:
    """A silence before STOP_AFTER ended the load must not be a service that hangs."""
    if planned.stop_requested_at is None or execution.schedules:
        return execution
    silent_s = planned.stop_requested_at - jtl.last_end_ms / 1000
    longest_ms = max(int(it.service.elapsed_ms.max(initial=0)) for it in execution.labels.values())
    pauses = [each.all_pauses_ms for group in plan.groups for each in group.samplers]
    goes_on = any(group.loops == -1 and group.duration_s is None for group in plan.groups)
    is_cached = any(group.may_be_cached for group in plan.groups)
    if not goes_on or None in pauses or is_cached:
        return execution
    if silent_s <= SILENCE_S + (longest_ms + sum(pauses)) / 1000:
        return execution
    problem = (
        f"no sample came in the last {format_duration(silent_s)} before STOP_AFTER ended the "
        "load, and the requests under way are unknown: see jmeter.log"
    )
    facts = execution.facts
    facts = replace(facts, machine_problems=(*facts.machine_problems, problem))
    return replace(execution, facts=facts)
