"""A study as study.json, which study.schema.json describes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tollgate.outputs.junit import finite
from tollgate.study import (
    CellResult,
    Check,
    Claim,
    Comparison,
    Curve,
    Estimate,
    ScalingPoint,
    Study,
    StudyRun,
)

#: Raised when a field goes or changes its meaning. 2: a curve has no `usl` any more.
VERSION = 2


@dataclass(frozen=True)
class About:
    """What a study holds for. started: of the run, ISO 8601; environment: as in run.json."""

    started: str
    environment: Mapping[str, Any]
    how: StudyRun


def to_dict(study: Study, about: About) -> dict[str, Any]:
    """The content of study.json; numbers that can't be told are null."""
    return finite(
        {
            "version": VERSION,
            "started": about.started,
            "design": asdict(about.how),
            "environment": dict(about.environment),
            "cores": study.cores,
            "claims": [_claim(claim) for claim in study.claims],
            "cells": [_cell(result) for result in study.cells],
            "comparisons": [_comparison(each) for each in study.comparisons],
            "curves": [_curve(curve) for curve in study.curves],
            "checks": [_check(check) for check in study.checks],
            "outages": [dict(outage) for outage in study.outages],
            "notes": list(study.notes),
        }
    )


def _estimate(found: Estimate) -> dict[str, Any]:
    """The interval is null without any end, and has a null for the one that can't be told."""
    ends = [found.low, found.high]
    return {
        "value": found.value,
        "interval": None if ends == [None, None] else ends,
        "note": found.note,
    }


def _estimates(found: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: _estimate(each) for name, each in found.items()}


def _claim(claim: Claim) -> dict[str, Any]:
    return {**vars(claim), "measured": _estimate(claim.measured)}


def _cell(result: CellResult) -> dict[str, Any]:
    return {
        **asdict(result.cell),
        "blocks": result.blocks,
        "requests": result.requests,
        "failed": result.failed,
        "metrics": _estimates(result.metrics),
        "workers": dict(result.workers),
        "busiest": result.busiest,
        "cpu": dict(result.cpu),
        "bottleneck": asdict(result.bottleneck),
        "left_out": list(result.left_out),
    }


def _comparison(each: Comparison) -> dict[str, Any]:
    return {**vars(each), "ratios": _estimates(each.ratios)}


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "experiment": curve.experiment,
        "arm": curve.arm,
        "points": [_point(point) for point in curve.points],
    }


def _point(point: ScalingPoint) -> dict[str, Any]:
    return {
        "users": point.users,
        "throughput": _estimate(point.throughput),
        "concurrency_performance": _estimate(point.concurrency_performance),
    }


def _check(check: Check) -> dict[str, Any]:
    return {**vars(check), "ratios": _estimates(check.ratios)}
