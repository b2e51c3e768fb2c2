"""Series of every load that a folder's runs met, not of the newest alone, with their steps. Pure.

What is not comparable with the newest run is a trend of its own: an earlier plan, another machine,
another length.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from tollgate.history.files import in_order
from tollgate.history.listed import Listed
from tollgate.history.model import HistoryRecord
from tollgate.history.series import Execution, Series, comparable, execution, with_steps

#: Runs that a trend looks back on, so that a page stays fast.
NEWEST = 100
#: Trends whose steps are looked for: those with the newest runs.
SHOWN = 6


@dataclass(frozen=True)
class Line:
    """A series of a trend."""

    execution: Execution
    series: Series
    at: tuple[int, ...]
    """Of each measure the index of its run among those of the trend."""

    @property
    def name(self) -> str:
        """`p95 of sum`."""
        return self.series.name

    @property
    def is_short(self) -> bool:
        """Whether no step can be found among so few runs."""
        return not self.series.steps and len(self.at) < self.execution.needed


@dataclass(frozen=True)
class Trend:
    """Executions that the same load met in the same runs."""

    executions: tuple[Execution, ...]
    runs: tuple[Listed, ...]
    """Oldest first."""
    records: tuple[HistoryRecord, ...]
    """Of the runs."""

    @property
    def kind(self) -> str:
        """The kind of its runs."""
        return self.executions[0].kind

    @cached_property
    def lines(self) -> list[Line]:
        """The series of two runs and more."""
        places = {record.id: at for at, record in enumerate(self.records)}
        return [
            Line(each, series, tuple(places[each.runs[at][0].id] for at in series.at))
            for each in self.executions
            for series in each.series
            if len(series.at) > 1
        ]


def trends(runs: Iterable[Listed]) -> list[Trend]:
    """All trends of two runs and more, that with the newest run first; the first SHOWN with their
    steps. runs: of any order; those with one record are one."""
    recorded = {run.record.id: (run, run.record) for run in runs if run.record}
    records = in_order(record for _, record in recorded.values())
    alike: dict[tuple[str, ...], list[Execution]] = defaultdict(list)
    for (kind, name), setups in comparable(records).items():
        for setup, pairs in setups.items():
            alike[(kind, *setup)].append(execution(kind, name, pairs[-NEWEST:]))
    together = []
    for executions in alike.values():
        ids = {record.id for each in executions for record, _ in each.runs}
        members = tuple(record for record in records if record.id in ids)
        listed = tuple(recorded[record.id][0] for record in members)
        together.append(Trend(tuple(executions), listed, members))
    together = [trend for trend in together if trend.lines]
    together.sort(key=lambda trend: (trend.records[-1].began, trend.kind), reverse=True)
    return [*map(_with_steps, together[:SHOWN]), *together[SHOWN:]]


def _with_steps(trend: Trend) -> Trend:
    executions = tuple(with_steps(each, len(each.series)) for each in trend.executions)
    return replace(trend, executions=executions)
