"""Writes several files of the project, all of them or none."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from tollgate.commands.new_target.model import NewTargetError


def write(root: Path, new: Mapping[str, str], changed: Mapping[str, str]) -> None:
    """Write new files, and others anew. Raises NewTargetError and leaves everything as it was
    where one of the new files is there already, or one can't be written."""
    there = [path for path in new if (root / path).exists()]
    if there:
        raise NewTargetError(f"{there[0]} is there already: choose another name, or remove it")
    before = {path: (root / path).read_bytes() for path in changed}
    texts = {**new, **changed}
    try:
        for path, text in texts.items():  # a full disk shows here, before anything has changed
            _growing(root / path).write_text(text, encoding="utf-8")
        for path in texts:
            _growing(root / path).replace(root / path)
    except BaseException as error:
        _undo(root, new, before)
        if isinstance(error, OSError):
            reason = f"{error.filename or root}: {error.strerror}"
            raise NewTargetError(f"nothing was made: {reason}") from None
        raise


def _growing(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def _undo(root: Path, new: Mapping[str, str], before: Mapping[str, bytes]) -> None:
    for path in [*new, *before]:
        with contextlib.suppress(OSError):
            _growing(root / path).unlink(missing_ok=True)
    for path in new:
        with contextlib.suppress(OSError):
            (root / path).unlink(missing_ok=True)
    for path, content in before.items():
        with contextlib.suppress(OSError):
            if (root / path).read_bytes() != content:
                (root / path).write_bytes(content)
