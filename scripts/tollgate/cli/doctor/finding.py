"""What the doctor found, and how it is shown. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

#: FAIL: no run can start. WARN: runs start; something is worse than need be, or one kind or the
#: tests can't be run.
OK, WARN, FAIL = "ok", "warn", "fail"
_COLOURS = {OK: "\033[32m", WARN: "\033[33m", FAIL: "\033[31m"}
_PLAIN = "\033[0m"


@dataclass(frozen=True)
class Diagnosis:
    """status: one of the three. what: was looked at. found: what was there. todo: the next step
    where it is not OK, "" where there is none."""

    status: str
    what: str
    found: str
    todo: str = ""


def exit_code(findings: Iterable[Diagnosis]) -> int:
    """0 if nothing is in the way of a run, 1 otherwise."""
    return int(any(each.status == FAIL for each in findings))


def line(finding: Diagnosis, colour: bool) -> str:
    """`status  what  found`, and below it what to do."""
    status = f"{finding.status:<4}"
    if colour:
        status = f"{_COLOURS[finding.status]}{status}{_PLAIN}"
    text = f"{status}  {finding.what:<12}  {finding.found}"
    return f"{text}\n{'':<20}-> {finding.todo}" if finding.todo and finding.status != OK else text


def summary(findings: Iterable[Diagnosis]) -> str:
    """The last line."""
    count = Counter(each.status for each in findings)
    failed = f"{count[FAIL]}" if count[FAIL] else "nothing is"
    return f"{failed} in the way of a run, {count[WARN]} to know about"
