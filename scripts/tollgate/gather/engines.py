"""A merged run: the shares of a load that its engines have sent.

Each share is gathered as it is, its seals checked, its schedule replayed from its own plan and
seed. Of its samples only the counts are kept, which merge without loss: memory does not grow with
their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from tollgate.gather import workers
from tollgate.gather.context import RecordedExecution
from tollgate.judge.engines import engine_of, together
from tollgate.judge.facts import EngineFacts, JudgeSettings, MeasuredExecution, MeasuredRun
from tollgate.record import manifest
from tollgate.record.manifest import NAME, Manifest, ManifestError, digest
from tollgate.samples.layout import JtlError, peek_test_start

#: Shares whose counts are merged at once: each time costs as much as all counts so far.
_AT_ONCE = 8
#: Shares that are gathered at the same time: each takes as much memory as a run of its own.
_BESIDE = 2

Gather = Callable[[Path, Manifest], tuple[MeasuredRun, JudgeSettings]]


def share_name(record: Manifest) -> str:
    """`2/3`; empty for a run that sent all of its load."""
    return f"{record.share['number']}/{record.share['of']}" if record.share else ""


def gather_engines(run: Path, merged: Manifest, gather: Gather) -> MeasuredRun:
    """All executions of a merged run, by its criteria. gather: that of one share. Raises
    ManifestError, also for a share that has changed, and what `gather` raises."""
    executions = [_Merged(RecordedExecution(run, merged, planned)) for planned in merged.executions]
    for share in _shares(run, merged, gather):
        for place, execution in enumerate(executions):
            execution.add(share, place)
    problems = (merged.problem,) if merged.problem else ()
    measured = tuple(execution.measured() for execution in executions)
    return MeasuredRun(measured, merged.interrupted, problems)


@dataclass(frozen=True)
class _Share:
    """What one engine has measured."""

    folder: Path
    record: Manifest
    ahead_s: float
    """By how much its clock was ahead of the controller's."""
    run: MeasuredRun

    def engine(self, place: int) -> EngineFacts:
        """Of its execution at this place."""
        planned = self.record.executions[place]
        try:
            started_ms = peek_test_start(self.folder / planned.jtl)
        except (JtlError, OSError):
            started_ms = None
        began_s = (planned.began or 0.0) if started_ms is None else started_ms / 1000
        cpu, cores = (self.record.environment.get(it, "unknown") for it in ("cpu", "cores"))
        name, machine = share_name(self.record), f"{cpu}, {cores} cores"
        return engine_of(name, self.run.executions[place], began_s - self.ahead_s, machine)


@dataclass
class _Merged:
    """An execution of a merged run."""

    recorded: RecordedExecution
    engines: list[EngineFacts] = field(default_factory=list)
    """Of the shares that were added so far."""
    parts: list[MeasuredExecution] = field(default_factory=list)
    """What they have measured, of some of them together."""

    def add(self, share: _Share, place: int) -> None:
        """Add a share's execution at this place, of which the counts alone are kept."""
        self.engines.append(share.engine(place))
        self.parts.append(share.run.executions[place])
        if len(self.parts) == _AT_ONCE:
            self.parts = [together(self.parts)]

    def measured(self) -> MeasuredExecution:
        """All shares as one, with what is known of workers that remote engines have asked: the
        controller has them."""
        execution, planned = together(self.parts, self.engines), self.recorded.planned
        if planned.exported is not None:
            facts = replace(execution.facts, acknowledged=planned.exported)
            execution = replace(execution, facts=facts)
        if not planned.targets:
            return execution
        targets = workers.watched(self.recorded, None, execution.criteria)
        resources = targets.resources
        if resources.cpu and self.engines:  # whose seconds count from their own starts
            zero_s = min(it.from_s for it in self.engines) - execution.window[0]
            resources = replace(resources, cpu=resources.cpu.since(zero_s - (planned.began or 0.0)))
        facts = workers.with_workers(execution.facts, targets)
        return replace(execution, facts=facts, resources=resources)


def _shares(run: Path, merged: Manifest, gather: Gather) -> Iterator[_Share]:
    """All of them, in order; some are gathered at the same time."""

    def share(engine: manifest.EngineRecord) -> _Share:
        folder, ahead_s = run / engine["folder"], engine.get("offset_ms", 0.0) / 1000
        record = _record(folder, engine["sha256"], merged)
        return _Share(folder, record, ahead_s, gather(folder, record)[0])

    with ThreadPoolExecutor(_BESIDE) as beside:
        for first in range(0, len(merged.engines), _BESIDE):
            yield from beside.map(share, merged.engines[first : first + _BESIDE])


def _record(folder: Path, sha256: str, merged: Manifest) -> Manifest:
    """The record of a share, with the criteria of the whole."""
    path = folder / NAME
    if not path.is_file() or digest(path) != sha256:
        raise ManifestError(
            f"{path} is missing, or has changed since the shares were merged: merge them again"
        )
    record = manifest.read(folder)
    executions = [
        replace(own, criteria=whole.criteria)
        for own, whole in zip(record.executions, merged.executions, strict=True)
    ]
    return replace(
        record, criteria=merged.criteria, settings=merged.settings, executions=executions
    )
