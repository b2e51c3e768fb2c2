"""Numbers, intervals and durations as a person reads them."""

from __future__ import annotations

import math


def figure(value: float, against: float | None = None) -> str:
    """A number in three or so digits, never rounded onto the limit it is compared with."""
    if not math.isfinite(value):
        return "inf" if value > 0 else "none"
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    while digits < 9:
        text = f"{value:.{digits}f}"
        if against is None or value == against or float(text) != against:
            break
        digits += 1
    return text.rstrip("0").rstrip(".") if "." in text else text


def spanned(low: float, high: float, against: float | None = None) -> str:
    """`219-244`, or `-3 to 2` where a minus could be read as a dash."""
    ends = [figure(end, against) for end in (low, high)]
    return (" to " if low < 0 else "-").join(ends)


def duration(seconds: float) -> tuple[float, str]:
    """(length in seconds, name) of the unit that a person would tell such a time in."""
    for length, name, upto in ((1.0, "s", 120.0), (60.0, "min", 7200.0), (3600.0, "h", 172800.0)):
        if seconds < upto:
            return length, name
    return 86400.0, "days"


def short(value: float) -> str:
    """A number of which no more than two digits matter."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def lasting(seconds: float) -> str:
    """A time as a person would say it: `34 s`, `12.5 min`, `24 h`."""
    unit_s, unit = duration(seconds)
    return f"{figure(seconds / unit_s)} {unit}"


def one_line(text: str) -> str:
    """The text on one line. What no terminal shows (control characters, so that a label can't
    move the cursor; halves of surrogate pairs, which no file takes) becomes a question mark."""
    text = " ".join(text.split())
    return "".join(each if each.isprintable() else "?" for each in text)
