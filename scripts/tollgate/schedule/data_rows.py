"""CSV files with fewer rows than a plan takes of them, before the run: JMeter would send <EOF> for
what is missing, or end the threads. Pure but for the files.

Counted is what is taken for certain: a row for each arrival of a schedule, for each loop of threads
that loop a known number of times. Where a closed loop ends its threads with its data, that is taken
to be its plan. Source: JMeter 5.6.3, CSVDataSet.iterationStart, and of its TestCompiler,
trackIterationListeners.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tollgate.plan.data_files import Feed, feed_of, knows_of_ends, may_be_written
from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import CSV_DATA_SET, Element
from tollgate.plan.model import PLAIN_CONTROLLERS, Plan, ThreadGroup
from tollgate.schedule.grammar import ScheduleError
from tollgate.schedule.model import Schedule
from tollgate.schedule.open_model import ramps_of
from tollgate.schedule.schedule import schedules_of

_BY_GROUP, _BY_THREAD = "shareMode.group", "shareMode.thread"


@dataclass(frozen=True)
class ShortFile:
    """A file with fewer rows than are taken of it."""

    feed: Feed
    rows: int
    need: int

    def __str__(self) -> str:
        file, more = os.path.normpath(self.feed.path), self.need - self.rows
        return (
            f"{file} has {self.rows} rows, and the load takes {self.need} of them for "
            f"{self.feed.title}: have it begin anew at its end ('Recycle on EOF', or "
            f"`loop: true` of data-sources), or add {more} rows"
        )


def short_files(
    plan: Plan, root: Element, folder: Path, expander: Expander, until_s: float = math.inf
) -> list[ShortFile]:
    """Files of CSV Data Sets that do not begin anew and have too few rows. folder: from which
    JMeter reads them. expander: knows what the run will. until_s: when the load may end at the
    earliest."""
    if may_be_written(root) or knows_of_ends(root):
        return []
    needs: Counter[object] = Counter()
    feeds: dict[object, Feed] = {}
    schedules = dict(schedules_of(plan)[1])
    around = [it for it in root.active if it.kind == CSV_DATA_SET]
    for place, (group, element) in enumerate(zip(plan.groups, root.thread_groups, strict=True)):
        for number, each in enumerate((*around, *_feeds([element]))):
            feed = feed_of(each, folder, expander)
            need = _rows_taken(group, schedules.get(place), feed.stops_threads, until_s)
            if not (need and feed.is_there and feed.ends) or feed.mode is None:
                continue
            own: object = place if feed.mode == _BY_GROUP else feed.mode
            if feed.mode == _BY_THREAD:
                own = place, number
                need = 1 if group.is_open_model else math.ceil(need / (group.threads or need))
            key = own, feed.path.resolve()
            needs[key] += need
            feeds.setdefault(key, feed)
    files = (ShortFile(feed, feed.count(), needs[key]) for key, feed in feeds.items())
    return [it for it in files if it.rows < it.need]


def _feeds(elements: list[Element]) -> Iterator[Element]:
    """CSV Data Sets below elements that take a row for each turn of a thread."""
    for each in elements:
        if each.kind == CSV_DATA_SET:
            yield each
        elif each.is_thread_group or each.is_sampler or each.kind in PLAIN_CONTROLLERS:
            yield from _feeds([*each.active])


def _rows_taken(
    group: ThreadGroup, schedule: Schedule | None, may_stop: bool, until_s: float
) -> int:
    """How often the group's threads begin a turn, at least; 0 where that is not known."""
    if schedule:
        timed = [it for it in group.samplers if it.arrival_timers]
        is_once = len(timed) == 1 and all(it.is_plain for it in timed[0].controllers)
        end_s = min(until_s, math.inf if group.is_open_model else schedule.end_s or 0.0)
        return len(schedule.arrivals(end_s)) if group.is_open_model or is_once else 0
    if until_s < math.inf:
        return 0
    if group.is_open_model:  # at random moments, and as many in each run
        with suppress(ScheduleError):
            return sum(ramp.count for ramp in ramps_of(group.schedule or ""))
    if may_stop or group.duration_s or group.unresolved or group.on_sample_error != "continue":
        return 0
    may_end = group.stops.flow or group.stops.scripts or group.stops.jumps
    is_counted = group.kind in ("ThreadGroup", "SetupThreadGroup") and not may_end
    return (group.threads or 0) * max(group.loops or 0, 0) if is_counted else 0
