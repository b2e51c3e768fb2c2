"""compare.json: what a comparison set out to compare and to prove.

Written when the run begins, and again when the run ends itself; sealed by its SHA-256 in run.json.
"""

from __future__ import annotations

from dataclasses import field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field

from tollgate.base import records
from tollgate.base.fields import Amount, Count, Excluded, Whole
from tollgate.compare.cpu_times import CpuTimes
from tollgate.compare.model import Answers, Gate, GateSettings
from tollgate.compare.pace import Pace
from tollgate.compare.power import Power, foretold
from tollgate.record.manifest import Manifest, ManifestError
from tollgate.record.sealed_files import check, seal
from tollgate.stats.sequential import LEAST_STEP

NAME = "compare.json"
#: Raised when a record's meaning changes; what can't be read as today's is refused.
VERSION = 5
#: What earlier versions promised without saying so: of 1 nothing of the typical request, and to
#: measure on; of 1 and 2 nothing of stalls, of 1 to 3 of CPU time, and of none of them anything of
#: tail.
_PROMISED_BY_4 = {"tail_effect": GateSettings.tail_effect}
_PROMISED_BY_3 = {"cpu_effect": GateSettings.cpu_effect} | _PROMISED_BY_4
_PROMISED_BY_2 = {"stall_effect": GateSettings.stall_effect} | _PROMISED_BY_3
_PROMISED_BY = {
    1: {"typical_effect": GateSettings.typical_effect, "fail_fast": False} | _PROMISED_BY_2,
    2: _PROMISED_BY_2,
    3: _PROMISED_BY_3,
    4: _PROMISED_BY_4,
    VERSION: {},
}


@records.stored
class SideRecord:
    """One of the two."""

    name: Literal["base", "head"]
    """Its name."""
    description: Annotated[str, Field(validation_alias=AliasChoices("description", "told"))]
    """Which code it is, e.g. `1a2b3c4 (merge base with origin/main)`."""
    revision: str | None
    """SHA of the commit; null where no commit holds it or a URL was given."""
    url: str | None
    """Where it was asked; null where PM2 ran it."""


@records.stored
class CpuRecord:
    """The CPU time of the processes of both sides while they were measured."""

    workers: Whole = 1
    """Of PM2 that each of them is the sum of: several in cluster mode."""
    used_ms: tuple[tuple[Amount | None, ...], ...] = ()
    """CPU ms in each second of measuring, by process: the first of base, the first of head, the
    second of base and so on. None where that is not known, empty where nothing was recorded."""


