"""The single values of a criterion: subject, condition, threshold and window, each read strictly.

Every reader raises ValueError(field, value, problem, next step).
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

CONDITIONS = ("<", "<=", "=", ">", ">=")
TIME_UNITS_MS = {"ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3, "d": 86400e3}
BYTE_UNITS = {
    **{"": 1, "b": 1, "k": 1024, "kb": 1024, "kib": 1024},
    **{"m": 1024**2, "mb": 1024**2, "mib": 1024**2},
}
# Names that Taurus takes, by the one that Tollgate shows. Taurus takes anything that begins with
# succ, fail or concurr, so that `fails` and `failing` work and so would `failover`.
SUBJECTS = {
    "avg-rt": ("ms", ("avg-rt",)),
    "avg-lt": ("ms", ("avg-lt",)),
    "avg-ct": ("ms", ("avg-ct",)),
    "stdev-rt": ("ms", ("stdev-rt",)),
    "hits": ("count", ("hits",)),
    "succ": ("count", ("succ", "success", "successes", "successful")),
    "fail": ("count", ("fail", "fails", "failed", "failure", "failures", "failing")),
    "concurr": ("users", ("concurr", "concurrency", "concurrent")),
    "bytes": ("bytes", ("bytes",)),
}
NAMES = tuple(SUBJECTS)
ALIASES = {alias: name for name, (_, aliases) in SUBJECTS.items() for alias in aliases}
PERCENT_SUBJECTS = ("succ", "fail")


@dataclass(frozen=True)
class Subject:
    """What is measured; `unit` is ms, bytes, users or count. pattern is set for rc<pattern>."""

    name: str
    unit: str
    percentile: float | None = None
    pattern: str | None = None

    @property
    def is_count(self) -> bool:
        return self.unit == "count"

    @property
    def takes_percent(self) -> bool:
        return self.name in PERCENT_SUBJECTS or self.pattern is not None


def read_subject(value: object, required: bool = False) -> Subject | None:
    """The subject of that name; None if there is none, or ValueError if it is required."""
    text = str(value or "").strip()
    if text in ALIASES:
        name = ALIASES[text]
        return Subject(name, SUBJECTS[name][0])
    if re.fullmatch(r"p\d+(\.\d+)?", text):
        return _percentile(text, required)
    if re.fullmatch(r"rc[\w?*.-]+", text):
        return _response_code(text, required)
    if not required:
        return None
    near = difflib.get_close_matches(text, [*ALIASES, "p95", "p90", "p99", "rc500"], 1, 0.5)
    known = f"known are {', '.join(NAMES)}, p<percentile> and rc<code>"
    step = f"did you mean '{near[0]}'?" if near else known
    raise ValueError("subject", text, "unknown", step)


def _percentile(text: str, required: bool) -> Subject:
    percentile = float(text[1:])
    if required and not 0 < percentile < 100:
        # p100 is the one slowest sample: with more samples it only grows, and no interval holds it.
        step = "choose one above 0 and below 100, such as p95"
        raise ValueError("subject", text, "not a percentile that samples can settle", step)
    return Subject(f"p{percentile:g}", "ms", percentile=percentile)


def _response_code(text: str, required: bool) -> Subject:
    mask = text[2:]
    if required and re.fullmatch(r"[0-9?xX]+", mask):
        fixed = mask.replace("x", "?").replace("X", "?")
        if fixed != mask:
            step = f"did you mean 'rc{fixed}'?"
            raise ValueError("subject", text, "'x' stands for itself in Taurus", step)
        if not re.fullmatch(r"[1-9?][0-9?]{2}", mask):
            step = "write three digits or ?, as in rc500 or rc5??"
            raise ValueError("subject", text, "no HTTP response code looks like that", step)
    return Subject(text, "count", pattern=mask)


def read_condition(value: object) -> str:
    text = "=" if value == "==" else str(value or "")
    if text in CONDITIONS:
        return text
    turned = {"=<": "<=", "=>": ">="}.get(text)
    step = f"did you mean '{turned}'?" if turned else f"known are {', '.join(CONDITIONS)}"
    raise ValueError("condition", text, "unknown", step)


def read_threshold(subject: Subject, condition: str, value: object) -> tuple[float, bool]:
    """(threshold in the subject's unit, whether it is in percent)."""
    text = "" if value is None else str(value).strip()
    if not text:
        raise ValueError("threshold", "", "missing", "write it behind the condition")
    if text.endswith("%"):
        return _percent(subject, condition, text), True
    if subject.unit == "ms":
        return _time(subject, condition, text), False
    return _count(subject, condition, text), False


def _percent(subject: Subject, condition: str, text: str) -> float:
    if not subject.takes_percent:
        problem = f"{subject.name} is measured in {subject.unit}, not in percent"
        raise ValueError("threshold", text, problem, f"write a threshold in {subject.unit}")
    if not re.fullmatch(r"\d+(\.\d+)?\s*%", text):
        raise ValueError("threshold", text, "not a percentage", "write it as 1% or 0.5%")
    percent = float(text.rstrip("% "))
    _refuse_settled(text, condition, percent, 100.0)
    return percent


def _time(subject: Subject, condition: str, text: str) -> float:
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        problem = f"no unit, and Taurus would take it for {text} seconds"
        raise ValueError("threshold", text, problem, f"write {text}ms or {text}s")
    millis = _duration_ms("threshold", text)
    _refuse_settled(text, condition, millis, None)
    if condition == "=":
        problem = f"{subject.name} is never exactly equal to a time"
        raise ValueError("condition", "=", problem, "write >, >=, < or <=")
    return millis


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
    _refuse_settled(text, condition, count, None)
    return count


def _refuse_settled(text: str, condition: str, limit: float, highest: float | None) -> None:
    """Refuses a threshold that values from 0 to `highest` can only be on one side of."""
    # What the two ends of the scale, 0 and the highest, say of the condition.
    never = (condition == "<" and limit <= 0) or (
        highest is not None
        and (limit > highest if condition in ("=", ">=") else condition == ">" and limit >= highest)
    )
    always = (condition == ">=" and limit <= 0) or (
        highest is not None
        and (limit > highest if condition == "<" else condition == "<=" and limit >= highest)
    )
    if never:
        raise ValueError("threshold", text, "it can never apply, so it gates nothing", "change it")
    if always:
        raise ValueError("threshold", text, "it applies to every run", "change it")


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
    return sum(
        float(number) * TIME_UNITS_MS[unit] for number, unit in re.findall(part, text.lower())
    )
