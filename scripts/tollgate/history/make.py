"""What a run leaves in the history, from its folder and the verdict on it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from tollgate.compare.model import SHARES
from tollgate.compare.result import Comparison
from tollgate.compare.words import cases
from tollgate.gather.judged import Judged
from tollgate.history import read
from tollgate.history.listed import RunFigure
from tollgate.history.model import (
    POINTS,
    RATIO,
    VERSION,
    HistoryExecution,
    HistoryRecord,
    Measure,
)
from tollgate.history.trends import measured_once, setups
from tollgate.judge.verdicts import FAIL, RunVerdict
from tollgate.record import manifest


def record_of(run: Path, known: Judged) -> HistoryRecord | None:
    """None of a run whose values are no measurements, as of one that is INVALID.

    Raises what the reading of run.json and verdict.json raises."""
    listed = read.listed(run)
    if not listed.counts:
        return None
    # Of a plan of a user's own, whose execution is called the same whichever it is.
    plan = Path(known.record.environment.get("variables", {}).get("PLAN", "")).name
    made = [
        _compared(it.name, it.comparison, plan) for it in known.verdict.executions if it.comparison
    ]
    compared = {it.name for it in made}
    for setup, executions in setups(listed).items():
        for it in (it for it in executions if it.name not in compared):
            figures = tuple(_measured(each) for _, each in measured_once([it]))
            made.append(HistoryExecution(it.name, _digest(setup), None, None, figures))
    return HistoryRecord(
        version=VERSION,
        id=manifest.digest(run / manifest.NAME),
        run=run.name,
        kind=listed.kind,
        started=known.record.started,
        verdict=known.verdict.verdict,
        environment=known.record.environment,
        executions=tuple(it for it in made if it.measures),
        failed=tuple(_failed(known.verdict)),
    )


def _failed(verdict: RunVerdict) -> Iterator[str]:
    """Of a comparison the measures say what its metrics decided, where they have a value."""
    for each in verdict.executions:
        findings = each.comparison.gating if each.comparison else ()
        pairs = zip(cases(each.comparison), findings, strict=True)
        measured = {it.line_with_reason for it, finding in pairs if finding.change is not None}
        for it in each.reasons:
            if it.verdict == FAIL and it.text not in measured:
                yield each.named(it).text


def _compared(name: str, found: Comparison, plan: str) -> HistoryExecution:
    record, settings = found.record, found.gate.settings
    slowed = tuple(sorted(record.injected.items()))
    measures = (
        Measure(
            label=it.label,
            metric=it.metric,
            unit=POINTS if it.metric in SHARES else RATIO,
            value=_digits(it.change),
            low=_digits(it.low),
            high=_digits(it.high),
            # Of a short request it depends on base's time; no step may on the chance of a night.
            effect=float(f"{settings.effect_of(it.metric, it.base):.2g}"),
            failed=it.verdict == FAIL,
        )
        for it in found.gating
        if it.change is not None
    )
    setup = _digest((record.mode, record.processes, record.coin, slowed, *filter(None, [plan])))
    return HistoryExecution(name, setup, record.base, record.head, tuple(measures))


def _measured(figure: RunFigure) -> Measure:
    metric = figure.criterion if figure.window else figure.subject
    low, high = _digits(figure.low), _digits(figure.high)
    return Measure(figure.label, metric, figure.unit, _digits(figure.observed), low, high, None)


def _digest(setup: object) -> str:
    return hashlib.sha256(repr(setup).encode()).hexdigest()[:12]


def _digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")
