"""Runs that are comparable, and how each of their figures went from run to run. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tollgate.history.listed import Listed, ListedExecution, RunFigure
from tollgate.stats.changes import FEWEST, TrendChange, changes, runs_needed

#: Runs that a trend looks back on; older ones stay in the list.
NEWEST = 100
#: Trends whose changes are looked for, those with the newest runs: plans that are not run any more
#: are no further chances to be wrong, or a mark would get harder with every change of a plan.
SHOWN = 6
#: Runs on either side of a change among which it may have happened as well.
_NEAR = 3


@dataclass(frozen=True)
class TrendPoint:
    """A figure of a run. at: index of the run in its trend."""

    at: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class TrendLine:
    """One figure of one execution, oldest run first. limit, condition: those of the newest run, the
    limit None where nothing fails by it. modes: of the execution's targets. Changes count their
    index in `points`. needed: runs below which no change can be distinguished from chance, among as
    many figures."""

    execution: str
    name: str
    unit: str
    condition: str
    limit: float | None
    points: Sequence[TrendPoint]
    changes: tuple[TrendChange, ...] = ()
    modes: frozenset[str] = frozenset()
    needed: int = FEWEST

    @property
    def values(self) -> list[float]:
        return [it.value for it in self.points]

    @property
    def levels(self) -> list[tuple[int, int, float]]:
        """(index of the first and of the last point, median) between changes; none without one."""
        if not self.changes:
            return []
        begins = [0, *(it.at for it in self.changes)]
        ends = [*(it.at - 1 for it in self.changes), len(self.points) - 1]
        medians = [self.changes[0].before, *(it.after for it in self.changes)]
        return list(zip(begins, ends, medians, strict=True))

    @property
    def is_constant(self) -> bool:
        """Whether every run had the very same value, such as no failure at all."""
        return len(set(self.values)) == 1

    @property
    def is_searched(self) -> bool:
        """Whether a change is looked for."""
        return len(self.points) >= FEWEST and not self.is_constant

    @property
    def is_short(self) -> bool:
        """Whether not even the clearest change could be distinguished from chance."""
        return not self.changes and len(self.points) < self.needed


@dataclass(frozen=True)
class Trend:
    """Runs that are comparable, oldest first, and their lines. left_out: runs that are not shown,
    as broken or interrupted measurements."""

    kind: str
    plan: str
    machine: str
    runs: Sequence[Listed]
    lines: Sequence[TrendLine]
    left_out: int = 0

    def first(self, line: TrendLine, change: TrendChange) -> Listed:
        """The first run on the new level."""
        return self.runs[line.points[change.at].at]

    def around(self, line: TrendLine, change: TrendChange) -> list[Listed]:
        """As many runs before a change as after it, but at an end of the line."""
        return [self.runs[it.at] for it in line.points[change.at - _NEAR : change.at + _NEAR]]


def trends(runs: Iterable[Listed]) -> list[Trend]:
    """All trends of two runs and more, that with the newest run first; the first SHOWN with their
    changes. runs: newest first."""
    groups: dict[tuple, list[tuple[Listed, list[ListedExecution]]]] = defaultdict(list)
    for run in reversed(list(runs)):
        for setup, executions in setups(run).items():
            groups[setup].append((run, executions))
    found = [_trend(setup, members) for setup, members in groups.items()]
    found = [it for it in found if len(it.runs) > 1 and it.lines]
    found.sort(key=lambda it: (_begin(it), it.kind), reverse=True)
    return [*_marked(found[:SHOWN]), *found[SHOWN:]]


def setups(run: Listed) -> dict[tuple, list[ListedExecution]]:
    """The executions of a run, by what has to be the same in runs that are comparable."""
    alike: dict[tuple, list[ListedExecution]] = defaultdict(list)
    for it in run.executions:
        # Without the plan's SHA-256 nothing says that two runs sent the same.
        if it.plans:
            alike[run.kind, it.plan, run.machine, it.plans, it.load].append(it)
    return {
        (*load, run.variables, tuple(sorted((it.name, it.targets) for it in each))): each
        for load, each in alike.items()
    }


def _trend(setup: tuple, members: Sequence[tuple[Listed, list[ListedExecution]]]) -> Trend:
    kind, plan, machine, *_ = setup
    sound = [(run, executions) for run, executions in members if run.counts]
    kept = sound[-NEWEST:]
    points: dict[tuple, list[tuple[int, RunFigure]]] = defaultdict(list)
    for at, (_, executions) in enumerate(kept):
        for execution, figure in measured_once(executions):
            points[execution.name, execution.targets, figure.measure].append((at, figure))
    lines = [_line(*key[:2], each) for key, each in points.items() if len(each) > 1]
    return Trend(kind, plan, machine, [run for run, _ in kept], lines, len(members) - len(sound))


def measured_once(
    executions: Sequence[ListedExecution],
) -> Iterator[tuple[ListedExecution, RunFigure]]:
    """Each measure once an execution, though several criteria may be about it: as the last of those
    has it that the run can fail by."""
    for execution in executions:
        once: dict[tuple[str, ...], RunFigure] = {}
        for it in (it for it in execution.figures if it.observed is not None):
            known = once.get(it.measure)
            if known is None or it.decides or not known.decides:
                once[it.measure] = it
        yield from ((execution, figure) for figure in once.values())


def _line(
    execution: str, targets: Sequence[tuple[str, str, str]], found: Sequence[tuple[int, RunFigure]]
) -> TrendLine:
    newest = found[-1][1]
    points = [TrendPoint(at, it.observed, it.low, it.high) for at, it in found]
    modes = frozenset(mode for _, mode, _ in targets)
    limit = newest.limit if newest.decides else None
    return TrendLine(
        execution, newest.name, newest.unit, newest.condition, limit, points, modes=modes
    )


def _begin(trend: Trend) -> str:
    newest = trend.runs[-1].started
    return newest.isoformat() if newest else ""


def _marked(found: Sequence[Trend]) -> list[Trend]:
    """With the changes of all lines, which are looked for together: each line more is one more
    chance to be wrong."""
    lines = [line for trend in found for line in trend.lines if line.is_searched]
    moved = dict(zip(map(id, lines), changes([it.values for it in lines]), strict=True))
    varied = sum(not line.is_constant for trend in found for line in trend.lines)
    many = sum(map(bool, moved.values()))

    def marked(line: TrendLine) -> TrendLine:
        # A line that is too short as yet will be looked at together with others that are by then.
        among = len(lines) if line.is_searched else max(varied, 1)
        others = (among, min(many, among - 1))
        return replace(line, changes=moved.get(id(line), ()), needed=runs_needed(*others))

    return [replace(trend, lines=[marked(line) for line in trend.lines]) for trend in found]
