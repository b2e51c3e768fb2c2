"""Which executions of a kind run: MODE, or both modes where time allows. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

#: Together they may take so long before one of them has to do.
BOTH_MODES_S = 180.0
BOTH = "both"


class ModeError(ValueError):
    """One line: what MODE is and what it could be."""


def chosen(
    wanted: str, names: Sequence[str], all_s: float, preferred: str
) -> tuple[list[str], str]:
    """(names of the executions to run in their order, why not all of them).

    wanted: MODE: the name of an execution, `both` for all of them, or nothing, which means all
    of them where they take at most BOTH_MODES_S together, and the preferred one where they don't.
    all_s: what they take together. Raises ModeError.
    """
    if wanted in names:
        return [wanted], f"MODE={wanted}"
    if wanted and wanted != BOTH:
        known = [*names, BOTH]
        near = difflib.get_close_matches(wanted, known, 1)
        step = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
        raise ModeError(f"MODE is {wanted!r}, which no execution is called: {step}")
    if wanted == BOTH or all_s <= BOTH_MODES_S or preferred not in names:
        return list(names), ""
    return [preferred], "all modes would take too long for the default; MODE=both runs them"
