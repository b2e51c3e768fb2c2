"""What was decided of a run, as events: criteria and findings, executions that ended early, and the
verdict. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tollgate.compare import words
from tollgate.judge.verdicts import FAIL, PASS, ExecutionVerdict, RunVerdict
from tollgate.record.manifest import Execution, Manifest

STARTED, ENDED_EARLY, DECIDED, VERDICT = (
    f"tollgate.{name}"
    for name in ("run.started", "execution.ended_early", "criterion.decided", "verdict")
)


@dataclass(frozen=True)
class Event:
    """at_s: when, in seconds since the epoch. is_bad: worth a warning."""

    name: str
    at_s: float
    text: str
    attributes: Mapping[str, str | bool | int | float] = field(default_factory=dict)
    is_bad: bool = False


def started(manifest: Manifest, at_s: float) -> Event:
    names = ", ".join(it.name for it in manifest.executions)
    about = {"tollgate.run.kind": manifest.kind}
    return Event(STARTED, at_s, f"{manifest.kind} of {names}", about)


def ended_early(planned: Execution, at_s: float) -> Event:
    """A look has decided it, or a criterion has stopped it."""
    why = f"stopped by {planned.stopped_by}" if planned.stopped_by else "every criterion decided"
    about = {"tollgate.execution": planned.name}
    text = f"{planned.name}: {why}"
    return Event(ENDED_EARLY, at_s, text, about, is_bad=bool(planned.stopped_by))


def verdict_events(verdict: RunVerdict, manifest: Manifest, at_s: float) -> Iterator[Event]:
    """Of a run that has been judged. at_s: when."""
    planned = {it.name: it for it in manifest.executions}
    for judged in verdict.executions:
        yield from _decisions(judged, planned.get(judged.name), at_s)
    reasons = "; ".join(it.text for it in verdict.reasons)
    text = f"{verdict.verdict}: {reasons}" if reasons else verdict.verdict
    about = {"tollgate.verdict": verdict.verdict, "tollgate.exit_code": verdict.exit_code}
    yield Event(VERDICT, at_s, text, about, is_bad=verdict.verdict != PASS)


def _decisions(judged: ExecutionVerdict, planned: Execution | None, at_s: float) -> Iterator[Event]:
    """Each when its verdict was settled, where looks tell."""

    def settled_s(after_s: float | None) -> float:
        if after_s is None or not (planned and planned.began):
            return at_s
        return planned.began + planned.warmup + after_s

    for result in judged.criteria:
        about: dict[str, str | bool | float] = {
            "tollgate.execution": judged.name,
            "tollgate.criterion": result.criterion,
            "tollgate.verdict": result.verdict,
            "tollgate.decides": result.decides,
            "tollgate.limit": result.limit,
        }
        about |= {} if result.observed is None else {"tollgate.observed": result.observed}
        when_s, text = settled_s(result.decided_after_s), result.line_with_reason
        yield Event(DECIDED, when_s, text, about, is_bad=result.verdict == FAIL)
    if compared := judged.comparison:
        for finding in compared.gate.findings:
            about = {
                "tollgate.execution": judged.name,
                "tollgate.label": finding.label,
                "tollgate.metric": finding.metric,
                "tollgate.verdict": finding.verdict,
                "tollgate.decides": finding.gates,
            }
            text = words.line(finding, words.effect_of(compared, finding))
            is_bad = finding.verdict == FAIL
            yield Event(DECIDED, settled_s(finding.at_s), text, about, is_bad)
