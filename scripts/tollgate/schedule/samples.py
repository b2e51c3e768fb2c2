"""The schedules of a plan joined with the samples of a JTL, in memory that has a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tollgate.plan import Plan, PreciseThroughput
from tollgate.samples import BATCH, Jtl, SampleBatches, open_batches, read_samples, read_threads
from tollgate.schedule.open_join import OpenJoin, estimate_test_start_ms
from tollgate.schedule.queues import Queue, queues_of
from tollgate.schedule.replay import Kept, Replay, join_queue, together, unsent_of
from tollgate.stats import Bins, Counts

# An open model with no more samples than a batch holds is joined whole, with unrounded lateness.
MOST_WHOLE = BATCH
# A timer's schedule needs all of its samples at once: the join looks for gaps over the whole run.
# With some 330 bytes a sample, these take 1.6 GB; an hour at 1,000 requests a second is less.
MOST_CLOSED = 5_000_000


@dataclass(frozen=True)
class Limits:
    """Samples of one schedule: how many are joined whole, for an open model and for a timer."""

    whole: int = MOST_WHOLE
    closed: int = MOST_CLOSED


def replay_jtl(
    plan: Plan,
    path: str | Path,
    jtl: Jtl,
    from_s: float,
    until_s: float | None,
    bins: Bins,
    limits: Limits | None = None,
) -> Replay:
    """Join every schedule of the plan with the samples of the JTL at path, which jtl counts.

    from_s, until_s: as in `replay`. A timer's schedule with too many samples is a problem, not an
    error: it proves nothing, and judging its labels by service time would drop the waiting that
    the schedule is there to show. So are samples of several JMeters. Raises JtlError.
    """
    limits = limits or Limits()
    start_ms, last_ms = jtl.test_starts_ms or (None, None)
    queues, closed, threads = _queues(plan, path, jtl)
    if queues and start_ms != last_ms:
        return together([], closed, [_several_starts(start_ms, last_ms)])
    queues = [queue.until(until_s, jtl.origin_ms, start_ms) for queue in queues]
    long = [queue for queue in queues if _is_long(queue, jtl, limits)]
    streamed = iter(_streamed(long, threads, path, jtl, start_ms, from_s, bins))
    joined: list[Kept] = []
    problems = []
    for queue in queues:
        if _is_long(queue, jtl, limits):
            joined.append(next(streamed))
        elif not queue.schedule.by_thread and _size(queue, jtl) > limits.closed:
            problems.append(_too_many(queue, _size(queue, jtl), limits.closed))
        else:
            # One at a time, so that memory holds the samples of one schedule only.
            samples = read_samples(path, queue.labels)
            joined.append(join_queue(queue, samples, jtl.origin_ms, start_ms, from_s, bins))
    return together(joined, closed, problems)


def _queues(
    plan: Plan, path: str | Path, jtl: Jtl
) -> tuple[tuple[Queue, ...], dict[str, str], dict[str, dict[str, str]] | None]:
    """As queues_of, and who sent each label if that matters, as read_threads tells it."""
    queues, closed = queues_of(plan, jtl.samplers)
    if not any(queue.threads for queue in queues):
        return queues, closed, None
    threads = read_threads(path, {label for queue in queues for label in queue.labels})
    return *queues_of(plan, jtl.samplers, threads), threads


def _several_starts(first_ms: int, last_ms: int) -> str:
    return (
        f"the samples come from JMeters that began at different times (TESTSTART.MS is {first_ms} "
        f"and {last_ms}), each with a schedule of its own, and nobody can tell whose they are: let "
        "one JMeter send the load"
    )


def _is_long(queue: Queue, jtl: Jtl, limits: Limits) -> bool:
    return queue.schedule.by_thread and _size(queue, jtl) > limits.whole


def _size(queue: Queue, jtl: Jtl) -> int:
    return sum(jtl.samplers[label].counts.total for label in queue.labels)


def _too_many(queue: Queue, size: int, limit: int) -> str:
    return (
        f"{size} samples belong to the Precise Throughput Timer of {', '.join(queue.names)}, and "
        f"no more than {limit} can be joined with its schedule: use an Open Model Thread Group, "
        "which has no such limit, or a shorter run"
    )


def foreseen_problems(plan: Plan, length_s: float, limits: Limits | None = None) -> list[str]:
    """The problems that a run of this length would have, before any load is sent."""
    limits = limits or Limits()
    found = []
    for queue in queues_of(plan, ())[0]:
        if isinstance(queue.schedule.replay, PreciseThroughput):
            size = int(queue.schedule.replay.rate * length_s)
            if size > limits.closed:
                found.append(_too_many(queue, size, limits.closed))
    return found


def _streamed(
    queues: list[Queue],
    threads: Mapping[str, Mapping[str, str]] | None,
    path: str | Path,
    jtl: Jtl,
    start_ms: int | None,
    from_s: float,
    bins: Bins,
) -> Iterable[Kept]:
    """How each queue was kept, in their order. threads: None where no label has another sender."""
    if not queues:
        return []
    wanted = _wanted(queues, threads, jtl)
    numbers = [_numbers(queue, wanted) for queue in queues]
    raw = threads and [threads[label][thread] for label, thread in wanted]
    labels = [label for label, _ in wanted]
    with open_batches(path, labels, jtl.raw_labels, threads=raw) as batches:
        joins = [
            OpenJoin(
                queue.schedule,
                tuple(mine),
                _test_start_ms(queue, tuple(mine), batches)
                if start_ms is None
                else float(start_ms),
                jtl.origin_ms,
                from_s,
                bins,
            )
            for queue, mine in zip(queues, numbers, strict=True)
        ]
        for batch in batches:
            for join in joins:
                join.add(batch)
        return [
            _told(queue, mine, join, batches, start_ms is None, bins)
            for queue, mine, join in zip(queues, numbers, joins, strict=True)
        ]


def _wanted(
    queues: list[Queue], threads: Mapping[str, Mapping[str, str]] | None, jtl: Jtl
) -> list[tuple[str, str]]:
    """(label, name of its threads) of all governed samples; the name is '' where none matters."""
    labels = [label for label in jtl.samplers if any(label in queue.governed for queue in queues)]
    return [(label, name) for label in labels for name in (threads[label] if threads else ("",))]


def _numbers(queue: Queue, wanted: list[tuple[str, str]]) -> dict[int, str]:
    """Which of `wanted` are the queue's, and the label of each."""
    return {
        number: label
        for number, (label, name) in enumerate(wanted)
        if label in queue.governed and name in queue.threads.get(label, (name,))
    }


def _test_start_ms(queue: Queue, labels: tuple[int, ...], batches: SampleBatches) -> float:
    starts = (batch.of_labels(labels).start_ms for batch in batches)
    return estimate_test_start_ms(queue.schedule.replay, starts)


def _told(
    queue: Queue,
    numbers: dict[int, str],
    join: OpenJoin,
    batches: SampleBatches,
    estimated: bool,
    bins: Bins,
) -> Kept:
    """numbers: as _numbers. estimated: nobody knows the test start."""
    outside = batches.threads_outside(tuple(numbers), queue.schedule.replay.count)
    judged = [label for label in queue.governed if label not in queue.mixed]

    def of_label(counts: Callable[[int], Counts], label: str) -> Counts:
        return Counts.merged(counts(number) for number, it in numbers.items() if it == label)

    return Kept(
        response={label: of_label(join.response, label) for label in judged},
        lateness={label: of_label(join.lateness, label) for label in judged},
        facts=replace(join.facts(queue.names, outside), origin_is_estimated=estimated),
        unsent=unsent_of(queue, join.unsent_ms(), bins),
        step=join.step,
    )
