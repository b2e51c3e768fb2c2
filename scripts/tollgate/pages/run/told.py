"""The verdict as the page's first sentence says it, and why. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tollgate.base import one_line
from tollgate.judge import FAIL, INCONCLUSIVE, INVALID, PASS, Verdict
from tollgate.pages.kit.parts import Child, badge, element
from tollgate.pages.run.criteria import TONES
from tollgate.pages.run.view import View

#: Of why the run did not pass; all of them stand in verdict.md.
MOST_REASONS = 5
#: Whose fault it is, as people would say it.
FAULTS = {
    "generator": "the load generator's",
    "service": "the service's",
    "operator": "in how the run was set up or ended",
    "machine": "the machine's, or there were too few samples",
}


def sentence(verdict: Verdict) -> str:
    """The verdict, and whose fault it is if it is not PASS."""
    fault = _fault(verdict)
    return f"{_said(verdict)}{f'; the fault is {fault}' if fault else ''}."


def _said(verdict: Verdict) -> str:
    results = [it for each in verdict.executions for it in each.criteria if it.decides]
    count = len(results)
    criteria = "one criterion" if count == 1 else f"{count} criteria"
    broken = sum(it.verdict == verdict.verdict for it in results)
    if verdict.verdict == PASS:
        if not count:
            return "The measurement is sound, and no criterion was stated"
        return "The one criterion holds" if count == 1 else f"All {criteria} hold"
    if verdict.verdict == INVALID:
        return "The measurement is broken, so that it proves nothing"
    if verdict.verdict == FAIL and broken:
        return f"{broken} of {criteria} {'does' if broken == 1 else 'do'} not hold"
    if verdict.verdict == FAIL:
        return "The run failed, though no criterion was violated"
    if broken:
        return f"{broken} of {criteria} can't be told"
    return "Whether the service is good enough can't be told"


def _fault(verdict: Verdict) -> str:
    faults = {it.fault: None for it in verdict.reasons if it.verdict == verdict.verdict}
    return " and ".join(FAULTS.get(fault, fault) for fault in faults)


def load(views: Sequence[View]) -> str:
    """How much was sent to whom: `2,380 requests in fork and cluster; none failed.`"""
    total = sum(view.sent.total for view in views)
    failed = sum(view.sent.errors for view in views)
    if not total:
        return "No request was recorded."
    names = [view.name for view in views if view.sent.total]
    shown = f"{len(names)} executions" if len(names) > _NAMES else " and ".join(names)
    said = "none failed" if not failed else f"{failed:,} of them failed"
    return f"{total:,} requests in {shown}, warm-up included; {said}."


#: Executions that are named.
_NAMES = 3


def remarks(verdict: Verdict) -> list[Child]:
    """Why the verdict is not PASS, the worst first."""
    shown = [
        element("span", badge(it.verdict, TONES[it.verdict]), f" {one_line(it.text)}")
        for it in verdict.reasons[:MOST_REASONS]
    ]
    more = len(verdict.reasons) - len(shown)
    rest = "one more reason" if more == 1 else f"{more} more reasons"
    return [*shown, *([f"And {rest}: see verdict.md."] if more > 0 else [])]


def badged(verdict: Verdict) -> Child:
    """The verdict on the measurement, below the answers of a study."""
    mark = badge(verdict.verdict, tone(verdict))
    return element("span", mark, f" The run itself: {sentence(verdict)}")


def tone(verdict: Verdict) -> str:
    """The tone of its badge, see page/parts.py."""
    return "unsure" if verdict.verdict == INCONCLUSIVE else TONES[verdict.verdict]
