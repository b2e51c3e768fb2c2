"""The threshold and the window of a criterion, each read strictly.

Every reader raises ValueError(field, value, problem, next step).
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping

from tollgate.criteria.subjects import LATENCY_SLOPE, MEMORY_SLOPE, MIB, RATE, SLOPE, Subject

# By unit: how much of the unit in results it is.
SIZES_MB = {
    **{"b": 1 / MIB, "kb": 1 / 1024, "kib": 1 / 1024, "mb": 1.0, "mib": 1.0},
    **{"gb": 1024.0, "gib": 1024.0},
}
TIMES_MS = {"ms": 1.0, "s": 1e3}
PER_MIN = {"s": 60.0, "min": 1.0, "h": 1 / 60}
NUMBER = r"(\d+(?:\.\d+)?)"
TIME_UNITS_MS = {"ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3, "d": 86400e3}
BYTE_UNITS = {
    **{"": 1, "b": 1, "k": 1024, "kb": 1024, "kib": 1024},
    **{"m": 1024**2, "mb": 1024**2, "mib": 1024**2},
}


def read_threshold(subject: Subject, condition: str, value: object) -> tuple[float, bool]:
    """(threshold in the subject's unit, whether it is in percent)."""
    text = "" if value is None else str(value).strip()
    if not text:
        raise ValueError("threshold", "", "missing", "write it behind the condition")
    if text.endswith("%") and subject.name != "cpu":
        return _percent(subject, condition, text), True
    if subject.unit == "ms":
        return _time(subject, condition, text), False
    if subject.unit not in RESOURCE_READERS:
        return _count(subject, condition, text), False
    return _of_resource(subject, condition, text), False


def _of_resource(subject: Subject, condition: str, text: str) -> float:
    limit = RESOURCE_READERS[subject.unit](text)
    _refuse_equal(subject, condition)
    if not subject.name.endswith(SLOPE):  # which may well lie below 0
        _refuse_settled(text, condition, limit)
    return limit


def _read(pattern: str, text: str, kind: str, step: str, *units: Mapping[str, float]) -> float:
    """A number times the factor of each unit behind it. Raises ValueError."""
    amount = re.fullmatch(NUMBER + pattern, text.lower())
    named = list(zip(amount.groups()[1:], units, strict=True)) if amount else []
    if not amount or any(unit not in factors for unit, factors in named):
        raise ValueError("threshold", text, f"not a {kind}", step)
    return math.prod((float(amount[1]), *(factors[unit] for unit, factors in named)))


def _read_rate(unit: str, text: str) -> float:
    """`1MB/min` or `0.5ms/s` in the unit, MB/min or ms/min."""
    amounts = SIZES_MB if unit == MEMORY_SLOPE else TIMES_MS
    units = "B, KB, MB or GB" if amounts is SIZES_MB else "ms or s"
    step = f"write it in {units} per s, min or h, as in 1{unit}"
    return _read(r"([a-z]+)/([a-z]+)", text, "slope", step, amounts, PER_MIN)


def _read_size(text: str) -> float:
    """`400MB` in MB."""
    return _read("([a-z]+)", text, "size", "write it in KB, MB or GB, as in 400MB", SIZES_MB)


def _read_share(text: str) -> float:
    """`90%` as 90; a process may take more than one core."""
    return _read(r"\s*%", text, "share of a core", "write it as 90%")


def _read_arrivals(text: str) -> float:
    """`120/s` or `2/min` as arrivals a second."""
    step = "write it per s, min or h, as in 120/s"
    return _read("/([a-z]+)", text, "rate", step, PER_MIN) / 60


# The thresholds that Taurus doesn't know, by the unit of results.
RESOURCE_READERS: dict[str, Callable[[str], float]] = {
    **{unit: functools.partial(_read_rate, unit) for unit in (MEMORY_SLOPE, LATENCY_SLOPE)},
    **{"MB": _read_size, "%": _read_share, RATE: _read_arrivals},
    "min": lambda text: _duration_ms("threshold", text) / TIME_UNITS_MS["m"],
}


def _percent(subject: Subject, condition: str, text: str) -> float:
    if not subject.takes_percent:
        problem = f"{subject.name} is measured in {subject.unit}, not in percent"
        raise ValueError("threshold", text, problem, f"write a threshold in {subject.unit}")
    if not re.fullmatch(r"\d+(\.\d+)?\s*%", text):
        raise ValueError("threshold", text, "not a percentage", "write it as 1% or 0.5%")
    percent = float(text.rstrip("% "))
    _refuse_settled(text, condition, percent, top=100.0)
    return percent


def _time(subject: Subject, condition: str, text: str) -> float:
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        problem = f"no unit, and Taurus would take it for {text} seconds"
        raise ValueError("threshold", text, problem, f"write {text}ms or {text}s")
    millis = _duration_ms("threshold", text)
    _refuse_settled(text, condition, millis)
    _refuse_equal(subject, condition)
    return millis


def _refuse_equal(subject: Subject, condition: str) -> None:
    if condition == "=":
        problem = f"{subject.name} is never exactly equal to a threshold"
        raise ValueError("condition", "=", problem, "write >, >=, < or <=")


def _count(subject: Subject, condition: str, text: str) -> float:
    units = BYTE_UNITS if subject.unit == "bytes" else {"": 1}
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([a-z]*)", text.lower())
    if not found or found[2] not in units:
        what = "a number of bytes" if subject.unit == "bytes" else f"a number of {subject.unit}"
        what = what.replace(" of count", "")
        step = "write 1 for one, or 1% for a share" if subject.takes_percent else f"write {what}"
        raise ValueError("threshold", text, f"not {what}", step)
    count = float(found[1]) * units[found[2]]
    if count != int(count):
        raise ValueError("threshold", text, "not a whole number", "write 1 for one")
    _refuse_settled(text, condition, count)
    return count


_NEVER, _ALWAYS = "it can never apply, so it gates nothing", "it applies to every run"
#: By condition, what a limit means that is at most 0, that is the highest value, that is beyond it.
_SETTLED = {
    "<": (_NEVER, None, _ALWAYS),
    "<=": (None, _ALWAYS, _ALWAYS),
    ">": (None, _NEVER, _NEVER),
    ">=": (_ALWAYS, None, _NEVER),
    "=": (None, None, _NEVER),
}


def _refuse_settled(text: str, condition: str, limit: float, top: float = math.inf) -> None:
    """Refuses a threshold that values from 0 to `top` can only be on one side of."""
    places = (limit <= 0, limit == top, limit > top)
    for applies, problem in zip(places, _SETTLED[condition], strict=True):
        if applies and problem:
            raise ValueError("threshold", text, problem, "change it")


def read_window(value: object, logic: object) -> int | None:
    """The window in whole seconds; None if the criterion is on the whole run."""
    if logic not in ("for", "within", "over"):
        raise ValueError("logic", logic, "unknown", "known are for, within and over")
    if value is None:
        if logic != "for":
            raise ValueError("timeframe", "", f"'{logic}' needs a window", f"write '{logic} 10s'")
        return None
    text = str(value).strip()
    seconds = float(text) if re.fullmatch(r"\d+", text) else _duration_ms("timeframe", text) / 1e3
    if seconds < 1 or seconds != int(seconds):
        raise ValueError("timeframe", text, "not a whole number of seconds", "write it as 10s")
    return int(seconds)


def _duration_ms(field: str, text: str) -> float:
    """`1m30s` in ms; units as in Taurus, in either case."""
    part = r"(\d+(?:\.\d+)?)(ms|s|m|h|d)"
    text = text.lower()
    if not re.fullmatch(f"({part})+", text):
        step = f"write it with {', '.join(TIME_UNITS_MS)}, as in 250ms"
        raise ValueError(field, text, "not a time", step)
    return sum(float(number) * TIME_UNITS_MS[unit] for number, unit in re.findall(part, text))
