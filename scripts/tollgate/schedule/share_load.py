"""The properties by which a plan sends one engine's share of its load. Pure.

The whole's arrivals are counted as JMeter counts them, and each engine gets a whole number of them,
at moments of its own: a Precise Throughput Timer by its rate and its seed, an Open Model Thread
Group by its schedule and its seed, a closed loop by its threads.
"""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.plan.arrivals import PreciseThroughput
from tollgate.plan.expressions import PROPERTY, Expander
from tollgate.plan.jmx import Element
from tollgate.plan.model import LOOPING, PRECISE_THROUGHPUT, Plan, ThreadGroup
from tollgate.plan.timers import read_timer
from tollgate.plan.variables import expander_of
from tollgate.schedule.grammar import ScheduleError, decimal, random_arrivals
from tollgate.schedule.open_model import Ramp, ramps_of
from tollgate.schedule.share import Share, ShareError

_THREADS = "ThreadGroup.num_threads"
_SCHEDULE, _SEED = "OpenModelThreadGroup.schedule", "OpenModelThreadGroup.random_seed"


def shared_properties(
    plan: Plan, root: Element, properties: Mapping[str, str], share: Share
) -> dict[str, str]:
    """What JMeter is given beside, or in place of, the properties of the whole load.

    plan, root: the whole's, as read_plan and read_tree read it with these properties. The
    threads of an open schedule are not divided: each engine may need as many for its slow answers.
    A thread group whose part is no arrival is off: it has no threads. Raises ShareError.
    """
    _refuse_outside(root)
    own: dict[str, str] = {"engine": str(share.number), "engines": str(share.of)}
    sends = 0
    expander = expander_of(root, properties)
    for group, element in zip(plan.groups, root.thread_groups, strict=True):
        if group.is_setup or group.is_teardown:
            continue
        count, shared = _of_group(group, element, expander, share)
        sends += count
        for name, value in shared.items():
            if own.setdefault(name, value) != value:
                raise ShareError(
                    f"the property {name!r} is read by several thread groups, whose shares differ: "
                    "give each a property of its own"
                )
    if not sends:
        raise ShareError(f"engine {share} has no request to send: take fewer engines, or more load")
    return own


def _refuse_outside(root: Element) -> None:
    outside = [each for each in root.active if not each.is_thread_group]
    for each in (it for top in outside for it in top.walk()):
        if each.kind == PRECISE_THROUGHPUT:
            raise ShareError(
                f"the timer {each.name!r} stands outside of the thread groups, so that no share of "
                "it can be made: move it into one"
            )


def _of_group(
    group: ThreadGroup, element: Element, expander: Expander, share: Share
) -> tuple[int, dict[str, str]]:
    """(how many arrivals or threads are the engine's, the properties that make it so)."""
    if group.is_open_model:
        return _of_open_model(group, element, share)
    if group.kind not in LOOPING:
        raise ShareError(f"the thread group {group.name!r} is a {group.kind}: it can't be shared")
    timers = [each for each in element.walk() if each.kind == PRECISE_THROUGHPUT]
    if not timers:
        if group.threads is None:
            raise ShareError(f"how many threads {group.name!r} has is not known before the run")
        threads = share.part(group.threads)
        return threads, {_named(element, _THREADS, group.name): str(threads)}
    properties: dict[str, str] = {}
    counts = []
    for timer in timers:
        whole = read_timer(timer, expander, {})
        if not isinstance(whole.replay, PreciseThroughput):
            raise ShareError(f"the timer {whole.name!r}: {whole.reason}")
        counts.append(share.part(whole.replay.moments_per_window))
        if counts[-1]:
            properties |= _of_timer(timer, whole.replay, counts[-1], share)
    if not any(counts):
        return 0, {_named(element, _THREADS, group.name): "0"}
    if not all(counts):
        raise ShareError(f"some timers of {group.name!r} would send nothing: take fewer engines")
    return sum(counts), properties


def _of_timer(timer: Element, whole: PreciseThroughput, count: int, share: Share) -> dict[str, str]:
    # JMeter rounds up, so that the middle between two counts gives the higher one for certain.
    rate = (count - 0.5) / whole.duration_s * whole.batch_size
    period = float(timer.props.get("throughputPeriod") or 1)
    found = {_named(timer, "throughput", timer.name): decimal(rate * period)}
    if share.of > 1:
        found[_named(timer, "randomSeed", timer.name)] = str(share.seed(whole.seed))
    return found


def _of_open_model(
    group: ThreadGroup, element: Element, share: Share
) -> tuple[int, dict[str, str]]:
    if group.schedule is None or not group.random_seed:
        raise ShareError(
            f"the thread group {group.name!r} has no known schedule, or no random seed above 0"
        )
    text, count = shared_schedule(group.schedule, share)
    found = {_named(element, _SCHEDULE, group.name): text}
    if share.of > 1:
        found[_named(element, _SEED, group.name)] = str(share.seed(group.random_seed))
    return count, found


def _named(element: Element, field: str, owner: str) -> str:
    """The property that alone says what a field is."""
    text = element.props.get(field, "").strip()
    named = PROPERTY.fullmatch(text)
    if not named:
        name = field.rpartition(".")[2]
        raise ShareError(
            f"{name} of {owner!r} is {text!r}, which no property changes, so that no share of it "
            f"can be made: write ${{__P(NAME,{text})}}"
        )
    return named[1]


def shared_schedule(text: str, share: Share) -> tuple[str, int]:
    """(the schedule of an Open Model Thread Group that sends this engine's share of the arrivals of
    the one given, how many these are). They are dealt out in turn. Raises ShareError."""
    try:
        ramps = list(ramps_of(text))
    except ScheduleError as problem:
        raise ShareError(f"the schedule {text!r}: {problem}") from None
    parts: list[str] = []
    first = sent = 0
    for ramp in ramps:
        count = share.dealt(first, ramp.count)
        parts.append(_part(ramp, count))
        first, sent = first + ramp.count, sent + count
    return " ".join(parts), sent


def _part(ramp: Ramp, count: int) -> str:
    """A ramp of which JMeter makes so many arrivals: it rounds down, so that the middle between two
    counts gives the lower one for certain."""
    length = decimal(ramp.duration_s)
    if not ramp.even:
        mean = (ramp.begin + ramp.end) / 2
        factor = (count + 0.5) / float(length) / mean if count else 0.0
        return random_arrivals(decimal(ramp.begin * factor), decimal(ramp.end * factor), length)
    if ramp.count:
        raise ShareError(
            "even_arrivals of several engines would coincide: write random_arrivals in the schedule"
        )
    return f"pause({length} sec)"
