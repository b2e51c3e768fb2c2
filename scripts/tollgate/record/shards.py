"""The records of the shares of a load to that of all of it, where they are shares of the same."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tollgate.record.manifest import (
    NAME,
    Engine,
    Execution,
    Manifest,
    ManifestError,
    digest,
    is_sealed,
    read,
)

#: What each JMeter is given for itself.
_OWN = ("jmeterengine.nongui.port", "jmeterengine.nongui.maxport", "user.classpath")
#: Whose values must not differ from machine to machine; a service's own are none of the engines'.
_VERSIONS = ("tollgate", "jmeter", "taurus")


@dataclass(frozen=True)
class Shard:
    """A share's folder and its record."""

    folder: Path
    record: Manifest

    @property
    def number(self) -> int:
        return self.record.share["number"]

    def __str__(self) -> str:
        share = self.record.share
        return f"engine {share['number']}/{share['of']} ({self.folder})"


def read_shards(folders: Sequence[Path]) -> list[Shard]:
    """The shares in these folders, in the order of their engines. Raises ManifestError, one line,
    where they are not the shares of one load, each exactly once, sealed and ended regularly."""
    shards = []
    for folder in folders:
        record = read(folder)
        if record.share is None:
            raise ManifestError(
                f"{folder} holds no share of a load: its run had no ENGINE, such as 1/3"
            )
        shards.append(Shard(folder, record))
    shards.sort(key=lambda it: it.number)
    for one, other in itertools.pairwise(shards):
        if one.number == other.number:
            raise ManifestError(f"{one} is there twice: also in {other.folder}")
    for shard in shards:
        if not is_sealed(shard.record):
            why = shard.record.problem or "it did not come to its end"
            raise ManifestError(f"{shard} is not sealed: {why}; run all shares again")
        _refuse_unended(shard)
        if any(each.targets for each in shard.record.executions):
            raise ManifestError(
                f"{shard} asked apps that PM2 had started on its own machine, so that the engines "
                "had no service in common: give the scenario the `url` of one"
            )
    for shard in shards[1:]:
        if difference := _difference(shards[0].record, shard.record):
            raise ManifestError(
                f"{shard} is no share of the load of {shards[0]}: {difference}; "
                "name the folders of one load"
            )
    _refuse_missing(shards)
    _refuse_same_samples(shards)
    return shards


def _refuse_unended(shard: Shard) -> None:
    for each in shard.record.executions:
        for name in ("exit_code", "began", "ended"):
            if getattr(each, name) is None:
                raise ManifestError(
                    f"{shard} has no regular end: {name} of {each.name} is null in {NAME}; "
                    "run all shares again"
                )


def _refuse_same_samples(shards: Sequence[Shard]) -> None:
    known: dict[str | None, Shard] = {}
    for shard in shards:
        for each in shard.record.executions:
            other = known.setdefault(each.sha256, shard)
            if other is not shard:
                raise ManifestError(
                    f"{shard} has the samples of {other}: sha256 of {each.name} is {each.sha256} "
                    "in both; name the folder of each share once"
                )


def _refuse_missing(shards: Sequence[Shard]) -> None:
    of = shards[0].record.share["of"]
    missing = [it for it in range(1, of + 1) if it not in {shard.number for shard in shards}]
    if missing:
        names = ", ".join(f"{number}/{of}" for number in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise ManifestError(f"engine {names}{more} is missing: name the folders of all shares")


def _difference(one: Manifest, other: Manifest) -> str:
    """What differs between two records that should be of one load; empty for nothing."""
    for (name, value), (_, its) in zip(_alike(one), _alike(other), strict=False):
        if value != its:
            return f"{name} is {_shown(its)} there and {_shown(value)} here"
    return ""


def _alike(record: Manifest) -> Iterator[tuple[str, Any]]:
    """What must be the same of all shares, by what it is called."""
    share, known = record.share, record.environment
    yield "the number of engines", share["of"]
    yield "the number of executions", len(record.executions)
    yield "the kind", record.kind
    yield "the commit", known.get("commit")
    for name in _VERSIONS:
        yield f"the version of {name}", known.get("versions", {}).get(name)
    yield "START_AT", share["start_at"]
    yield "how rows are shared (modules.load.rows)", share["rows"]
    yield "the plan files by SHA-256", known.get("plans")
    yield "the data files by SHA-256", share["data"]
    yield "the criteria", record.criteria
    yield "the settings of modules.verdict", record.settings
    for each in record.executions:
        yield "the execution", each.name
        yield f"the criteria of {each.name}", each.criteria
        yield f"the service of {each.name}", each.url
        yield f"the plan of {each.name}", each.plan
        for name in ("warmup", "measured", "interim"):
            yield f"{name} of {each.name}", getattr(each, name)
        # Each engine has steps of its own.
        forecast = {**(each.forecast or {}), "steps": None}
        yield f"the forecast of {each.name}", forecast
        for name, value in _whole(each).items():
            yield f"the property {name} of {each.name}", value
        yield f"the properties of {each.name}", sorted(_whole(each))


def _whole(execution: Execution) -> dict[str, str]:
    """The properties of the whole load, but for those that each JMeter has of its own."""
    found = sorted(execution.whole_properties.items())
    return {name: value for name, value in found if name not in _OWN}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def merged(shards: Sequence[Shard], run: Path) -> Manifest:
    """The record of all of them, whose folders stand in `run` as `place` leaves them."""
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
        engines=[Engine(folder=folder, sha256=digest(run / folder / NAME)) for folder in names],
    )


def _execution(folder: str, parts: Sequence[Execution]) -> Execution:
    first = parts[0]
    began = [each.began for each in parts if each.began is not None]
    ended = [each.ended for each in parts if each.ended is not None]
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
        began=min(began, default=None),
        ended=max(ended, default=None),
    )


def folders(of: int) -> list[str]:
    """What those of so many engines are called."""
    return [f"engine-{number:0{len(str(of))}}" for number in range(1, of + 1)]


def place(shards: Sequence[Shard], run: Path) -> None:
    """Put the shares' folders into that of the merged run: as further names of the same files
    where that can be, or else as copies. What is made of samples is left out: it is made anew."""
    for shard, name in zip(shards, folders(len(shards)), strict=True):
        shutil.copytree(
            shard.folder,
            run / name,
            ignore=shutil.ignore_patterns(".*", "dashboard"),
            copy_function=_linked,
        )


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
