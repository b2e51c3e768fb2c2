"""run.json: what a run set out to do and what it left, so that it can be judged again.

Written when the run begins and sealed when it has ended: from then on the SHA-256 of each JTL is
part of it, and a file that has changed since is refused. So is a run.json that was edited: it holds
the SHA-256 of all else that stands in it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, ConfigDict, Field, NonNegativeFloat, with_config
from typing_extensions import NotRequired, TypedDict  # Pydantic takes no other before Python 3.12

from tollgate.base import records
from tollgate.base.text import UserError, one_line
from tollgate.forecast.model import Followed
from tollgate.record.interim_schedule import InterimSchedule
from tollgate.workers.background_cpu import BackgroundCpu

NAME = "run.json"
#: Raised when a manifest's meaning changes; older ones are refused rather than misread.
VERSION = 2
#: Of the seal of run.json: what it is the SHA-256 of.
SEAL_VERSION = 1
#: What earlier versions wrote of an execution whose samples they moved to Parquet files: the
#: SHA-256 of the index of these, null where they moved none.
_COMPACTED = "pieces_sha256"
#: What earlier versions wrote of threads that waited when the load ended: the samples show it too.
_IN_FLIGHT = "in_flight"
_CHUNK = 1 << 20


class ManifestError(UserError):
    """One line: which file, what is wrong with it, what to do."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


#: Seconds since the epoch, of a year with four digits.
Moment = Annotated[float, Field(ge=0, lt=253_402_300_800)]


class Runtime(TypedDict):
    """The program that runs processes of an app, and how many. version: empty if not known."""

    path: str
    version: str
    processes: int


class Target(TypedDict):
    """An app of ecosystem.config.js. runtimes: missing in runs of earlier versions."""

    name: str
    mode: str
    instances: int
    memory_limit: NotRequired[float | None]
    runtimes: NotRequired[list[Runtime]]


class ReloadRecord(TypedDict):
    """One reload of an app, and the problem that it met, if any."""

    app: str
    began: Moment
    ended: Moment | None
    problem: str


class ShareRecord(TypedDict):
    """Which part of a load a run sent: engine `number`, from 1, of `of`.

    rows: `copy` or `split`, see schedule/share_rows.py; empty where each engine runs the whole
    plan. data: the SHA-256 of each data file that it has rows of, by the property that names it.
    start_at: when all engines were to begin (epoch seconds), None where each began when it was
    ready. host: of a remote engine, whose controller has watched the workers.
    """

    number: int
    of: int
    rows: str
    data: dict[str, str]
    start_at: Moment | None
    host: NotRequired[str]


class EngineRecord(TypedDict):
    """A share in the folder of a merged run, and the SHA-256 of its run.json. Of a remote engine:
    its host, and by how much its clock was ahead of the controller's."""

    folder: str
    sha256: str
    host: NotRequired[str]
    offset_ms: NotRequired[float]
    uncertainty_ms: NotRequired[float]


@with_config(ConfigDict(strict=True, extra="allow"))
class RecordedEnvironment(TypedDict, total=False):
    """Of what runs of any version say of their machine (environment.py), what is read again."""

    cpu: str
    cores: int | None
    commit: str
    versions: dict[str, str]
    variables: dict[str, str]
    plans: dict[str, str]


ClockStep = Annotated[list[float], Field(min_length=2, max_length=2)]


@records.stored
class Stop:
    """The samples by which a criterion stopped the run: what was due within measured_s of
    measuring, by the rows that had ended seen_s after JMeter's start."""

    measured_s: NonNegativeFloat
    seen_s: NonNegativeFloat


def _names(*names: str) -> Any:
    """A field's name, and those that earlier versions gave it."""
    return Field(validation_alias=AliasChoices(*names))


