"""What one field of a forecast means, or why it means nothing. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from tollgate.base.csv_file import FieldError

MINUTES_OF_DAY = 24 * 60
#: How far the shares of a row may be from 100 %, for percentages that were rounded.
SHARES_TOLERANCE = 0.1

#: Of a day of so many a second, every sum is a number.
_LARGEST = 1e9
_NUMBER = re.compile(r"\+?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_TIME = re.compile(r"(\d{1,2})(?::([0-5]\d)(?::00)?)?", re.ASCII)


def number(text: str) -> float:
    """A number that is not negative, with a decimal point. Raises FieldError."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if _LARGEST < value < math.inf:
        raise FieldError(f"is too large: write {_LARGEST:.0f} at most")
    if not 0 <= value < math.inf:
        raise FieldError("is invalid: write a number of 0 or more with a decimal point, as 7.5")
    return value


def shares_problem(shares: Sequence[float]) -> str | None:
    """What is wrong with a row's shares, which must add up to 100; None if nothing is."""
    total = math.fsum(shares)
    if abs(total - 100) <= SHARES_TOLERANCE:
        return None
    if abs(total - 1) <= SHARES_TOLERANCE / 100:
        return "adds up to 1: shares are in percent, so write 32 where it says 0.32"
    return f"adds up to {total:.6g} %, not 100 %: correct the shares of this row"


def minute_of_day(text: str) -> int:
    """The minute at which a step begins that is called `7`, `07:30` or `07:30:00`.

    Raises FieldError.
    """
    found = _TIME.fullmatch(text)
    if not found:
        raise FieldError("is no time of day: write hours (0 to 23) or HH:MM")
    minute = int(found[1]) * 60 + int(found[2] or 0)
    if minute >= MINUTES_OF_DAY:
        raise FieldError("is later than the day's last minute: write 0 to 23 or 00:00 to 23:59")
    return minute


def step_name(text: str) -> str:
    """Any name. Raises FieldError for none."""
    if not text:
        raise FieldError("is empty: name the step")
    return text


def is_time(text: str) -> bool:
    """Whether the text can only be meant as a time of day: `07:30`."""
    return ":" in text and _TIME.fullmatch(text) is not None


def clock(minute: int) -> str:
    """A minute of the day as HH:MM."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def spacing_problem(minutes: Sequence[int]) -> tuple[int, str] | None:
    """(row from 0, problem) if the times aren't evenly spaced through one day; else None.

    A day may begin at any hour. Whoever forgot a row has even gaps but one, so the usual gap
    shows which row is the wrong one.
    """
    if len(minutes) < 2:
        return None
    gaps = [(after - before) % MINUTES_OF_DAY for before, after in pairwise(minutes)]
    usual = Counter(gaps).most_common(1)[0][0]
    for row, gap in enumerate(gaps, start=1):
        if gap == 0:
            return row, "repeats the time of the row above: every step begins at its own time"
        if gap != usual:
            return row, (
                f"begins {_span(gap)} after the row above, where {_span(usual)} are usual: "
                "steps must be equal and in order"
            )
    if usual * len(minutes) != MINUTES_OF_DAY:
        return len(minutes) - 1, (
            f"is the last of {len(minutes)} rows, and {len(minutes)} times {_span(usual)} is not "
            "a day: rows must cover 24 h"
        )
    return None


def _span(minutes: int) -> str:
    """`1 h`, `30 min`."""
    return f"{minutes / 60:g} h" if minutes % 60 == 0 else f"{minutes:g} min"


def order_problem(names: Sequence[str]) -> tuple[int, str] | None:
    """(row from 0, problem) if a name comes twice, or whole numbers don't count up; else None."""
    counted = all(re.fullmatch(r"\d+", name, re.ASCII) for name in names)
    for row, name in enumerate(names):
        if name in names[:row]:
            return row, "names a step for the second time: give each a name of its own"
        if counted and row and int(name) != int(names[row - 1]) + 1:
            return row, f"comes after {names[row - 1]}: number the steps one by one"
    return None
