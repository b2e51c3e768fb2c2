"""What a JMeter plan means to do: thread groups, samplers, timers and the labels of its JTL.

Made by plan.read_plan. Numbers that only the running test can know are None, and the element's
`unresolved` says why. Disabled elements are left out; their labels are kept for good messages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tollgate.plan.arrivals import EvenArrivals, PreciseThroughput

OPEN_MODEL = "OpenModelThreadGroup"
PRECISE_THROUGHPUT = "PreciseThroughputTimer"
FLOW_CONTROL = "TestAction"
CACHE_MANAGER = "CacheManager"
CRITICAL_SECTION = "CriticalSectionController"
#: What is in one runs where a controller names it, with the defaults of that place.
FRAGMENT = "TestFragmentController"
HTTP = ("HTTPSamplerProxy", "HTTPSampler2", "HTTPSampler")
#: Loops of a controller.
FOR_EVER = -1
# Thread groups that loop; those of plugins, and the Open Model Thread Group, end in other ways.
LOOPING = ("ThreadGroup", "SetupThreadGroup", "PostThreadGroup")
# Controllers that run each of their children, in order, exactly once.
_PLAIN = ("CriticalSection", "Generic", "Include", "Module", "Recording", "TestFragment")
PLAIN_CONTROLLERS = frozenset(f"{it}Controller" for it in (*_PLAIN, "Transaction"))


def total(terms: Sequence[float | None]) -> float | None:
    """Their sum; None where one of them is not known."""
    numbers = [it for it in terms if it is not None]
    return sum(numbers) if len(numbers) == len(terms) else None


@dataclass(frozen=True, order=True)
class PlanLabel:
    """A label of the JTL. `pattern` is a regular expression where `text` still holds variables
    that only the running test fills in, and empty where `text` is the label itself."""

    text: str
    pattern: str = ""

    def matches(self, label: str) -> bool:
        if self.pattern:
            return re.fullmatch(self.pattern, label) is not None
        return label == self.text


@dataclass(frozen=True)
class Timer:
    """One timer. `pause_ms` is the longest pause it makes (three standard deviations where there
    is no longest), 0 for a timer that paces a loop, None where that is not known.

    replay: of a timer that deals out arrivals; `reason`: why those of such a timer are not known.
    """

    kind: str
    name: str
    pause_ms: float | None
    replay: PreciseThroughput | EvenArrivals | None = None
    reason: str = ""


@dataclass(frozen=True)
class Controller:
    """A controller around a sampler. loops: of a Loop Controller, FOR_EVER, None where it is not
    known; of a While Controller FOR_EVER where no more than a failure ends it; of any other None.
    share: in how many of its turns each of its children runs, 1 where all do; None where answers
    decide, or it is not known. lock: the name of what a Critical Section Controller locks; None
    where it locks nothing or that is not known, and of any other.
    """

    kind: str
    name: str
    loops: int | None = None
    share: float | None = None
    lock: str | None = None

    @property
    def is_plain(self) -> bool:
        return self.kind in PLAIN_CONTROLLERS


@dataclass(frozen=True)
class Sampler:
    """One sampler. `kind` TestAction is a Flow Control Action, which leaves no row in the JTL
    although timers in its scope apply to it as to any sampler.

    timers: all in scope, outermost first. controllers: those around it, outermost first.
    hidden_by: the Transaction Controller whose parent sample takes the place of its row.
    pause_ms: own pause of a Flow Control Action.
    timeout_ms: of an HTTP request, how long it waits for the answer; None for no limit, or one
    that is not known. may_be_cached: an HTTP Cache Manager may answer it, which leaves no row.
    may_be_ignored, may_be_renamed: a script that applies to it may keep its row out of the JTL, or
    give that another label. follows: whether an HTTP request is to follow redirects.
    """

    label: PlanLabel
    kind: str
    timers: tuple[Timer, ...] = ()
    controllers: tuple[Controller, ...] = ()
    hidden_by: str = ""
    pause_ms: float | None = 0.0
    timeout_ms: float | None = None
    may_be_cached: bool = False
    may_be_ignored: bool = False
    may_be_renamed: bool = False
    follows: bool = False

    @property
    def leaves_a_row(self) -> bool:
        return self.kind != FLOW_CONTROL and not self.hidden_by

    @property
    def may_jump(self) -> bool:
        """Whether it is a Flow Control Action that ends the thread, a loop or a turn of it."""
        return self.kind == FLOW_CONTROL and self.all_pauses_ms == 0

    @property
    def arrival_timers(self) -> tuple[Timer, ...]:
        """Those that deal out arrivals."""
        return tuple(timer for timer in self.timers if timer.replay or timer.reason)

    @property
    def all_pauses_ms(self) -> float | None:
        """The longest wait before and in this sampler, 0 where timers only pace it."""
        return total((self.pause_ms, *(timer.pause_ms for timer in self.timers)))


@dataclass(frozen=True)
class Transaction:
    """One Transaction Controller.

    generate_parent_sample: its row stands in the place of those of the samplers inside, not beside
    them. leaves_a_row: false where that of another controller stands in its place in turn.
    Source: JMeter 5.6.3, JMeterThread.doEndTransactionSampler.
    """

    label: PlanLabel
    generate_parent_sample: bool
    leaves_a_row: bool = True


@dataclass(frozen=True)
class Stops:
    """What may end the threads of one group before their time, each by its kind and name.

    data: CSV Data Sets that end a thread when their file is at its end. flow: Flow Control Actions
    that stop threads or break a loop; flow_in: places of the groups that they are in. scripts:
    those whose text may stop threads or the test. jumps: scripts that may leave out a part of a
    loop; one in a file may do so, and a Result Status Action Handler.
    """

    data: tuple[str, ...] = ()
    flow: tuple[str, ...] = ()
    flow_in: tuple[int, ...] = ()
    scripts: tuple[str, ...] = ()
    jumps: tuple[str, ...] = ()


@dataclass(frozen=True)
class ThreadGroup:
    """One thread group. Times are in seconds; None means unknown, or not set.

    loops: iterations of a thread, -1 for ever. duration_s, delay_s: of JMeter's scheduler, None
    where it is off. schedule, random_seed: of an Open Model Thread Group. length_s: how long one of
    a plugin's sends at least, if nothing stops it. name_pattern: as a Label's pattern, where the
    name holds variables.
    """

    name: str
    kind: str
    threads: int | None = None
    loops: int | None = None
    ramp_up_s: float | None = None
    duration_s: float | None = None
    delay_s: float | None = None
    length_s: float | None = None
    on_sample_error: str = "continue"
    schedule: str | None = None
    random_seed: int | None = None
    samplers: tuple[Sampler, ...] = ()
    transactions: tuple[Transaction, ...] = ()
    unresolved: Mapping[str, str] = field(default_factory=dict)
    name_pattern: str = ""
    stops: Stops = Stops()

    @property
    def no_number(self) -> str:
        """Why its number of threads is none, which JMeter takes for 0; empty where it is one."""
        return self.unresolved.get("num_threads", "") if self.threads == 0 else ""

    def may_leave(self, label: str) -> bool:
        """Whether a sample of this label may come of it."""
        rows: tuple[Sampler | Transaction, ...] = (*self.samplers, *self.transactions)
        return any(row.label.matches(label) for row in rows)

    def may_leave_any(self, labels: Collection[str]) -> bool:
        return any(map(self.may_leave, labels))

    @property
    def may_be_cached(self) -> bool:
        """Whether a thread of it may sample and leave no row."""
        return any(each.may_be_cached for each in self.samplers)

    @property
    def may_rename(self) -> bool:
        """Whether rows of it may have labels that none of its samplers has."""
        return any(each.may_be_renamed for each in self.samplers)

    @property
    def is_setup(self) -> bool:
        return self.kind == "SetupThreadGroup"

    @property
    def is_teardown(self) -> bool:
        return self.kind == "PostThreadGroup"

    @property
    def is_pool(self) -> bool:
        """Whether it is a plugin's whose threads wait for the next arrival."""
        return self.kind in ("ArrivalsThreadGroup", "FreeFormArrivalsThreadGroup")

    @property
    def is_open_model(self) -> bool:
        return self.kind == OPEN_MODEL


