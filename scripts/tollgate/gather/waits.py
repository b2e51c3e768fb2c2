"""Requests that had no answer when the load was ended, or at an interim look."""

from __future__ import annotations

import math
import signal
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tollgate.base.text import format_duration
from tollgate.gather.samples import ExecutionSamples
from tollgate.judge.facts import LabelData
from tollgate.plan.model import Plan, ThreadGroup
from tollgate.plan.threads import groups_before, is_done
from tollgate.samples.threads import Key, Thread, read_sent, thread_samples
from tollgate.schedule.model import Unanswered
from tollgate.schedule.omission import LoadEnd, OmittedRequests, correct_coordinated_omission
from tollgate.schedule.threads import closed_groups, senders
from tollgate.stats.counts import Counts
from tollgate.stats.totals import Totals

#: By the places in plan.groups of those that they may be of: what came of threads, by their names.
LoopingThreads = Mapping[tuple[int, ...], Mapping[str, Thread]]
#: In the place of a response code.
NO_ANSWER = "no answer before the load was ended"
#: Seconds without a sample that need no reason.
SILENCE_S = 1.0


@dataclass(frozen=True)
class Waits:
    """The labels of an execution with requests that its threads waited for in vain, or could not
    send for it, among its failures."""

    labels: Mapping[Key, LabelData] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Why these requests are not known."""


def waits_at_end(samples: ExecutionSamples, interrupted: bool) -> Waits:
    """Of the threads that waited when the load was ended. Raises JtlError and OSError."""
    planned, labels = samples.context.planned, dict(samples.labels)
    ended = planned.stop_requested_at or (planned.ended if interrupted else None)
    if ended is None:
        return Waits(labels)
    # Whether JMeter wrote down whatever had ended.
    is_complete = planned.exit_code != -signal.SIGKILL and not samples.context.is_of_remote
    if not is_complete or "threadName" not in samples.store.layout:
        return Waits(labels, problems=_silence(samples))
    notes, ended_ms = [], ended * 1000
    end = LoadEnd(ended_ms, ended_ms, planned.ended_by_force)
    for group, omitted in _omitted_by_group(samples, end):
        for key, extra in _failures(samples, omitted):
            data = labels.get(key) or LabelData(key[0], Counts.of([], [], width=extra.width))
            labels[key] = _added(data, extra)
        if omitted.requests:
            notes.append(_note(samples, group, omitted, ended_ms))
    return Waits(labels, tuple(notes))


def waits_at_look(samples: ExecutionSamples, to_s: float, seen_s: float) -> list[Unanswered]:
    """What threads in closed loops had under way, or could not send for it, at a look.

    to_s: the end of what is looked at, seen_s: the look, in seconds since the execution's start.
    Raises JtlError and OSError.
    """
    origin_ms = samples.jtl.origin_ms
    end = LoadEnd(origin_ms + to_s * 1000, origin_ms + seen_s * 1000, is_lost=True)
    return [
        Unanswered((key[0],), counts, waited_for=True)
        for _, omitted in _omitted_by_group(samples, end)
        for key, counts in _failures(samples, omitted)
    ]


def _omitted_by_group(
    samples: ExecutionSamples, end: LoadEnd
) -> Iterator[tuple[ThreadGroup, OmittedRequests]]:
    """The requests that threads in closed loops did not send, with a thread group that they may be
    of. Nobody knows which threads wait, so that each counts that was silent for longer than any
    answer had taken."""
    plan, labels, origin_ms = samples.context.plan, samples.labels, samples.jtl.origin_ms
    paced = {key for key, data in labels.items() if data.response is None}
    looping = _looping_threads(samples)
    for places, threads in looping.items():
        groups = [plan.groups[place] for place in places]
        unfinished = [
            name
            for name, thread in threads.items()
            if not all(is_done(group, thread.samples) for group in groups)
        ]
        if not unfinished or any(group.is_setup for group in groups):
            continue
        # A thread that was silent when its time was over may have been so for a service that hangs.
        due_ms = origin_ms + 1000 * max(_due_s(plan, place, looping) for place in places)
        own_end = LoadEnd(min(end.ended_ms, due_ms), min(end.seen_ms, due_ms), end.is_lost)
        sent = read_sent(samples.store, unfinished, samples.parents) or {}
        keys, pause_ms = _keys(labels, groups), _longest_pause_ms(groups[0])
        yield groups[0], correct_coordinated_omission(own_end, sent, keys, paced, pause_ms)


def _looping_threads(samples: ExecutionSamples) -> LoopingThreads:
    """What came of each thread in a closed loop."""
    plan, origin_ms = samples.context.plan, samples.jtl.origin_ms
    looping: defaultdict[tuple[int, ...], dict[str, Thread]] = defaultdict(dict)
    loops = set(closed_groups(plan))
    if not loops:
        return looping

    def is_looping(name: str) -> bool:
        return loops.issuperset(_places(plan, name))

    by_name = thread_samples(samples.store, samples.parents, is_looping, origin_ms) or {}
    for name, threads in by_name.items():
        named = {f"{name}-{number}": thread for number, thread in threads.items()}
        looping[_places(plan, name)].update(named)
    return looping


def _longest_pause_ms(group: ThreadGroup) -> float:
    """Between two requests of a thread; inf where that is not known."""
    pauses_ms = [sampler.all_pauses_ms for sampler in group.samplers]
    known_ms = [math.inf if pause_ms is None else pause_ms for pause_ms in pauses_ms]
    return math.inf if group.may_be_cached else max(known_ms, default=0.0)


def _places(plan: Plan, name: str) -> tuple[int, ...]:
    """Of the thread groups that may have sent in threads of this name."""
    return tuple(senders(plan, range(len(plan.groups)), name))


def _due_s(plan: Plan, place: int, looping: LoopingThreads) -> float:
    """Until when a group was to send, by its duration; inf for no such."""
    group, before = plan.groups[place], {*groups_before(plan, place)}
    length_s = group.duration_s or group.length_s or math.inf
    threads_before = (threads for places, threads in looping.items() if before & {*places})
    ends_s = (thread.last_end_s for threads in threads_before for thread in threads.values())
    begin_s = max(0.0, max(ends_s, default=0.0))
    return begin_s + (group.delay_s or 0.0) + length_s


def _keys(labels: Mapping[Key, LabelData], groups: Sequence[ThreadGroup]) -> list[Key]:
    """Labels that requests of the groups may have: those that came, or else those that the plan
    names."""
    known = []
    for group in groups:
        known += [each.label for each in group.samplers if each.leaves_a_row]
        known += [it.label for it in group.transactions if it.generate_parent_sample]
    own = (key for key, data in labels.items() if not data.is_transaction)
    came = [key for key in own if any(label.matches(key[0]) for label in known)]
    return came or [(label.text, False) for label in dict.fromkeys(known)]


def _failures(samples: ExecutionSamples, omitted: OmittedRequests) -> Iterator[tuple[Key, Counts]]:
    """The requests of each label, failed and as slow as what was left of the wait."""
    for key, begins_ms in omitted.begins_ms.items():
        since_s = (np.concatenate(begins_ms) - samples.jtl.origin_ms) / 1000
        second = samples.context.bins.begin(np.floor(since_s).astype(np.int64))
        elapsed = np.concatenate(omitted.elapsed_ms[key]).astype(np.int64)
        failed, width = np.zeros(len(second), bool), samples.context.bins.width_s
        yield key, Counts.of(second, elapsed, failed, codes=(NO_ANSWER,), width=width)


def _added(data: LabelData, extra: Counts) -> LabelData:
    """The label with these samples."""
    totals = Totals.unanswered(extra)
    known = ("service", "response", "without_generator_lateness")
    counts = {it: getattr(data, it) + extra for it in known if getattr(data, it) is not None}
    return replace(data, **counts, totals=Totals.merged([*filter(None, [data.totals]), totals]))


def _note(
    samples: ExecutionSamples, group: ThreadGroup, omitted: OmittedRequests, ended_ms: float
) -> str:
    span_ms, origin_ms = (omitted.began_ms or ended_ms, ended_ms), samples.jtl.origin_ms
    since, until = ((it - origin_ms) / 1000 for it in span_ms)
    labels = ", ".join(omitted.guessed)
    which = f", those without a sample for each of {labels}" if labels else ""
    return (
        f"{omitted.threads} threads of the thread group {group.name!r} waited for an answer from "
        f"about {format_duration(max(0.0, since))} until the load was ended after "
        f"{format_duration(until)}: {omitted.requests} requests that have no sample for it count "
        f"as failed, and as slow as what was left of the wait{which}"
    )


def _silence(samples: ExecutionSamples) -> tuple[str, ...]:
    """A silence before STOP_AFTER ended the load must not be a service that hangs."""
    stop_s, groups = samples.context.planned.stop_requested_at, samples.context.plan.groups
    pauses_ms = [each.all_pauses_ms for group in groups for each in group.samplers]
    known_ms = [pause_ms for pause_ms in pauses_ms if pause_ms is not None]
    goes_on = any(group.loops == -1 and group.duration_s is None for group in groups)
    is_unknown = len(known_ms) < len(pauses_ms) or any(group.may_be_cached for group in groups)
    if stop_s is None or samples.replayed.facts or not goes_on or is_unknown:
        return ()
    silent_s = stop_s - samples.jtl.last_end_ms / 1000
    longest_ms = max(int(it.service.elapsed_ms.max(initial=0)) for it in samples.labels.values())
    if silent_s <= SILENCE_S + (longest_ms + sum(known_ms)) / 1000:
        return ()
    return (
        f"no sample came in the last {format_duration(silent_s)} before STOP_AFTER ended the "
        "load, and the requests under way are unknown: see jmeter.log",
    )
