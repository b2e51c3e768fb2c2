"""Whether a plan follows its forecast, and whether that asks for what criteria are about. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tollgate.criteria.grammar import Criterion, CriterionError
from tollgate.forecast.model import Followed
from tollgate.plan.model import Plan


def problems(
    followed: Followed,
    title: str,
    properties: Mapping[str, str],
    plan: Plan,
    criteria: Iterable[Criterion],
) -> Iterator[str]:
    """One line for a plan that does not take its load from the forecast, and for each criterion on
    a label that it never asks for. title: of the plan. properties: those that it is given."""
    schedule = properties.get("schedule", "").strip()
    schedules = [(it.schedule or "").strip() for it in plan.groups if it.is_open_model]
    if not schedule or schedule not in schedules:
        yield (
            f"{title} has no Open Model Thread Group that reads `schedule`, and can't follow "
            f"{followed.path}: write ${{__P(schedule,...)}} as its schedule, or drop the forecast"
        )
    # Rows of transactions are no targets; a label made up by the running test is no column.
    targets = set(plan.labels) - {each.text for each in plan.transaction_labels}
    for criterion in criteria:
        label, steps = criterion.label, followed.steps
        if label not in targets or any(each.tps * each.shares.get(label, 0) > 0 for each in steps):
            continue
        problem = f"the forecast {followed.path} has no column {label}, so that it is never asked"
        step = f"add the column {label}, or remove the criterion"
        if any(label in each.shares for each in steps):
            problem = f"{followed.path} gives {label} no share in any step of this run"
            step = f"give {label} a share, or remove the criterion"
        yield str(CriterionError(criterion.text, "label", label, problem, step))
