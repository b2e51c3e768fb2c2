"""Failed requests: what of them the criteria cover, and what becomes of what they don't. Pure.

A criterion covers the failures that it would fail a run for if there were more of them: `fail` and
`succ` cover all, `rc` those of its codes. How many may fail is for the criterion to say. Failures
that none covers fail a run where nothing else is left: where a label has no other answers, and
where more than TOLERATED of the answers that a criterion on a time, or on CPU time, is about are
failures, for an error page takes no such time as the work does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tollgate.base.text import format_number
from tollgate.criteria.subjects import CPU_PER_REQUEST
from tollgate.judge.facts import MeasuredExecution
from tollgate.judge.observe import hit_mask
from tollgate.judge.verdicts import (
    FAIL,
    OPERATOR,
    PASS,
    SERVICE,
    CriterionResult,
    Reason,
    invalid,
)
from tollgate.stats.counts import Counts

#: Times are those of the work as long as at most this share of them are of failures.
TOLERATED = 0.05


def failure_reasons(execution: MeasuredExecution) -> Iterator[Reason]:
    """Why failures that no criterion covers fail the execution."""
    if execution.capacity:
        return  # whose trials say so
    unsent = {it.label for it in execution.facts.never_sent if it.requests == it.of}
    for (name, _), counts in counts_by_name(execution):
        is_covered = _uncovered(execution, name, counts) < counts.total
        if counts.total and not is_covered and name not in unsent:
            yield Reason(FAIL, SERVICE, f"every request of {name} failed (n={counts.total})")


def never_sent_reasons(execution: MeasuredExecution, tolerated: float) -> Iterator[Reason]:
    """Of requests that never left JMeter, for which no service can be blamed. tolerated: the share
    of a label's that may be such, one of them in any case."""
    for unsent in execution.facts.never_sent:
        if unsent.requests > max(1.0, tolerated * unsent.of):
            yield invalid(OPERATOR, unsent.line)


def failure_warnings(execution: MeasuredExecution) -> Iterator[str]:
    """One line for each label with failures that no criterion covers, or with nothing else."""
    for (name, is_transaction), counts in counts_by_name(execution):
        if is_transaction or not counts.errors:
            continue
        if failed := _uncovered(execution, name, counts):
            yield (
                f"{failed} of {counts.total} requests of {name} failed, and no "
                f"criterion is about that: add 'fail of {name}>0%'"
            )
        elif counts.errors == counts.total:
            yield (
                f"every request of {name} failed (n={counts.total}): the criteria on failures "
                "decide what that means"
            )


def without_times_of_failures(
    execution: MeasuredExecution, results: Iterable[CriterionResult]
) -> Iterator[CriterionResult]:
    """The results, in which no time of too many uncovered failures passes, nor their CPU time."""
    by_name = list(counts_by_name(execution))
    for criterion, result in zip(execution.criteria, results, strict=True):
        is_of_work = criterion.is_of_time or criterion.subject == CPU_PER_REQUEST
        if not is_of_work or execution.capacity or result.verdict != PASS:
            yield result
            continue
        label = "" if criterion.is_of_workers else criterion.label
        of = [
            (_uncovered(execution, name, counts), counts.total)
            for (name, is_transaction), counts in by_name
            if (name == label if label else not is_transaction)
        ]
        failed, total = (sum(each) for each in zip(*of, strict=True))
        if not result.decides or failed <= TOLERATED * total:
            yield result
            continue
        share = f"{failed} of {total} requests failed ({format_number(100 * failed / total)} %)"
        add = f"add 'fail{f' of {label}' if label else ''}>1%' to say how many may fail"
        reason = f"{share}, and a failure does not take what the work does: {add}"
        interval: dict[str, Any] = dict.fromkeys(
            ("low", "high", "fail_bound", "unadjusted_interval")
        )
        yield replace(result, **interval, verdict=FAIL, reason=reason)


def counts_by_name(execution: MeasuredExecution) -> Iterator[tuple[tuple[str, bool], Counts]]:
    """Name, whether it is a transaction's, and what was counted of it. A parent sample that JMeter
    breaks off, as it does at the end of an open model, has the row of a sampler."""
    window, parts = execution.window, defaultdict(list)
    for data in execution.labels.values():
        parts[data.name, data.is_transaction].append(data.service.window(*window))
    return ((name, Counts.merged(each)) for name, each in parts.items())


def _uncovered(execution: MeasuredExecution, name: str, counts: Counts) -> int:
    """How many failures of a label no criterion that decides would see.

    `fail` and `succ` see them all, rc those whose code it has a mask for; where it fails a run for
    too few of a code, it sees those of all other codes.
    """
    uncovered = ~counts.ok
    for criterion in execution.criteria:
        if not criterion.fail or criterion.label not in (name, ""):
            continue
        if criterion.subject in ("fail", "succ"):
            return 0
        if criterion.subject.startswith("rc"):
            hits = hit_mask(criterion, counts)
            seen = {">": hits, "<": ~hits}.get(criterion.condition[0])
            uncovered = uncovered if seen is None else uncovered & ~seen
    return int(counts.n[uncovered].sum())
