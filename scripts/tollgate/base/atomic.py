"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO


@contextlib.contextmanager
def replacing(
    path: Path, encoding: str, newline: str | None = None, errors: str | None = None
) -> Iterator[TextIO]:
    """A file beside a path's place, open for writing as by `open`, that is moved there at the end.
    Raises OSError; where anything is raised, nothing is left but what was there before."""
    growing = path.with_name(f".{path.name}.new")
    try:
        with growing.open("w", encoding=encoding, errors=errors, newline=newline) as file:
            yield file
        growing.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            growing.unlink()
        raise


def write(path: Path, text: str) -> None:
    """Write a file as a whole. Raises OSError, and leaves nothing then."""
    with replacing(path, encoding="utf-8") as file:
        file.write(text)
