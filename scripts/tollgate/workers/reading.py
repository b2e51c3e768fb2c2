"""Reads workers.jsonl: whether the workers of each target were, all the time, the ones asked for,
and what they needed. Each target is watched by itself, and named where there are several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tollgate.workers.lines import ClockSetBackError, Line, SeriesOf, lines_of, looks_of
from tollgate.workers.model import Reload, Resources, WorkerCount, WorkerEvent
from tollgate.workers.observations import Seen, around
from tollgate.workers.process_ends import Window, ends_by_events, mark_planned, merged

#: Seconds without a line after which they count as not watched; the watcher writes one each second.
SILENCE = 5.0


@dataclass(frozen=True)
class Watched:
    """seen: the fewest workers that were online at any look, None without a look; looks during a
    reload of the timetable don't count. seen_or_restarting: the same with those counted that were
    missing between two processes, in an unplanned outage that ended. events: one line for each
    worker that died, was restarted or came to be, but for the timetable's reloads. problem: why the
    watch proves nothing, or an empty string."""

    seen: int | None
    events: tuple[WorkerEvent, ...]
    problem: str = ""
    seen_or_restarting: int | None = None


def read_watch(
    path: Path,
    app: str,
    began_s: float,
    ended_s: float,
    reloads: Sequence[Window] = (),
    of_several: bool = False,
) -> tuple[Watched, Resources]:
    """Both of them in one go through the file. Memory: a row of numbers for each look at a worker.

    of_several: call its workers `0 of pi-2`, since other apps have a worker 0 as well.
    """
    series, seen = SeriesOf(began_s, ended_s), Seen(began_s, ended_s, reloads)
    noted: list[Line] = []
    try:
        if ended_s < began_s:
            raise ClockSetBackError
        lines = lines_of(path, app)
        if of_several:
            lines = ({**it, "worker": f"{it['worker']} of {app}"} for it in lines)
        for look in around(looks_of(series.passing(lines), noted), began_s, ended_s):
            seen.take(look)
        heard = ends_by_events(noted)
    except ClockSetBackError:
        problem = f"the clock was set back while the workers of {app} were watched"
        return Watched(None, (), problem), Resources()
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        return Watched(None, (), f"{path.name} can't be read: {reason}"), Resources()
    ends = merged(heard, seen.looked_for.found)
    mark_planned(ends, reloads)
    during = [end for end in ends if end.went <= ended_s and end.came >= began_s]
    problem = ""
    if seen.fewest is None or seen.silence > SILENCE:
        problem = f"the workers of {app} were not watched for {seen.silence:.0f} s: see workers.err"
    events = tuple(seen.events(heard, during))
    watched = Watched(seen.fewest, events, problem, seen.fewest_with_restarting(during))
    outages = tuple(end.outage(began_s) for end in during)
    mine = [(low - began_s, high - began_s) for low, high in reloads if low <= ended_s]
    planned = tuple(Reload(low, high) for low, high in mine if high >= 0)
    return watched, Resources(series.series(), outages, planned)


@dataclass(frozen=True)
class TargetsWatched:
    """counts: one a target. events: one line for each worker that died, was restarted or came to
    be, but for the timetable's reloads. problems: why the watch proves nothing, one line each."""

    counts: tuple[WorkerCount, ...] = ()
    events: tuple[WorkerEvent, ...] = ()
    problems: tuple[str, ...] = ()
    resources: Resources = field(default_factory=Resources)


def unwatched(targets: Sequence[Mapping[str, Any]]) -> TargetsWatched:
    """They were not watched, since the load never began. targets: as run.json has them."""
    return TargetsWatched(tuple(_count(it, len(targets) > 1) for it in targets))


def read_targets(
    path: Path,
    targets: Sequence[Mapping[str, Any]],
    began_s: float,
    ended_s: float,
    reloads: Sequence[Mapping[str, Any]] = (),
) -> TargetsWatched:
    """What happened between two moments, seconds since the epoch; what is found counts its seconds
    from began_s. targets, reloads: as in run.json. Goes through the file once a target."""
    several = len(targets) > 1
    counts: list[WorkerCount] = []
    events: list[WorkerEvent] = []
    problems: list[str] = []
    parts: list[Resources] = []
    for target in targets:
        app = target["name"]
        windows = [(it["began"], it["ended"] or math.inf) for it in reloads if it["app"] == app]
        watched, resources = read_watch(path, app, began_s, ended_s, windows, several)
        count, both = _count(target, several), watched.seen_or_restarting
        counts.append(replace(count, seen=watched.seen, seen_or_restarting=both))
        events += watched.events
        problems += [watched.problem] if watched.problem else []
        limit = target.get("memory_limit")
        workers = tuple(replace(series, memory_limit=limit) for series in resources.workers)
        parts.append(replace(resources, workers=workers, memory_limit=limit))
    once = tuple(dict.fromkeys(problems))  # a file that can't be read is one, not one a target
    return TargetsWatched(tuple(counts), tuple(events), once, _joined(parts))


def _count(target: Mapping[str, Any], several: bool) -> WorkerCount:
    return WorkerCount(target["instances"], app=target["name"] if several else "")


def _joined(parts: Sequence[Resources]) -> Resources:
    outages = [outage for part in parts for outage in part.outages]
    limits = [part.memory_limit for part in parts if part.memory_limit]
    return Resources(
        workers=tuple(series for part in parts for series in part.workers),
        outages=tuple(sorted(outages, key=lambda outage: outage.from_s)),
        reloads=tuple(it for part in parts for it in part.reloads),
        memory_limit=min(limits, default=None),
    )
