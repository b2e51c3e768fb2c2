"""The record that a run leaves in the history: one line of JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from tollgate.base import records
from tollgate.base.fields import Digest, Positive, Text
from tollgate.base.text import shown
from tollgate.compare.record import SideRecord
from tollgate.judge.verdicts import VerdictName
from tollgate.record.environment import Environment

TITLE = "A line of Tollgate's history"
VERSION: Final = 1
#: Units of what a comparison found: both are held against 0, and neither depends on the machine.
RATIO, POINTS = "ratio", "points"


def machine(environment: Mapping[str, Any]) -> str:
    """The machine class: CPU model and cores. environment: of any file, which may lack both."""
    cpu, cores = environment.get("cpu") or "a CPU unknown", environment.get("cores")
    return f"{cpu}, {cores} core{'' if cores == 1 else 's'}" if cores else str(cpu)


def _time(text: str) -> str:
    with suppress(ValueError):
        if datetime.fromisoformat(text).tzinfo is not None:
            return text
    raise ValueError(f"{shown(text)} is no time in ISO 8601 with its time zone")


@dataclass(frozen=True)
class Measure:
    """One value of one label."""

    __pydantic_config__ = records.STRICT

    label: str
    """The label; `all labels` for all requests together, of a mix and of `cpu`, empty for all
    samplers."""
    metric: Text
    """The metric of a comparison, or the subject of a criterion."""
    unit: Text
    """`ratio`: head / base - 1. `points`: head - base, of shares of 1. Of a run that compares
    nothing the unit of the criterion."""
    value: float
    """The value, with six digits."""
    low: float | None
    """Lower end of the run's own interval; null where it has none."""
    high: float | None
    """Upper end of it."""
    effect: Positive | None
    """The smallest rise that mattered to the comparison, in the same unit, with two digits; null of
    other runs."""
    failed: bool | None = None
    """Whether the comparison failed by it; null of other runs, and where nobody recorded it."""
    condition: Literal["<", "<=", "=", ">", ">="] | None = None
    """The comparison of value with limit that makes the run fail; null of a comparison, and where
    nobody recorded it."""
    limit: float | None = None
    """The threshold; null where the run can't fail by it, of a comparison, and where nobody
    recorded it."""

    @property
    def level(self) -> float:
        """What a series follows: a change as a factor, so that its steps are shares of it."""
        return 1 + self.value if self.effect is not None else self.value

    def is_beyond(self, effects: float) -> bool:
        """Whether the whole interval lies above so many effects."""
        if self.low is None or self.effect is None:
            return False
        return self.low > effects * self.effect


@dataclass(frozen=True)
class HistoryExecution:
    """One execution, with what it measured."""

    __pydantic_config__ = records.STRICT

    name: Text
    """The name of the execution."""
    setup: Text
    """A digest of what has to be the same for values to be comparable: of a comparison its mode,
    processes, coin, slowdowns and own plan; of other runs plan, load, targets and machine."""
    anchor: SideRecord | None
    """What a comparison held head against; null of other runs."""
    head: SideRecord | None
    """What a comparison judged; null of other runs."""
    measures: tuple[Measure, ...]
    """What was measured: of a comparison the metrics that decide."""


@dataclass(frozen=True)
class HistoryRecord:
    """One run, as the history keeps it."""

    __pydantic_config__ = records.STRICT

    version: Literal[1]
    """Raised when the meaning of a field changes."""
    id: Digest
    """SHA-256 of the run's run.json, in hexadecimal: lines with one id are of the same run."""
    run: Annotated[str, Field(pattern=r"^[^/\\\x00]+$")]
    """The name of the run's folder."""
    kind: Text
    """The kind of run."""
    started: Annotated[Text, AfterValidator(_time)]
    """When it began, in ISO 8601 with its time zone."""
    verdict: VerdictName
    """The run's verdict."""
    environment: Environment
    """The machine, the versions and the commit of the suite."""
    executions: tuple[HistoryExecution, ...]
    """The executions that measured something."""
    failed: tuple[str, ...] = ()
    """The reasons of a FAIL that are no deciding metric of a comparison, in words."""

    @property
    def began(self) -> datetime:
        """When it began."""
        return datetime.fromisoformat(self.started)

    def commit_of(self, execution: HistoryExecution) -> str | None:
        """The commit that was measured, as git takes it; where it had changes, the one below them.
        None where nobody knows."""
        head = execution.head
        if head and head.revision:
            return head.revision
        if head:
            match = re.search(r"working tree at ([0-9a-f]{7,40})", head.description)
            return match and match[1]
        commit = self.environment["commit"].removesuffix("-dirty")
        return None if commit == "unknown" else commit
