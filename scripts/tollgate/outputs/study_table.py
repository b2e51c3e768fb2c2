"""A study as a person sees it at the end of a run. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from tollgate.base import one_line
from tollgate.outputs.text import shorten, width
from tollgate.study import AGREES, DISAGREES, UNKNOWN, Check, Claim, Study, interval, number

#: Columns of a terminal that nothing here is wider than.
WIDTH = 120
HEADINGS = ("", "claim", "measured", "95 % CI", "published")
_GAP = "  "


def to_table(study: Study) -> str:
    """Every claim in a row, then why those that don't agree do not, in at most WIDTH columns."""
    lines = [*_rows(study.claims), "", headline(study)]
    absent = [it.system for it in study.claims if it.system not in study.experiments]
    if absent:
        lines += _wrapped(f"not part of this run: {', '.join(dict.fromkeys(absent))}")
    for claim in study.claims:
        if claim.answer != AGREES and claim.system not in absent:
            lines += _wrapped(f"{claim.id} {claim.answer}: {claim.what}: {claim.reason}")
    for check in study.checks:
        lines += _wrapped(_checked(check))
    for note in study.notes:
        lines += _wrapped(note)
    return "\n".join(lines)


def headline(study: Study) -> str:
    """`Study: 5 claims agree, 1 disagrees, 3 cannot be told`."""
    answers = [claim.answer for claim in study.claims]
    agreed, refused, unknown = (answers.count(it) for it in (AGREES, DISAGREES, UNKNOWN))
    claims = "claim agrees" if agreed == 1 else "claims agree"
    disagree = "disagrees" if refused == 1 else "disagree"
    return f"Study: {agreed} {claims}, {refused} {disagree}, {unknown} cannot be told"


def _rows(claims: Sequence[Claim]) -> Iterator[str]:
    if not claims:
        return
    rows = [HEADINGS, *(_cells(claim) for claim in claims)]
    widths = [max(width(row[place]) for row in rows) for place in range(len(HEADINGS) - 1)]
    left = WIDTH - sum(widths) - len(_GAP) * len(HEADINGS)
    for *cells, last in rows:
        padded = (cell + " " * (w - width(cell)) for cell, w in zip(cells, widths, strict=True))
        yield f"{_GAP}{_GAP.join([*padded, shorten(last, left)])}".rstrip()


def _cells(claim: Claim) -> tuple[str, ...]:
    found = claim.measured.value
    value = "-" if found is None else f"{number(found)} {claim.unit}".strip()
    ends = interval(claim.measured) or "-"
    return claim.answer, claim.id, value, ends, one_line(claim.published)


def _checked(check: Check) -> str:
    name = f"{check.tool} {check.version}".strip()
    return f"JMeter and {name}: {check.agreement}: {check.reason}"


def _wrapped(text: str) -> list[str]:
    indented = {"initial_indent": _GAP, "subsequent_indent": 2 * _GAP}
    return textwrap.wrap(one_line(text), WIDTH, **indented)
