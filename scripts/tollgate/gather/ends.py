"""Thread groups that sent nothing, or ended before their time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tollgate.base.text import shown
from tollgate.gather.samples import ExecutionSamples
from tollgate.gather.thread_ends import ends_by_place, named
from tollgate.judge.ended_early import (
    FINISHED,
    OWN_ENDS,
    STARTED,
    EarlyEnds,
    SampledThreads,
    early_ends,
    stopped_by_service,
)
from tollgate.judge.facts import NeverSent, StoppedThreads
from tollgate.plan.model import Plan
from tollgate.record.redaction import Redaction
from tollgate.samples.store import Store
from tollgate.samples.threads import Thread, longest_gaps, thread_groups, thread_samples
from tollgate.samples.unsent import (
    read_accepted_errors,
    read_most_threads,
    read_redirects,
    read_unsent,
)
from tollgate.schedule.schedule import schedules_of
from tollgate.schedule.shares import off_their_share
from tollgate.schedule.silent import Silent, silent_parts
from tollgate.schedule.threads import bounded_groups, unscheduled_groups


def silent_groups(samples: ExecutionSamples) -> Silent:
    """What of the plan left no sample. Raises JtlError and OSError."""
    labels = {*samples.jtl.samplers, *samples.jtl.transactions}
    plan, groups = samples.context.plan, lambda: thread_groups(samples.store)
    return silent_parts(plan, labels, groups, samples.until_s)


def unlike_the_plan(samples: ExecutionSamples) -> tuple[str, ...]:
    """One line for each label that was sent far more rarely than the plan says."""
    counts = {name: label.counts.total for name, label in samples.jtl.samplers.items()}
    return off_their_share(samples.context.plan, counts, read_most_threads(samples.store))


def never_sent(store: Store) -> tuple[NeverSent, ...]:
    """What never left JMeter, by label."""
    return tuple(
        NeverSent(label, n, total, why, shown(Redaction().text(url), 120) if url else "")
        for label, n, total, why, url in read_unsent(store)
    )


def not_followed(samples: ExecutionSamples) -> Iterator[str]:
    """What JMeter 5.6.3 does not follow though the plan asks it to (its issues 6080 and 5753)."""
    every = [it for group in samples.context.plan.groups for it in group.samplers]
    for label, code, n in read_redirects(samples.store):
        if any(it.follows and it.label.matches(label) for it in every):
            yield (
                f"{n} answers of {label} were {code}, which JMeter 5.6.3 does not follow here, so "
                "that what they lead to was not asked: name the URL behind them in the plan"
            )


def accepted_errors(store: Store) -> Iterator[str]:
    """Errors of the server that an assertion, or a script, takes for right answers."""
    for label, code, n in read_accepted_errors(store):
        yield (
            f"{n} answers of {label} were {code}, and the plan counts them as successes: add "
            f"'rc{code} of {label}>0%' where they are none"
        )


def groups_ended_early(samples: ExecutionSamples) -> EarlyEnds:
    """The groups of the plan that ended before their time, if JMeter ended by itself. Raises
    JtlError and OSError."""
    plan = samples.context.plan
    if not unscheduled_groups(plan):
        return EarlyEnds()
    return early_ends(plan, _sampled_threads(samples), samples.until_s)


def stopped_threads(samples: ExecutionSamples) -> dict[str, StoppedThreads]:
    """By the labels of each schedule, what has ended threads of it before their time, as far as
    JMeter's log shows that any ended so."""
    plan, by_label = samples.context.plan, dict[str, StoppedThreads]()
    log = ends_by_place(plan, samples.context.planned.thread_ends or {})
    failed = [name for name, label in samples.jtl.samplers.items() if label.counts.errors]
    for place, schedule in schedules_of(plan)[1]:
        own = {*OWN_ENDS, FINISHED, STARTED}
        if schedule.by_thread:  # its end stops those that are under way
            own.add("Stopping")
        words = [it for it in log.get(place, {}) if it not in own]
        if why := words and _stopped(plan, place, words, failed):
            labels = (it.text for it in schedule.labels)
            by_label |= dict.fromkeys(
                (*labels, *filter(schedule.matches, samples.jtl.samplers)), why
            )
    return by_label


def _stopped(plan: Plan, place: int, words: Sequence[str], failed: Sequence[str]) -> StoppedThreads:
    """What has ended threads of a group. words: those of JMeter's log for it, at least one."""
    stops = plan.groups[place].stops
    if stops.data and any(it.startswith("Stop Thread seen") for it in words):
        return StoppedThreads("operator", f"the data of {' or '.join(stops.data)} ended")
    if cause := stopped_by_service(plan, place, failed):
        return StoppedThreads("service", cause)
    if stops.flow:
        return StoppedThreads("operator", f"{' or '.join(stops.flow)} ended threads")
    last = " and ".join(map(repr, words))
    return StoppedThreads("generator", f"the last that JMeter logged of threads is {last}")


def _sampled_threads(samples: ExecutionSamples) -> SampledThreads:
    plan, planned, jtl = samples.context.plan, samples.context.planned, samples.jtl
    store, parents = samples.store, samples.parents
    by_name = thread_samples(store, parents, lambda name: bool(_looping(plan, name)), jtl.origin_ms)
    threads = None if by_name is None else _by_place(plan, by_name)
    labels = {**{name: jtl.transactions[name] for name in parents}, **jtl.samplers}

    def gaps() -> dict[int, float]:
        by_name = longest_gaps(store, parents) if threads else {}
        return {place: gap for name, gap in by_name.items() for place in _looping(plan, name)}

    return SampledThreads(
        whole=Thread(
            {name: label.counts.total for name, label in labels.items()},
            (jtl.last_end_ms - jtl.origin_ms) / 1000,
        ),
        threads=threads,
        failed=[name for name, label in labels.items() if label.counts.errors],
        ended_s=None if planned.ended is None else planned.ended - jtl.origin_ms / 1000,
        gaps=gaps,
        log=None if planned.thread_ends is None else ends_by_place(plan, planned.thread_ends),
        start_is_known=jtl.test_starts_ms is not None,
    )


def _looping(plan: Plan, name: str) -> list[int]:
    """Places of the thread groups that may have a thread of this name, but for those in which each
    arrival has one of its own."""
    return [it for it in named(plan, name) if not plan.groups[it].is_open_model]


def _by_place(
    plan: Plan, by_name: Mapping[str, Mapping[int, Thread]]
) -> dict[int, Mapping[int, Thread]] | None:
    """By place in plan.groups and number of the thread; None where names do not tell which group a
    thread is of."""
    by_place: dict[int, Mapping[int, Thread]] = {}
    has_strangers = False
    for name, threads in by_name.items():
        places = named(plan, name)
        if len(places) > 1:
            return None
        has_strangers |= not places
        if threads:
            is_whole = plan.groups[places[0]].length_s is not None
            by_place[places[0]] = {1: _together(threads)} if is_whole else threads
    if has_strangers and any(place not in by_place for place in bounded_groups(plan)):
        return None
    return by_place


def _together(threads: Mapping[int, Thread]) -> Thread:
    samples = sum((Counter(each.samples) for each in threads.values()), Counter())
    return Thread(samples, max(each.last_end_s for each in threads.values()))
