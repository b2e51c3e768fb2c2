"""Requests that were sent with a variable that had no value, as the samples show it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import unquote

from tollgate.base.text import format_number
from tollgate.gather.samples import ExecutionSamples
from tollgate.plan.jmx import read_tree
from tollgate.plan.sent import BEGIN, ENDS, MESSAGE, traces, unset
from tollgate.plan.variables import running_expander_of

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
    found: Counter[tuple[str, str, str]] = Counter()
    failed: Counter[str] = Counter()
    for label, failure, n in samples.store.rows(
        """SELECT label, CASE WHEN starts_with(failure, ?) THEN failure END AS said, count(*)
           FROM samples WHERE NOT ok OR starts_with(failure, ?) GROUP BY label, said""",
        [BEGIN, BEGIN],
    ):
        if message := MESSAGE.match(failure or ""):
            found[label, message[1], message[2]] += n
        else:
            failed[label] += n
    if not found:
        return Unfilled()
    of = samples.of
    path, properties = of.run / of.planned.plan, of.planned.properties
    root = read_tree(path, properties)
    known = traces(root, path.parent, running_expander_of(root, properties))
    totals = dict(samples.store.rows("SELECT label, count(*) FROM samples GROUP BY label"))
    worst = max((n / totals[label] for label, n in failed.items()), default=0.0)
    faults, doubts = [], []
    for (label, field, text), n in found.items():
        reference = _REFERENCE.fullmatch(unquote(text))
        why = unset(reference[1]) if reference else known[field].get(text, ("", ""))[1]
        if why:
            line = f"{n} of {totals[label]} requests of {label!r} were sent without data: {why}"
            if n / totals[label] > _BY_FAILURES * worst or text in ENDS:
                faults.append(f"{line} ({text!r} in the {field})")
            else:
                share = format_number(100 * worst)
                doubts.append(f"{line}, where up to {share} % of other requests had failed")
    return Unfilled(tuple(faults), tuple(doubts))
