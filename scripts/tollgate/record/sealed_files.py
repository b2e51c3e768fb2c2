"""Seals of the files of a run by which it is judged, beside its samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tollgate.plan.copy import FOLDER
from tollgate.record.manifest import NAME, Manifest, ManifestError, digest, refuse_outside
from tollgate.workers import latest, worker_cpu

#: What was seen of the workers, as long as the load lasted.
WATCHED = (latest.FILE, worker_cpu.NAME)


def seal(run: Path, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of the files of a run that are there, by their names."""
    return {name: digest(run / name) for name in names if (run / name).is_file()}


def check(run: Path, seals: Mapping[str, str], so: str, names: Iterable[str] = ()) -> None:
    """Raise ManifestError where a file is not the one that the run left. so: what follows from
    that. names: of files that have to have a seal, where they are there."""
    refuse_outside(run, seals)
    for name, sha256 in seals.items():
        path = run / name
        if not path.is_file():
            raise ManifestError(f"{path} is missing, and {NAME} has its SHA-256: {so}")
        if digest(path) != sha256:
            raise ManifestError(
                f"{path} has changed since the run ended (SHA-256 in {NAME}): {so}; restore it "
                "from the archive"
            )
    for name in names:
        if name not in seals and (run / name).exists():
            raise ManifestError(f"{run / name} was not there when the run ended: remove it")


def seal_watched(run: Path) -> dict[str, str]:
    """Of what was seen of the workers."""
    return seal(run, WATCHED)


def check_watched(manifest: Manifest, run: Path) -> None:
    """Raise ManifestError where what was seen of the workers is not what the run left. Runs of
    earlier versions, and those that have not ended, have no seal of it."""
    if manifest.watched_sha256 is not None:
        so = "what happened to the workers can't be proven"
        check(run, manifest.watched_sha256, so, WATCHED)


def check_plans(manifest: Manifest, run: Path) -> None:
    """Raise ManifestError where a plan is not the one that was sent."""
    plans = manifest.environment.get("plans", {})
    seals = {f"{FOLDER}/{name}": sha256 for name, sha256 in plans.items()}
    check(run, seals, "what was to be sent can't be proven")
