"""Requests that had no answer when the load was ended, or at an interim look."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tollgate.base.text import format_duration
from tollgate.gather.samples import ExecutionSamples
from tollgate.judge.facts import LabelData
from tollgate.plan.model import Plan, ThreadGroup
from tollgate.plan.threads import groups_before, is_done
from tollgate.samples.threads import Key, read_sent, thread_samples
from tollgate.schedule.model import Unanswered
from tollgate.schedule.omission import LoadEnd, OmittedRequests, correct_coordinated_omission
from tollgate.schedule.threads import closed_groups, senders
from tollgate.stats.counts import Counts
from tollgate.stats.totals import Totals

#: In the place of a response code.
NO_ANSWER = "no answer before the load was ended"
#: Seconds without a sample that need no reason.
SILENCE_S = 1.0


@dataclass(frozen=True)
class Waits:
    """The labels of an execution with requests that its threads waited for in vain, or could not
    send for it, among its failures. problems: why these are not known."""

    labels: Mapping[Key, LabelData] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


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
    notes, ends_ms = [], (ended * 1000, ended * 1000)
    for groups, omitted in _omitted_by_group(samples, ends_ms, planned.ended_by_force):
        for key, extra in _failures(samples, omitted):
            data = labels.get(key) or LabelData(key[0], Counts.of([], [], width=extra.width))
            labels[key] = _added(data, extra)
        if omitted.requests:
            notes.append(_note(samples, groups[0], omitted, ended * 1000))
    return Waits(labels, tuple(notes))


def waits_at_look(samples: ExecutionSamples, to_s: float, seen_s: float) -> list[Unanswered]:
    """What threads in closed loops had under way, or could not send for it, at a look.

    to_s: the end of what is looked at, seen_s: the look, in seconds since the execution's start.
    Raises JtlError and OSError.
    """
    origin_ms = samples.jtl.origin_ms
    ends_ms = origin_ms + to_s * 1000, origin_ms + seen_s * 1000
    return [
        Unanswered((key[0],), counts, waited_for=True)
        for _, omitted in _omitted_by_group(samples, ends_ms, is_lost=True)
        for key, counts in _failures(samples, omitted)
    ]


def _omitted_by_group(
    samples: ExecutionSamples, ends_ms: tuple[float, float], is_lost: bool
) -> Iterator[tuple[list[ThreadGroup], OmittedRequests]]:
    """Of the thread groups in closed loops. Nobody knows which threads wait, so that each counts
    that was silent for longer than any answer had taken.

    ends_ms: until when requests were to be sent, and since when a silent thread has waited, epoch
    milliseconds. is_lost: whether a request that was under way then left no row.
    """
    plan, store, origin_ms = samples.context.plan, samples.store, samples.jtl.origin_ms
    loops = set(closed_groups(plan))
    if not loops:
        return
    by_name = thread_samples(
        store, samples.parents, lambda name: loops.issuperset(_places(plan, name)), origin_ms
    )
    paced = {key for key, data in samples.labels.items() if data.response is None}
    by_group: dict[tuple[int, ...], list[str]] = {}
    last_s: dict[int, float] = {}
    for name, threads in (by_name or {}).items():
        places = _places(plan, name)
        by_group.setdefault(places, []).extend(
            f"{name}-{number}"
            for number, thread in threads.items()
            if not all(is_done(plan.groups[place], thread.samples) for place in places)
        )
        for place in places:
            ends_s = (thread.last_end_s for thread in threads.values())
            last_s[place] = max([last_s.get(place, 0.0), *ends_s])
    for places, threads in by_group.items():
        groups = [plan.groups[place] for place in places]
        if any(group.is_setup for group in groups):
            continue
        # A thread that was silent when its time was over may have been so for a service that hangs.
        due_ms = origin_ms + 1000 * max(_due_s(plan, place, last_s) for place in places)
        sent = read_sent(store, threads, samples.parents) or {}
        end = LoadEnd(*(min(end_ms, due_ms) for end_ms in ends_ms), is_lost)
        pauses = [each.all_pauses_ms for each in groups[0].samplers]
        is_unknown = None in pauses or groups[0].may_be_cached
        pause_ms = math.inf if is_unknown else max(pauses, default=0)
        keys = _keys(samples.labels, groups)
        yield groups, correct_coordinated_omission(end, sent, keys, paced, pause_ms)


def _places(plan: Plan, name: str) -> tuple[int, ...]:
    """Of the thread groups that may have sent in threads of this name."""
    return tuple(senders(plan, range(len(plan.groups)), name))


def _due_s(plan: Plan, place: int, last_s: Mapping[int, float]) -> float:
    """Until when a group was to send, by its duration; inf for no such. last_s: when the last
    sample of each place had ended."""
    group = plan.groups[place]
    length_s = group.duration_s or group.length_s or math.inf
    begin_s = max((last_s.get(it, 0.0) for it in groups_before(plan, place)), default=0.0)
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
    origin_ms = samples.jtl.origin_ms
    since, until = ((it - origin_ms) / 1000 for it in (omitted.began_ms, ended_ms))
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
    pauses = [each.all_pauses_ms for group in groups for each in group.samplers]
    goes_on = any(group.loops == -1 and group.duration_s is None for group in groups)
    is_unknown = None in pauses or any(group.may_be_cached for group in groups)
    if stop_s is None or samples.replayed.facts or not goes_on or is_unknown:
        return ()
    silent_s = stop_s - samples.jtl.last_end_ms / 1000
    longest_ms = max(int(it.service.elapsed_ms.max(initial=0)) for it in samples.labels.values())
    if silent_s <= SILENCE_S + (longest_ms + sum(pauses)) / 1000:
        return ()
    return (
        f"no sample came in the last {format_duration(silent_s)} before STOP_AFTER ended the "
        "load, and the requests under way are unknown: see jmeter.log",
    )