@dataclass(frozen=True)
class Plan:
    """A plan as it will run with one set of properties.

    is_serial: its thread groups run one after another. may_ignore: it holds a script that may keep
    samples out of the JTL. may_rename: one that may give them other labels. never_sent: why no
    request of a label is, by labels that none has.
    """

    path: Path
    groups: tuple[ThreadGroup, ...]
    is_serial: bool = False
    may_ignore: bool = False
    may_rename: bool = False
    never_sent: Mapping[str, str] = field(default_factory=dict)

    @property
    def sampler_labels(self) -> tuple[PlanLabel, ...]:
        """Labels of the rows of samplers, and of the parent samples that stand in the place of
        some; each once, in the plan's order."""
        rows = (s.label for group in self.groups for s in group.samplers if s.leaves_a_row)
        return tuple(dict.fromkeys((*rows, *self.parent_labels)))

    @property
    def parent_labels(self) -> tuple[PlanLabel, ...]:
        """Labels of the parent samples that Transaction Controllers generate."""
        return self._rows_of_transactions(are_samples=True)

    @property
    def transaction_labels(self) -> tuple[PlanLabel, ...]:
        """Labels of the rows that Transaction Controllers leave beside those that they add up."""
        return self._rows_of_transactions(are_samples=False)

    def _rows_of_transactions(self, *, are_samples: bool) -> tuple[PlanLabel, ...]:
        each = (it for group in self.groups for it in group.transactions if it.leaves_a_row)
        rows = (it.label for it in each if it.generate_parent_sample == are_samples)
        return tuple(dict.fromkeys(rows))

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels known before the run, Transaction Controllers' last."""
        every = (*self.sampler_labels, *self.transaction_labels)
        return tuple(dict.fromkeys(label.text for label in every if not label.pattern))

    @property
    def label_patterns(self) -> tuple[str, ...]:
        """Regular expressions for the labels that are not known before the run."""
        every = (*self.sampler_labels, *self.transaction_labels)
        return tuple(dict.fromkeys(label.pattern for label in every if label.pattern))
