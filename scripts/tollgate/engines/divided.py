"""The record of a run whose load remote engines have sent, to one of each engine and one of all, as
`tollgate merge` makes of shares: each engine's schedule is replayed, and its samples are proven, by
themselves."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tollgate.engines.part import EnginePart
from tollgate.engines.probe import Answer
from tollgate.engines.shards import folders
from tollgate.record.manifest import NAME, EngineRecord, Manifest, ShareRecord, digest, seal, write
from tollgate.samples.split import split

#: The folder of the plans of a run.
_PLAN = "plan"


@dataclass(frozen=True)
class RemoteEngine:
    """An engine."""

    share: ShareRecord
    """Its record, with its host as JMeter calls it."""
    answer: Answer
    """What it said of itself, and its clock against the controller's."""
    parts: dict[str, EnginePart]
    """By execution."""

    def record(self, manifest: Manifest, folder: Path) -> Manifest:
        """The engine's own: all moments are of its clock, as its samples are."""
        executions, facts = [], self.answer.facts
        for planned in manifest.executions:
            part = self.parts.get(planned.name, EnginePart())
            execution = replace(
                planned,
                properties={**planned.properties, **part.own},
                undivided_properties=part.undivided,
                forecast=part.forecast or planned.forecast,
                targets=[],
                clock_steps=[],
                background_cpu=None,
                exported=None,  # the controller has exported the samples of all
                bytes=None,
                sha256=None,
                began=self._by_its_clock(planned.began),
                ended=self._by_its_clock(planned.ended),
                stop_requested_at=self._by_its_clock(planned.stop_requested_at),
                load_ended_at=self._by_its_clock(planned.load_ended_at),
            )
            seal(execution, folder)
            executions.append(execution)
        return replace(
            manifest,
            executions=executions,
            environment={**manifest.environment, "cpu": facts.cpu, "cores": facts.cores},
            reloads=[],
            watching=None,
            watched_sha256={},  # the controller has watched them
            share=self.share,
            interrupted_at=self._by_its_clock(manifest.interrupted_at),
            stopped_at=self._by_its_clock(manifest.stopped_at),
        )

    def _by_its_clock(self, moment: float | None) -> float | None:
        return None if moment is None else moment + self.answer.offset_ms / 1000


def divide(manifest: Manifest, run: Path, remotes: Sequence[RemoteEngine]) -> Manifest:
    """Write each engine's folder, sealed, and return the record of the whole run. Raises OSError
    and JtlError."""
    own = dict(zip(folders(len(remotes)), remotes, strict=True))
    foreign = 0
    for folder in own:
        (run / folder).mkdir()
        shutil.copytree(run / _PLAN, run / folder / _PLAN)
    for planned in manifest.executions:
        jtl = run / planned.jtl
        if planned.jtl and jtl.is_file() and jtl.stat().st_size:
            jtls = {it.answer.host: run / name / planned.jtl for name, it in own.items()}
            foreign += split(jtl, jtls)
    for folder, remote in own.items():
        write(remote.record(manifest, run / folder), run / folder)
    whole = replace(
        manifest,
        executions=[replace(it, jtl="", bytes=None, sha256=None) for it in manifest.executions],
        engines=[
            EngineRecord(
                folder=folder,
                sha256=digest(run / folder / NAME),
                host=remote.answer.host,
                offset_ms=round(remote.answer.offset_ms, 1),
                uncertainty_ms=round(remote.answer.uncertainty_ms, 1),
            )
            for folder, remote in own.items()
        ],
    )
    if foreign and not whole.problem:
        whole.problem = f"{foreign} samples are of no engine that the run had"
    return whole
