"""A comparison in the folder of its run: its record, its labels and what was measured."""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path

from tollgate.base.settings import SettingError
from tollgate.compare import record as compare_record
from tollgate.compare import samples
from tollgate.compare.record import CompareRecord
from tollgate.compare.result import Comparison, compared, with_answers
from tollgate.compare.settings import lag_s
from tollgate.plan.model import Plan
from tollgate.record.manifest import NAME, Execution, Manifest, ManifestError
from tollgate.samples.store import Store

KIND = "compare"


def check_record(run: Path, manifest: Manifest) -> None:
    """Whether a run's folder has the comparison that it should. Raises ManifestError."""
    compare_record.check_seal(manifest, run)
    if not compare_record.is_compare(run):
        if manifest.kind == KIND:
            raise ManifestError(
                f"{run / compare_record.NAME} is missing, and the kind {KIND} is judged by it"
            )
        return
    name = compare_record.read(run).execution
    if name not in [each.name for each in manifest.executions]:
        raise ManifestError(f"{run / compare_record.NAME} is about {name!r}, which {NAME} lacks")


def record_of(run: Path, planned: Execution) -> CompareRecord | None:
    """The record of the comparison that this execution is, if it is one. Raises ManifestError."""
    if not compare_record.is_compare(run):
        return None
    record = compare_record.read(run)
    return record if record.execution == planned.name else None


def labels_of(plan: Plan, uncompared: Collection[str] = ()) -> tuple[str, ...]:
    """The labels that are compared: those of all samplers, for a transaction adds them up, but for
    what a record does not compare, and what setUp and tearDown thread groups alone send."""
    groups = (it for it in plan.groups if not (it.is_setup or it.is_teardown))
    measured = {each.label for group in groups for each in group.samplers}
    labels = (it for it in plan.sampler_labels if it in measured - {*plan.parent_labels})
    return tuple(it.text for it in labels if not it.pattern and it.text not in uncompared)


def label_problems(record: CompareRecord, plan: Plan) -> list[str]:
    """Why the plan's labels can't be compared, one line each."""
    labels = labels_of(plan, record.uncompared)
    problems = [
        f"the plan {plan.path.name} makes up labels such as {each.text!r} as it runs, and what is "
        "compared must be known before: give its samplers names without variables"
        for each in plan.sampler_labels
        if each.pattern
    ]
    problems += [
        f"the Transaction Controller {each.text!r} generates a parent sample, which can't be "
        "compared: untick 'Generate parent sample', so that its samplers are"
        for each in plan.parent_labels
    ]
    unknown = [label for label in record.settings.labels if label not in labels]
    if unknown:
        all_of_plan = ", ".join(labels)
        problems.append(
            f"compare: labels: the plan has no {', '.join(unknown)}: it has {all_of_plan}"
        )
    return problems


def due_s(planned: Execution, record: CompareRecord | None) -> float | None:
    """How long was to be measured: where a comparison has ended itself, until then. None: until
    the load ends by itself."""
    if record and record.decided_s is not None:
        return record.decided_s
    return planned.measured or None


def until_s(planned: Execution, record: CompareRecord | None, cut_s: float | None) -> float | None:
    """When the load ended before its schedule did, in seconds since the execution's start: it was
    cut short, at cut_s, or a comparison had found all it could."""
    decided_s = record.decided_s if record else None
    ends = [cut_s, None if decided_s is None else planned.warmup + decided_s]
    return min((end for end in ends if end is not None), default=None)


def measured_s(record: CompareRecord, planned: Execution, cut_s: float | None) -> float:
    """How many seconds of measuring count at most. cut_s: as in `until_s`; of the seconds before it
    the slow answers were still under way. Raises ManifestError for timeouts that never come."""
    ended_s = until_s(planned, record, cut_s)
    length_s = math.inf if ended_s is None else max(0.0, ended_s - planned.warmup)
    if cut_s is not None and record.decided_s is None:  # a run that decides has waited for them
        try:
            length_s = max(0.0, length_s - lag_s(planned.properties))
        except SettingError as problem:
            raise ManifestError(f"{NAME} can't be read: {planned.name}: {problem}") from None
    return min(length_s, record.settings.budget_s, planned.measured or math.inf)


def gather(
    store: Store, planned: Execution, plan: Plan, record: CompareRecord, cut_s: float | None
) -> Comparison:
    """What came of the comparison. cut_s: as in `until_s`. Raises JtlError, OSError and, as
    `measured_s` does, ManifestError."""
    length_s = measured_s(record, planned, cut_s)
    labels = labels_of(plan, record.uncompared)
    by_thread = record.is_by_thread
    read = samples.read(store, labels, planned.warmup, length_s, record.processes, by_thread)
    comparison = compared(record, read)
    if not comparison.gate.looks_s:
        return comparison
    began_ms = read.origin_ms + round(1000 * planned.warmup)
    seconds = int(comparison.gate.looks_s[-1])
    answers = samples.read_answers(store, labels, began_ms, seconds, by_thread)
    return with_answers(comparison, answers)
