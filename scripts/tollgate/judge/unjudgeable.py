"""What of an execution can not be judged, however it goes. It is refused before any load. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tollgate.criteria.grammar import Criterion, CriterionError
from tollgate.plan.model import Plan
from tollgate.record.manifest import Execution
from tollgate.schedule.schedule import schedules_of


def unjudgeable(
    criteria: Iterable[Criterion], planned: Execution, plan: Plan, is_of_remote: bool
) -> Iterator[str]:
    """One line for each criterion on workers that are not watched, and for looks that could not see
    what is under way. is_of_remote: whether the controller of a remote engine watches them."""
    if planned.interim:
        yield from (f"{planned.name}: {line}" for line in _unseen_at_looks(plan))
    for criterion in criteria:
        if criterion.is_of_workers and not (planned.targets or is_of_remote):
            problem = f"{planned.name} has no target, so its workers are not watched"
            step = "name an app as its scenario's `target`, or remove it"
            yield str(CriterionError(criterion.text, "label", criterion.label, problem, step))


def _unseen_at_looks(plan: Plan) -> Iterator[str]:
    """One line for each thread group whose requests under way a look can't see."""
    off = "set modules.stop-when-decided.budget to off"
    scheduled = {place for place, _ in schedules_of(plan)[1]}
    for place, group in enumerate(plan.groups):
        what = f"the thread group {group.name!r} is an {group.kind}"
        if group.is_pool:
            yield (
                f"{what}, and its threads that wait for an answer look like those that wait for an "
                f"arrival: {off}"
            )
        elif group.is_open_model and group.samplers and place not in scheduled:
            yield (
                f"{what} whose arrivals are unknown, so an interim look can't tell which "
                f"requests are under way: give it a random seed above 0, or {off}"
            )
