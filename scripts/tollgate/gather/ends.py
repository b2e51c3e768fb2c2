"""Thread groups that sent nothing, or ended before their time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tollgate.base.text import shown
from tollgate.gather.samples import ExecutionSamples
from tollgate.judge.ended_early import EarlyEnds, SampledThreads, early_ends
from tollgate.judge.facts import NeverSent
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
from tollgate.schedule.threads import bounded_groups, named_alike, unscheduled_groups


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


def data_ended(samples: ExecutionSamples) -> dict[str, str]:
    """By the labels of each schedule, the CSV Data Sets whose end has ended threads of it, by
    JMeter's log."""
    plan, by_label = samples.context.plan, dict[str, str]()
    log = _logged(plan, samples.context.planned.thread_ends or {})
    for place, schedule in schedules_of(plan)[1]:
        data = plan.groups[place].stops.data
        if data and any(words.startswith("Stop Thread seen") for words in log.get(place, {})):
            by_label |= dict.fromkeys((it.text for it in schedule.labels), " or ".join(data))
    return by_label


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
        log=None if planned.thread_ends is None else _logged(plan, planned.thread_ends),
        start_is_known=jtl.test_starts_ms is not None,
    )


def _logged(plan: Plan, ends: Mapping[str, Mapping[str, int]]) -> dict[int, Counter[str]]:
    """By place in plan.groups. JMeter's log may have lost letters beyond ASCII."""
    found: dict[int, Counter[str]] = {}
    known = ((it, _ascii(it.name, "?"), _ascii(it.name_pattern, ".")) for it in plan.groups)
    groups = tuple(replace(it, name=name, name_pattern=pattern) for it, name, pattern in known)
    for name, words in ends.items():
        for place in _named(replace(plan, groups=groups), _ascii(name, "?")):
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
    plan: Plan, by_name: Mapping[str, Mapping[int, Thread]]
) -> dict[int, Mapping[int, Thread]] | None:
    """By place in plan.groups and number of the thread; None where names do not tell which group a
    thread is of."""
    by_place: dict[int, Mapping[int, Thread]] = {}
    has_strangers = False
    for name, threads in by_name.items():
        places = _named(plan, name)
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
