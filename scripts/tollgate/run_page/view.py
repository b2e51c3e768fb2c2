"""One execution as the charts look at it: its samples put together, its colour, its grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tollgate import manifest
from tollgate.cells import one_line, shorten
from tollgate.counts import Counts
from tollgate.facts import Execution, LabelData
from tollgate.judge import measured_window
from tollgate.run_page.grid import Binned, Grid
from tollgate.run_page.intended import Intended

#: Colours of the page's palette that a mode has on every page, and how many there are.
OF_MODE = {"fork": 0, "cluster": 1}
PALETTE = 6
_NAME_WIDTH = 40


@dataclass(frozen=True, eq=False)
class View:
    """name: fit to be read. colour: of the page's palette. intended: None where no schedule is
    known, or the JTL does not tell when its zero was."""

    execution: Execution
    name: str
    colour: int
    intended: Intended | None = None

    @cached_property
    def samplers(self) -> tuple[LabelData, ...]:
        """Labels but for those of Transaction Controllers, whose rows add up others."""
        return tuple(it for it in self.execution.labels.values() if not it.is_transaction)

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
        found = [it.response for it in self.scheduled if it.response is not None]
        return Counts.merged(found) if found else None

    @cached_property
    def lateness(self) -> Counts | None:
        """How late each of those was sent."""
        found = [it.lateness for it in self.scheduled if it.lateness is not None]
        return Counts.merged(found) if found else None

    @cached_property
    def window(self) -> tuple[float, float]:
        """What was judged, in seconds since the execution's start."""
        return measured_window(self.execution)

    @cached_property
    def grid(self) -> Grid | None:
        """None without samples."""
        found = [self.sent, *([self.response] if self.response else [])]
        return Grid.of(found, self.execution.warmup_s)

    @cached_property
    def _binned(self) -> dict[tuple[str, Grid], Binned]:
        return {}

    def binned(self, what: str, grid: Grid) -> Binned:
        """`sent`, `service`, `response` or `lateness` in the bins of a grid; kept for the next."""
        key = (what, grid)
        if key not in self._binned:
            self._binned[key] = Binned(getattr(self, what), grid)
        return self._binned[key]

    def rates(self, what: str, grid: Grid) -> np.ndarray:
        """Requests per second in each bin."""
        return self.binned(what, grid).n / grid.lengths


def colours(executions: Sequence[manifest.Execution]) -> list[int]:
    """A colour each: a mode has its own on every page, as far as nobody else has it."""
    wanted = [_wanted(it) for it in executions]
    taken: set[int] = set()
    for at, colour in enumerate(wanted):
        if colour in taken:
            wanted[at] = None
        elif colour is not None:
            taken.add(colour)
    free = [it for it in range(PALETTE) if it not in taken]
    # More executions than colours share them; the legend tells them apart.
    spare = iter(free + list(range(PALETTE)) * len(wanted))
    return [next(spare) if colour is None else colour for colour in wanted]


def _wanted(planned: manifest.Execution) -> int | None:
    modes = {target.get("mode") for target in planned.targets}
    return OF_MODE.get(modes.pop()) if len(modes) == 1 else OF_MODE.get(planned.name)


def readable(name: str) -> str:
    """A name of unknown origin on one line of bounded length."""
    return shorten(one_line(name), _NAME_WIDTH) or "(no name)"