@records.stored
class CompareRecord:
    """What a comparison set out to compare, and when it was decided."""

    base: SideRecord
    """What head is held against."""
    head: SideRecord
    """What is to be judged."""
    execution: Excluded[str]
    """Its name."""
    mode: Literal["fork", "cluster", "url"]
    """How PM2 ran both; `url` where it ran neither."""
    settings: GateSettings
    """What the gate promises."""
    first_s: Excluded[float]
    """When the samples are looked at first, in seconds of measuring."""
    every_s: Excluded[float]
    """From one look to the next, in seconds."""
    injected: dict[str, float]
    """By what head alone was slowed on purpose, by name, e.g. `work_percent`; empty for nothing."""
    decided_s: Annotated[Amount | None, Field(serialization_alias="ended_itself_s")] = None
    """Seconds of measuring after which the run ended itself, for everything was decided or, with
    `fail_fast`, a metric had failed; null where it did not."""
    processes: Whole = 1
    """Of each side that were asked by themselves. With more than one a FAIL of a response time
    needs every process of head to be slower than every one of base."""
    pace: Pace | None = None
    """Null for a plan with rates of its own, and for runs of before there was a choice."""
    weights: dict[str, Count] = field(default_factory=dict)
    """Of a mix: how many arrivals of a block ask each label, or the transaction that has it; empty
    for a plan with rates of its own."""
    left_out: tuple[str, ...] = ()
    """Labels that head answers and base does not: they are new, and are not compared."""
    answers: Answers = "any"
    """Whether both have to answer the same: `same` makes a run INVALID in which they do not."""
    is_sided: Excluded[bool] = False
    """Whether `${SIDE}` stands in the app's settings, which thus differ beyond the code."""
    elsewhere: Excluded[tuple[str, ...]] = ()
    """Labels of a user's own plan that are sent to other hosts, and are not compared."""
    power: tuple[Power, ...] = ()
    """What would probably be found, by what a rehearsal showed; empty where there was none."""
    coin: Literal["arrival", "iteration", "thread"] = "arrival"
    """What the coin is tossed for: an arrival of a plan of Tollgate's, and of any other plan an
    iteration, if that begins a session of its own, or a thread."""
    repeats: Excluded[float | None] = 1.0
    """How many requests of a label one toss sends at most; None where the sides may be sent unlike
    numbers."""
    background_cpu: Annotated[
        tuple[float | None, ...],
        Field(validation_alias=AliasChoices("background_cpu", "foreign"), exclude=True),
    ] = ()
    """Background CPU load in each second of measuring, as a share of the cores; None where that is
    not known, empty where it was not recorded."""

    cpu: Excluded[CpuRecord | None] = None
    """None for services by URL, whose CPU time can't be seen, and for runs of before it was
    recorded."""

    def __post_init__(self) -> None:
        least_s = LEAST_STEP * self.settings.budget_s
        if self.first_s < least_s * (1 - 1e-9):
            raise ValueError(f"first_s is {self.first_s:g}, and by budget_s {least_s:g} at least")

    @property
    def uncompared(self) -> tuple[str, ...]:
        """Labels of the plan that are no label of the comparison."""
        return *self.left_out, *self.elsewhere

    @property
    def is_by_thread(self) -> bool:
        """Whether threads are what was randomized."""
        return self.coin == "thread"

    def cpu_times(self, seconds: int) -> CpuTimes | None:
        """Of the first so many seconds of measuring; None where nothing was recorded."""
        if self.cpu is None:
            return None
        times = CpuTimes.of(self.cpu.used_ms, self.cpu.workers, self.processes, seconds)
        return replace(times, doubt=self.cpu_doubt)

    @property
    def cpu_doubt(self) -> str:
        """Why CPU time says nothing of a change, or nothing. A side's is that of all that it is
        sent, compared or not, and which thread's requests took it is not known."""
        if self.is_by_thread:
            return "requests are assigned once per thread, and what each thread costs is not known"
        if self.left_out and not self.weights:
            labels = ", ".join(self.left_out)
            return f"head alone answers {labels}, and its CPU time holds what that costs"
        return ""

    @property
    def first_gate(self) -> Gate:
        """Before its first look."""
        return Gate(
            self.settings,
            is_mix=bool(self.weights),
            has_cpu=self.cpu is not None,
            foretold=foretold(self.power),
        )


def write(record: CompareRecord, run: Path) -> None:
    """Write compare.json into the run's folder, whole or not at all."""
    records.write(run / NAME, record, version=VERSION)


def sealed(run: Path) -> str | None:
    """The SHA-256 of compare.json as the run left it, None where nothing was compared."""
    return seal(run, [NAME]).get(NAME)


def check_seal(manifest: Manifest, run: Path) -> None:
    """Raise ManifestError when compare.json is not the one that the run left."""
    seals = {NAME: manifest.compare_sha256} if manifest.compare_sha256 else {}
    has_ended = any(it.sha256 for it in manifest.executions)
    so = "neither promise nor decision can be proven"
    check(run, seals, so, [NAME] if has_ended else ())


def is_compare(run: Path) -> bool:
    """Whether a run's folder is that of a comparison."""
    return (run / NAME).exists()


def read(run: Path) -> CompareRecord:
    """The compare.json of a run's folder. Raises ManifestError, one line."""
    again = "run the comparison again"
    return records.read(run / NAME, CompareRecord, ManifestError, "comparison", again, _prepare)


def _prepare(raw: dict[str, Any]) -> None:
    """Refuses an unknown version, and settings that lack a field: a default is no promise."""
    version = raw.pop("version", None)
    if version not in tuple(_PROMISED_BY):
        raise ValueError(f"it has version {version}, and this Tollgate reads 1 to {VERSION}")
    promised = raw.get("settings")
    if isinstance(promised, dict):
        promised.update(_PROMISED_BY[version])
    for each in fields(GateSettings):
        if isinstance(promised, dict) and each.name not in promised:
            raise ValueError(f"settings.{each.name}: it is missing")
