"""Thread groups that ended before their time, which the plan states by a duration or loops. Pure.

A JMeter whose test was stopped exits with 0 as one does whose test is over: what a sampler error
has to stop, what a script stopped, what a Shutdown from elsewhere did and threads that died of
an error are not in the samples, and criteria on what came until then may well hold. How each thread
of a Thread Group ended, JMeter's log says. Where it does not, as in runs of remote engines, what
came of each thread is held against what the plan says of its end; of a plugin's group, whose
threads come and go, what came of all of them. What follows a schedule is left out here:
the schedule shows what is missing.

Sources: JMeter's manual, Component Reference, "Thread Group", "Loop Controller", "Flow Control
Action", "CSV Data Set Config"; of its 5.6.3 JMeterThread.run and JMeterThread.delay, which ends a
thread at once, and without a word, where a timer would wait beyond the duration, and
StandardJMeterEngine.run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from tollgate.base.text import format_duration
from tollgate.judge.cut_short import END_SLACK_S
from tollgate.judge.facts import EarlyEnd
from tollgate.plan.model import LOOPING, Plan, PlanLabel, ThreadGroup
from tollgate.plan.threads import (
    ANY,
    StatedEnd,
    certain_samplers,
    groups_before,
    is_steady,
    longest_timer_s,
    silence_s,
    stated_end,
    wait_s,
)
from tollgate.samples.threads import Thread
from tollgate.schedule.threads import LOOPED, unscheduled_groups

#: Of a duration, how much may be missing at its end: as much as of a schedule.
SLACK_SHARE = 0.01
#: Where a plan does not say how long its pauses are, none is taken to be longer than so many times
#: the longest that was seen.
BEYOND_SEEN = 3.0
#: JMeter's words for the end of a thread that has looped, or whose time is over; those for any end,
#: without others before; those without an end.
OWN_ENDS = (LOOPED, "Stopping because end time detected by thread")
FINISHED, STARTED = "Thread finished", "Thread started"
#: Timers of JMeter's own that pace a loop; those of plugins may end the test when they are done.
_PACING = ("ConstantThroughputTimer", "PreciseThroughputTimer")
#: What a thread group does after a sampler error, by what its element says.
_ON_ERROR = {
    "stopthread": "stops the thread",
    "stoptest": "stops the test",
    "stoptestnow": "stops the test at once",
}
_UNSURE = "what it sends on a condition, or a pause of unknown length, may be why"


@dataclass(frozen=True)
class SampledThreads:
    """What came of a run, in seconds since the test began."""

    whole: Thread
    """All samples, as if one thread had sent them."""
    threads: Mapping[int, Mapping[int, Thread]] | None = None
    """By place in plan.groups and number, those of the groups asked for; None where their names do
    not show whose they are."""
    failed: Collection[str] = ()
    """Labels with a failed sample."""
    ended_s: float | None = None
    """When JMeter's process was seen to have ended."""
    gaps: Callable[[], Mapping[int, float]] = dict
    """How long a thread of each place was silent at most, as longest_gaps has it; asked for if it
    matters."""
    log: Mapping[int, Mapping[str, int]] | None = None
    """By place, how many threads ended with which words of JMeter's log; None where the log was not
    read."""
    start_is_known: bool = True
    """Whether the JTL has when the test began; it is a guess otherwise."""


@dataclass(frozen=True)
class EarlyEnds:
    """Which thread groups ended before their time."""

    faults: tuple[EarlyEnd, ...] = ()
    doubts: tuple[str, ...] = ()
    """One line for each that may have had a reason in the plan."""


def early_ends(plan: Plan, came: SampledThreads, until_s: float | None = None) -> EarlyEnds:
    """Which groups ended before their time, in a run that was neither interrupted nor stopped early
    and whose JMeter ended by itself.

    until_s: when the load was ended on purpose before its time, in seconds since the test began;
    None if it was not.
    """
    ends = [_Group(plan, place, came, until_s).judged() for place in unscheduled_groups(plan)]
    return EarlyEnds(
        tuple(fault for end in ends for fault in end.faults),
        tuple(doubt for end in ends for doubt in end.doubts),
    )


@dataclass(frozen=True)
class _Shortfall:
    """What of a thread group ended before its time."""

    line: str
    is_sure: bool
    """Whether the plan leaves no other reason for it."""


