"""Words and numbers of the study, as on its page. Pure."""

from __future__ import annotations

import math
from typing import Final

from tollgate.base.text import format_number
from tollgate.study.model import Estimate, StudyResult

AGREES: Final = "agrees"
DISAGREES: Final = "disagrees"
CANNOT_TELL: Final = "cannot tell"
#: Metrics by the names that people know them by, with their units.
METRIC_NAMES = {
    "throughput": "requests/s",
    "mean": "mean, ms",
    "p50": "p50, ms",
    "p90": "p90, ms",
    "p95": "p95, ms",
    "p99": "p99, ms",
    "block_max": "slowest of a block, ms",
    "max": "slowest, ms",
}


def number(value: float | None) -> str:
    """In three or so digits, thousands apart; `-` for what is not known."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else format_number(value)


def interval(estimate: Estimate) -> str:
    """`1.78 to 1.93`; empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{number(estimate.low)} to {number(estimate.high)}"


def users(count: int) -> str:
    return "1 user" if count == 1 else f"{count} users"


def summary(study: StudyResult, cpu: str) -> str:
    """What the run says of the claims, in one sentence, and on which machine."""
    where = f"on {cpu} with {study.cores} {'core' if study.cores == 1 else 'cores'}"
    return f"{headline(study)}, of {sum(_counts(study))} published, {where}."


def headline(study: StudyResult) -> str:
    """`5 claims agree, 1 disagrees, 3 undecided`."""
    agreed, refuted, unknown = _counts(study)
    claims = "claim agrees" if agreed == 1 else "claims agree"
    disagree = "disagrees" if refuted == 1 else "disagree"
    return f"{agreed} {claims}, {refuted} {disagree}, {unknown} undecided"


def answer(study: StudyResult) -> tuple[str, str]:
    """The study's shortest answer and its tone."""
    agreed, refuted, unknown = _counts(study)
    tone = "unsure" if refuted + unknown or not agreed else "good"
    count = agreed + refuted + unknown
    return f"{agreed} of {count} agree" if agreed + refuted else CANNOT_TELL, tone


def _counts(study: StudyResult) -> tuple[int, int, int]:
    """How many claims agree, disagree, and have no answer."""
    answers = [claim.answer for claim in study.claims]
    agreed, refuted = answers.count(AGREES), answers.count(DISAGREES)
    return agreed, refuted, len(answers) - agreed - refuted