@dataclass
class Execution:
    """One plan against its targets. Paths are relative to the run's folder; times in seconds.

    targets: apps of ecosystem.config.js, each with its name, mode, instances and memory limit in
    bytes; none where the plan asks a service not ours. url: of such a service, if the scenario
    names it.
    notes: what the verdict says beside what it judges, one line each. lint: what was noticed of
    the plan, likewise.
    criteria: those of this execution and its scenario alone.
    forecast: what it follows; None for nothing.
    exit_code: JMeter's, None if it never started or was still running at the end.
    clock_steps: each [seconds since it began, by how many seconds the clock was set], less than 0
    for back.
    stop_requested_at: when the kind `plan` had JMeter end its load; None if it had not.
    load_ended_at: when the load was ended before its time, by whatever; None if it was not.
    ended_by_force: whether it went on after that, or after any other end before its time, and had
    to be ended.
    thread_ends: by the names of JMeter's threads without their last number, how many ended with
    which words of its log, until its load was ended at the latest; None where that is not known, as
    for remote engines.
    interim: when the samples of one that may end early are evaluated, None where that is done at
    its end alone. decided_s: after how many seconds of measuring such a look ended it; None where
    none did. decided_lag_s: how many seconds later what it was made of had ended; None for as many
    as `interim` says. stop: what of it showed that the run had to be stopped. stopped_by: the
    criterion that ended this execution alone.
    capacity_sha256: of the files of its search for capacity, by their names.
    bytes, sha256: of the JTL as the run left it; None before it ended, and for none.
    background_cpu: what others took of the cores while it measured, None where that is not known.
    exported: rows of the JTL in what a collector has acknowledged; None where nothing was exported.
    undivided_properties: of a share, the properties of the whole load in place of its own; None for
    those that the whole does not have.
    """

    __pydantic_config__ = records.STRICT

    name: str
    plan: str
    jtl: str
    properties: dict[str, str]
    targets: list[Target] = field(default_factory=list)
    criteria: list[Any] = field(default_factory=list)
    warmup: NonNegativeFloat = 0.0
    measured: NonNegativeFloat = 0.0
    forecast: Followed | None = None
    url: str | None = None
    notes: list[str] = field(default_factory=list)
    lint: list[str] = field(default_factory=list)
    exit_code: int | None = None
    began: Moment | None = None
    ended: Moment | None = None
    stop_requested_at: Annotated[Moment | None, _names("stop_requested_at", "told_to_end")] = None
    load_ended_at: Moment | None = None
    ended_by_force: bool = False
    thread_ends: dict[str, dict[str, int]] | None = None
    clock_steps: list[ClockStep] = field(default_factory=list)
    interim: Annotated[InterimSchedule | None, _names("interim", "looks")] = None
    decided_s: float | None = None
    decided_lag_s: NonNegativeFloat | None = None
    stop: Stop | None = None
    stopped_by: str | None = None
    capacity_sha256: dict[str, str] = field(default_factory=dict)
    bytes: int | None = None
    sha256: str | None = None
    background_cpu: BackgroundCpu | None = None
    exported: int | None = None
    undivided_properties: Annotated[
        dict[str, str | None], _names("undivided_properties", "whole")
    ] = field(default_factory=dict)

    @property
    def whole_properties(self) -> dict[str, str]:
        """Those of the load that this one is a share of, or all of."""
        together = {**self.properties, **self.undivided_properties}
        return {name: value for name, value in together.items() if value is not None}


@dataclass
class Manifest:
    """One run. criteria apply to every execution. interrupted: ended by a person or a signal.
    interrupted_at: when, in seconds since the epoch; None where that is not known.
    arguments: those of `bzt`, None where they are not known. compare_sha256: of compare.json as the
    run left it, None where nothing was compared. watched_sha256: of the files on workers, by their
    names; None before the run ended, and in runs of earlier versions.
    stopped_by: the criterion that ended the run early, and stopped_at when, likewise. problem: the
    error that ended it.
    reloads: each with the `app`, when it `began` and `ended` (seconds since the epoch), and the
    `problem` that it met, if any. watching: what it cost, see tollgate/workers/watching.py.
    share: which part of a load it sent, None for all of it. engines: of a merged run, its shares
    in order; their samples are its own. seal: version and SHA-256 of all other fields; None in runs
    of earlier versions."""

    __pydantic_config__ = records.STRICT

    kind: str
    started: str
    criteria: list[Any]
    settings: dict[str, Any]
    environment: RecordedEnvironment
    executions: list[Execution]
    interrupted: bool = False
    interrupted_at: Moment | None = None
    stopped_by: str | None = None
    stopped_at: Moment | None = None
    problem: str | None = None
    reloads: list[ReloadRecord] = field(default_factory=list)
    watching: dict[str, float | None] | None = None
    arguments: list[str] | None = None
    compare_sha256: str | None = None
    watched_sha256: dict[str, str] | None = None
    share: ShareRecord | None = None
    engines: list[EngineRecord] = field(default_factory=list)
    version: int = VERSION
    seal: str | None = None


def write(manifest: Manifest, run: Path) -> None:
    """Write run.json, sealed, whole or not at all."""
    manifest.seal = _seal_of(asdict(manifest))
    records.write(run / NAME, manifest)


