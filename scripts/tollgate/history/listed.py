"""What the list of runs knows of each run, as far as its files say. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tollgate.base.exit_codes import ExitCode
from tollgate.judge.verdicts import INVALID
from tollgate.record.environment import GENERATOR, SERVICE


@dataclass(frozen=True)
class RunFigure:
    """One criterion of one execution, judged. Values are in `unit`; None for what is not known.
    window: whether the value is that of the worst window of time. decides: False where the run
    can't fail by it."""

    criterion: str
    label: str
    subject: str
    unit: str
    basis: str
    condition: str
    limit: float | None
    observed: float | None
    low: float | None
    high: float | None
    window: bool
    verdict: str = ""
    decides: bool = True

    @property
    def measure(self) -> tuple[str, ...]:
        """What distinguishes figures of different things. The limit does not: it may be moved, and
        what is measured stays the same. With a window the length of that is part of it."""
        what = (self.subject, self.label, self.unit, self.basis)
        return (*what, self.criterion) if self.window else what

    @property
    def name(self) -> str:
        """`p95 of search`, or all of the criterion where it has a window."""
        if self.window:
            return self.criterion
        return f"{self.subject} of {self.label}" if self.label else self.subject


@dataclass(frozen=True)
class ListedExecution:
    """One plan against its targets. plans: (file, SHA-256) of all plans of its run and all
    that they include. load: (property, value) of what shapes the load. targets: (name, mode,
    instances)."""

    name: str
    verdict: str
    plan: str
    plans: tuple[tuple[str, str], ...]
    load: tuple[tuple[str, str], ...]
    targets: tuple[tuple[str, str, str], ...]
    figures: tuple[RunFigure, ...]


@dataclass(frozen=True)
class Listed:
    """One run. name: of its folder. verdict: None where there is none (yet). started: with its time
    zone, None where no file says. reasons: of the verdict, worst first. page: the address of what
    to open, relative to the list. problem: what of its files could not be read, empty for
    nothing."""

    name: str
    kind: str
    verdict: str | None
    exit_code: int | None
    started: datetime | None
    reasons: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    executions: tuple[ListedExecution, ...] = ()
    environment: dict[str, Any] = field(default_factory=dict)
    page: str | None = None
    problem: str = ""

    @property
    def counts(self) -> bool:
        """Whether its figures are measurements: not those of a broken or interrupted run."""
        return self.verdict not in (None, INVALID) and self.exit_code != ExitCode.INTERRUPTED

    @property
    def machine(self) -> str:
        """The machine class: CPU model and cores."""
        cpu = str(self.environment.get("cpu") or "a CPU unknown")
        cores = self.environment.get("cores")
        return f"{cpu}, {cores} core{'' if cores == 1 else 's'}" if cores else cpu

    @property
    def variables(self) -> tuple[tuple[str, str], ...]:
        """(name, value) of the environment variables that changed the service or the generator. A
        run that did not record them may have had any: it is not comparable with one that had none.
        """
        known = self.environment.get("variables")
        if not isinstance(known, dict):
            return (("variables", "unknown"),)
        return tuple((name, str(known[name])) for name in (*SERVICE, *GENERATOR) if name in known)

    @property
    def versions(self) -> dict[str, str]:
        """What may change between runs of one trend: the commit, and the versions of the parts."""
        known = self.environment.get("versions")
        parts = known if isinstance(known, dict) else {}
        return {
            "commit": str(self.environment.get("commit") or "unknown"),
            "os": str(self.environment.get("os") or "unknown"),
            **{str(name): str(value) for name, value in parts.items()},
        }


@dataclass(frozen=True)
class Folder:
    """All that a folder of runs holds. runs: newest first. unreadable: (name, why). others: names
    of folders that hold no run."""

    runs: Sequence[Listed]
    unreadable: Sequence[tuple[str, str]]
    others: Sequence[str]
