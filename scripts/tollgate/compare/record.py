"""compare.json: what a comparison set out to compare and to prove, for whoever judges it.

Written when the run begins, and again when the run ends itself; sealed by its SHA-256 in run.json.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tollgate.base import records
from tollgate.compare.model import GateSettings
from tollgate.compare.pace import Pace
from tollgate.record.manifest import Manifest, ManifestError, digest

NAME = "compare.json"
#: Raised when a record's meaning changes; what can't be read as today's is refused.
VERSION = 3
#: What earlier versions promised without saying so: of 1 nothing of the typical request, and to
#: measure on; of both nothing of stalls.
_PROMISED_BY_2 = {"stall_effect": GateSettings.stall_effect}
_PROMISED_BY = {
    1: {"typical_effect": GateSettings.typical_effect, "fail_fast": False} | _PROMISED_BY_2,
    2: _PROMISED_BY_2,
    VERSION: {},
}


@dataclass(frozen=True)
class SideRecord:
    """One of the two. name: `base` or `head`. told: which code it is, for people. revision: the
    full SHA of the commit, None for a URL and for a working tree with changes, which is no commit.
    url: None where PM2 runs it."""

    __pydantic_config__ = records.STRICT

    name: str
    told: str
    revision: str | None
    url: str | None


@dataclass(frozen=True)
class CompareRecord:
    """execution: its name. mode: `fork`, `cluster`, or `url`. first_s, every_s: when the samples
    are looked at, in seconds of measuring. injected: by what of HEAD_INJECT_* head alone was
    slowed, those that are not 0, such as {"work_percent": 20.0}. decided_s: after how many seconds
    of measuring the run ended itself, None where it did not; the seconds behind don't count.
    processes: of each side that were asked by themselves. pace: how fast arrivals came, None where
    nothing looked after that. foreign: which share of the cores others took in each second of
    measuring, None where that is not known; empty where nobody looked.
    """

    __pydantic_config__ = records.STRICT

    base: SideRecord
    head: SideRecord
    execution: str
    mode: str
    settings: GateSettings
    first_s: float
    every_s: float
    injected: dict[str, float]
    decided_s: float | None = None
    processes: int = 1
    pace: Pace | None = None
    foreign: tuple[float | None, ...] = ()


def write(record: CompareRecord, run: Path) -> None:
    """Write compare.json into the run's folder, whole or not at all."""
    records.write(run / NAME, record, version=VERSION)


def sealed(run: Path) -> str | None:
    """The SHA-256 of compare.json as the run left it, None where nothing was compared."""
    return digest(run / NAME) if is_compare(run) else None


def check_seal(manifest: Manifest, run: Path) -> None:
    """Raise ManifestError when compare.json is not the one that the run left."""
    has_ended = any(it.sha256 for it in manifest.executions)
    if manifest.compare_sha256 == sealed(run) or not (manifest.compare_sha256 or has_ended):
        return
    what = "has changed since the run ended" if is_compare(run) else "is missing"
    raise ManifestError(
        f"{run / NAME} {what}: what was promised, and when it was decided, can't be proven"
    )


def is_compare(run: Path) -> bool:
    """Whether a run's folder is that of a comparison."""
    return (run / NAME).exists()


def read(run: Path) -> CompareRecord:
    """The compare.json of a run's folder. Raises ManifestError, one line."""
    again = "run the comparison again"
    return records.read(run / NAME, CompareRecord, ManifestError, "comparison", again, _prepare)


def _prepare(raw: dict[str, Any]) -> None:
    """Refuses an unknown version, and a promise of which a part would be a default of today."""
    version = raw.pop("version", None)
    if version not in tuple(_PROMISED_BY):
        raise ValueError(f"it has version {version}, and this Tollgate reads 1 to {VERSION}")
    promised = raw.get("settings")
    if isinstance(promised, dict):
        promised.update(_PROMISED_BY[version])
    for each in fields(GateSettings):
        if isinstance(promised, dict) and each.name not in promised:
            raise ValueError(f"settings.{each.name}: it is missing")
