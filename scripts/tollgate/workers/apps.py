"""Reads workers.jsonl for all targets of an execution: each is watched for itself, and named where
there are several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tollgate.workers.model import Resources, WorkerCount
from tollgate.workers.reading import read_watch


@dataclass(frozen=True)
class TargetsWatched:
    """counts: one a target. events: one line for each worker that died, was restarted or came to
    be, but for the timetable's reloads. problems: why the watch proves nothing, one line each."""

    counts: tuple[WorkerCount, ...] = ()
    events: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    resources: Resources = field(default_factory=Resources)


def unwatched(targets: Sequence[Mapping[str, Any]]) -> TargetsWatched:
    """Nobody watched them, since the load never began. targets: as run.json has them."""
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
    counts, events, problems, parts = [], [], [], []
    for target in targets:
        app = target["name"]
        windows = [(it["began"], it["ended"] or math.inf) for it in reloads if it["app"] == app]
        watched, found = read_watch(path, app, began_s, ended_s, windows, several)
        counts.append(_count(target, several, watched.seen, watched.seen_or_restarting))
        events += watched.events
        problems += [watched.problem] if watched.problem else []
        parts.append(_limited(found, target.get("memory_limit")))
    problems = dict.fromkeys(problems)  # a file that can't be read is one, and not one a target
    return TargetsWatched(tuple(counts), tuple(events), tuple(problems), _joined(parts))


def _count(target: Mapping[str, Any], several: bool, *seen: int | None) -> WorkerCount:
    return WorkerCount(target["instances"], *seen, app=target["name"] if several else "")


def _limited(found: Resources, limit: float | None) -> Resources:
    workers = tuple(replace(series, memory_limit=limit) for series in found.workers)
    return replace(found, workers=workers, memory_limit=limit)


def _joined(parts: Sequence[Resources]) -> Resources:
    outages = [outage for part in parts for outage in part.outages]
    limits = [part.memory_limit for part in parts if part.memory_limit]
    return Resources(
        workers=tuple(series for part in parts for series in part.workers),
        outages=tuple(sorted(outages, key=lambda outage: outage.from_s)),
        reloads=tuple(it for part in parts for it in part.reloads),
        memory_limit=min(limits, default=None),
    )
