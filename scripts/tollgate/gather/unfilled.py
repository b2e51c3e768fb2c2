"""Requests that were sent with a variable that had no value, as the samples show it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import unquote

from tollgate.base.text import format_number
from tollgate.gather.samples import ExecutionSamples
from tollgate.plan.sent import BEGIN, ENDS, MESSAGE, traces, unset
from tollgate.samples.unsent import read_messages

_REFERENCE = re.compile(r"\$\{([^{}]+)\}")
#: A variable is missing because requests failed, whose answers had it, where it is missing in at
#: most so many times their share.
_BY_FAILURES = 3.0


@dataclass(frozen=True)
class Unfilled:
    """One line for each label and variable. faults: what is the plan's. doubts: what failed
    requests may have brought about."""

    faults: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def unfilled(samples: ExecutionSamples) -> Unfilled:
    """What was sent without a value. Raises JtlError."""
    without: Counter[tuple[str, str, str]] = Counter()
    failed: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for label, text, ok, n in read_messages(samples.store, BEGIN):
        totals[label] += n
        if message := MESSAGE.match(text or ""):
            without[label, message[1], message[2]] += n
        elif not ok:
            failed[label] += n
    if not without:
        return Unfilled()
    path = samples.context.run / samples.context.planned.plan
    looked_for = traces(path, samples.context.planned.properties, path.parent)
    worst = max((n / totals[label] for label, n in failed.items()), default=0.0)
    faults, doubts = [], []
    for (label, field, text), n in without.items():
        reference = _REFERENCE.fullmatch(unquote(text))
        why = unset(reference[1]) if reference else looked_for[field].get(text, ("", ""))[1]
        line = f"{n} of {totals[label]} requests of {label!r} were sent without data: {why}"
        if why and (n / totals[label] > _BY_FAILURES * worst or text in ENDS):
            faults.append(f"{line} ({text!r} in the {field})")
        elif why:
            share = format_number(100 * worst)
            doubts.append(f"{line}, where up to {share} % of other requests had failed")
    return Unfilled(tuple(faults), tuple(doubts))
