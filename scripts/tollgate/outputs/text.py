"""The parts of a result as short text, and text of unknown origin made fit for a line. Pure."""

from __future__ import annotations

import unicodedata

from tollgate.base import figure, spanned
from tollgate.judge import CriterionResult


def observed(result: CriterionResult) -> str:
    """The observed value with its unit, `-` without samples."""
    if result.observed is None:
        return "-"
    return _with_unit(figure(result.observed, against=result.limit), result.unit)


def limit(result: CriterionResult) -> str:
    """The limit with its unit."""
    return _with_unit(figure(result.limit), result.unit)


def interval(result: CriterionResult) -> str:
    """The confidence interval, `exact` for what was counted, `-` without samples."""
    if result.observed is None:
        return "-"
    if result.low is None or result.high is None:
        return "exact"
    return spanned(result.low, result.high, against=result.limit)


def _with_unit(value: str, unit: str) -> str:
    return value if unit == "count" else f"{value} {unit}"


def shorten(text: str, most: int) -> str:
    """At most so many characters: the middle gives way, for the end of a criterion is its limit."""
    if len(text) <= most:
        return text
    kept = most - len("...")
    return f"{text[: kept - kept // 2]}...{text[len(text) - kept // 2 :]}"


def width(text: str) -> int:
    """How many columns of a terminal a printable text takes."""
    wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return len(text) + wide - sum(unicodedata.combining(each) > 0 for each in text)
