"""Whether a run kept to its forecast: of each step, each target and all requests. Pure.

A part is missed when the whole confidence interval of what was sent lies outside the forecast plus
or minus the tolerance. The interval takes what was sent as one draw from a Poisson distribution
(F. Garwood, "Fiducial limits for the Poisson distribution", Biometrika 28, 1936), made so wide that
all intervals of a run hold together (Bonferroni): of 24 steps at 95 % each, one would be missed in
most honest runs.

Tollgate's own schedule draws an exact number for each step, which scatters less than that. Poisson
noise is allowed for all the same. Requests are counted where they started, so that late ones cross
borders; and the check must be fair to plans with arrivals of another kind, of which a Poisson
stream is the field's model for visitors who don't know of one another. So a short step of few
requests is only missed when it is grossly wrong. What the check lacks there the total makes up for,
and the schedule, by which single unsent requests are counted (judge/validity.py).

One request beside the forecast is always allowed: requests are whole, and a late one must not break
a step for which the forecast asks for none.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from tollgate.forecast.model import (
    ForecastFacts,
    ForecastResult,
    PartResult,
    StepFacts,
    StepResult,
    TargetResult,
    Timeline,
)
from tollgate.stats.intervals import poisson_interval

HELD: Final = "held"
MISSED: Final = "missed"
NOT_REACHED: Final = "not reached"
#: Of requests; see above.
ALWAYS_ALLOWED = 1.0


def check_forecast(facts: ForecastFacts, tolerance: float, confidence: float) -> ForecastResult:
    """Judge all parts. tolerance: a share of the forecast. confidence: of all intervals together.

    The targets are those of the forecast, and any other label that was sent. Steps that the run
    did not reach are left out of the targets and of the total: that it was cut short is judged
    elsewhere, and is not the forecast's matter.
    """
    reached = [each for each in facts.steps if each.reached]
    expected: dict[str, float] = {}
    sent: Counter[str] = Counter()
    for each in reached:
        for name, share in each.step.shares.items():
            expected[name] = expected.get(name, 0) + each.forecast * share
        sent.update(each.sent_by_label)
    names = [*expected, *(name for name in sent if name not in expected)]
    error_rate = (1 - confidence) / max(1, len(reached) + len(names) + 1)

    def part(forecast: float, count: int, is_reached: bool) -> PartResult:
        rounded = round(forecast, 6)
        if not is_reached:
            return PartResult(rounded, count, None, None, NOT_REACHED)
        low, high = poisson_interval(count, error_rate)
        allowed = max(tolerance * forecast, ALWAYS_ALLOWED)
        missed = high < forecast - allowed or low > forecast + allowed
        error = 100 * (count / forecast - 1) if forecast else None
        return PartResult(rounded, count, error, (low, high), MISSED if missed else HELD)

    first = facts.steps[0].step
    return ForecastResult(
        file=facts.path,
        factor=facts.factor,
        scale=facts.scale,
        tolerance=tolerance,
        confidence=confidence,
        step_s=round(first.to_s - first.from_s, 3),
        steps=tuple(_step(it, part(it.forecast, it.sent, it.reached)) for it in facts.steps),
        targets=tuple(
            TargetResult(**vars(part(expected.get(name, 0), sent[name], True)), name=name)
            for name in names
        ),
        total=part(math.fsum(expected.values()), sum(sent.values()), bool(reached)),
        timeline=Timeline(
            facts.resolution_s,
            forecast=tuple(it for it, _ in facts.timeline),
            sent=tuple(it for _, it in facts.timeline),
        ),
    )


def _step(facts: StepFacts, part: PartResult) -> StepResult:
    step = facts.step
    return StepResult(
        **vars(part),
        name=step.name,
        from_s=step.from_s,
        to_s=step.to_s,
        forecast_tps=step.tps,
        # The length of a step in which the run was cut short is not that of its load.
        sent_tps=facts.sent / (step.to_s - step.from_s) if facts.reached else None,
    )
