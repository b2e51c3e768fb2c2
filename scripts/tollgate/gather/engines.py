"""A merged run: the shares of a load that its engines have sent.

Each share is gathered as it is, its seals checked, its schedule replayed from its own plan and
seed. Of its samples only the counts are kept, which merge without loss: memory does not grow with
their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tollgate.gather import workers
from tollgate.judge.engines import engine_of, together
from tollgate.judge.facts import EngineFacts, JudgeSettings, MeasuredExecution, MeasuredRun
from tollgate.record import manifest
from tollgate.record.manifest import NAME, Execution, Manifest, ManifestError, digest
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
    executions: list[list[MeasuredExecution]] = [[] for _ in merged.executions]
    ahead_s = {run / it["folder"]: it.get("offset_ms", 0.0) / 1000 for it in merged.engines}
    engines: list[list[EngineFacts]] = [[] for _ in merged.executions]
    for folder, record, found in _gathered(run, merged, gather):
        for place, execution in enumerate(found.executions):
            began_s = _began_s(folder, record, place) - ahead_s[folder]
            name, machine = share_name(record), _machine(record)
            engines[place].append(engine_of(name, execution, began_s, machine))
            executions[place].append(execution)
            if len(executions[place]) == _AT_ONCE:
                executions[place] = [together(executions[place])]
    found = zip(merged.executions, executions, engines, strict=True)
    return MeasuredRun(
        tuple(_with_workers(run, merged, it, together(of, known)) for it, of, known in found),
        merged.interrupted,
        (merged.problem,) if merged.problem else (),
    )


def _with_workers(
    run: Path, merged: Manifest, planned: Execution, found: MeasuredExecution
) -> MeasuredExecution:
    """With what is known of workers that remote engines have asked: the controller has them."""
    if planned.exported is not None:
        found = replace(found, facts=replace(found.facts, acknowledged=planned.exported))
    if not planned.targets:
        return found
    watched = workers.watched(run, merged, planned, None, found.criteria)
    resources = watched.resources
    if resources.cpu and found.engines:  # whose seconds count from their own starts
        zero_s = min(it.from_s for it in found.engines) - found.window[0]
        resources = replace(resources, cpu=resources.cpu.since(zero_s - (planned.began or 0.0)))
    facts = replace(
        found.facts,
        workers=watched.counts,
        worker_events=watched.events,
        machine_problems=(*found.facts.machine_problems, *watched.problems),
    )
    return replace(found, facts=facts, resources=resources)


def _gathered(
    run: Path, merged: Manifest, gather: Gather
) -> Iterator[tuple[Path, Manifest, MeasuredRun]]:
    """Each share's folder, record and measurements, in order; some are worked on at once."""

    def one(engine: manifest.EngineRecord) -> tuple[Path, Manifest, MeasuredRun]:
        folder = run / engine["folder"]
        record = _record(folder, engine["sha256"], merged)
        return folder, record, gather(folder, record)[0]

    with ThreadPoolExecutor(_BESIDE) as beside:
        for first in range(0, len(merged.engines), _BESIDE):
            yield from beside.map(one, merged.engines[first : first + _BESIDE])


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


def _began_s(folder: Path, record: Manifest, place: int) -> float:
    planned = record.executions[place]
    try:
        started_ms = peek_test_start(folder / planned.jtl)
    except (JtlError, OSError):
        started_ms = None
    return (planned.began or 0.0) if started_ms is None else started_ms / 1000


def _machine(record: Manifest) -> str:
    known = record.environment
    return f"{known.get('cpu', 'unknown')}, {known.get('cores', 'unknown')} cores"
