"""Which workers died during a study, when, and what that cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tollgate.jtl import Jtl
from tollgate.jtl_groups import Label
from tollgate.lost import with_losses
from tollgate.manifest import Execution, Manifest
from tollgate.resources_model import Outage, Resources
from tollgate.study.model import CROSSCHECK
from tollgate.study.windows import ANOTHER_GENERATOR, CONNECT
from tollgate.workers import read_watch


def read_outages(
    run: Path, record: Manifest, planned: Execution, jtl: Jtl
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """(the workers that ended by themselves under load, in order of time; why nobody can tell).

    Of each outage: app, worker, pid; from_s and to_s, seconds since jtl.origin_ms; lost, the
    requests that failed for want of the worker; experiment, the one under way, None for none.
    Raises JtlError.
    """
    began_s, ended_s = jtl.origin_ms / 1000, jtl.last_end_ms / 1000
    found: list[tuple[Outage, str]] = []
    problems: dict[str, None] = {}  # a file that can't be read is one, and not one of each app
    for target in planned.targets:
        app = target["name"]
        watched, resources = read_watch(run / "workers.jsonl", app, began_s, ended_s)
        found += [(outage, app) for outage in resources.outages]
        problems |= {watched.problem: None} if watched.problem else {}
    found.sort(key=lambda it: it[0].from_s)
    cut_short = record.interrupted or record.stopped_by
    until_s = ended_s - began_s if cut_short else math.inf
    out = Resources(outages=tuple(outage for outage, _ in found))
    counted = with_losses(out, (), run / planned.jtl, jtl.origin_ms, until_s).outages
    told = zip(counted, (app for _, app in found), strict=True)
    return [_told(outage, app, jtl.samplers) for outage, app in told], tuple(problems)


def _told(outage: Outage, app: str, samplers: Mapping[str, Label]) -> dict[str, Any]:
    return {
        "app": app,
        "worker": outage.worker,
        "pid": outage.pid,
        "from_s": outage.from_s,
        "to_s": outage.to_s,
        "lost": outage.lost,
        "experiment": _under_way(samplers, outage.from_s),
    }


def _under_way(samplers: Mapping[str, Label], second: float) -> str | None:
    """The experiment whose samples ended nearest to a moment: they don't overlap."""
    distances = {
        name: float(np.abs(label.counts.second - second).min())
        for name, label in samplers.items()
        if label.counts.total and name != CONNECT
    }
    nearest = min(distances, key=lambda name: distances[name], default=None)
    return CROSSCHECK if nearest == ANOTHER_GENERATOR else nearest
