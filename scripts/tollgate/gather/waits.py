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
from tollgate.schedule.model import ScheduleFacts, Unanswered
from tollgate.schedule.schedule import schedules_of
from tollgate.schedule.threads import closed_groups, senders
from tollgate.stats.bins import Bins
from tollgate.stats.counts import Counts
from tollgate.stats.totals import COLUMNS, Totals

#: In the place of a response code.
NO_ANSWER = "no answer before the load was ended"
#: Seconds without a sample that need no reason.
SILENCE_S = 1.0


def with_waits(
    execution: MeasuredExecution, plan: Plan, planned: Planned, store: Store, jtl: Jtl, bins: Bins
) -> MeasuredExecution:
    """The execution with requests that its threads waited for in vain, or could not send for it,
    among its failures. Raises JtlError and OSError."""
    end = _end(planned)
    if end is None:
        return _silent(execution, plan, planned, jtl)
    if not end.waiting:
        return execution
    parents = [
        name
        for (name, is_from_controller), data in execution.labels.items()
        if is_from_controller and not data.is_transaction
    ]
    sent = read_sent(store, end.waiting, parents)
    if sent is None:
        return _with_problem(
            execution,
            f"{len(end.waiting)} threads waited for a response when the load was ended, and since "
            "when is unknown without the column threadName",
        )
    of_group: dict[tuple[int, ...], dict[str, Sent]] = {}
    for thread, left in sent.items():
        places = tuple(senders(plan, range(len(plan.groups)), thread.rpartition("-")[0]))
        of_group.setdefault(places, {})[thread] = left
    for places, left in of_group.items():
        groups = [plan.groups[place] for place in places]
        omitted = _omitted(execution, plan, groups, end, left, jtl)
        if omitted.requests:
            execution = _with_omitted(execution, groups, omitted, end, jtl, bins)
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
    """What threads in closed loops had under way, or could not send for it, at a look: nobody knows
    which of them wait, so that each counts that was silent for longer than any answer had taken.

    until_s: the end of what is looked at, and the look, in seconds since the execution's start.
    Raises JtlError and OSError.
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
    end_ms, look_ms = (jtl.origin_ms + each * 1000 for each in until_s)
    found = []
    execution = MeasuredExecution("", labels)
    for places, threads in by_group.items():
        if any(plan.groups[place].is_setup for place in places):
            continue
        # A thread that was silent when its time was over may have been so for a service that hangs.
        due_ms = jtl.origin_ms + 1000 * max(_due_s(plan, place, last_s) for place in places)
        ends_ms = min(end_ms, due_ms), min(look_ms, due_ms)
        end = LoadEnd(*ends_ms, tuple(threads), frozenset(threads))
        sent = read_sent(store, threads, parents) or {}
        omitted = _omitted(execution, plan, [plan.groups[it] for it in places], end, sent, jtl)
        for key, begins in omitted.begins_ms.items():
            second = _seconds(np.concatenate(begins), jtl, bins)
            slow = np.concatenate(omitted.elapsed_ms[key]).astype(np.int64)
            failed = np.zeros(len(slow), bool)
            counts = Counts.of(second, slow, failed, codes=(NO_ANSWER,), width=bins.width_s)
            found.append(Unanswered((key[0],), counts, waited_for=True))
    return tuple(found)


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


def _end(planned: Planned) -> LoadEnd | None:
    """How the load was ended, None where it ended itself or what was under way is unknown."""
    known = [each for each in planned.in_flight if each["threads"] is not None]
    if not known:
        return None
    first, last = known[0], known[-1]
    lost = frozenset(last["threads"] if planned.ended_by_force else ())
    ended_ms, killed_ms = planned.in_flight[0]["at"] * 1000, last["at"] * 1000
    return LoadEnd(ended_ms, killed_ms, tuple(first["threads"]), lost)


def _omitted(
    execution: MeasuredExecution,
    plan: Plan,
    groups: list[ThreadGroup],
    end: LoadEnd,
    sent: Mapping[str, Sent],
    jtl: Jtl,
) -> OmittedRequests:
    arrivals = {plan.groups[place].name: it.replay for place, it in schedules_of(plan)[1]}

    def paced(key: Key) -> bool:
        return execution.labels[key].response is None and not groups[0].is_open_model

    def began_ms(thread: str, left: Sent) -> float:
        group, number = groups[0], int(thread.rpartition("-")[2])
        if left.ended_ms is not None:
            pauses = [each.all_pauses_ms for each in group.samplers]
            is_unknown = None in pauses or group.may_be_cached
            return end.ended_ms if is_unknown else left.ended_ms + max(pauses, default=0)
        if group.is_open_model and group.name in arrivals:
            due_s = arrivals[group.name].at(np.array([number - 1]))[0]
        elif group.threads and group.ramp_up_s is not None:
            due_s = (group.delay_s or 0) + group.ramp_up_s * (number - 1) / group.threads
        else:
            return end.ended_ms
        return jtl.origin_ms + 1000 * float(due_s)

    # What groups before it took is not known here.
    place = plan.groups.index(groups[0])
    due_s = math.inf if groups_before(plan, place) else _due_s(plan, place, {})
    due = replace(end, ended_ms=min(end.ended_ms, jtl.origin_ms + 1000 * due_s))
    return correct_coordinated_omission(due, sent, _labels(execution, groups), paced, began_ms)


def _labels(execution: MeasuredExecution, groups: Collection[ThreadGroup]) -> list[Key]:
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
        for key, data in execution.labels.items()
        if not data.is_transaction and any(label.matches(key[0]) for label in known)
    ]
    return came or [(label.text, False) for label in dict.fromkeys(known)]


def _with_omitted(
    execution: MeasuredExecution,
    groups: list[ThreadGroup],
    omitted: OmittedRequests,
    end: LoadEnd,
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
    schedules = execution.schedules
    if groups[0].is_open_model:
        schedules = tuple(_blamed(each, groups[0], omitted.unanswered) for each in schedules)
    note = _note(groups[0], omitted, end, jtl)
    facts = replace(facts, notes=(*facts.notes, note))
    return replace(execution, labels=labels, schedules=schedules, facts=facts)


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


def _blamed(schedule: ScheduleFacts, group: ThreadGroup, unanswered: int) -> ScheduleFacts:
    """The schedule, if it is the group's, with arrivals that the service never answered no longer
    taken for such that the generator did not send."""
    known = [each.label for each in group.samplers]
    if not any(label.matches(name) for label in known for name in schedule.labels):
        return schedule
    moved = min(unanswered, schedule.missing_generator)
    return replace(
        schedule,
        missing_generator=schedule.missing_generator - moved,
        missing_service=schedule.missing_service + moved,
    )


def _note(group: ThreadGroup, omitted: OmittedRequests, end: LoadEnd, jtl: Jtl) -> str:
    since, until = ((it - jtl.origin_ms) / 1000 for it in (omitted.began_ms, end.ended_ms))
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
    return _with_problem(
        execution,
        f"no sample came in the last {format_duration(silent_s)} before STOP_AFTER ended the "
        "load, and "
        "the requests under way are unknown: see jmeter.log",
    )


def _with_problem(execution: MeasuredExecution, problem: str) -> MeasuredExecution:
    facts = execution.facts
    facts = replace(facts, machine_problems=(*facts.machine_problems, problem))
    return replace(execution, facts=facts)
