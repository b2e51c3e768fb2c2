"""The study's charts: throughput and concurrency performance over users, pi over time. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tollgate.report.pages.kit.charts import Axis, Chart, Series
from tollgate.report.pages.study.series import Answers
from tollgate.report.table import Column, Table, numeric
from tollgate.study.model import Curve, StudyResult
from tollgate.study.words import interval, number, users

#: What is drawn of a point, with its name.
_METRICS = {"throughput": "requests/s", "concurrency_performance": "concurrency performance"}
_PALETTE = 4


def over_users(study: StudyResult, metric: str) -> list[Chart]:
    """One of _METRICS over users, a chart an experiment."""
    experiments = dict.fromkeys(curve.experiment for curve in study.curves)
    return [_over_users(study, name, metric) for name in experiments]


def answers(arms: Sequence[Answers]) -> list[Chart]:
    """Each answer of pi when it came, a chart an arm, all on the same scales."""
    answered = [each for each in arms if len(each.seconds)]
    if not answered:
        return []
    longest = max(float(each.seconds.max()) for each in answered)
    slowest = max(float(each.elapsed_ms.max()) for each in answered)
    return [_cloud(each, index, longest, slowest) for index, each in enumerate(answered)]


def _over_users(study: StudyResult, experiment: str, metric: str) -> Chart:
    curves = [curve for curve in study.curves if curve.experiment == experiment]
    ticks = sorted({float(point.users) for curve in curves for point in curve.points})
    return Chart(
        title=experiment,
        summary=_summary(curves, metric),
        x=Axis("users", log=True, ticks=tuple(ticks)),
        y=Axis(_METRICS[metric]),
        series=tuple(_measured(curve, index, metric) for index, curve in enumerate(curves)),
        numbers=_numbers(experiment, curves, metric),
        levels=(1.0,) if metric == "concurrency_performance" else (),
    )


def _summary(curves: Sequence[Curve], metric: str) -> str:
    """What the chart's right end says: `At 50 users: fork 2,130, cluster 3,690.`"""
    most = max(point.users for curve in curves for point in curve.points)
    ends = ((curve.arm, curve.points[-1]) for curve in curves)
    reached = [(arm, getattr(point, metric)) for arm, point in ends if point.users == most]
    values = [f"{arm} {number(estimate.value)}" for arm, estimate in reached]
    return f"At {users(most)}: {', '.join(values)}."


def _measured(curve: Curve, index: int, metric: str) -> Series:
    estimates = [getattr(point, metric) for point in curve.points]
    return Series(
        label=curve.arm,
        x=[point.users for point in curve.points],
        y=[it.value for it in estimates],
        low=[it.low for it in estimates],
        high=[it.high for it in estimates],
        draw="joined",
        colour=index % _PALETTE,
    )


def _numbers(experiment: str, curves: Sequence[Curve], metric: str) -> Table:
    rows = []
    for curve in curves:
        for point in curve.points:
            estimate = getattr(point, metric)
            ends = interval(estimate) or estimate.note or "-"
            rows.append((curve.arm, users(point.users), number(estimate.value), ends))
    what = _METRICS[metric]
    columns = (Column("arm"), Column("users"), *numeric(what, "95 % interval"))
    return Table(f"{experiment}: {what}", columns, rows, is_grouped=True)


def _cloud(arm: Answers, index: int, longest: float, slowest: float) -> Chart:
    ms = arm.elapsed_ms
    seconds = ms / 1000
    p50, p95 = np.percentile(ms, (50, 95))
    failed = int(arm.failed.sum())
    rows = [
        ("answers", f"{len(ms):,}"),
        ("failed", f"{failed:,}"),
        ("fastest, ms", number(float(ms.min()))),
        ("median, ms", number(float(p50))),
        ("p95, ms", number(float(p95))),
        ("slowest, ms", number(float(ms.max()))),
    ]
    shown = f"{arm.rounds} of {arm.of_rounds} rounds laid over each other"
    return Chart(
        title=arm.arm,
        summary=f"{len(ms):,} answers of {shown}; the slowest took {number(max(seconds))} s.",
        x=Axis("seconds since the block began", low=0.0, high=longest * 1.03),
        y=Axis("response time, s", high=slowest / 1000),
        series=(
            Series("answers", arm.seconds.tolist(), seconds.tolist(), draw="dots", colour=index),
        ),
        numbers=Table(f"pi, {arm.arm}", (Column("what"), *numeric("value")), rows),
        zoom=True,
    )