def _seal_of(fields: Mapping[str, Any]) -> str:
    """Of what the fields mean: neither their order nor the space between them counts."""
    others = {name: value for name, value in fields.items() if name != "seal"}
    as_read = json.loads(json.dumps(others, default=str))
    text = json.dumps(as_read, sort_keys=True)
    return f"{SEAL_VERSION}:{hashlib.sha256(text.encode()).hexdigest()}"


def read(run: Path) -> Manifest:
    """Read run.json. Raises ManifestError, also for what would keep a reader of the folder waiting,
    such as a pipe."""

    def prepare(fields: dict[str, Any]) -> None:
        if problem := _unreadable(fields):
            raise ManifestError(f"{run / NAME} {problem}")
        executions = fields.get("executions")
        for each in executions if isinstance(executions, list) else ():
            if not isinstance(each, dict):
                continue
            each.pop(_IN_FLIGHT, None)
            if each.pop(_COMPACTED, None) or any(run.glob("*.pieces/index.json")):
                raise ManifestError(
                    f"{run} was compacted by an earlier version of Tollgate, and its JTLs do not "
                    "hold all samples: judge the run with that version"
                )

    manifest = records.read(run / NAME, Manifest, ManifestError, "run", prepare=prepare)
    named = [path for it in manifest.executions for path in (it.plan, it.jtl)]
    refuse_outside(run, (*named, *(it["folder"] for it in manifest.engines)))
    for path in run.rglob("*"):
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise ManifestError(
                f"{path} is neither a file nor a folder, which no run leaves: remove it, or take "
                "the run from where it was archived"
            )
    return manifest


def refuse_outside(run: Path, names: Iterable[str]) -> None:
    """Raise ManifestError where one leads out of the run's folder: the record of somebody else
    names files of its own, and none of this machine's."""
    home = os.path.realpath(run)
    for path in names:
        # Unlike Path.resolve, it takes a link to itself.
        if "\0" in path or not Path(os.path.realpath(run / path)).is_relative_to(home):
            raise ManifestError(
                f"{run / NAME} names {path!r}, which leads out of the run's folder: nothing there "
                "is read; take the run from where it was archived"
            )


def _unreadable(fields: Mapping[str, Any]) -> str:
    """Why this Tollgate can't read the fields, or can't prove that they are as written; empty where
    it can. Before anything else of them is read: another version may have other fields."""
    version, seal = fields.get("version", VERSION), fields.get("seal")
    other = "has {} {}, this Tollgate reads {}: judge the run with the Tollgate that made it"
    if version != VERSION:
        return other.format("version", version, VERSION)
    sealed_as, found = str(seal).partition(":")[0], _seal_of(fields)
    if seal is None or seal == found:
        return ""
    if sealed_as != str(SEAL_VERSION):
        return other.format("a seal of version", sealed_as, SEAL_VERSION)
    return f"was edited: `seal` is {seal}, and its fields have {found}; restore it from the archive"


def digest(path: Path) -> str:
    """The SHA-256 of a file of any size."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


def is_sealed(manifest: Manifest) -> bool:
    """Whether all that the run set out to do has come to its end, with samples."""
    broken = manifest.interrupted or manifest.problem or not manifest.executions
    return not broken and all(each.sha256 for each in manifest.executions)


def seal(execution: Execution, run: Path) -> None:
    """Note size and SHA-256 of the execution's JTL, if there is one."""
    jtl = run / execution.jtl
    if execution.jtl and jtl.is_file():
        execution.bytes, execution.sha256 = jtl.stat().st_size, digest(jtl)


def check_seal(execution: Execution, run: Path) -> None:
    """Raise ManifestError when the JTL is not the one that the run left. One that has not ended
    has no seal, nor has one that left no JTL."""
    jtl = run / execution.jtl
    if execution.sha256 is None:
        if execution.ended is not None and execution.jtl and jtl.is_file():
            raise ManifestError(
                f"{run / NAME} has no SHA-256 of {jtl}, which a run gets when it ends: nothing can "
                "be proven from it; restore both from where the run was archived"
            )
        return
    if not jtl.is_file():
        raise ManifestError(f"{jtl} is missing: the samples of {execution.name!r} are gone")
    if jtl.stat().st_size != execution.bytes or digest(jtl) != execution.sha256:
        raise ManifestError(
            f"{jtl} has changed since the run ended (SHA-256 in {NAME}): it proves nothing"
        )
