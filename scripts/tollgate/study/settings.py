"""The settings under modules.study as values. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tollgate.study.resampling import MIN_BLOCKS

DEFAULT_SEED = 21


class SettingError(ValueError):
    """One line: which setting, its value, what to write."""


@dataclass(frozen=True)
class StudySettings:
    """design: the file. seed: of the order of the blocks. short: a smoke. rounds: in place of the
    design's, None for those. experiments: those that are to run, none for all."""

    design: Path
    seed: int
    short: bool
    rounds: int | None
    experiments: tuple[str, ...]


def read_settings(settings: Mapping[str, object]) -> StudySettings:
    """Raises SettingError."""
    short = settings.get("short", False)
    if not isinstance(short, bool):
        raise SettingError(f"short is {short!r}: write true or false")
    rounds = _whole("rounds", settings["rounds"], 1) if "rounds" in settings else None
    if short and rounds is not None and rounds >= MIN_BLOCKS:
        raise SettingError(
            f"short is true and rounds is {rounds}: so many rounds answer claims, for which the "
            "short design is too short; leave one of them out"
        )
    return StudySettings(
        design=Path(str(settings.get("design"))),
        seed=_whole("seed", settings.get("seed", DEFAULT_SEED), 0),
        short=short,
        rounds=rounds,
        experiments=_names(settings.get("experiments", None)),
    )


def _whole(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise SettingError(f"{name} is {value!r}: write a whole number from {least} on")
    return value


def _names(value: object) -> tuple[str, ...]:
    """A list, or names parted by commas."""
    parts = value if isinstance(value, list) else str(value or "").split(",")
    return tuple(name for name in (str(part).strip() for part in parts) if name)
