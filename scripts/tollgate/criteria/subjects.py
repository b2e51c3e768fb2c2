"""The subject and the condition of a criterion, each read strictly.

Every reader raises ValueError(field, value, problem, next step).
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from tollgate.base import NAMES as CLASSES
from tollgate.base import PREFIX, class_of, nearest
from tollgate.criteria.resources import LATENCY_SLOPE, SLOPE, WORKER_SUBJECTS

CONDITIONS = ("<", "<=", "=", ">", ">=")
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
    """What is measured; `unit` is ms, bytes, users or count, or of criteria_resources. pattern is
    set for rc<pattern>."""

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
    if text in WORKER_SUBJECTS:
        return Subject(text, WORKER_SUBJECTS[text])
    if re.fullmatch(rf"p\d+(\.\d+)?({SLOPE})?", text):
        return _percentile(text, required)
    if re.fullmatch(rf"rc({PREFIX})?[\w?*.$-]+", text):
        return _response_code(text, required)
    if not required:
        return None
    if class_of(text) in CLASSES:
        step = f"did you mean 'rc{class_of(text)}'?"
        raise ValueError("subject", text, "the name of a class, not a subject", step)
    names = [*ALIASES, *WORKER_SUBJECTS, "p95", "p90", "p99", "rc500"]
    near = difflib.get_close_matches(text, names, 1, 0.5)
    names = ", ".join((*NAMES, *WORKER_SUBJECTS))
    known = f"known are {names}, p<percentile>, p<percentile>{SLOPE} and rc<code>"
    step = f"did you mean '{near[0]}'?" if near else known
    raise ValueError("subject", text, "unknown", step)


def _percentile(text: str, required: bool) -> Subject:
    is_slope = text.endswith(SLOPE)
    percentile = float(text[1:].removesuffix(SLOPE))
    if required and not 0 < percentile < 100:
        # p100 is the one slowest sample: with more samples it only grows, and no interval holds it.
        step = "choose one above 0 and below 100, such as p95"
        raise ValueError("subject", text, "not a percentile that samples can settle", step)
    if is_slope:
        return Subject(f"p{percentile:g}{SLOPE}", LATENCY_SLOPE, percentile=percentile)
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
    elif required:
        _check_class(text, mask)
    return Subject(text, "count", pattern=mask)


def _check_class(text: str, mask: str) -> None:
    """Refuses a mask that matches no response code of JMeter's, so that its criterion would pass
    whatever happened."""
    has_wildcard, name = bool(re.search(r"[?*]", mask)), class_of(mask)
    if name == mask and (has_wildcard or name in CLASSES):
        return
    if name == mask:
        problem = "JMeter writes no response code of that name"
    else:
        problem = "a class is told by its own name, without what stands before it"
    stem = name.strip("?*")
    near = name if name in CLASSES or (stem and stem != name) else nearest(name)
    if near:
        step = f"did you mean 'rc{near}'? A code that the plan itself sets takes a wildcard"
    elif stem[:1].isalpha():
        step = f"write 'rc{stem}*' for a code that the plan itself sets"
    else:
        step = "write a name such as rcSocketTimeoutException, or rc*Exception for all of them"
    raise ValueError("subject", text, problem, step)


def read_condition(value: object) -> str:
    text = "=" if value == "==" else str(value or "")
    if text in CONDITIONS:
        return text
    turned = {"=<": "<=", "=>": ">="}.get(text)
    step = f"did you mean '{turned}'?" if turned else f"known are {', '.join(CONDITIONS)}"
    raise ValueError("condition", text, "unknown", step)
