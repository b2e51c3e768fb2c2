"""Reads workers.jsonl: whether the workers of an app were, all the time, the ones asked for."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

#: Seconds without a line after which nobody watched; the watcher writes one each second.
SILENCE = 5.0
#: Seconds after an execution within which the next look still tells how it ended.
LAST_LOOK = 2.0


@dataclass(frozen=True)
class Watched:
    """seen: the fewest workers that were online at any look, None without a look. events: one
    line for each worker that died, was restarted or came to be. problem: why the watch proves
    nothing, or an empty string."""

    seen: int | None
    events: tuple[str, ...]
    problem: str = ""


def read_workers(path: Path, app: str, began_s: float, ended_s: float) -> Watched:
    """What happened to the workers of an app between two moments, seconds since the epoch."""
    try:
        lines = [json.loads(line) for line in _whole_lines(path)]
        mine = [line for line in lines if line["app"] == app]
        return watched(mine, app, began_s, ended_s)
    except (OSError, ValueError, TypeError, KeyError) as error:
        return Watched(None, (), f"{path.name} can't be read: {error!r}")


def watched(lines: Iterable[dict], app: str, began_s: float, ended_s: float) -> Watched:
    """The same from the app's lines, in the order in which they were written."""
    looks: dict[float, list[dict]] = {}
    for line in lines:
        looks.setdefault(line["time"] / 1000, []).append(line)
    before = [time for time in looks if time <= began_s]
    inside = [time for time in looks if began_s < time <= ended_s]
    after = [time for time in looks if ended_s < time <= ended_s + LAST_LOOK]
    # The last look before the execution is what it began with, the first one after it what it left.
    times = [*before[-1:], *inside, *after[:1]]
    silence = _longest_silence([began_s, *inside, ended_s])
    if ended_s < began_s or any(b < a for a, b in itertools.pairwise(looks)):
        return Watched(None, (), f"the clock was set back while the workers of {app} were watched")
    if not times or silence > SILENCE:
        return Watched(
            None if not times else _fewest(looks, times),
            tuple(_events(looks, times, began_s)),
            f"nobody watched the workers of {app} for {silence:.0f} s: see workers.err",
        )
    return Watched(_fewest(looks, times), tuple(_events(looks, times, began_s)))


def _whole_lines(path: Path) -> list[str]:
    """All lines but one that the watcher was killed in the middle of."""
    text = path.read_text()
    return text[: text.rfind("\n") + 1].splitlines()


def _longest_silence(times: list[float]) -> float:
    return max(later - earlier for earlier, later in itertools.pairwise(times))


def _fewest(looks: dict[float, list[dict]], times: list[float]) -> int:
    return min(sum(line["status"] == "online" for line in looks[time]) for time in times)


def _events(looks: dict[float, list[dict]], times: list[float], began_s: float) -> Iterable[str]:
    for earlier, later in itertools.pairwise(times):
        at = f"{max(later - began_s, 0):.0f} s into the execution"
        before = {line["worker"]: line for line in looks[earlier]}
        after = {line["worker"]: line for line in looks[later]}
        for worker in sorted(before.keys() | after.keys(), key=str):
            yield from _changes(worker, before.get(worker), after.get(worker), at)


def _changes(worker: object, old: dict | None, new: dict | None, at: str) -> Iterable[str]:
    if new is None:
        yield f"worker {worker} (pid {old['pid']}) was gone {at}"
    elif old is None:
        yield f"worker {worker} (pid {new['pid']}) came to be {at}"
    elif new["restarts"] > old["restarts"] or new["pid"] != old["pid"]:
        yield f"worker {worker} (pid {old['pid']}) died and was started again {at}"
    elif new["status"] != "online" and old["status"] == "online":
        yield f"worker {worker} (pid {old['pid']}) was {new['status']} {at}"
