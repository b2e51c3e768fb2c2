"""Criteria on the workers of a target, and what their reloads and outages mean. Pure.

Each worker is judged by itself, and the worst of them decides. For PASS all of them must hold, so
that many workers make it no easier; of the level at which the criterion fails each worker, or each
of their processes where it judges those, has an equal share (Bonferroni).

A reload of the run's own timetable is there to prove that it loses nothing: one that loses a
request, or that does not come off, is the service's failure. A worker that ended by itself broke
the measurement, whatever was lost: others served in its place, and not what was asked for. Where a
criterion says how many restarts fail a run, a restart is what was measured, and the criterion
judges it: a soak that looks for leaks must not call the leak it found a broken measurement.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tollgate.base.text import duration, format_number, short
from tollgate.criteria.grammar import Criterion
from tollgate.criteria.subjects import CPU_PER_REQUEST, MIB
from tollgate.judge.cpu_per_request import judge_cpu_per_request
from tollgate.judge.criterion import Judgement, result, rule_exactly, rule_over_time
from tollgate.judge.facts import JudgeSettings, MeasuredExecution
from tollgate.judge.observe import Levels, Observation
from tollgate.judge.verdicts import (
    FAIL,
    INCONCLUSIVE,
    INVALID,
    LOOKS,
    ORDER,
    PASS,
    SERVICE,
    CriterionResult,
    Reason,
    invalid,
)
from tollgate.stats.intervals import LEAST_KNOWN, MIN_SECONDS, Interval, mean_interval
from tollgate.workers.model import Resources, WorkerEvent, WorkerOutage, WorkerSeries
from tollgate.workers.processes import (
    FEWEST_LOOKS,
    SHORTEST_S,
    Growth,
    growth,
    judged_share,
    lives,
    restarts,
)

#: Subjects that are judged for each process.
_OF_LIVES = ("rss-slope", "time-left")
MB_PER_MIN = 60 / MIB  # of bytes a second
#: With a smaller part of its looks in lives that could be judged, a worker has not been judged.
LEAST_JUDGED = 0.5
#: One look may fall beside the edges of the measured time.
EDGE_LOOKS = 1
_TIMES_SHOWN = 5


@dataclass(frozen=True)
class _Watch:
    """What all workers of an execution are judged by."""

    criterion: Criterion
    resources: Resources
    levels: Levels
    from_s: float
    to_s: float


def judge_resource(
    criterion: Criterion, execution: MeasuredExecution, settings: JudgeSettings, levels: Levels
) -> CriterionResult:
    """The result of a criterion on workers."""
    resources, window = execution.resources, execution.window
    judged: list[tuple[str | None, Judgement]]
    if problem := _why_unjudged(criterion, execution):
        judged = [(None, Judgement(INVALID, problem))]
    elif criterion.subject == CPU_PER_REQUEST:
        judged = [(None, judge_cpu_per_request(criterion, execution, levels))]
    else:
        workers = resources.workers
        shares = len(workers)
        if criterion.subject in _OF_LIVES:
            shares = sum(len(lives(it, *window)) for it in workers)
        shared = replace(levels, fail=levels.fail / max(1, shares))
        watch = _Watch(criterion, resources, shared, *window)
        judged = [(it.worker, own) for it in workers for own in _of_worker(watch, it)]
    worker, judgement = max(judged, key=lambda each: _badness(criterion, each[1]))
    return result(criterion, judgement, settings.confidence, LOOKS, worker)


def _why_unjudged(criterion: Criterion, execution: MeasuredExecution) -> str:
    """Empty if the workers can be judged."""
    workers = execution.resources.workers
    if not workers:
        has_target = bool(execution.facts.workers)
        step = "see workers.jsonl and workers.err" if has_target else "give the scenario a `target`"
        return f"no worker was seen, so nothing was judged: {step}"
    if criterion.subject == "time-left" and not all(it.memory_limit for it in workers):
        return "the target has no memory limit: set max_memory_restart of its app"
    return ""


def _badness(criterion: Criterion, judgement: Judgement) -> tuple[int, float]:
    value = 0.0 if math.isnan(judgement.seen.value) else judgement.seen.value
    return ORDER.index(judgement.verdict), value if criterion.condition[0] == ">" else -value


def _of_worker(watch: _Watch, series: WorkerSeries) -> Iterator[Judgement]:
    if watch.criterion.subject in _OF_LIVES:
        yield from _of_lives(watch, series)
    elif watch.criterion.subject == "restarts":
        count = restarts(series, watch.resources.outages, watch.to_s)
        looks = int((series.second < watch.to_s).sum())
        yield rule_exactly(watch.criterion, Observation(float(count), looks))
    else:
        yield _of_values(watch, series)


def _of_values(watch: _Watch, series: WorkerSeries) -> Judgement:
    """The judgement on the measured looks for which PM2 had a value."""
    subject = watch.criterion.subject
    values = getattr(series, subject.replace("-", "_"))
    is_measured = (series.second >= watch.from_s) & (series.second < watch.to_s)
    has_value = np.isfinite(values) & is_measured
    at_s, values = series.second[has_value], values[has_value]
    if not len(values):
        reason = f"no look in the measured time has the {subject} of this worker"
        if subject.startswith("loop-delay"):
            reason += ": PM2 knows it of Node alone; for another kind of app remove the criterion"
        return Judgement(INVALID, reason)
    if subject == "rss":
        highest = Observation(float(values.max() / MIB), len(values))
        judgement = rule_exactly(watch.criterion, highest)
    else:
        judgement = _of_mean(watch, at_s, values)
    due = watch.to_s - watch.from_s
    if judgement.verdict != PASS or len(values) + EDGE_LOOKS >= LEAST_KNOWN * due:
        return judgement
    reason = (
        f"measured by {len(values)} looks in {due:.0f} s, one a second was due: "
        f"at least {100 * LEAST_KNOWN:.0f} % are needed"
    )
    return replace(judgement, verdict=INCONCLUSIVE, reason=reason)


def _of_mean(watch: _Watch, at_s: np.ndarray, values: np.ndarray) -> Judgement:
    criterion = watch.criterion
    seconds, place = np.unique(np.floor(at_s).astype(np.int64), return_inverse=True)
    n, sums = np.bincount(place), np.bincount(place, weights=values)

    interval = partial(mean_interval, seconds, n, sums, has_tail=False)
    mean = float(values.mean())
    estimate = watch.levels.estimate(criterion, mean, len(values), interval)
    watched = int(seconds[-1] - seconds[0]) + 1
    if watched < MIN_SECONDS:
        reason = f"watched for {watched} s: at least {MIN_SECONDS} s are needed"
        return Judgement(INCONCLUSIVE, reason, estimate)
    return rule_over_time(criterion, estimate, watched, estimate.times_longer(criterion))


def _of_lives(watch: _Watch, series: WorkerSeries) -> Iterator[Judgement]:
    """One judgement for each process that can be judged; one on the worker if most of it can't."""
    all_lives = lives(series, watch.from_s, watch.to_s)
    confidence = 1 - 2 * watch.levels.hold
    grown = [it for it in (growth(life, confidence) for life in all_lives) if it]
    for each in grown:
        yield _of_growth(watch, each, series.memory_limit, len(all_lives))
    share = judged_share((each.life for each in grown), series, watch.from_s, watch.to_s)
    if share < LEAST_JUDGED:
        longest = max((life.length_s for life in all_lives), default=0.0)
        reason = (
            f"its processes were watched for {longest:.0f} s at most, after the warm-up of each: "
            f"at least {FEWEST_LOOKS} looks in {SHORTEST_S:.0f} s are needed"
        )
        if grown:
            reason = f"only {100 * share:.0f} % of the looks are at processes that can be judged"
        yield Judgement(INCONCLUSIVE, reason)


