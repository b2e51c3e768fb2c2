"""How JMeter's threads ended, in the words of its log. Pure.

Source: JMeter 5.6.3, JMeterThread, and its real logs of tests that were stopped in all these ways.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from tollgate.judge.ended_early import FINISHED, OWN_ENDS, STARTED

#: A thread that has finished: behind other words, and without any.
_GONE, _GONE_SILENTLY = "", "finished"
_ENDED = (_GONE, _GONE_SILENTLY)
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


def thread_ends(lines: Iterable[str]) -> dict[str, dict[str, int]]:
    """By the names of threads without their last number, how many ended with which words; STARTED
    of those that have not ended."""
    ended: dict[str, Counter[str]] = {}
    last: dict[tuple[str, str], str] = {}
    error, by_timer = None, 0
    for line in lines:
        error = error or _ERROR.search(line)
        by_timer += _BY_TIMER in line
        found = _ABOUT_A_THREAD.search(line.rstrip())
        if found is None:
            continue
        words = found["words"] or found["exception"]
        thread = found["group"], found["number"]
        if by_timer and words == _STOPPED:
            words, by_timer = OWN_ENDS[1], by_timer - 1
        before = last.get(thread, STARTED)
        if words == FINISHED:
            how = FINISHED if before == STARTED else before
            ended.setdefault(thread[0], Counter())[how] += 1
            last[thread] = _GONE_SILENTLY if how == FINISHED else _GONE
        elif (words, before) == (_STOPPING, _GONE_SILENTLY):
            # JMeter has a thread end before it logs that it does.
            ended[thread[0]].update({_STOPPING: 1, FINISHED: -1})
            last[thread] = _GONE
        elif words in OWN_ENDS or before == STARTED or (words == STARTED and before in _ENDED):
            last[thread] = words
    for (group, _), how in last.items():
        if how not in _ENDED:
            ended.setdefault(group, Counter())[how] += 1
    instead = {FINISHED: error[1] or error[2]} if error else {}
    return {of: {instead.get(how, how): n for how, n in (+it).items()} for of, it in ended.items()}
