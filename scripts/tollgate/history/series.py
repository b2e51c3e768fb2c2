"""Records as series: one for each metric and label, with its steps, and what gates. Pure.

Values are held against each other only where they are comparable: of a comparison where anchor and
setup are the same, of any other run where load and machine are. Of what is not comparable with the
newest run nothing is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from tollgate.compare.model import CPU, PERCENTILES, TAIL, TYPICAL
from tollgate.compare.record import SideRecord
from tollgate.history.model import HistoryExecution, HistoryRecord, Measure
from tollgate.judge.verdicts import FAIL
from tollgate.stats.steps import BEFORE, Step, is_above, steps

#: How often a night may find a step in any of all series that gate, were nothing ever to change:
#: less than once in the 91 nights of a quarter.
FALSE_ALARM = 0.01
#: A step counts from this share of the effect on, as an estimate does that fails a comparison;
#: where nothing is compared, from this share of the level.
_OF_EFFECT, LEAST = 0.5, 0.05
#: Runs that say where a series lies now.
RECENT = 10
#: Runs whose own intervals suffice, where there are as many.
_CERTAIN = 2
#: A single run's FAIL of one of these has to be beyond so many effects, for a night can be slow by
#: chance; that of any other metric, as of errors and stalls, suffices.
_TIMES, _FAR = (TYPICAL, *PERCENTILES, "mean", CPU, TAIL), 4

#: What a run measured of one execution.
Run: TypeAlias = "tuple[HistoryRecord, HistoryExecution]"


@dataclass(frozen=True)
class Series:
    """One metric of one label."""

    label: str
    metric: str
    unit: str
    at: tuple[int, ...]
    """Of each measure the index of its run among those of the execution, oldest first."""
    measures: tuple[Measure, ...]
    steps: tuple[Step, ...] = ()
    is_current: bool = True
    """Whether the newest run of the execution has it."""

    @property
    def name(self) -> str:
        """`p95 of sum`, or all of a criterion with a window."""
        is_whole = not self.label or f" of {self.label}" in self.metric
        return self.metric if is_whole else f"{self.metric} of {self.label}"

    @property
    def values(self) -> list[float]:
        """The levels, see Measure."""
        return [it.level for it in self.measures]

    @property
    def effect(self) -> float | None:
        """Of the newest run."""
        return self.measures[-1].effect

    @property
    def may_gate(self) -> bool:
        """Whether it is a comparison's, and the newest run has it."""
        return self.effect is not None and self.is_current

    @property
    def is_constant(self) -> bool:
        """Whether every run had the very same value, such as no failure at all."""
        return len(set(self.values)) == 1

    @property
    def levels(self) -> list[tuple[int, int, float]]:
        """The first and the last run on each level, as indices of the measures, and where it lies;
        none without a step."""
        starts = [0, *(it.at for it in self.steps), len(self.measures)]
        values = [*(it.before for it in self.steps[:1]), *(it.after for it in self.steps)]
        runs = [(first, end - 1) for first, end in pairwise(starts)]
        return [(*between, value) for between, value in zip(runs, values, strict=False)]

    @property
    def level(self) -> list[float]:
        """The values since the last step."""
        return self.values[self.steps[-1].at if self.steps else 0 :]

    @property
    def now(self) -> float:
        """Where the series lies now, as the newest runs of its level say: a value of a Measure."""
        return self.value_of(float(np.median(self.level[-RECENT:])))

    def value_of(self, level: float) -> float:
        """What a level is as the value of a Measure."""
        return level if self.effect is None else level - 1

    @property
    def is_risen(self) -> bool:
        """Whether it lies above the anchor by more than the effect, beyond doubt: by its newest
        runs together, or by the own interval of each of the newest two, of a first run by its
        own."""
        return self.may_gate and (self._is_above or self._are_certain)

    @property
    def rise(self) -> float:
        """Where the series lies by the runs that prove its rise, else by those of `now`."""
        if not self.is_risen or self._is_above:
            return self.now
        return float(np.median(self.values[-_CERTAIN:])) - 1

    @property
    def _is_above(self) -> bool:
        return self.effect is not None and is_above(self.level, 1 + self.effect)

    @property
    def _are_certain(self) -> bool:
        newest = [it.low for it in self.measures[-_CERTAIN:]]
        return self.effect is not None and all(it is not None and it > self.effect for it in newest)

    @property
    def fails_at_once(self) -> bool:
        """Whether the newest run failed so clearly that it suffices by itself."""
        return self.may_gate and self._suffices(self.measures[-1])

    def failed_at_once(self, newest: int) -> int:
        """How many of the newest runs failed so clearly that each suffices by itself."""
        return sum(map(self._suffices, self.measures[-newest:]))

    def _suffices(self, measure: Measure) -> bool:
        if self.metric in _TIMES:
            return measure.failed is not False and measure.is_beyond(_FAR)
        return measure.is_beyond(1) if measure.failed is None else measure.failed

    def gates(self, newest: int) -> bool:
        """Whether anything of it fails the gate. newest: of so many runs each step counts."""
        return self.fails_at_once or self.is_risen or bool(self.newly_risen(newest))

    def is_doubtful(self, newest: int) -> bool:
        """Whether it does not gate, and not since nothing has risen: it lies above the effect, or
        the newest run does, or one of the newest runs failed so clearly."""
        if self.effect is None or not self.is_current or self.gates(newest):
            return False
        highest = max(self.now, self.measures[-1].value)
        return highest > self.effect or self.failed_at_once(newest) > 0

    def newly_risen(self, newest: int) -> tuple[Step, ...]:
        """Upward steps that the newest so many runs made certain; they gate."""
        if not self.may_gate:
            return ()
        since = len(self.measures) - newest
        return tuple(it for it in self.steps if it.rise > 0 and it.seen >= since)