@dataclass(frozen=True)
class _Group:
    """The end of one thread group: what the plan states, and what came. Its fields are those of
    early_ends."""

    plan: Plan
    place: int
    """In plan.groups."""
    came: SampledThreads
    until_s: float | None

    def judged(self) -> EarlyEnds:
        """Whether it ended before its time: a fault or, where the plan may mean that, a doubt."""
        if self.stated is None and self.logged is None:
            fault = self._of_unknown_end()
            return EarlyEnds(faults=(fault,) if fault else ())
        shortfall = self._shortfall()
        if shortfall is None:
            return EarlyEnds()
        cause, excuse = self._cause(), self._excuse()
        if shortfall.is_sure and (cause or not excuse):
            why = cause or self._last_words()
            text = f"{shortfall.line}{why and ': '}{why}; see jmeter.log"
            return EarlyEnds(faults=(EarlyEnd(text, by_service=bool(cause)),))
        if self._is_never:  # where nothing but that ends the group, it is what the plan says
            return EarlyEnds()
        return EarlyEnds(doubts=(f"{shortfall.line}: {excuse or _UNSURE}; see jmeter.log",))

    def _shortfall(self) -> _Shortfall | None:
        """By JMeter's log where that says how the threads ended, or else by the samples."""
        sampled = self._sampled_shortfall() if self.stated else None
        if self.logged and self.came.log:
            stopped, threads = sum(self.logged.values()), sum(self.came.log[self.place].values())
            were_stopped = f"{stopped} of {threads} threads of {self.name} were stopped"
            return _Shortfall(sampled.line if sampled else were_stopped, is_sure=True)
        if self.logged is not None and not _may_stop_by_failures(
            self.plan, self.place, self.came.failed
        ):
            return None  # each thread has looped, or its time was over
        return sampled

    def _last_words(self) -> str:
        """What JMeter logged last of threads that were stopped; empty for nothing."""
        words = " and ".join(map(repr, self.logged or ()))
        return words and f"the last that JMeter logged of them is {words}"

    @property
    def group(self) -> ThreadGroup:
        return self.plan.groups[self.place]

    @property
    def name(self) -> str:
        return f"the thread group {self.group.name!r}"

    @cached_property
    def stated(self) -> StatedEnd | None:
        """The end that the plan states, None where only the run knows it."""
        stated, groups = stated_end(self.group, bool(self.group.stops.jumps)), self.plan.groups
        if stated and stated.needs:
            labels = self.came.whole.samples
            if not all(any(group.may_leave(label) for group in groups) for label in labels):
                needs = {ANY: self.group.loops or 0}  # some are renamed
                return StatedEnd(stated.duration_s, needs)
        return stated

    @cached_property
    def logged(self) -> Mapping[str, int] | None:
        """How many threads ended otherwise than by themselves, by JMeter's words for it; None where
        its log does not say how any ended."""
        ended = (self.came.log or {}).get(self.place)
        if ended is None or self.group.kind not in LOOPING:
            return None
        # Without a word a thread ends whose timer would wait beyond its time.
        has_time = self.group.duration_s or "duration" in self.group.unresolved
        own = {*OWN_ENDS, *([FINISHED] if has_time else []), *([STARTED] if self.until_s else [])}
        return {words: n for words, n in ended.items() if words not in own}

    @property
    def _is_never(self) -> bool:
        return self.stated is not None and self.stated.is_never

    @property
    def _needs(self) -> Mapping[PlanLabel, int]:
        """The samples that a thread has left that has looped, by label; empty for no such end."""
        return self.stated.needs if self.stated else {}

    def _of_unknown_end(self) -> EarlyEnd | None:
        """Of a group for which neither the log nor the samples show whether it came to its end."""
        group, action = self.group, _stops_by_errors(self.group, self.came.failed)
        # A thread that is one arrival's takes none of the others with it.
        is_own = group.on_sample_error == "stopthread" and (group.is_open_model or group.is_pool)
        if action and not is_own:
            line = f"{self.name} met sampler errors, after which it {action}"
            return EarlyEnd(f"{line}: what is missing is not known; see jmeter.log", True)
        is_looping = group.kind in LOOPING and group.may_leave_any(self.came.whole.samples)
        if self.came.log is None or not is_looping:
            return None
        return EarlyEnd(
            f"it is unknown whether {self.name} came to its end: how much it "
            "had to send depends on what happens during the run, and jmeter.log has no lines of "
            "org.apache.jmeter.threads.JMeterThread: leave that logger at INFO"
        )

    def _cause(self) -> str:
        return stopped_by_service(self.plan, self.place, self.came.failed, self._is_never)

    def _excuse(self) -> str:
        """What in the plan may have ended the group in good order; empty for nothing."""
        timers = [timer for sampler in self.group.samplers for timer in sampler.timers]
        pacing = [it.name for it in timers if "Throughput" in it.kind and it.kind not in _PACING]
        stopping = [f"timer {it!r}" for it in pacing]
        if self._is_never or not _may_stop_by_failures(self.plan, self.place, self.came.failed):
            stopping += self.group.stops.flow
        anyhow = [*self.group.stops.scripts, *self.group.stops.jumps] if self._is_never else []
        by_words = {"Stop Thread": self.group.stops.data, "Stopping": stopping}
        said = tuple(words for words, ends in by_words.items() if ends)
        fits_the_log = all(it.startswith(said) for it in self.logged or ())
        ends = [*self.group.stops.data, *stopping, *anyhow]
        if not ends or not (anyhow or fits_the_log):
            return ""
        return f"{' or '.join(dict.fromkeys(ends))} may have ended it"

    def _sampled_shortfall(self) -> _Shortfall | None:
        """None for nothing, and for a group without a sample, which schedule/silent.py reports."""
        early, unseen = [it for it in self._threads if not self._has_looped(it)], self._unseen()
        if not self._threads or self._due_s <= self._begin_s or not (early or unseen):
            return None
        if self._is_outlived():
            return _Shortfall(self._line(early, unseen), is_sure=True)
        if self._due_s == math.inf:
            is_sure = self._is_never or not self.plan.may_ignore
            return _Shortfall(self._line(early, unseen), is_sure)
        latest_s = self._due_s - self._margin_s(early)
        early = [it for it in early if it.last_end_s < latest_s]
        if not early and not unseen:
            return None
        is_sure = is_steady(self.group) and not self.plan.may_ignore
        return _Shortfall(self._line(early, unseen), is_sure)

    @cached_property
    def _threads(self) -> list[Thread]:
        """Those that left a sample; all of the run's as one where their groups are not known."""
        if self.came.threads is None:
            has_sent = self.group.may_leave_any(self.came.whole.samples)
            return [self.came.whole] if has_sent else []
        return list(self.came.threads.get(self.place, {}).values())

    @property
    def _share(self) -> int:
        """How many of the group's threads one of `_threads` stands for, at least."""
        return (self.group.threads or 1) if self.came.threads is None else 1

    @cached_property
    def _begin_s(self) -> float:
        """When the group's duration began, at the earliest: after those groups that JMeter waits
        for, and its delay."""
        before, known = groups_before(self.plan, self.place), self.came.threads or {}
        ends = (it.last_end_s for place in before for it in known.get(place, {}).values())
        return max(ends, default=0.0) + (self.group.delay_s or 0.0)

    @cached_property
    def _due_s(self) -> float:
        """Until when its threads were to send, unless they had looped before; inf for no such."""
        stated_s = self._begin_s + (self.stated.duration_s if self.stated else math.inf)
        return stated_s if self.until_s is None else min(stated_s, self.until_s)

    @property
    def _slack_s(self) -> float:
        length_s = self._due_s - self._begin_s
        return END_SLACK_S if length_s == math.inf else max(END_SLACK_S, SLACK_SHARE * length_s)

    def _has_looped(self, thread: Thread) -> bool:
        needs = [(label, n * self._share) for label, n in self._needs.items()]
        return bool(needs) and all(_count(thread, label) >= n for label, n in needs)

    def _unseen(self) -> int:
        """How many threads left no sample and had the time to."""
        group, first = self.group, next(certain_samplers(self.group), None)
        is_known = self.came.start_is_known and not self.plan.may_ignore
        if self.came.threads is None or not group.threads or not is_known or first is None:
            return 0
        seen = self.came.threads.get(self.place, {})
        wait_of_first_s = wait_s(group, first) + 2 * self._slack_s
        each_s = (group.ramp_up_s or 0.0) / group.threads
        unseen = (it for it in range(group.threads) if it + 1 not in seen)
        return sum(self._begin_s + it * each_s + wait_of_first_s < self._due_s for it in unseen)

    def _is_outlived(self) -> bool:
        """Whether JMeter was gone before any thread of the group could have ended by its time."""
        ended_s, timers_s = self.came.ended_s, longest_timer_s(self.group)
        if ended_s is None or not self.came.start_is_known:
            return False
        return ended_s < self._due_s - self._slack_s - timers_s < math.inf

    def _margin_s(self, unfinished: list[Thread]) -> float:
        """How long before its time a thread may have sent its last; inf where that is not known."""
        if self.group.is_pool:  # when its last arrival is due is not known
            return math.inf
        margin_s = self._slack_s + silence_s(self.group)
        if not self.came.start_is_known:  # the first sample stands for it, which came later
            margin_s += (self.group.delay_s or 0.0) + silence_s(self.group)
        in_time = all(each.last_end_s >= self._due_s - margin_s for each in unfinished)
        if in_time and margin_s < math.inf:
            return margin_s
        seen_s = self.came.gaps().get(self.place)
        if seen_s is None or seen_s <= margin_s < math.inf:
            return margin_s
        return self._slack_s + BEYOND_SEEN * seen_s

    def _line(self, early: list[Thread], unseen: int) -> str:
        who = self.name
        if len(early) < len(self._threads) or unseen:
            of = self.group.threads or len(self._threads)
            who = f"{len(early) + unseen} of {of} threads of {who}"
        if self._due_s == math.inf and self._needs:
            return f"{who} ended early, with {self._counted(early, unseen)}"
        last_s = max((each.last_end_s for each in early), default=self._begin_s)
        after = format_duration(max(0.0, last_s - self._begin_s))
        if self._due_s == math.inf:
            return f"{who} ended after {after}, and the plan says that it goes on for ever"
        whole = format_duration(self._due_s - self._begin_s)
        says = "that the load lasted" if self._due_s == self.until_s else "that the plan says"
        return f"{who} ended after {after} of the {whole} {says}"

    def _counted(self, early: list[Thread], unseen: int) -> str:
        """`30 of 80 samples of 'home'`: of the label that misses the largest part."""
        threads = len(early) * self._share + unseen
        needs = self._needs.items()
        counted = [(sum(_count(it, of) for it in early), n * threads, of) for of, n in needs]
        sent, need, label = min(counted, key=lambda each: each[0] / each[1])
        what = f" of {label.text!r}" if label != ANY else ""
        return f"{sent} of {need} samples{what} that the plan says"