def _of_growth(watch: _Watch, grown: Growth, limit: float | None, processes: int) -> Judgement:
    life = grown.life
    time_limit = limit if watch.criterion.subject == "time-left" else None

    def value_and_ends(grown: Growth) -> tuple[float, float, float]:
        if time_limit is None:
            trend = grown.trend.scaled(MB_PER_MIN)
            return trend.slope, trend.low, trend.high
        value_s, low_s, high_s = grown.time_left(time_limit)
        return value_s / 60, low_s / 60, high_s / 60

    def interval(confidence: float) -> Interval:
        _, low, high = value_and_ends(growth(life, confidence) or grown)
        return Interval(low, high, math.nan)

    needed_slope = watch.criterion.threshold / MB_PER_MIN
    if time_limit is not None:
        needed_slope = grown.slope_to_limit(time_limit, watch.criterion.threshold * 60)
    times_longer = grown.trend.times_longer(needed_slope)
    value, *_ = value_and_ends(grown)
    estimate = watch.levels.estimate(watch.criterion, value, len(life.second), interval)
    judgement = rule_over_time(watch.criterion, estimate, life.length_s, times_longer)
    notes = [judgement.reason]
    if watch.criterion.subject == "rss-slope" and limit:
        notes += _time_left(grown, limit)
    if processes > 1:
        notes.append(f"judged was process {life.pid}, one of {processes}")
    return replace(judgement, reason="; ".join(notes))


