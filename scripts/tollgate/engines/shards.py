"""The records of the shares of a load to that of all of it, where they are shares of the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tollgate.base.text import some_of
from tollgate.record import manifest
from tollgate.record.manifest import (
    NAME,
    EngineRecord,
    Execution,
    Manifest,
    ManifestError,
    ShareRecord,
)

#: What each JMeter is given for itself.
_OWN = ("jmeterengine.nongui.port", "jmeterengine.nongui.maxport", "user.classpath")
#: Whose values must not differ from machine to machine; a service's own are none of the engines'.
_VERSIONS = ("tollgate", "jmeter", "taurus")


@dataclass(frozen=True)
class Shard:
    """A share's folder, its record, and what that says of the share."""

    folder: Path
    record: Manifest
    share: ShareRecord

    @property
    def number(self) -> int:
        return self.share["number"]

    def __str__(self) -> str:
        return f"engine {self.number}/{self.share['of']} ({self.folder})"


def read_shards(folders: Sequence[Path]) -> list[Shard]:
    """The shares in these folders, in the order of their engines. Raises ManifestError, one line,
    where they are not the shares of one load, each exactly once, sealed and ended regularly."""
    shards = []
    for folder in folders:
        record = manifest.read(folder)
        if record.share is None:
            raise ManifestError(f"{folder} holds no share of a load: its run had no ENGINE=1/3")
        shards.append(Shard(folder, record, record.share))
    shards.sort(key=lambda shard: shard.number)
    if problem := next(_problems(shards), None):
        raise ManifestError(problem)
    return shards


def _problems(shards: Sequence[Shard]) -> Iterator[str]:
    """Why they are not the shares of one load; each line holds where those before it do not."""
    for one, other in itertools.pairwise(shards):
        if one.number == other.number:
            yield f"{one} is there twice: also in {other.folder}"
    for shard in shards:
        yield from _problems_of(shard)
    for shard in shards[1:]:
        for difference in _differences(shards[0], shard):
            yield (
                f"{shard} is no share of the load of {shards[0]}: {difference}; "
                "name the folders of one load"
            )
    engines, numbers = shards[0].share["of"], {shard.number for shard in shards}
    missing = [f"{it}/{engines}" for it in range(1, engines + 1) if it not in numbers]
    if missing:
        yield f"engine {some_of(missing, 5)} is missing: name the folders of all shares"
    owners: dict[str | None, Shard] = {}
    for shard in shards:
        for each in shard.record.executions:
            other = owners.setdefault(each.sha256, shard)
            if other is not shard:
                yield (
                    f"{shard} has the samples of {other}: sha256 of {each.name} is {each.sha256} "
                    "in both; name the folder of each share once"
                )


def _problems_of(shard: Shard) -> Iterator[str]:
    """Why a share can't be merged with whatever others."""
    if not manifest.is_sealed(shard.record):
        why = shard.record.problem or "it did not come to its end"
        yield f"{shard} is not sealed: {why}; run all shares again"
    for each in shard.record.executions:
        for name in ("exit_code", "began", "ended"):
            if getattr(each, name) is None:
                yield (
                    f"{shard} has no regular end: {name} of {each.name} is null in {NAME}; "
                    "run all shares again"
                )
        if each.targets:
            yield (
                f"{shard} asked apps that PM2 had started on its own machine, so that the engines "
                "had no service in common: give the scenario the `url` of one"
            )


def _differences(one: Shard, other: Shard) -> Iterator[str]:
    """What differs between two records that should be of one load."""
    here, there = _alike(one), _alike(other)
    for name in here | there:
        mine, its = here.get(name), there.get(name)
        if mine != its:
            yield f"{name} is {its!r:.80} there and {mine!r:.80} here"


def _alike(shard: Shard) -> dict[str, Any]:
    """What must be the same of all shares, by what it is called."""
    record, share, environment = shard.record, shard.share, shard.record.environment
    versions = environment.get("versions", {})
    alike = {
        "the number of engines": share["of"],
        "the number of executions": len(record.executions),
        "the kind": record.kind,
        "the commit": environment.get("commit"),
        **{f"the version of {name}": versions.get(name) for name in _VERSIONS},
        "START_AT": share["start_at"],
        "how rows are shared (modules.load.rows)": share["rows"],
        "the plan files by SHA-256": environment.get("plans"),
        "the data files by SHA-256": share["data"],
        "the criteria": record.criteria,
        "the settings of modules.verdict": record.settings,
        "the executions": [each.name for each in record.executions],
    }
    for each in record.executions:
        of_execution = {
            "the criteria": each.criteria,
            "the service": each.url,
            "the plan": each.plan,
            **{name: getattr(each, name) for name in ("warmup", "measured", "interim")},
            # Each engine has steps of its own.
            "the forecast": each.forecast and vars(replace(each.forecast, steps=())),
            **{f"the property {name}": value for name, value in _whole(each).items()},
        }
        alike |= {f"{name} of {each.name}": value for name, value in of_execution.items()}
    return alike


def _whole(execution: Execution) -> dict[str, str]:
    """The properties of the whole load, but for those that each JMeter has of its own."""
    properties = sorted(execution.whole_properties.items())
    return {name: value for name, value in properties if name not in _OWN}


def merged(shards: Sequence[Shard], run: Path) -> Manifest:
    """The record of all of them, whose folders stand in `run`, each called as `folders` says."""
    records = [shard.record for shard in shards]
    first, names = records[0], folders(len(shards))
    # Whoever reads the record makes the run again by them: not at a moment that is over.
    variables = {**first.environment.get("variables", {}), "ENGINE": f"k/{len(shards)}"}
    variables.pop("START_AT", None)
    return replace(
        first,
        started=min(each.started for each in records),
        environment={**first.environment, "variables": variables},
        executions=[
            _execution(names[0], [record.executions[place] for record in records])
            for place in range(len(first.executions))
        ],
        watching=None,
        share=None,
        engines=[
            EngineRecord(folder=name, sha256=manifest.digest(run / name / NAME)) for name in names
        ],
    )


def _execution(folder: str, parts: Sequence[Execution]) -> Execution:
    first = parts[0]
    return Execution(
        name=first.name,
        plan=f"{folder}/{first.plan}",
        jtl="",
        properties=_whole(first),
        criteria=first.criteria,
        warmup=first.warmup,
        measured=first.measured,
        url=first.url,
        notes=first.notes,
        lint=first.lint,
        exit_code=next((each.exit_code for each in parts if each.exit_code), 0),
        began=min(each.began for each in parts if each.began is not None),
        ended=max(each.ended for each in parts if each.ended is not None),
    )


def folders(engines: int) -> list[str]:
    """What those of so many engines are called."""
    return [f"engine-{number:0{len(str(engines))}}" for number in range(1, engines + 1)]
