"""Seals of what a run is judged by beside its samples: its plans, and what was seen of workers."""

from __future__ import annotations

from pathlib import Path

from tollgate.plan.copy import FOLDER
from tollgate.record.manifest import NAME, Manifest, ManifestError, digest
from tollgate.workers import latest, worker_cpu

#: What was seen of the workers, as long as the load lasted.
WATCHED = (latest.FILE, worker_cpu.NAME)


def seal_watched(run: Path) -> dict[str, str]:
    """The SHA-256 of what was seen of the workers, by the names of the files that are there."""
    return {name: digest(run / name) for name in WATCHED if (run / name).is_file()}


def check_watched(manifest: Manifest, run: Path) -> None:
    """Raise ManifestError where what was seen of the workers is not what the run left. Runs of
    earlier versions, and those that have not ended, have no seal of it."""
    if manifest.watched_sha256 is None:
        return
    _check(run, manifest.watched_sha256, "what happened to the workers can't be proven")
    for name in WATCHED:
        if name not in manifest.watched_sha256 and (run / name).exists():
            raise ManifestError(f"{run / name} was not there when the run ended: remove it")


def check_plans(manifest: Manifest, run: Path) -> None:
    """Raise ManifestError where a plan is not the one that was sent."""
    plans = manifest.environment.get("plans") or {}
    known = {f"{FOLDER}/{name}": sha256 for name, sha256 in plans.items()}
    _check(run, known, "what was to be sent can't be proven")


def _check(run: Path, known: dict[str, str], so: str) -> None:
    for name, sha256 in known.items():
        path = run / name
        if not path.is_file():
            raise ManifestError(f"{path} is missing, and {NAME} has its SHA-256: {so}")
        if digest(path) != sha256:
            raise ManifestError(
                f"{path} has changed since the run (SHA-256 in {NAME}): {so}; restore it from the "
                "archive"
            )