def stopped_by_service(
    plan: Plan, place: int, failed: Collection[str], is_never: bool = False
) -> str:
    """How the service brought the end of a group about, whatever the plan says of it; empty where
    the plan does not show that. failed: labels with a failed sample. is_never: whether nothing but
    what is done to its threads ends it."""
    group = plan.groups[place]
    if action := _stops_by_errors(group, failed):
        return f"its action after a sampler error {action}"
    for other in plan.groups:
        action = _stops_by_errors(other, failed)
        if action and other.on_sample_error != "stopthread":
            return f"the action of {other.name!r} after a sampler error {action}"
    if _may_stop_by_failures(plan, place, failed) and not is_never:
        return f"{' or '.join(group.stops.flow)} may have stopped it, and requests failed"
    return ""


def _may_stop_by_failures(plan: Plan, place: int, failed: Collection[str]) -> bool:
    """Whether a Flow Control Action that may end the group is in one with failed samples, or with
    renamed ones of which that may be."""
    known = [it for it in failed if any(group.may_leave(it) for group in plan.groups)]
    acting = [plan.groups[at] for at in plan.groups[place].stops.flow_in]
    is_renamed = len(known) < len(failed) and any(group.may_rename for group in acting)
    return is_renamed or any(group.may_leave_any(known) for group in acting)


def _count(thread: Thread, label: PlanLabel) -> int:
    return sum(n for name, n in thread.samples.items() if label.matches(name))


def _stops_by_errors(group: ThreadGroup, failed: Collection[str]) -> str | None:
    """What the group stopped because of errors that it met; None for nothing."""
    return _ON_ERROR.get(group.on_sample_error) if group.may_leave_any(failed) else None
