"""Which labels of a plan follow a schedule: schedules_of(plan). Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import compress, takewhile

from tollgate.plan.arrivals import EvenArrivals, NotReplayableError
from tollgate.plan.model import (
    FLOW_CONTROL,
    Controller,
    Plan,
    Sampler,
    ThreadGroup,
)
from tollgate.plan.sessions import may_stop
from tollgate.plan.turns import NEVER, Times, reached
from tollgate.schedule.grammar import ScheduleError
from tollgate.schedule.model import Schedule
from tollgate.schedule.open_model import OpenModelArrivals

_SWITCH = "SwitchController"
# Controllers that run one of their children at a time, in an order that is not the plan's.
_PICKING = frozenset({"InterleaveControl", "RandomController", "RandomOrderController", _SWITCH})
# Controllers whose first child comes first whenever they run at all.
_LOOP, _ONCE = "LoopController", "OnceOnlyController"


def schedules_of(plan: Plan) -> tuple[dict[str, Schedule | str], tuple[tuple[int, Schedule], ...]]:
    """(for each label of the JTL, as the plan writes it, its schedule or why it has none; each
    schedule with the place of its group in plan.groups).

    Labels of one schedule share the same Schedule object. Labels that hold variables appear as
    they are written, e.g. `item ${row}`; Schedule.matches tells which rows they mean.
    """
    by_label: dict[str, Schedule | str] = {}
    schedules: list[tuple[int, Schedule]] = []
    samplers = tuple(it for group in plan.groups for it in group.samplers)
    for place, group in enumerate(plan.groups):
        here = dict(_group_schedules(group, samplers))
        # All labels of a group that have a schedule share it.
        schedules += [(place, it) for it in here.values() if isinstance(it, Schedule)][:1]
        for transaction in group.transactions:
            reason = "a Transaction Controller: it adds up the samples inside it"
            here.setdefault(transaction.label.text, reason)
        for label, schedule in here.items():
            twice = f"'{label}' is used by more than one thread group"
            by_label[label] = twice if label in by_label else schedule
    kept = {id(it) for it in by_label.values()}
    return by_label, tuple((place, it) for place, it in schedules if id(it) in kept)


def _group_schedules(
    group: ThreadGroup, samplers: Iterable[Sampler]
) -> Iterator[tuple[str, Schedule | str]]:
    """samplers: of all groups: a lock is the same in each."""
    if group.is_open_model:
        governed, schedule = _open_model(group)
        others = "follows another sampler of the same arrival, and is sent when that is done"
    else:
        timed = tuple(s for s in group.samplers if s.arrival_timers)
        governed = _behind_a_wait(group, timed) or timed
        schedule = _dealt_out(group, timed, governed)
        others = "no timer says when it is sent"
        if governed != timed:
            others = "follows another sampler of the same arrival, and is sent when that is done"
    rows = [sampler for sampler in group.samplers if sampler.leaves_a_row]
    ungoverned = [sampler for sampler in rows if sampler not in governed]
    if not isinstance(schedule, str):
        schedule = _with_waits(schedule, group, governed, samplers)
        schedule = _with_scripts(schedule, governed, ungoverned)
    for sampler in rows:
        if sampler in governed:
            label = sampler.label.text
            mixed = f"'{label}' is sent with a schedule and without one"
            is_mixed = any(sampler.label == other.label for other in ungoverned)
            yield label, mixed if is_mixed else schedule
    for sampler in ungoverned:
        if not any(sampler.label == other.label for other in governed):
            pacing = next((t for t in sampler.timers if "Throughput" in t.kind), None)
            reason = f"'{pacing.name}' slows a loop down and plans nothing" if pacing else others
            yield sampler.label.text, reason


def _with_waits(
    schedule: Schedule,
    group: ThreadGroup,
    governed: tuple[Sampler, ...],
    samplers: Iterable[Sampler],
) -> Schedule:
    """With the Critical Sections that hold back the group's threads: those around what an arrival
    of an open model begins with, or around anything that a thread of others sends. None where they
    have several locks: which of them a thread waited for is not known."""
    waiting = governed if group.is_open_model else group.samplers
    own = [each for it in waiting for each in it.controllers if each.lock]
    locks = {each.lock for each in own}
    if len(locks) != 1:
        return schedule
    inside = {it: any(each.lock in locks for each in it.controllers) for it in samplers}
    # A label that others have as well does not show who had the lock.
    free = {it.label for it, is_inside in inside.items() if not is_inside}
    held = dict.fromkeys(it.label for it, is_inside in inside.items() if is_inside)
    sections = tuple(label for label in held if label not in free)
    return replace(schedule, sections=sections, serial=tuple({each.name: None for each in own}))


def _with_scripts(
    schedule: Schedule, governed: Collection[Sampler], ungoverned: Collection[Sampler]
) -> Schedule:
    """With what scripts may do to the rows of the governed samplers, and of the others."""
    others, doubt = None, ""
    if any(it.may_be_renamed for it in governed):
        # The first row of an arrival is its own, whatever its label.
        if schedule.by_thread or not any(it.may_be_renamed for it in ungoverned):
            others = tuple(it.label for it in ungoverned)
        else:
            doubt = "a script may have given its samples other labels"
    if any(it.may_be_ignored for it in governed) and not schedule.by_thread:
        doubt = "a script may have ignored samples of it"
    return replace(schedule, others=others, doubt=doubt)


def _behind_a_wait(group: ThreadGroup, timed: tuple[Sampler, ...]) -> tuple[Sampler, ...]:
    """The samplers that can be the first behind a Flow Control Action which each turn of a thread
    begins with and which alone has a timer that deals out arrivals; none where that is not sure.

    Each turn sends exactly one of them first, as soon as the wait is over: the first behind it, or
    the first of each part of a Switch Controller.
    """
    if not timed or timed != group.samplers[:1]:
        return ()
    if timed[0].kind != FLOW_CONTROL or timed[0].pause_ms != 0:
        return ()
    firsts = _firsts(group.samplers[1:])
    others = {it for each in firsts for it in each.controllers if not it.is_plain}
    if len(others) > 1 or any(it.kind != _SWITCH for it in others):
        return ()
    is_plain = all(it.is_plain for it in timed[0].controllers)
    return firsts if is_plain and all(it.all_pauses_ms == 0 for it in firsts) else ()


def _dealt_out(
    group: ThreadGroup, timed: tuple[Sampler, ...], governed: tuple[Sampler, ...]
) -> Schedule | str:
    """Return the schedule of samplers of which each turn waits for an arrival. timed: those in the
    scope of the timer that deals them out."""
    if not governed:
        return "no timer says when it is sent"
    reason = _obstacle(group, timed, governed) or _undecided(group, timed)
    timer = timed[0].arrival_timers[0]
    if reason or timer.replay is None:
        return reason or timer.reason
    others = [it for it in group.samplers if it not in (*governed, *timed)]
    if any(it.all_pauses_ms is None for it in others):
        return "a pause of its thread is only known at run time"
    ends = group.duration_s is not None and group.duration_s > 0
    least, most = _asked(group, timed)
    return Schedule(
        group=group.name,
        labels=tuple(dict.fromkeys(sampler.label for sampler in governed)),
        replay=timer.replay,
        threads=group.threads,
        end_s=(group.delay_s or 0.0) + (group.duration_s or 0.0) if ends else None,
        limit=None if math.isinf(most) else int(most),
        think_ms=_think_ms(others),
        timeout_ms=_timeout_ms(governed),
        least=least,
    )


def _think_ms(samplers: list[Sampler]) -> float:
    """The longest that a turn pauses: a Switch Controller runs one of its parts."""
    by_part: dict[object, float] = {}
    for sampler in samplers:
        kinds = [each.kind for each in sampler.controllers]
        around = sampler.controllers[kinds.index(_SWITCH) + 1 :] if _SWITCH in kinds else ()
        part = around[0] if around else sampler if _SWITCH in kinds else None
        by_part[part] = by_part.get(part, 0.0) + (sampler.all_pauses_ms or 0.0)
    return by_part.pop(None, 0.0) + max(by_part.values(), default=0.0)


def _timeout_ms(samplers: tuple[Sampler, ...]) -> float | None:
    sending = [each for each in samplers if each.kind != FLOW_CONTROL]
    timeouts = [each.timeout_ms for each in sending if each.timeout_ms is not None]
    return max(timeouts, default=None) if len(timeouts) == len(sending) else None


def _obstacle(group: ThreadGroup, timed: tuple[Sampler, ...], governed: tuple[Sampler, ...]) -> str:
    """Return why the samplers under such a timer cannot be replayed, or nothing."""
    if group.kind != "ThreadGroup":
        return f"its thread group is a {group.kind}, whose threads come and go in their own way"
    if "duration" in group.unresolved or "delay" in group.unresolved:
        return "the thread group's duration is only known at run time"
    if any(sampler.hidden_by for sampler in governed):
        hiding = next(sampler.hidden_by for sampler in governed if sampler.hidden_by)
        return f"'{hiding}' generates a parent sample, which begins before the timer's wait"
    is_silent = [it.may_be_cached or not it.leaves_a_row for it in governed]
    if silent := [*compress(governed, is_silent)]:
        return f"'{silent[0].label.text}' uses up events of the same timer and may leave no row"
    for sampler in timed:
        if len(sampler.arrival_timers) > 1:
            return "two timers that deal out arrivals apply to it and their waits add up"
        others = (t for t in sampler.timers if t not in sampler.arrival_timers)
        slow = next((t for t in others if t.pause_ms != 0 or "Throughput" in t.kind), None)
        if slow:
            return f"'{slow.name}' makes it wait beyond its event"
    timers = [sampler.arrival_timers[0] for sampler in timed]
    if len({(timer.replay, timer.reason) for timer in timers}) > 1:
        return "unlike timers share one queue of events in its thread group"
    counted = next((it for it in timers if isinstance(it.replay, EvenArrivals)), None)
    is_first = timed == group.samplers[:1] and all(it.is_plain for it in timed[0].controllers)
    if counted and not is_first:
        return (
            f"'{counted.name}' knows one arrival for each turn of the thread group: let it apply "
            "to the first sampler alone, or to a Flow Control Action before all, on no condition"
        )
    return ""


def _undecided(group: ThreadGroup, timed: tuple[Sampler, ...]) -> str:
    """Why turns of a thread may ask for no event, so that it is not known when it waits for one; or
    nothing."""
    each = reached(group.samplers, timed, math.inf)
    if each.least == each.most:
        return ""
    around = (it for sampler in timed for it in sampler.controllers if not it.is_plain)
    return f"{next(around).name!r} decides how often it is sent, and the plan does not show that"


def _asked(group: ThreadGroup, timed: tuple[Sampler, ...]) -> Times:
    """How many events the loops of its threads ask for, inf where they go on, or where their number
    is not known; none where there are no threads."""
    if group.threads == 0:  # one that is off
        return NEVER
    if group.threads is None or group.loops is None:
        return Times(math.inf, math.inf)
    loops = group.loops if group.loops >= 0 else math.inf
    least, most = reached(group.samplers, timed, loops)
    if math.isinf(loops):
        least = most  # as _undecided has found
    elif group.on_sample_error != "continue" or may_stop(group):
        least = 0
    return Times(least, most).times(Times(group.threads, group.threads))


def _open_model(group: ThreadGroup) -> tuple[tuple[Sampler, ...], Schedule | str]:
    """Return the samplers that can come first in an arrival, and their schedule."""
    firsts = _firsts(group.samplers)
    reason = next((f"the {name} is only known at run time" for name in group.unresolved), "")
    for sampler in firsts:
        paces = any("Throughput" in timer.kind for timer in sampler.timers)
        if sampler.arrival_timers or sampler.all_pauses_ms != 0 or paces:
            reason = f"'{sampler.label.text}' waits after the arrival"
        if sampler.hidden_by:
            reason = f"'{sampler.hidden_by}' generates a parent sample in its place"
    if reason or group.schedule is None or group.random_seed is None:
        return firsts, reason or "the thread group has no schedule"
    try:
        arrivals = OpenModelArrivals(group.schedule, group.random_seed)
    except (NotReplayableError, ScheduleError) as error:
        return firsts, str(error)
    labels = tuple(dict.fromkeys(s.label for s in firsts if s.leaves_a_row))
    timeout_ms = _timeout_ms(firsts)
    # A thread's first request finds nothing in its cache.
    sure = [it for it in firsts if it.leaves_a_row and not it.may_be_ignored]
    before = takewhile(lambda sampler: sampler not in firsts[-1:], group.samplers)
    is_certain = reached(group.samplers, sure, 1).least and not any(it.may_jump for it in before)
    least = math.inf if is_certain else 0
    return firsts, Schedule(group.name, labels, arrivals, timeout_ms=timeout_ms, least=least)


def _firsts(samplers: tuple[Sampler, ...]) -> tuple[Sampler, ...]:
    """The samplers that can be the first of an arrival, as far as the plan shows: all up to one
    that each arrival sends, or to a controller that picks one of its children. Of such a
    controller, the samplers that can be the first of each child."""
    firsts: list[Sampler] = []
    for place, sampler in enumerate(samplers):
        if _leaves_no_sample(sampler):
            continue
        if picking := _picking_controllers(sampler):
            return (*firsts, *_firsts_of_children(samplers[place:], picking))
        firsts.append(sampler)
        if not _skipping_controllers(sampler):
            break
    return tuple(firsts)


def _picking_controllers(sampler: Sampler) -> tuple[Controller, ...]:
    """The controllers around a sampler down to the outermost that picks one of its children; none
    where something else decides on the sampler too."""
    deciding = _skipping_controllers(sampler)
    if not deciding or any(it.kind not in _PICKING for it in deciding):
        return ()
    return sampler.controllers[: sampler.controllers.index(deciding[0]) + 1]


def _firsts_of_children(
    samplers: tuple[Sampler, ...], picking: tuple[Controller, ...]
) -> Iterator[Sampler]:
    """Yield the samplers that can be the first of a child that a controller has picked: an arrival,
    which is a thread of its own, sees the beginning of one. picking: the controllers down to that
    one, in which the first of the samplers is."""
    depth = len(picking)
    settled: set[Sampler | Controller] = set()  # children with a sampler that each pick sends
    for sampler in takewhile(lambda inner: inner.controllers[:depth] == picking, samplers):
        child = sampler.controllers[depth] if sampler.controllers[depth:] else sampler
        if child in settled or _leaves_no_sample(sampler):
            continue
        yield sampler
        if _skipping_controllers(sampler) == [picking[-1]]:
            settled.add(child)


def _skipping_controllers(sampler: Sampler) -> list[Controller]:
    """The controllers around a sampler that may leave it out of a turn, or put another first."""
    around = (it for it in sampler.controllers if not it.is_plain)
    return [it for it in around if it.kind != _ONCE and not (it.kind == _LOOP and it.loops)]


def _leaves_no_sample(sampler: Sampler) -> bool:
    """Whether it is a Flow Control Action without a pause."""
    return sampler.kind == FLOW_CONTROL and sampler.all_pauses_ms == 0
