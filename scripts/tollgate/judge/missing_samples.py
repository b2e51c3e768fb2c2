"""Samples that should have come and did not: of silent thread groups, of unanswered requests. Pure.

silent_parts: a thread that ends before its first sample, because its CSV file is missing or a
script of it is wrong, leaves nothing but a line in jmeter.log, and JMeter exits with 0. Where a
schedule says what was to be sent, what is missing is known; what else had to be sent, the plan's
tree says. Source: JMeter's manual, Component Reference, "Thread Group", "Loop Controller".

correct_coordinated_omission: a thread in a loop sends nothing while it waits, so a service that
hangs keeps its own failures few. Where a thread was waiting when the load was ended, and its
request failed or never ended after a time that no answer of its group had taken, the requests that
the thread would have sent meanwhile at its own pace count too, each as slow as what was left of the
wait. Source: G. Tene's correction for coordinated omission in HdrHistogram
(recordValueWithExpectedInterval); the expected interval is the mean one of the thread until its
last good answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from tollgate.plan.model import Plan, Sampler, ThreadGroup
from tollgate.plan.threads import certain_samplers, wait_s
from tollgate.samples.threads import Key, Sent
from tollgate.schedule.schedule import schedules_of
from tollgate.schedule.threads import senders

#: JMeter's own that run what is in them as often as they loop. Those of plugins may have no threads
#: at times, but not for all of their length.
_LOOPING = ("ThreadGroup", "SetupThreadGroup")


@dataclass(frozen=True)
class Silent:
    """faults: one line for each thread group that had to send and left no sample. doubts: one line
    for each that left none and may have had a reason, and for each sampler without a sample."""

    faults: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def silent_parts(
    plan: Plan,
    labels: Collection[str],
    threads: Callable[[], Collection[str] | None],
    until_s: float | None,
) -> Silent:
    """What of the plan left no sample in a run that was neither interrupted nor stopped early.

    labels: all that the JTL has. threads: the names of its threads without their last number, None
    where it has none; asked for only if labels do not show it. until_s: when the load was ended
    before its time, in seconds; None where it ended by itself.
    """
    scheduled = {place for place, _ in schedules_of(plan)[1]}
    sent_for = {place: list(certain_samplers(group)) for place, group in enumerate(plan.groups)}
    due = [
        place
        for place, group in enumerate(plan.groups)
        if sent_for[place] and not (group.is_teardown and until_s is not None)
    ]
    unnamed = [place for place in due if not _has_own_label(plan, place, labels)]
    # Of a schedule all that was not sent is known and reported.
    mute = [place for place in unnamed if place not in scheduled]
    seen = _seen(plan, threads()) if mute else set()
    mute = [place for place in mute if seen is None or place not in seen]
    faults, doubts = [], []
    for place in mute:
        group, label = plan.groups[place], sent_for[place][0].label.text
        what = f"the thread group {group.name!r} left no sample"
        if seen is not None and _had_to_send(plan, group, sent_for[place][0], until_s):
            faults.append(f"{what}, and it had to send {label!r}: see jmeter.log for why not")
        else:
            doubts.append(f"{what}: see jmeter.log if it was to send {label!r}")
    left_out = {*mute, *(place for place in unnamed if place in scheduled)}
    for place in due if not plan.may_ignore else ():
        if place not in left_out:
            doubts += _without_a_sample(plan.groups[place], sent_for[place], labels)
    return Silent(tuple(faults), tuple(dict.fromkeys(doubts)))


def _has_own_label(plan: Plan, place: int, labels: Collection[str]) -> bool:
    """Whether a label shows that this thread group has sent something, and no other has."""
    others = [group for it, group in enumerate(plan.groups) if it != place]
    return any(
        plan.groups[place].may_leave(label) and not any(other.may_leave(label) for other in others)
        for label in labels
    )


def _seen(plan: Plan, threads: Collection[str] | None) -> set[int] | None:
    """Places in plan.groups of those that may have sent in the threads of these names; None where
    some name is of none of them, or may be of all."""
    every = range(len(plan.groups))
    found = [senders(plan, every, name) for name in threads or [""]]
    if len(every) > 1 and any(len(each) == len(every) for each in found):
        return None
    return {place for each in found for place in each}


def _had_to_send(plan: Plan, group: ThreadGroup, first: Sampler, until_s: float | None) -> bool:
    """Whether nothing in the plan lets the group go without a sample. first: of those that each of
    its threads reaches."""
    loops = group.kind in _LOOPING and group.threads and group.loops
    lasts = group.length_s and not group.is_pool and until_s is None
    if not (loops or lasts) or plan.may_ignore:
        return False
    names = [other.name for other in plan.groups]
    if group.name_pattern or names.count(group.name) > 1 or group.unresolved:
        return False
    waits_for_others = plan.is_serial or any(other.is_setup for other in plan.groups)
    if until_s is not None and waits_for_others:
        return False
    ended_s = math.inf if until_s is None else until_s - (group.delay_s or 0.0)
    length_s = min(ended_s, group.duration_s or math.inf)
    return length_s == math.inf or wait_s(group, first) < length_s


def _without_a_sample(
    group: ThreadGroup, samplers: list[Sampler], labels: Collection[str]
) -> Iterator[str]:
    for sampler in samplers:
        known = not sampler.label.pattern and sampler.leaves_a_row and not sampler.arrival_timers
        if known and sampler.label.text not in labels:
            yield (
                f"no sample has the label {sampler.label.text!r}, which the thread group "
                f"{group.name!r} sends on no condition: see jmeter.log, unless a script names it "
                "otherwise"
            )


@dataclass(frozen=True)
class LoadEnd:
    """How a load was ended before its time, in epoch milliseconds.

    ended_ms: until when requests were to be sent. seen_ms: until when samples were looked at.
    is_lost: whether a request that was under way at seen_ms left no row.
    """

    ended_ms: float
    seen_ms: float
    is_lost: bool


@dataclass
class OmittedRequests:
    """Requests without a row that count as failed."""

    begins_ms: dict[Key, list[np.ndarray]] = field(default_factory=dict)
    elapsed_ms: dict[Key, list[np.ndarray]] = field(default_factory=dict)
    began_ms: float | None = None
    """When the first of the waits began that hid them; None for none."""
    threads: int = 0
    """How many waited."""
    guessed: tuple[str, ...] = ()
    """Labels that a request without a row may have had, where there are several: it counts for
    each."""

    @property
    def requests(self) -> int:
        return sum(len(each) for arrays in self.begins_ms.values() for each in arrays)

    def _add(self, key: Key, begins_ms: np.ndarray, end_ms: float) -> None:
        self.begins_ms.setdefault(key, []).append(begins_ms)
        self.elapsed_ms.setdefault(key, []).append(np.ceil(end_ms - begins_ms))


def correct_coordinated_omission(
    end: LoadEnd,
    sent: Mapping[str, Sent],
    labels: Collection[Key],
    paced: Callable[[Key], bool],
    began_ms: Callable[[Sent], float],
) -> OmittedRequests:
    """What the threads of one thread group did not send, or got no answer to.

    sent: what each of its threads left. labels: that its requests may have. paced: whether
    requests of a label follow one another in a loop; of a schedule all that is missing is known.
    began_ms: when a thread's request began that left no row, at the latest.
    """
    omitted = OmittedRequests()
    for left in sent.values():
        waits = list(left.hung)
        if left.ended_ms < end.seen_ms:
            if not end.is_lost:
                continue  # nothing was under way
            begun = min(began_ms(left), end.ended_ms)
            if end.seen_ms - begun <= left.longest_ms:
                continue  # as far as is known it was as fast as others
            waits.append((begun, end.seen_ms))
            own = [key for key in labels if key in left.counts] or labels
            for key in own:
                omitted._add(key, np.array([begun]), end.seen_ms)
            omitted.guessed = tuple(name for name, _ in own) if len(own) > 1 else omitted.guessed
        for begin, until in waits:
            for key, times in _due_while_waiting(left, begin, min(until, end.ended_ms)):
                if paced(key):
                    omitted._add(key, times, until)
        if waits:
            omitted.threads += 1
            firsts = [begin for begin, _ in waits]
            omitted.began_ms = min([*firsts, omitted.began_ms or firsts[0]])
    return omitted


def _due_while_waiting(left: Sent, begin: float, until: float) -> Iterator[tuple[Key, np.ndarray]]:
    """When a thread would have sent each label between two moments, at its own pace until then."""
    span = (left.answered_ms or 0) - (left.first_ms or 0)
    for key, n in left.counts.items():
        if span > 0:
            times = np.arange(begin + span / n, until, span / n)
            if len(times):
                yield key, times