@dataclass(frozen=True)
class Execution:
    """All runs of one execution that are comparable with the newest, oldest first."""

    kind: str
    name: str
    runs: tuple[Run, ...]
    series: tuple[Series, ...]
    left_out: int
    """Runs of the same execution that are not comparable."""
    needed: int = 0
    """Runs below which no step can be found."""

    @property
    def anchor(self) -> SideRecord | None:
        """What its comparisons held head against."""
        return self.runs[-1][1].anchor

    def commit(self, at: int) -> str | None:
        """That of one of the runs."""
        record, execution = self.runs[at]
        return record.commit_of(execution)

    @cached_property
    def moves(self) -> list[Move]:
        """The steps of all series, those that may be one together, oldest first."""
        moves: list[Move] = []
        steps_of_all = [(series, step) for series in self.series for step in series.steps]
        for series, step in sorted(steps_of_all, key=lambda pair: (pair[1].at, pair[1].last)):
            first, last = series.at[step.first], series.at[step.last]
            before = series.at[step.first - 1]
            like = next((it for it in moves if first <= it.last and last >= it.first), None)
            if like:
                moves.remove(like)
                before, first = max(before, like.before), max(first, like.first)
                last = min(last, like.last)
            steps_of_move = (*(like.steps if like else ()), (series, step))
            moves.append(Move(before, first, last, steps_of_move))
        return sorted(moves, key=lambda move: move.first)


@dataclass(frozen=True)
class Move:
    """Steps of several series that may have one cause."""

    before: int
    """The index of the last run that is certainly on the old level."""
    first: int
    """That of the first run which may be the first on the new level."""
    last: int
    """That of the last run which may be."""
    steps: tuple[tuple[Series, Step], ...]


def executions(
    records: Sequence[HistoryRecord], anchor: str | None = None, run: str | None = None
) -> list[Execution]:
    """What is comparable with the newest run of each execution. records: oldest first. anchor: a
    revision, the beginning of one, or an address; of comparisons with others nothing counts. run:
    the id of one of them, to give only its executions, as if it were the newest."""
    last = next((at for at, it in enumerate(records, 1) if it.id == run), len(records))
    newest = []
    for (kind, name), setups in comparable(records[:last], anchor).items():
        *others, runs = setups.values()
        newest.append(execution(kind, name, runs, left_out=sum(map(len, others))))
    # Those that gate share what may be falsely found; each of the others has it alone.
    gating = sum(len(each.series) for each in newest if each.anchor)
    stepped = (with_steps(it, gating if it.anchor else len(it.series)) for it in newest)
    return [each for each in stepped if run in (None, each.runs[-1][0].id)]


def comparable(
    records: Iterable[HistoryRecord], anchor: str | None = None
) -> dict[tuple[str, str], dict[tuple[str, str], list[Run]]]:
    """By kind and name of an execution: its runs by what they have in common, those that are
    comparable with the newest last. records, anchor: as of `executions`."""
    by_name: dict[tuple[str, str], dict[tuple[str, str], list[Run]]] = defaultdict(dict)
    for record in records:
        for each in record.executions:
            if anchor is None or (each.anchor and _is(each.anchor, anchor)):
                setups, key = by_name[record.kind, each.name], _key(each)
                runs = setups[key] = setups.pop(key, [])  # at the end, as the newest
                runs.append((record, each))
    return by_name


def execution(kind: str, name: str, runs: Sequence[Run], left_out: int = 0) -> Execution:
    """That of runs which are comparable, oldest first, without its steps."""
    return Execution(kind, name, tuple(runs), tuple(_series(runs)), left_out)


def failed_since(
    records: Sequence[HistoryRecord], gating: Sequence[Execution]
) -> list[HistoryRecord]:
    """The runs that failed without a measure of theirs, after the newest that gate. records: oldest
    first."""
    newest = {it.kind: it.runs[-1][0].began for it in gating}
    return [
        record
        for record in records
        if record.verdict == FAIL
        and not record.executions
        and record.began > newest.get(record.kind, record.began)
    ]


def _is(side: SideRecord, anchor: str) -> bool:
    names = (side.revision or "", side.url or "", side.description)
    return any(it.startswith(anchor) for it in names) or f"({anchor})" in side.description


def _key(execution: HistoryExecution) -> tuple[str, str]:
    anchor = execution.anchor
    what = (anchor.revision or anchor.url or anchor.description) if anchor else ""
    return execution.setup, what


def _series(runs: Sequence[Run]) -> Iterator[Series]:
    by_key: dict[tuple[str, str, str], list[tuple[int, Measure]]] = defaultdict(list)
    for at, (_, execution) in enumerate(runs):
        for measure in execution.measures:
            by_key[measure.label, measure.metric, measure.unit].append((at, measure))
    for key, measured in by_key.items():
        places, measures = zip(*measured, strict=True)
        yield Series(*key, places, measures, is_current=places[-1] == len(runs) - 1)


def with_steps(execution: Execution, among: int) -> Execution:
    """The same with its steps. among: how many series share the error. All count, whatever their
    values: with a number that depends on these, a later run could take back a step."""
    false_alarm = FALSE_ALARM / max(1, among)
    series = (
        replace(each, steps=tuple(steps(each.values, false_alarm, _least(each))))
        for each in execution.series
    )
    return replace(execution, series=tuple(series), needed=_needed(false_alarm))


@cache
def _needed(false_alarm: float) -> int:
    """Of all series, one that always rises shows its first step after the fewest runs."""
    return steps(range(BEFORE), false_alarm, 0)[0].seen + 1


def _least(series: Series) -> float:
    return LEAST if series.effect is None else _OF_EFFECT * series.effect
