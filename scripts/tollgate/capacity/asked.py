"""What a search for capacity is asked for: limits, and what its plan can send."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tollgate.base.text import did_you_mean
from tollgate.capacity.arrivals import END, LONGEST_NAME, NOTHING
from tollgate.capacity.model import Limit
from tollgate.criteria.grammar import CriterionError, parse
from tollgate.plan.expressions import reads_property
from tollgate.plan.jmx import PlanError, tops


def check_plan(script: Path, names: Sequence[str]) -> None:
    """Raises PlanError where a plan sends no arrivals of a file, or has nothing of a name that is
    asked for. A plan that is missing is for Taurus to refuse."""
    if not script.is_file():
        return
    if not reads_arrivals(script):
        raise PlanError(
            f"{script} does not read the property 'arrivals', the file of what to send "
            f"and when: set modules.capacity.rate to the property that sets its rate"
        )
    choices = _choices(script)
    for name in names:
        if name not in choices:
            raise PlanError(
                f"modules.capacity.of names {name!r}, which {script} can't send: "
                f"{did_you_mean(name, choices)}"
            )
        if not name.isascii() or len(name) > LONGEST_NAME or set(name) & set(",\"'"):
            raise PlanError(
                f"modules.capacity.of names {name!r}, which stands in each row of a file "
                f"that JMeter reads: give that controller of {script} a name of at most "
                f"{LONGEST_NAME} letters of ASCII, without commas and quotes"
            )


def reads_arrivals(script: Path) -> bool:
    """Whether a plan sends what a file of arrivals says."""
    return reads_property(script.read_text("utf-8", "replace"), "arrivals")


def _choices(script: Path) -> list[str]:
    """The names of what the plan's Switch Controller chooses from."""
    elements = (it for top in tops(script) for it in top.walk() if it.kind == "SwitchController")
    names = [choice.name for each in elements for choice in each.active]
    return [name for name in names if name not in (NOTHING, END)]


def limit_of(text: str) -> Limit:
    """A limit of trials. Raises CriterionError and ValueError."""
    criterion = parse(text)
    is_of_time = criterion.percentile is not None and criterion.unit == "ms"
    takes = is_of_time or (criterion.subject == "fail" and criterion.is_percent)
    if not takes or criterion.label or criterion.timeframe_s or criterion.condition != ">":
        step = "write a percentile or the share of failures, such as p95>250ms or fail>0.1%"
        raise CriterionError(text, "limit", text, "no limit of a search for capacity", step)
    if criterion.percentile is None:
        return Limit("fail", None, criterion.threshold / 100)
    return Limit(criterion.subject, criterion.threshold, round(1 - criterion.percentile / 100, 10))
