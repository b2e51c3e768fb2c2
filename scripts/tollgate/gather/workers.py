"""What evidence.py gathers about the workers of an execution: what happened to them under its load,
and what reloads and outages cost."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from tollgate.record.manifest import Execution, Manifest
from tollgate.samples import lost
from tollgate.samples.counts import Jtl
from tollgate.samples.store import Store
from tollgate.workers.model import Resources
from tollgate.workers.reading import TargetsWatched, read_targets, unwatched
from tollgate.workers.watching_cost import share


def watched(run: Path, manifest: Manifest, planned: Execution, jtl: Jtl | None) -> TargetsWatched:
    """What workers.jsonl tells of the execution's targets. jtl: None if it can't be read."""
    if not (planned.targets and planned.began):
        return unwatched(planned.targets)
    found = read_targets(
        run / "workers.jsonl", planned.targets, *span(planned, jtl), manifest.reloads
    )
    resources = replace(
        found.resources,
        watching_cpu=share(manifest.watching),
        background_cpu=planned.background_cpu,
    )
    return replace(found, resources=resources)


def span(planned: Execution, jtl: Jtl | None) -> tuple[float, float]:
    """When the load began and ended, in seconds since the epoch."""
    began, ended = planned.began or 0.0, planned.ended or 0.0
    if jtl:
        began = jtl.origin_ms / 1000
        ended = min(ended, jtl.last_end_ms / 1000) if ended else jtl.last_end_ms / 1000
    return began, ended


def stop_requested_s(planned: Execution, jtl: Jtl | None) -> float | None:
    """When STOP_AFTER had JMeter end the load, in seconds since its start; None if it did not."""
    if planned.stop_requested_at is None:
        return None
    return max(0.0, planned.stop_requested_at - span(planned, jtl)[0])


def with_losses(
    store: Store,
    manifest: Manifest,
    planned: Execution,
    jtl: Jtl,
    resources: Resources,
    ended_s: float | None,
    parents: Collection[str] = (),
) -> Resources:
    """With the requests that each reload and each outage cost. ended_s: when the load was cut
    short, in seconds since its start; None if it was not. parents: labels of parent samples.
    Raises JtlError and OSError."""
    began, ended = planned.began or 0.0, planned.ended or 0.0
    apps = [target["name"] for target in planned.targets]
    reloads = [it for it in manifest.reloads if it["app"] in apps and began <= it["began"] <= ended]
    until_s = math.inf if ended_s is None else ended_s
    return lost.with_losses(resources, reloads, store, jtl.origin_ms, until_s, parents)
