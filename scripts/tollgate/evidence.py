"""Gathers, from the folder of a run alone, everything that judge needs.

The live run and `tollgate judge` both come through here, so they can't disagree.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tollgate.criteria import Criterion, parse_all
from tollgate.criteria_check import check
from tollgate.facts import Execution, ExecutionFacts, LabelData, Run, Settings
from tollgate.jtl import Jtl, read_jtl
from tollgate.jtl_layout import JtlError
from tollgate.jtl_samples import read_samples
from tollgate.manifest import Execution as Planned
from tollgate.manifest import Manifest, check_seal
from tollgate.plan import read_plan
from tollgate.plan_model import Plan
from tollgate.replay import Replay, replay
from tollgate.workers import read_workers


class EvidenceError(Exception):
    """Criteria that can't be judged; one line for each."""


def gather(run: Path, manifest: Manifest) -> tuple[Run, Settings]:
    """Everything about a run. Raises ManifestError, PlanError or EvidenceError: then the folder is
    not what a run left. A JTL that can't be read is a fact about the run, not an error."""
    executions = tuple(_execution(run, manifest, planned) for planned in manifest.executions)
    problems = (manifest.problem,) if manifest.problem else ()
    return Run(executions, manifest.interrupted, problems), Settings(**manifest.settings)


def criteria_of(manifest: Manifest, planned: Planned, plan: Plan) -> tuple[Criterion, ...]:
    """The criteria of one execution, checked against its plan. Raises EvidenceError."""
    names = plan.labels
    transactions = {label.text for label in plan.transaction_labels}
    try:
        criteria = parse_all([*manifest.criteria, *planned.criteria], names)
    except ValueError as error:
        raise EvidenceError(str(error)) from None
    errors = check(
        criteria,
        [name for name in names if name not in transactions],
        plan.label_patterns,
        sorted(transactions),
        planned.measured or None,
    )
    if errors:
        raise EvidenceError("\n".join(str(error) for error in errors))
    return criteria


def _execution(run: Path, manifest: Manifest, planned: Planned) -> Execution:
    plan = read_plan(run / planned.plan, planned.properties)
    criteria = criteria_of(manifest, planned, plan)
    check_seal(planned, run)
    try:
        jtl = read_jtl(run / planned.jtl)
    except (JtlError, OSError) as error:
        facts = _facts(run, manifest, planned, None, jtl_error=str(error))
        return Execution(planned.name, {}, criteria, planned.warmup, _measured(planned), (), facts)
    replayed = _replay(run, planned, plan, jtl)
    return Execution(
        name=planned.name,
        labels={data.name: data for data in _labels(jtl, replayed)},
        criteria=criteria,
        warmup_s=planned.warmup,
        measured_s=_measured(planned),
        schedules=replayed.facts,
        facts=_facts(run, manifest, planned, jtl),
    )


def _measured(planned: Planned) -> float | None:
    return planned.measured or None


def _replay(run: Path, planned: Planned, plan: Plan, jtl: Jtl) -> Replay:
    samples = read_samples(run / planned.jtl, jtl.samplers)
    start = jtl.test_starts_ms[0] if jtl.test_starts_ms else None
    return replay(plan, samples, jtl.origin_ms, start, planned.warmup)


def _labels(jtl: Jtl, replayed: Replay) -> Iterable[LabelData]:
    for name, label in jtl.samplers.items():
        yield LabelData(name, label.counts, replayed.response.get(name), label.totals)
    for name, label in jtl.transactions.items():
        yield LabelData(name, label.counts, None, label.totals, is_transaction=True)


def _facts(
    run: Path,
    manifest: Manifest,
    planned: Planned,
    jtl: Jtl | None,
    jtl_error: str | None = None,
) -> ExecutionFacts:
    began, ended = planned.began or 0.0, planned.ended or 0.0
    if jtl:
        began = jtl.origin_ms / 1000
        ended = min(ended, jtl.last_end_ms / 1000) if ended else jtl.last_end_ms / 1000
    cut_short = manifest.interrupted or manifest.stopped_by
    watched = None
    if planned.target and planned.began:
        watched = read_workers(run / "workers.jsonl", planned.target["name"], began, ended)
    return ExecutionFacts(
        ended_s=ended - began if cut_short and jtl else None,
        stopped_by=manifest.stopped_by,
        generator_exit=planned.exit_code,
        generator_error=None if planned.began else "JMeter was never started",
        jtl_error=jtl_error,
        cut_off_line=jtl.cut_line if jtl else None,
        workers_asked=planned.target["instances"] if planned.target else None,
        workers_seen=watched.seen if watched else None,
        worker_events=watched.events if watched else (),
        machine_problems=(watched.problem,) if watched and watched.problem else (),
    )
