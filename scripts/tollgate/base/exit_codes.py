"""What each exit code means; README, docs and CI templates repeat this table."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Of every command that judges a run: bzt, tollgate run, judge and merge."""

    PASS = 0
    """No criterion is violated, and the samples suffice to say so."""
    ERROR = 1
    """The command could not do its work; there is no verdict."""
    INTERRUPTED = 2
    """The run was ended before it was measured."""
    FAIL = 3
    """A criterion is violated beyond doubt."""
    INVALID = 4
    """The measurement is broken."""
    INCONCLUSIVE = 5
    """The data cannot tell."""