def _time_left(grown: Growth, limit: float) -> list[str]:
    """`512 MB would be reached in 17 min (13-24)`; nothing where RSS doesn't grow."""
    value, low, high = grown.time_left(limit)
    if not grown.life.is_last or math.isinf(value):
        return []
    size = f"{limit / MIB:.0f} MB"
    if not value:
        return [f"{size} were reached"]
    unit, name = duration(value)
    end = " or more" if math.isinf(high) else f"-{short(high / unit)}"
    return [f"{size} would be reached in {short(value / unit)} {name} ({short(low / unit)}{end})"]


def resource_reasons(execution: MeasuredExecution) -> Iterator[Reason]:
    """Why an execution can't pass: its unplanned outages, its lossy or failed reloads."""
    for outage in execution.resources.outages:
        if not (outage.planned or _is_judged(outage, execution)):
            yield invalid(SERVICE, outage_line(outage))
    for reload in execution.resources.reloads:
        at = f"the reload {_seconds(reload.from_s)} s into the execution"
        if reload.problem:
            yield Reason(FAIL, SERVICE, f"{at} failed: {reload.problem}")
        elif reload.to_s == math.inf:
            yield Reason(FAIL, SERVICE, f"{at} did not end: see pm2.log")
        if reload.lost:
            yield Reason(FAIL, SERVICE, f"{at} lost {_requests(reload.lost)}")


def resource_warnings(execution: MeasuredExecution) -> Iterator[str]:
    """One line on the reloads that went well, and one for each outage that makes nothing INVALID,
    because a criterion judges it."""
    reloads = execution.resources.reloads
    ended = [it for it in reloads if it.to_s is not None and it.to_s < math.inf]
    clean = [it for it in ended if it.lost == 0 and not it.problem]
    if clean:
        times = ", ".join(_seconds(reload.from_s) for reload in clean[:_TIMES_SHOWN])
        more = f" and {len(clean) - _TIMES_SHOWN} more" if len(clean) > _TIMES_SHOWN else ""
        what = "one reload" if len(clean) == 1 else f"{len(clean)} reloads"
        yield f"{what} of the target lost no request: {times} s{more} into the execution"
    for outage in execution.resources.outages:
        if not outage.planned and _is_judged(outage, execution):
            yield outage_line(outage)


def judges_restarts(execution: MeasuredExecution) -> bool:
    """Whether a criterion says what a restart of a worker means."""
    return any(each.subject == "restarts" and each.fail for each in execution.criteria)


def _is_judged(outage: WorkerOutage, execution: MeasuredExecution) -> bool:
    """Whether a criterion on restarts counts it: the worker came back, and was looked at."""
    is_seen = any(series.worker == outage.worker for series in execution.resources.workers)
    return judges_restarts(execution) and outage.to_s is not None and is_seen


def outage_line(outage: WorkerOutage) -> str:
    """When a worker died, for how long it was gone, and how many requests that cost."""
    at = f"{_seconds(outage.from_s)} s into the execution"
    lost = ""
    if outage.lost is not None:
        lost = f"; {_requests(outage.lost)} {'was' if outage.lost == 1 else 'were'} lost"
    who = f"worker {outage.worker} (pid {outage.pid}) died"
    if outage.to_s is None:
        return f"{who} {at} and did not come back{lost}"
    back = "its successor was online before"  # a reload without the timetable
    if outage.to_s > outage.from_s:
        back = f"PM2 had it back after {format_number(outage.to_s - outage.from_s)} s"
    return f"{who} and was started again {at}; {back}{lost}"


def events_left(
    events: Iterable[WorkerEvent], outages: Iterable[WorkerOutage]
) -> tuple[WorkerEvent, ...]:
    """The events of the watch that no outage covers: those about other processes."""
    covered = {(outage.worker, outage.pid) for outage in outages}
    return tuple(event for event in events if (event.worker, event.pid) not in covered)


def _requests(count: int) -> str:
    return "one request" if count == 1 else f"{count} requests"


def _seconds(value: float) -> str:
    return f"{max(value, 0.0):.1f}"
