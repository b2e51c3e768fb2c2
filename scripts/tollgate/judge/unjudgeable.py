"""What of an execution can not be judged, however it goes, which is refused before any load, and
what hardly can. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tollgate.criteria.grammar import Criterion, CriterionError
from tollgate.plan.model import Plan
from tollgate.record.manifest import Execution
from tollgate.schedule.schedule import schedules_of
from tollgate.stats.intervals import FEWEST_FOR_MEAN, samples_needed
from tollgate.stats.slope import FEWEST


def unjudgeable(
    criteria: Iterable[Criterion], planned: Execution, plan: Plan, is_of_remote: bool
) -> Iterator[str]:
    """One line for each criterion on workers that are not watched, and for looks that could not see
    what is under way. is_of_remote: whether the controller of a remote engine watches them."""
    if planned.interim:
        yield from (f"{planned.name}: {line}" for line in _unseen_at_looks(plan))
    for it in criteria:
        if it.is_of_workers and not (planned.targets or is_of_remote):
            problem = f"{planned.name} has no target, so its workers are not watched"
            step = "name an app of ecosystem.config.js as its scenario's `target`, or remove it"
            yield str(CriterionError(it.text, "label", it.label, problem, step))


def hardly_decided(criteria: Iterable[Criterion], planned: Execution, plan: Plan) -> Iterator[str]:
    """One line for each criterion that only all of an execution's budget decides, or for which that
    has too few requests."""
    if planned.interim is None:
        return
    budget_s, from_s = planned.interim.budget_s, planned.warmup
    due = {
        label.text: schedule.arrivals(from_s + budget_s)
        for _, schedule in schedules_of(plan)[1]
        if len(schedule.labels) == 1 and not schedule.by_thread
        for label in schedule.labels
    }
    for criterion in criteria:
        is_upper = criterion.condition[0] == ">" and not criterion.allows_none
        if criterion.is_count and criterion.fail and is_upper:
            yield (
                f"{planned.name}: '{criterion.text}' is a count, which all of the budget "
                f"({budget_s:g} s) decides: a share, or a count over a window, is decided sooner"
            )
        if criterion.label not in due or not (criterion.is_estimate and criterion.fail):
            continue
        needed = FEWEST_FOR_MEAN
        if criterion.percentile is not None:
            needed = samples_needed(criterion.percentile)
            needed *= FEWEST if criterion.is_latency_slope else 1
        sent = int((due[criterion.label] >= from_s).sum())
        if sent < needed:
            yield (
                f"{planned.name}: '{criterion.text}' needs {needed} requests at least, and "
                f"{budget_s:g} s, which is all of the budget, have room for {sent}: allow more "
                "(modules.stop-when-decided.budget), or send more"
            )


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
