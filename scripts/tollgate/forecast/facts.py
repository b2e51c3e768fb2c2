"""What was sent in each step of a forecast: exact counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from tollgate.forecast.model import Followed, ForecastFacts, LoadStep, StepFacts
from tollgate.samples.requests import step_counts
from tollgate.samples.store import Store

#: So many points are more than a screen is wide: 24 s for each of a day, 48 s of two days.
MOST_POINTS = 3600


def forecast_facts(
    source: Store | str | Path,
    followed: Followed,
    origin_ms: int,
    ended_s: float | None = None,
    parents: Collection[str] = (),
) -> ForecastFacts:
    """The samples beside the forecast that they were to follow.

    origin_ms: the zero of the steps' seconds, JMeter's own start, in epoch milliseconds. ended_s:
    when the load was cut short, in seconds since then; steps that end later count as not reached.
    Samples are counted by their actual start, whatever their label, in [from_s, to_s) of a step;
    rows of Transaction Controllers, which add up other rows, are not, nor are followers, but for
    parent samples, which stand in the place of those: `parents` are their labels. Raises JtlError.
    """
    steps = followed.steps
    borders = [_ms(step.from_s) for step in steps] + [_ms(steps[-1].to_s)]
    reached_s = math.inf if ended_s is None else ended_s
    end = min(borders[-1], max(borders[0], _ms(min(reached_s, steps[-1].to_s))))
    size = 1000 * max(1, math.ceil((borders[-1] - borders[0]) / 1000 / MOST_POINTS))
    edges = [*range(borders[0], end, size), end]
    labels, at_ms, n = step_counts(source, origin_ms, sorted({*borders, end}), size, parents)
    if followed.followers:
        n = n * np.array([label not in followed.followers for label in labels])
    sent: list[Counter[str]] = [Counter() for _ in steps]
    for label, step, count in zip(labels, _place(borders, at_ms), n, strict=True):
        if 0 <= step < len(steps) and label not in followed.followers:
            sent[step][label] += int(count)
    return ForecastFacts(
        path=followed.path,
        factor=followed.factor,
        scale=followed.scale,
        steps=tuple(
            StepFacts(step, dict(sorted(counts.items())), step.to_s <= reached_s)
            for step, counts in zip(steps, sent, strict=True)
        ),
        resolution_s=size / 1000,
        timeline=_timeline(steps, edges, at_ms, n),
    )


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _place(edges: Sequence[int], at_ms: np.ndarray) -> np.ndarray:
    """In which piece each moment lies: -1 before the first, len(edges) - 1 behind the last."""
    return np.searchsorted(edges, at_ms, side="right") - 1


def _timeline(
    steps: Sequence[LoadStep], edges: Sequence[int], at_ms: np.ndarray, n: np.ndarray
) -> tuple[tuple[float, float], ...]:
    """(forecast, sent) per second between each two edges, which are milliseconds."""
    if len(edges) < 2:
        return ()
    lengths = np.diff(edges) / 1000
    moments = [steps[0].from_s, *(step.to_s for step in steps)]
    asked = np.cumsum([0.0, *(step.tps * (step.to_s - step.from_s) for step in steps)])
    forecast = np.diff(np.interp(np.array(edges) / 1000, moments, asked)) / lengths
    place = _place(edges, at_ms)
    inside = (place >= 0) & (place < len(lengths))
    sent = np.bincount(place[inside], weights=n[inside], minlength=len(lengths)) / lengths
    return tuple(zip(forecast.round(6).tolist(), sent.round(6).tolist(), strict=True))
