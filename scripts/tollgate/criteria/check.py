"""Criteria against the plan that they will judge, before any load is sent."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Mapping

from tollgate.base.text import closest, did_you_mean
from tollgate.criteria.grammar import Criterion, CriterionError
from tollgate.criteria.subjects import is_better_low
from tollgate.stats.bins import Bins

# More labels than that do not help a reader who mistyped one.
LABELS_SHOWN = 12


def check(
    criteria: Iterable[Criterion],
    labels: Collection[str],
    label_patterns: Collection[str] = (),
    transactions: Collection[str] = (),
    measured_s: float | None = None,
) -> list[CriterionError]:
    """Everything wrong with the criteria of one execution, in their order; empty if all is well.

    labels and transactions: names of the plan's samplers and Transaction Controllers.
    label_patterns: regular expressions for labels that the plan makes up as it runs; they must
    match a label as a whole. measured_s: how long the execution will be measured, if known.
    """
    criteria = list(criteria)
    errors: list[CriterionError | None] = []
    for criterion in criteria:
        errors.append(_label_error(criterion, labels, label_patterns, transactions))
        errors.append(_window_error(criterion, measured_s))
    for first, second in itertools.combinations(criteria, 2):
        errors.append(_duplicate_error(first, second))
    return [error for error in errors if error]


def lower_bound_errors(criteria: Iterable[Criterion]) -> list[CriterionError]:
    """One for each criterion that fails a run for a low time or few failures: whoever wrote it
    stated what must hold, as in other tools. Runs of before may have such criteria."""
    low = (it for it in criteria if it.condition[0] == "<")
    return [_lower_bound_error(it) for it in low if is_better_low(it.subject, it.unit)]


def never_sent_errors(
    criteria: Iterable[Criterion], reasons: Mapping[str, str], labels: Iterable[str]
) -> list[CriterionError]:
    """One for each criterion on a label of which the plan can send nothing. reasons: why not, by
    labels. labels: all of the plan's. Runs of before may have such criteria."""
    sent = [it for it in labels if it not in reasons]
    return [
        CriterionError(
            each.text,
            "label",
            each.label,
            f"no request of it can be sent: {reasons[each.label]}",
            did_you_mean(each.label, sent),
        )
        for each in criteria
        if each.label in reasons and not (each.is_of_workers or each.is_of_capacity)
    ]


def _lower_bound_error(criterion: Criterion) -> CriterionError:
    head = criterion.subject + (f" of {criterion.label}" if criterion.label else "")
    tail = criterion.text.removeprefix(head + criterion.condition)
    problem = f"a criterion states what must not happen, so that a low {criterion.subject} fails"
    step = f"did you mean '{head}>{tail}'?"
    return CriterionError(criterion.text, "condition", criterion.condition, problem, step)


def _label_error(
    criterion: Criterion,
    labels: Collection[str],
    patterns: Collection[str],
    transactions: Collection[str],
) -> CriterionError | None:
    label = criterion.label
    if criterion.is_of_workers or criterion.is_of_capacity:
        return None  # its label is none of the plan's
    if label in labels and label in transactions:
        problem = "names a sampler and a Transaction Controller, which are counted apart"
        return CriterionError(criterion.text, "label", label, problem, "rename one in the plan")
    if not label or label in labels or label in transactions:
        return None
    if any(re.fullmatch(pattern, label) for pattern in patterns):
        return None
    names = sorted({*labels, *transactions})
    near = closest(label, names)
    shown = ", ".join(repr(name) for name in names[:LABELS_SHOWN])
    shown += ", ..." if len(names) > LABELS_SHOWN else ""
    step = f"did you mean '{near}'? " if near else ""
    return CriterionError(
        criterion.text, "label", label, "the plan has no such label", f"{step}labels are {shown}"
    )


def _window_error(criterion: Criterion, measured_s: float | None) -> CriterionError | None:
    window = criterion.timeframe_s
    if window is None:
        return None
    if criterion.condition == "=" and not (criterion.unit == "count" and criterion.threshold == 0):
        problem = "with a window, only '=0' of a count can be judged"
        return CriterionError(criterion.text, "condition", "=", problem, "write >=, <=, > or <")
    if measured_s is None:
        return None
    if window > measured_s:
        problem = f"longer than the {measured_s:g} s that are measured, so it can never apply"
        return CriterionError(
            criterion.text, "timeframe", f"{window}s", problem, "shorten it or measure longer"
        )
    width = Bins.of(0, measured_s).width_s
    if window % width:
        problem = f"a run of {measured_s:g} s is counted in pieces of {width} s each"
        below, above = window // width * width, -(-window // width) * width
        fits = [each for each in (below, above) if width <= each <= measured_s]
        step = "write " + " or ".join(f"'{criterion.logic} {each}s'" for each in fits)
        return CriterionError(criterion.text, "timeframe", f"{window}s", problem, step)
    return None


def _duplicate_error(first: Criterion, second: Criterion) -> CriterionError | None:
    def meaning(c: Criterion) -> tuple[object, ...]:
        return c.subject, c.label, c.condition, c.threshold, c.is_percent, c.logic, c.timeframe_s

    if meaning(first) != meaning(second):
        return None
    problem = f"says the same as '{first.text}'"
    return CriterionError(second.text, "", None, problem, "remove one of them")
