"""How JMeter's threads ended, in the words of its log. Pure.

Source: JMeter 5.6.3, JMeterThread, and its real logs of tests that were stopped in all these ways.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tollgate.judge.ended_early import FINISHED, OWN_ENDS, STARTED
from tollgate.plan.model import Plan
from tollgate.schedule.threads import named_alike

_STOPPING = "Stopping"
_ABOUT_A_THREAD = re.compile(
    r"JMeterThread: (?:(?P<words>Thread started|Thread is done|Thread finished|Stopping"
    r"|Stopping because end time detected by thread"
    r"|(?:Stop Thread|Stop Test Now|Shutdown Test) detected by thread):"
    r"|(?P<exception>Stop Thread seen for thread))"
    r" (?P<group>.+)-(?P<number>\d+)(?(exception), reason: .*)$"
)
#: A Precise Throughput Timer whose wait would be longer than the thread's time ends it so; the line
#: that names the thread follows.
_BY_TIMER = "JMeterStopThreadException: The thread is scheduled to stop in "
_STOPPED = "Stop Thread detected by thread"
#: Ends a thread, whose last words are then those of one in good order.
_ERROR = re.compile(r"JMeterThread: (Test failed)!|JMeter: (Uncaught exception) in thread ")


@dataclass(slots=True)
class _Thread:
    """One thread from its start to its end, as the log has it so far."""

    end: str = STARTED
    """The words of its end: those of OWN_ENDS, or else the first; STARTED before any."""
    has_finished: bool = False

    def hear(self, words: str) -> None:
        """Take the next words about the thread."""
        self.has_finished |= words == FINISHED
        # JMeter may have a thread end before it logs that it is stopping.
        if words in OWN_ENDS or self.end == STARTED or (words, self.end) == (_STOPPING, FINISHED):
            self.end = words


def thread_ends(lines: Iterable[str]) -> dict[str, dict[str, int]]:
    """By the names of threads without their last number, how many ended with which words; STARTED
    of those that have not ended."""
    latest: defaultdict[str, dict[str, _Thread]] = defaultdict(dict)
    finished: defaultdict[str, list[_Thread]] = defaultdict(list)
    error, timer_stops = None, 0
    for line in lines:
        error = error or _ERROR.search(line)
        timer_stops += _BY_TIMER in line
        event = _ABOUT_A_THREAD.search(line.rstrip())
        if event is None:
            continue
        group, number, words = event["group"], event["number"], event["words"] or event["exception"]
        if timer_stops and words == _STOPPED:
            words, timer_stops = OWN_ENDS[1], timer_stops - 1
        thread = latest[group].get(number)
        if thread is None or (thread.has_finished and words == STARTED):
            thread = latest[group][number] = _Thread()
        thread.hear(words)
        if words == FINISHED:
            finished[group].append(thread)
    instead = {FINISHED: error[1] or error[2]} if error else {}
    ends = {}
    for group in {**finished, **latest}:
        unfinished = (thread for thread in latest[group].values() if not thread.has_finished)
        last_words = [thread.end for thread in (*finished[group], *unfinished)]
        ends[group] = dict(Counter(instead.get(words, words) for words in last_words))
    return ends


def ends_by_place(
    plan: Plan, ends: Mapping[str, Mapping[str, int]], is_certain: bool = False
) -> dict[int, Counter[str]]:
    """By place in plan.groups. is_certain: without those that threads of another group may have as
    well. JMeter's log may have lost letters beyond ASCII."""
    found: dict[int, Counter[str]] = {}
    known = ((it, _ascii(it.name, "?"), _ascii(it.name_pattern, ".")) for it in plan.groups)
    groups = tuple(replace(it, name=name, name_pattern=pattern) for it, name, pattern in known)
    for name, words in ends.items():
        places = named(replace(plan, groups=groups), _ascii(name, "?"))
        for place in places if not is_certain or len(places) == 1 else ():
            found.setdefault(place, Counter()).update(words)
    return found


def _ascii(text: str, other: str) -> str:
    return re.sub(r"[^\x00-\x7f]", other, text)


def named(plan: Plan, name: str) -> list[int]:
    return named_alike(plan, range(len(plan.groups)), name)
