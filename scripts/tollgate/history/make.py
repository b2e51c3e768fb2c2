"""What a run leaves in the history, from its folder and the verdict on it.

Two runs are comparable where the same load met the same machine: the same kind of run, the same
plan and fragments (by their SHA-256), the same properties that shape the load (rates, warm-up,
length), the same targets in the same mode with as many instances and under the same environment
variables that change them, on the same CPU model with as many cores; and where the same times are
judged, response times or service times. What a series is to show is none of these: the commit, and
the versions of Node, Java, JMeter and the system. Files of data are not part of run.json; a commit
that changes them shows as a change of the commit.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tollgate.base.exit_codes import ExitCode
from tollgate.compare.model import SHARES
from tollgate.compare.result import Comparison
from tollgate.compare.words import cases
from tollgate.criteria.subjects import CAPACITY, RATE
from tollgate.gather.judged import Judged
from tollgate.history.model import (
    POINTS,
    RATIO,
    VERSION,
    HistoryExecution,
    HistoryRecord,
    Measure,
    machine,
)
from tollgate.judge.verdicts import FAIL, INVALID, CriterionResult, ExecutionVerdict, RunVerdict
from tollgate.record import manifest
from tollgate.record.environment import GENERATOR, SERVICE

#: Beginnings of properties that say where JMeter writes and how it ends, not what it sends.
_HOUSEKEEPING = (
    *("jmeter.save.", "jmeterengine.", "summariser.", "user.classpath", "sampleresult."),
    *("sample_variables", "crosscheck_", "nothing_"),
)
#: Where the load goes: known by the target's name where there is one, for its port may be any.
_ADDRESS = ("host", "port")


def record_of(run: Path, judged: Judged) -> HistoryRecord | None:
    """None of a run whose values are no measurements: one that is INVALID or was interrupted."""
    verdict, record = judged.verdict, judged.record
    if verdict.verdict == INVALID or ExitCode(verdict.exit_code) == ExitCode.INTERRUPTED:
        return None
    # Of a plan of a user's own, whose execution is called the same whichever it is.
    plan = Path(record.environment.get("variables", {}).get("PLAN", "")).name
    setups = _setups(run.name, record, judged.settings.latency)
    executions = []
    for each in verdict.executions:
        if each.comparison:
            executions.append(_compared(each.name, each.comparison, plan))
        elif each.name in setups:
            measures = tuple(_measured(each))
            executions.append(HistoryExecution(each.name, setups[each.name], None, None, measures))
    return HistoryRecord(
        version=VERSION,
        id=manifest.digest(run / manifest.NAME),
        run=run.name,
        kind=record.kind,
        started=record.started,
        verdict=verdict.verdict,
        environment=record.environment,
        executions=tuple(each for each in executions if each.measures),
        failed=tuple(_failed(verdict)),
    )


def _failed(verdict: RunVerdict) -> Iterator[str]:
    """Of a comparison the measures say what its metrics decided, where they have a value."""
    for each in verdict.executions:
        findings = each.comparison.gating if each.comparison else ()
        pairs = zip(cases(each.comparison), findings, strict=True)
        measured = {it.line_with_reason for it, finding in pairs if finding.change is not None}
        for reason in each.reasons:
            if reason.verdict == FAIL and reason.text not in measured:
                yield each.named(reason).text


def _compared(name: str, comparison: Comparison, plan: str) -> HistoryExecution:
    record, settings = comparison.record, comparison.gate.settings
    slowed = tuple(sorted(record.injected.items()))
    measures = (
        Measure(
            label=finding.label,
            metric=finding.metric,
            unit=POINTS if finding.metric in SHARES else RATIO,
            value=_digits(finding.change),
            low=_digits(finding.low),
            high=_digits(finding.high),
            # Of a short request it depends on base's time; no step may on the chance of a night.
            effect=float(f"{settings.effect_of(finding.metric, finding.base):.2g}"),
            failed=finding.verdict == FAIL,
        )
        for finding in comparison.gating
        if finding.change is not None
    )
    setup = _digest((record.mode, record.processes, record.coin, slowed, *filter(None, [plan])))
    return HistoryExecution(name, setup, record.base, record.head, tuple(measures))


def _setups(run: str, record: manifest.Manifest, latency: str) -> dict[str, str]:
    """What has to be the same of comparable runs, as a digest for each execution. run: the name of
    the run's folder. latency: which times are judged."""
    environment = record.environment
    # By file name alone, so that a run is comparable with those that kept no more.
    plans = tuple(
        sorted((Path(file).name, sha) for file, sha in environment.get("plans", {}).items())
    )
    if not plans:  # nothing says that two runs sent the same
        return {}
    alike: dict[tuple[object, ...], list[manifest.Execution]] = defaultdict(list)
    for each in record.executions:
        load = _load(each.properties, run, bool(each.targets))
        plan = Path(each.plan).name
        alike[record.kind, plan, machine(environment), plans, load].append(each)
    values = environment.get("variables", {})
    variables = tuple((name, values[name]) for name in (*SERVICE, *GENERATOR) if name in values)
    times = () if latency == "response" else (latency,)
    return {
        each.name: _digest((*load, variables, tuple(sorted(map(_targets, together))), *times))
        for load, together in alike.items()
        for each in together
    }


