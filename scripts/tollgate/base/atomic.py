"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write a file beside its place and move it there. Raises OSError, and leaves nothing then."""
    growing = path.with_name(f".{path.name}")
    try:
        growing.write_text(text, encoding="utf-8")
        growing.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            growing.unlink()
        raise
