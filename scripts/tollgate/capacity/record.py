"""The record of a search for capacity, in its run's folder.

capacity-NAME.json says what the execution NAME was asked to send, trial by trial, and is written
anew after each of them; capacity-NAME.csv has every arrival (arrivals.py). What came of them is in
the samples alone (trials.py), so that a live run and `tollgate judge` find the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tollgate.base import records
from tollgate.base.fields import Positive
from tollgate.base.text import did_you_mean
from tollgate.capacity.model import Ask, CapacitySettings
from tollgate.criteria.grammar import Criterion, CriterionError
from tollgate.record.manifest import Execution, Manifest, ManifestError
from tollgate.record.sealed_files import check, seal

KIND = "capacity"
#: Of an execution's name in that of a file: what it can't hold, and how many characters it has.
_NO_FILE, LONGEST = re.compile(r"[^\w.-]+"), 60


@dataclass(frozen=True)
class TrialRecord:
    """One trial that is over. trial: its number in the file of arrivals. began_ms: since the epoch.
    seconds: for which it was sent, fewer than asked where the service was overrun beyond doubt.
    generator_cpu: in cores."""

    trial: int
    ask: Ask
    began_ms: int
    seconds: float
    generator_cpu: float


@records.stored
class CapacityRecord:
    """limits: as they were written. of: what was asked. weights: of these, all the same where there
    are none. trials: those that are over, those of the
    ceiling first. problem: what ended the search before its time, empty for nothing. is_over:
    whether the search came to its end. passes: whether an arrival is a pass through a user's thread
    group, which leaves a parent sample."""

    settings: CapacitySettings
    limits: tuple[str, ...]
    of: tuple[str, ...]
    trials: tuple[TrialRecord, ...] = ()
    problem: str = ""
    is_over: bool = False
    passes: bool = False
    weights: tuple[Positive, ...] = ()

    @property
    def asked(self) -> dict[str, float]:
        """What was asked, with its weights."""
        return dict(zip(self.of, self.weights or [1.0] * len(self.of), strict=True))

    @property
    def first_ms(self) -> int:
        """When the first trial of the service began; 0 before."""
        return next((it.began_ms for it in self.trials if it.ask.purpose != "ceiling"), 0)


def record_path(run: Path, execution: str) -> Path:
    """Of the record of an execution's search, which may be called anything."""
    return run / f"capacity-{_NO_FILE.sub('-', execution)[:LONGEST]}.json"


def arrivals_path(run: Path, execution: str) -> Path:
    """Of the file of its arrivals."""
    return record_path(run, execution).with_suffix(".csv")


def read_record(run: Path, execution: str) -> CapacityRecord | None:
    """The record of an execution's search; None where it is none. Raises ManifestError."""
    path = record_path(run, execution)
    if not path.exists():
        return None
    return records.read(path, CapacityRecord, ManifestError, "search for capacity")


def sealed(run: Path, execution: str) -> dict[str, str]:
    """The SHA-256 of the files of an execution's search, by their names; none where it is none."""
    return seal(run, _names(run, execution))


def _names(run: Path, execution: str) -> list[str]:
    return [record_path(run, execution).name, arrivals_path(run, execution).name]


def check_seal(run: Path, planned: Execution, kind: str) -> None:
    """Raise ManifestError where the execution's search, which the kind may ask for, is not as the
    run left it."""
    names = _names(run, planned.name)
    if kind == KIND and not any((run / name).is_file() for name in names):
        path = record_path(run, planned.name)
        raise ManifestError(f"{path} is missing: the planned load of {planned.name} is unknown")
    so = "what was to be sent can't be proven"
    check(run, planned.capacity_sha256, so, names if planned.sha256 else ())


def criteria_problems(criteria: Iterable[Criterion], manifest: Manifest) -> Iterator[str]:
    """A line for each criterion on a capacity that the run does not search for."""
    names = [each.name for each in manifest.executions]
    for criterion in criteria:
        if criterion.is_of_capacity and manifest.kind != KIND:
            problem = f"a run of kind {manifest.kind} searches for none"
            step = "run -capacity, or remove it"
            yield str(CriterionError(criterion.text, "subject", criterion.subject, problem, step))
        elif criterion.is_of_capacity and criterion.label not in names:
            step = did_you_mean(criterion.label, names)
            problem = "no execution is called that"
            yield str(CriterionError(criterion.text, "label", criterion.label, problem, step))
