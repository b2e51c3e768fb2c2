"""The workers of an execution: what happened to them under its load, and what reloads and outages
cost."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from tollgate.criteria.grammar import Criterion
from tollgate.criteria.subjects import CPU_PER_REQUEST
from tollgate.gather.context import RecordedExecution
from tollgate.gather.samples import ExecutionSamples
from tollgate.judge.facts import ExecutionFacts
from tollgate.judge.workers import events_left
from tollgate.record.manifest import Execution
from tollgate.samples.counts import Jtl
from tollgate.samples.lost import with_losses
from tollgate.workers import worker_cpu
from tollgate.workers.lines import WorkersError
from tollgate.workers.reading import TargetsWatched, read_targets, unwatched
from tollgate.workers.watching_cost import share


def watched(
    recorded: RecordedExecution, jtl: Jtl | None, criteria: Iterable[Criterion] = ()
) -> TargetsWatched:
    """What workers.jsonl says of the execution's targets. jtl: None if it can't be read. criteria:
    one of them may ask for CPU time, which has a file of its own."""
    run, planned, manifest = recorded.run, recorded.planned, recorded.manifest
    if not planned.targets or not (planned.began or jtl):
        return unwatched(planned.targets)
    began_s, ended_s = span(planned, jtl)
    path = run / "workers.jsonl"
    targets = read_targets(path, planned.targets, began_s, ended_s, manifest.reloads)
    cpu, problems = None, targets.problems
    if any(it.subject == CPU_PER_REQUEST for it in criteria):
        try:
            cpu = worker_cpu.read(run / worker_cpu.NAME)
        except (OSError, WorkersError) as error:
            problems = (*problems, f"the CPU time of the workers is not known: {error}")
    resources = replace(
        targets.resources,
        watching_cpu=share(manifest.watching),
        background_cpu=planned.background_cpu,
        cpu=cpu and cpu.since(began_s),
    )
    return replace(targets, problems=problems, resources=resources)


def with_workers(facts: ExecutionFacts, targets: TargetsWatched) -> ExecutionFacts:
    """The facts with what happened to the workers."""
    return replace(
        facts,
        workers=targets.counts,
        worker_events=targets.events,
        machine_problems=(*targets.problems, *facts.machine_problems),
    )


def span(planned: Execution, jtl: Jtl | None) -> tuple[float, float]:
    """When the load began and ended, in seconds since the epoch."""
    began, ended = planned.began or 0.0, planned.ended or 0.0
    if jtl:
        began = jtl.origin_ms / 1000
        ended = min(ended, jtl.last_end_ms / 1000) if ended else jtl.last_end_ms / 1000
    return began, ended


def with_lost_requests(
    targets: TargetsWatched, samples: ExecutionSamples, ended_s: float | None
) -> TargetsWatched:
    """The same with the requests that each reload and each outage cost, and without the events that
    outages tell. ended_s: when the load was cut short, in seconds since its start; None if it was
    not. Raises JtlError and OSError."""
    planned = samples.context.planned
    began, ended = planned.began or 0.0, planned.ended or 0.0
    apps = [target["name"] for target in planned.targets]
    reloads = [
        reload
        for reload in samples.context.manifest.reloads
        if reload["app"] in apps and began <= reload["began"] <= ended
    ]
    until_s = math.inf if ended_s is None else ended_s
    origin_ms = samples.jtl.origin_ms
    resources = with_losses(
        targets.resources, reloads, samples.store, origin_ms, until_s, samples.parents
    )
    events = events_left(targets.events, resources.outages)
    return replace(targets, events=events, resources=resources)