def _targets(execution: manifest.Execution) -> tuple[str, tuple[tuple[str, str, str], ...]]:
    targets = ((it["name"], it["mode"], str(it["instances"])) for it in execution.targets)
    return execution.name, tuple(targets)


def _load(properties: dict[str, str], run: str, is_targeted: bool) -> tuple[tuple[str, str], ...]:
    """Those that name a file of the run's own differ from run to run, and shape nothing. Of the
    run's name all of it has to be a part of the path: a folder may be called 30."""
    kept = {
        name: value
        for name, value in properties.items()
        if not name.startswith(_HOUSEKEEPING)
        and not (is_targeted and name in _ADDRESS)
        and f"/{run}/" not in f"{value}/"
    }
    return tuple(sorted(kept.items()))


def _measured(judged: ExecutionVerdict) -> Iterator[Measure]:
    """Each value once, though several criteria may be about it: as the last of those has it that
    the run can fail by."""
    results: dict[tuple[str, str, str], CriterionResult] = {}
    for result in judged.criteria:
        # Of a window its length is part of what is measured. The limit never is: it may be moved.
        metric = result.criterion if result.window else result.subject
        key = (result.label, metric, result.unit)
        is_measured = _digits(result.observed) is not None and result.subject != CAPACITY
        if is_measured and (key not in results or result.decides or not results[key].decides):
            results[key] = result
    for key, result in results.items():
        yield _measure(key, result.observed, result.low, result.high, criterion=result)
    searched = judged.capacity
    if searched and searched.result.status == "found":
        # A capacity of other requests or limits is another one. It is followed with a criterion on
        # it or without.
        label = f"{', '.join(searched.of)} until {', '.join(searched.limits)}"
        stated = next((it for it in judged.criteria if it.subject == CAPACITY), None)
        answer = searched.result
        numbers = answer.estimate, answer.low, answer.high
        yield _measure((label, CAPACITY, RATE), *numbers, criterion=stated)


def _measure(
    key: tuple[str, str, str], *numbers: float | None, criterion: CriterionResult | None
) -> Measure:
    """key: label, metric and unit. numbers: the value and the ends of its interval."""
    value, low, high = map(_digits, numbers)
    condition = criterion.condition if criterion else "<"
    limit = criterion.limit if criterion and criterion.decides else None
    return Measure(*key, value, low, high, None, None, condition, limit)


def _digest(setup: object) -> str:
    return hashlib.sha256(repr(setup).encode()).hexdigest()[:12]


def _digits(value: float | None) -> float | None:
    """Six of them; None of a value without bounds."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")
