"""One execution as the charts look at it: its samples put together, its colour, its grid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from tollgate.criteria.grammar import Criterion
from tollgate.judge.facts import JudgeSettings, LabelData, MeasuredExecution
from tollgate.judge.observe import select
from tollgate.record import manifest
from tollgate.report.pages.run.grid import Binned, Grid
from tollgate.report.pages.run.intended import Intended
from tollgate.stats.counts import Counts
from tollgate.stats.totals import Totals

#: Colours of the page's palette that a mode has on every page, and how many there are.
OF_MODE = {"fork": 0, "cluster": 1}
PALETTE = 6


@dataclass(frozen=True, eq=False)
class View:
    """name: fit to be read. colour: of the page's palette. intended: None where no schedule is
    known, or the JTL does not tell when its zero was."""

    execution: MeasuredExecution
    name: str
    colour: int
    intended: Intended | None = None

    @cached_property
    def samplers(self) -> tuple[LabelData, ...]:
        """Labels but for those of Transaction Controllers, whose rows add up others."""
        return tuple(it for it in self.execution.labels.values() if not it.is_transaction)

    @cached_property
    def by_name(self) -> dict[str, list[LabelData]]:
        """The same by their names; a sampler and a parent sample may share one."""
        named: dict[str, list[LabelData]] = defaultdict(list)
        for sampler in self.samplers:
            named[sampler.name].append(sampler)
        return named

    @cached_property
    def scheduled(self) -> tuple[LabelData, ...]:
        """Those that follow a schedule, so that response times are known of them."""
        return tuple(it for it in self.samplers if it.response is not None)

    @cached_property
    def sent(self) -> Counts:
        """Service times of all requests, by when they were sent."""
        return Counts.merged(it.service for it in self.samplers)

    @cached_property
    def service(self) -> Counts:
        """Those of the scheduled requests, or of all if there are none."""
        return Counts.merged(it.service for it in self.scheduled or self.samplers)

    @cached_property
    def response(self) -> Counts | None:
        """Response times of the scheduled requests, by when they were meant to be sent."""
        responses = [it.response for it in self.scheduled if it.response is not None]
        return Counts.merged(responses) if responses else None

    @cached_property
    def lateness(self) -> Counts | None:
        """How late each of those was sent."""
        times = [it.lateness for it in self.scheduled if it.lateness is not None]
        return Counts.merged(times) if times else None

    @cached_property
    def window(self) -> tuple[float, float]:
        """What was judged, in seconds since the execution's start."""
        return self.execution.window

    @cached_property
    def grid(self) -> Grid | None:
        """None without samples."""
        times = [self.sent, *([self.response] if self.response else [])]
        # What was never sent is part of the picture: nothing else shows a generator that died.
        meant = self.intended.span if self.intended else None
        return Grid.of(times, self.execution.warmup_s, meant=meant)

    def both_times(self, name: str) -> dict[str, Counts]:
        """Response and service times of a label, those that there are, warm-up included."""
        mine = self.by_name.get(name, [])
        responses = [it.response for it in mine if it.response is not None]
        times = {"service": Counts.merged(it.service for it in mine)} if mine else {}
        # Where two share the name, both may have a schedule or not.
        is_due = mine and len(responses) == len(mine)
        return {"response": Counts.merged(responses)} | times if is_due else times

    def times(self, name: str) -> tuple[str, Counts] | None:
        """Response times of a label, or its service times where it has no schedule, and which of
        both these are; None where it was not asked."""
        return next(((what, it) for what, it in self.both_times(name).items() if it.total), None)

    def selected(
        self, criterion: Criterion, settings: JudgeSettings
    ) -> tuple[Counts, Totals | None]:
        """All samples that a criterion is about; kept, since several are about the same."""
        key = (criterion.label, criterion.may_respond, settings.latency)
        if key not in self._selected:
            labels = self.execution.labels.values()
            part = select(criterion, labels, settings, (-np.inf, np.inf))
            self._selected[key] = (part.counts, part.totals)
        return self._selected[key]

    @cached_property
    def _selected(self) -> dict[tuple[str, bool, str], tuple[Counts, Totals | None]]:
        return {}

    @cached_property
    def binned(self) -> Callable[[str, Grid], Binned]:
        """`sent`, `service`, `response` or `lateness` in the bins of a grid; kept for the next."""
        return cache(lambda times, grid: Binned(getattr(self, times), grid))


def colours(executions: Sequence[manifest.Execution]) -> list[int]:
    """A colour each: a mode has its own on every page, as far as it is free."""
    return dealt(
        [wanted(it.name, {target.get("mode") for target in it.targets}) for it in executions]
    )


def wanted(name: str, modes: Collection[str | None]) -> int | None:
    """The colour of an execution with targets in these modes; None where any will do."""
    return OF_MODE.get(next(iter(modes))) if len(modes) == 1 else OF_MODE.get(name)


def dealt(asked: Sequence[int | None]) -> list[int]:
    """A colour each: the one that is asked for, where none before has it, or else a free one."""
    first = [None if colour in asked[:at] else colour for at, colour in enumerate(asked)]
    free = [it for it in range(PALETTE) if it not in first]
    # More executions than colours share them; the legend distinguishes them.
    spare = iter(free + list(range(PALETTE)) * len(first))
    return [next(spare) if colour is None else colour for colour in first]
