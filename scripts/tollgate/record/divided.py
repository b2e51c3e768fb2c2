"""The record of a run whose load remote engines have sent, to one of each engine and one of all, as
`tollgate merge` makes of shares: each engine's schedule is replayed, and its samples are proven, by
themselves."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tollgate.record.manifest import (
    NAME,
    Engine,
    Execution,
    Manifest,
    ShareRecord,
    digest,
    seal,
    write,
)
from tollgate.record.shards import folders

#: The folder of the plans of a run.
_PLAN = "plan"


@dataclass(frozen=True)
class EnginePart:
    """What an engine was to send of an execution: properties of its own, those of the whole in
    their place, and the forecast."""

    own: dict[str, str] = field(default_factory=dict)
    undivided: dict[str, str | None] = field(default_factory=dict)
    forecast: dict[str, Any] | None = None


@dataclass(frozen=True)
class RemoteEngine:
    """An engine. host: as JMeter calls it. rows: copy or split, empty where it ran the whole plan.
    environment: what of its host is another than the controller's. parts: by execution; offset_ms,
    uncertainty_ms: of its clock against the controller's, ahead above 0."""

    number: int
    of: int
    host: str
    rows: str
    environment: dict[str, Any]
    parts: dict[str, EnginePart]
    offset_ms: float
    uncertainty_ms: float

    def by_its_clock(self, moment: float | None) -> float | None:
        return None if moment is None else moment + self.offset_ms / 1000


def divide(
    manifest: Manifest,
    run: Path,
    remotes: Sequence[RemoteEngine],
    split: Callable[[Path, Mapping[str, Path]], int],
) -> Manifest:
    """Write each engine's folder, sealed, and return the record of the whole run. split: writes
    each host's samples of a JTL to a file of its own, and says how many are of nobody. Raises
    OSError, and what `split` raises."""
    names = folders(len(remotes))
    foreign = 0
    for folder in names:
        (run / folder).mkdir()
        shutil.copytree(run / _PLAN, run / folder / _PLAN)
    for planned in manifest.executions:
        if planned.jtl and (run / planned.jtl).is_file() and (run / planned.jtl).stat().st_size:
            pairs = zip(remotes, names, strict=True)
            targets = {each.host: run / folder / planned.jtl for each, folder in pairs}
            foreign += split(run / planned.jtl, targets)
    for remote, folder in zip(remotes, names, strict=True):
        write(_record(manifest, run / folder, remote), run / folder)
    whole = replace(
        manifest,
        executions=[replace(it, jtl="", bytes=None, sha256=None) for it in manifest.executions],
        engines=[
            Engine(
                folder=folder,
                sha256=digest(run / folder / NAME),
                host=remote.host,
                offset_ms=round(remote.offset_ms, 1),
                uncertainty_ms=round(remote.uncertainty_ms, 1),
            )
            for remote, folder in zip(remotes, names, strict=True)
        ],
    )
    if foreign and not whole.problem:
        whole.problem = f"{foreign} samples are of no engine that the run had"
    return whole


def _record(manifest: Manifest, folder: Path, remote: RemoteEngine) -> Manifest:
    """The engine's own: all moments are of its clock, as its samples are."""
    executions = [
        _execution(it, remote.parts.get(it.name, EnginePart()), remote)
        for it in manifest.executions
    ]
    for each in executions:
        seal(each, folder)
    return replace(
        manifest,
        executions=executions,
        environment={**manifest.environment, **remote.environment},
        interrupted_at=remote.by_its_clock(manifest.interrupted_at),
        stopped_at=remote.by_its_clock(manifest.stopped_at),
        reloads=[],
        watching=None,
        share=ShareRecord(
            number=remote.number,
            of=remote.of,
            rows=remote.rows,
            data={},
            start_at=None,
            host=remote.host,
        ),
    )


def _execution(planned: Execution, part: EnginePart, remote: RemoteEngine) -> Execution:
    return replace(
        planned,
        properties={**planned.properties, **part.own},
        undivided_properties=part.undivided,
        forecast=part.forecast or planned.forecast,
        targets=[],
        began=remote.by_its_clock(planned.began),
        ended=remote.by_its_clock(planned.ended),
        stop_requested_at=remote.by_its_clock(planned.stop_requested_at),
        clock_steps=[],
        background_cpu=None,
        bytes=None,
        sha256=None,
    )
