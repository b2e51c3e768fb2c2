"""Names of unknown origin as a page shows them. Pure."""

from __future__ import annotations

from tollgate.base.text import one_line
from tollgate.report.table import shorten

_NAME_WIDTH, _FULL_WIDTH = 40, 500


def readable(name: str) -> str:
    """A name of unknown origin on one line of bounded length."""
    return shorten(one_line(name), _NAME_WIDTH) or "(no name)"


def full(name: str) -> str:
    """All of a name, up to a bound, where `readable` shows a part of it, and empty elsewhere: two
    that differ in the middle alone look alike."""
    line = one_line(name)
    return shorten(line, _FULL_WIDTH) if len(line) > _NAME_WIDTH else ""
