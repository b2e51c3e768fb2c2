"""One sentence that says what a run found, as page and Markdown begin with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tollgate.base.text import some_of
from tollgate.compare import words
from tollgate.compare.model import FAIL as WORSE
from tollgate.compare.model import IMPROVED, LEAST_MS, SHARES, Finding
from tollgate.compare.result import Comparison
from tollgate.judge.verdicts import FAIL, INCONCLUSIVE, INVALID, PASS, RunVerdict
from tollgate.report import capacity

#: Findings that the sentence names, of those that make it fail.
_MOST_WORSE = 2
#: Labels and metrics that it names.
_NAMED = 4
#: Whose fault it is.
FAULTS = {
    "generator": "the load generator's",
    "service": "the service's",
    "operator": "in how the run was set up or ended",
    "machine": "the machine's, or there were too few samples",
}


def sentence(verdict: RunVerdict) -> str:
    """What a comparison or a search found, where that says more than the verdict's own sentence."""
    compared = next((it.comparison for it in verdict.executions if it.comparison), None)
    text = of_comparison(verdict, compared) if compared else capacities(verdict)
    unlike = words.unlike(compared) if compared else ""
    first = f"{unlike[0].upper()}{unlike[1:]}. " if unlike else ""
    return f"{first}{text or of_criteria(verdict)}"


def capacities(verdict: RunVerdict) -> str:
    """The answer of a search that passed; empty where there is none."""
    searched = [it for it in verdict.executions if it.capacity]
    ends = "; ".join(f"{it.name} {capacity.estimate(it.capacity.result)}" for it in searched)
    is_said = ends and verdict.verdict == PASS
    return f"The highest rate that keeps the limits: {ends}." if is_said else ""


def of_criteria(verdict: RunVerdict) -> str:
    """The verdict, and whose fault it is if it is not PASS."""
    faults = {it.fault: None for it in verdict.reasons if it.verdict == verdict.verdict}
    whose = " and ".join(FAULTS.get(fault, fault) for fault in faults)
    return f"{_outcome(verdict)}{f'; the fault is {whose}' if whose else ''}."


def _outcome(verdict: RunVerdict) -> str:
    if verdict.share:
        return f"Engine {verdict.share} sent its share of a load, which is judged with all others"
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
        return f"{broken} of {criteria} {'is' if broken == 1 else 'are'} undecided"
    return "Whether the service is good enough is undecided"


def of_comparison(verdict: RunVerdict, comparison: Comparison) -> str:
    """What a run with this verdict shows of head: no more than its gating metrics bear out. Empty
    where neither they nor a criterion decided."""
    gating = comparison.gating
    if verdict.verdict == INVALID:
        return "The measurement is broken, so that nothing can be said of head."
    worse = [it for it in gating if it.verdict == WORSE]
    if worse:
        return f"Head is worse than base: {_changes(worse, comparison)}."
    open_ = sum(not it.decided or it.verdict == INCONCLUSIVE for it in gating)
    if verdict.verdict == INCONCLUSIVE and open_:
        return f"Cannot tell: {open_} of {len(gating)} metrics are left undecided."
    if verdict.verdict != PASS:
        return _by_criterion(verdict)
    whose = "Head against base"
    if comparison.is_control:
        whose = "Base against itself passes, and what differs is noise"
    better = [it for it in gating if it.verdict == IMPROVED]
    also = f"; better beyond doubt: {_changes(better, comparison)}" if better else ""
    beyond = words.beyond(comparison, is_short=True)
    return f"{whose}{_ruled_out(comparison)}{also}{beyond and f'; {beyond}'}."


def _by_criterion(verdict: RunVerdict) -> str:
    results = (it for each in verdict.executions for it in each.criteria if it.decides)
    if all(it.verdict != verdict.verdict for it in results):
        return ""
    if verdict.verdict == FAIL:
        return "A criterion on both sides together fails."
    return "Cannot tell: a criterion on both sides together is left undecided."


def _ruled_out(comparison: Comparison) -> str:
    """`, of search alone: ruled out is a rise of p50 by 5 %, of errors by 0.2 points`. No labels
    where all gate."""
    settings, gating = comparison.gate.settings, comparison.gating
    gating = [it for it in gating if it.decided and it not in comparison.as_usual]
    if not gating:
        return ": nothing is ruled out"
    labels = list(dict.fromkeys(it.label for it in gating))
    is_all = len(labels) == len({it.label for it in comparison.gate.findings})
    effects = {it.metric: settings.effect_of(it.metric) for it in gating}
    rises = [
        f"of {metric} by {100 * effect:g} {'points' if metric in SHARES else '%'}"
        for metric, effect in effects.items()
    ]
    whose = "" if is_all else f", of {listed(labels)} alone"
    is_short = any(words.effect_of(comparison, it) > settings.effect_of(it.metric) for it in gating)
    least = f", or by {LEAST_MS:g} ms where that is more" if is_short else ""
    return f"{whose}: ruled out is a rise {', '.join(rises)}{least}"


def listed(names: Sequence[str]) -> str:
    """`sum, search and pi`, `sum, search, pi, kittens and 4 more`."""
    shown = list(names[:_NAMED])
    more = len(names) - len(shown)
    *first, last = [*shown, f"{more} more"] if more else shown
    return f"{', '.join(first)} and {last}" if first else last


def _changes(findings: Sequence[Finding], comparison: Comparison) -> str:
    """`p95 of sum +19.1 %, p50 of sum +16.8 % and 2 more`, the largest change first."""
    ordered = sorted(findings, key=lambda finding: -abs(finding.change or 0.0))
    effects = [words.effect_of(comparison, finding) for finding in ordered]
    texts = [
        f"{words.name(finding)} {words.change(finding, finding.change, effect)}"
        for finding, effect in zip(ordered, effects, strict=True)
    ]
    return some_of(texts, _MOST_WORSE)
