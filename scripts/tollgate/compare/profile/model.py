"""why.json: what both sides computed after the verdict, for people and programs. It has no say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from tollgate.base import records
from tollgate.base.fields import Amount, Confidence, Count
from tollgate.compare.cpu import UNKNOWN, LabelCpu
from tollgate.record.manifest import ManifestError

NAME = "why.json"
TITLE = "Tollgate's why.json"
#: Of why.json: raised when a field goes or changes its meaning. 2: a function has no `caller`.
#: 3: there is no `overhead`.
VERSION = 3
UNCHANGED = "unchanged"
MORE, LESS, SAME = "more", "less", "same"
#: Of the largest rise of a function: what rose by less is no cause of its own.
LITTLE = 0.1

Moved = Literal["more", "less", "same"]


@records.stored
class ProfileChange:
    """CPU of one kind per answered request, means over the blocks in which both sides answered."""

    base_us: Amount
    """Of base, in microseconds."""
    head_us: Amount
    """Of head, in microseconds."""
    change_us: float
    """Head - base, in microseconds."""
    low_us: float
    """Lower end of its simultaneous interval, in microseconds."""
    high_us: float
    """Upper end of its simultaneous interval, in microseconds."""
    moved: Moved
    """`more` or `less` where the interval excludes zero and the change is at least half of the
    smallest effect that matters, as a share of base's CPU; `same` otherwise."""


@records.stored
class Function:
    """A function by its own (self) time; an anonymous one counts to the named one of its file that
    called it, and native code to its caller."""

    name: str
    """Its name, as V8 reports it."""
    file: str
    """Its file, relative to its side's checkout; `node:...` inside of Node; empty for the engine:
    (garbage collector) and (program), which is native code without a caller."""
    line: Count
    """Line where it begins in head, or in base where head lacks it; 0 for the engine."""
    own: ProfileChange
    """CPU of its own per answered request."""
    base_total_us: Amount
    """Microseconds per answered request in base with all that it called."""
    head_total_us: Amount
    """Microseconds per answered request in head with all that it called."""

    @property
    def moved(self) -> Moved:
        return self.own.moved

    @property
    def place(self) -> str:
        """`app/targets/sum.js:34`; empty for the engine."""
        return f"{self.file}:{self.line}" if self.file else ""

    @property
    def is_own(self) -> bool:
        """Whether it is of the service or its packages, and not of Node or its engine."""
        return bool(self.file) and not self.file.startswith("node:")


@records.stored
class Flame:
    """A frame of the differential flame graph: both sides' stacks merged from the root up. Calls
    within one package, or within Node, are one frame, but for functions whose CPU changed."""

    name: str
    """Name of the function or the package."""
    place: str
    """Its file and line; empty for the engine and for a package."""
    depth: Count
    """0 is the root."""
    from_us: Amount
    """Where it begins, in microseconds per answered request of the wider side."""
    width_us: Amount
    """Its width in microseconds: the larger of both sides, or the sum of what it called."""
    base_us: Amount
    """Microseconds per answered request in base with all that it called."""
    head_us: Amount
    """Microseconds per answered request in head with all that it called."""
    moved: Moved
    """Whether its own CPU changed, as in `functions`."""


@records.stored
class Why:
    """Why head takes longer, as far as CPU can tell. problem: all else is empty then."""

    version: Literal[3]
    """Of the meaning of this file."""
    problem: str
    """Why there is no profile; empty where there is one."""
    outcome: Literal["computing", "waiting", "unchanged", "unknown"]
    """`computing`: head takes more CPU per request. `waiting`: it does not, and so waits.
    `unchanged`: it does not, and the comparison did not fail. `unknown`: it can't be told. Where
    the profile alone can't tell, `labels` do."""
    level: Confidence | None
    """How often anything at all would be named of a head that is like its base; null without a
    profile."""
    blocks: Count
    """Blocks of time that were profiled and in which both sides answered."""
    answered: Count
    """Requests that both sides answered in them."""
    cpu: ProfileChange | None
    """All of the CPU per answered request; null without a profile."""
    functions: tuple[Function, ...]
    """Those that were held against each other: first those that changed, by how much."""
    flame: tuple[Flame, ...]
    """The differential flame graph."""
    labels: tuple[LabelCpu, ...] = ()
    """What a request of each label takes more CPU time, as the comparison has measured it before
    the profile; empty for services by URL, and where too little is known."""

    @property
    def named(self) -> list[Function]:
        """What made head slower: of the service, then of Node and its engine; first what took the
        most with all that it calls, so that what sorts comes before what it compares with. Behind
        them stands what rose little itself: a caller that V8 has stopped to inline, for example."""
        more = [each for each in self.functions if each.moved == MORE]
        rise = {each: each.head_total_us - each.base_total_us for each in more}
        little = LITTLE * max((each.own.change_us for each in more), default=0.0)
        return sorted(more, key=lambda f: (not f.is_own, f.own.change_us < little, -rise[f]))


def absent(problem: str, labels: Sequence[LabelCpu] = ()) -> Why:
    """Without a profile, by the labels alone."""
    outcome = outcome_of(labels) or UNKNOWN
    return Why(VERSION, problem, outcome, None, 0, 0, None, (), (), tuple(labels))


def outcome_of(labels: Iterable[LabelCpu]) -> str:
    """What is true of each label that takes longer; empty where they differ, or none does."""
    outcomes = {it.outcome for it in labels if it.rise_ms is not None}
    return outcomes.pop() if len(outcomes) == 1 else ""


def write_why(why: Why, run: Path) -> None:
    """Write why.json into a run's folder, whole or not at all."""
    records.write(run / NAME, why)


def read_why(run: Path) -> Why | None:
    """The why.json of a run's folder; None where there is none. Raises ManifestError, one line."""
    if not (run / NAME).exists():
        return None
    return records.read(run / NAME, Why, ManifestError, "comparison", prepare=_as_now)


def _as_now(raw: dict[str, Any]) -> None:
    """Leave out what files of earlier versions have more."""
    if raw.get("version") in (1, 2):
        raw["version"] = VERSION
        raw.pop("overhead", None)
        for function in raw.get("functions", ()):
            function.pop("caller", None)
