"""What the trials of a search say: the interval, its status, and the curves for the picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tollgate.capacity.model import (
    FEWEST,
    TRUSTED,
    CapacitySettings,
    CurvePoint,
    Result,
    Status,
    Trial,
)
from tollgate.capacity.posterior import Posterior, counted, posterior

CONFIDENCE = 0.95
#: A half-width above which there is no answer.
WIDEST = 0.25
#: A critical rate is looked for from below the last rate of the bracket that kept the limits to
#: above the first that didn't, and farther where an edge of this is as likely as EDGE.
BELOW, ABOVE, EDGE, FARTHER = 1.5, 1.25, 0.06, 1.6
_EDGE_CELLS = 3
#: Trials at the slowest rate, or at one that the generator does not keep, before they are believed.
TRIES = 2
#: Neighbouring trials of a point of a curve: the median of all that they could have been lies
#: between their smallest and largest in 1 - 2 / 2**5 = 94 % of cases.
NEIGHBOURS = 5


def result(settings: CapacitySettings, ceiling: float, trials: Sequence[Trial]) -> Result:
    """What the trials say, also of a search that was cut short. Arguments: see `next_ask`."""
    trials = tuple(trials)
    early = end_of_bracket(settings, ceiling, trials)
    answer = Result(*early) if early else interval(settings, ceiling, trials)
    sound = [each for each in trials if each.sound]
    passes = [each.achieved for each in sound if each.keeps(settings.limits)]
    fails = [each.achieved for each in sound if not each.keeps(settings.limits)]
    last_pass, first_fail = max(passes, default=None), min(fails, default=None)
    return replace(answer, last_pass=last_pass, first_fail=first_fail, curves=_curves(sound))


def end_of_bracket(
    settings: CapacitySettings, ceiling: float, trials: Sequence[Trial]
) -> tuple[Status, str] | None:
    """What the bracket alone says, if it does: status and reason."""
    bracket = [each for each in trials if each.ask.purpose == "bracket"]
    sound = [each for each in bracket if each.sound]
    keeps = [each.keeps(settings.limits) for each in sound]
    if TRUSTED * ceiling < settings.least_rate:
        reason = f"the generator reaches {ceiling:.3g}/s, less than the {settings.least_rate:g}/s"
        return "generator", f"{reason} of the slowest trial, with a fifth to spare"
    slowest = [each for each in sound if each.ask.rate <= settings.least_rate]
    if len(slowest) >= TRIES and not any(keeps):
        return "below", f"the limits fail at {settings.least_rate:g}/s"
    if keeps and all(keeps) and sound[-1].ask.rate >= TRUSTED * ceiling:
        reason = f"the limits hold at {sound[-1].achieved:.4g}/s, and the generator reaches only"
        return "unsaturated", f"{reason} {ceiling:.4g}/s"
    if len(bracket) > TRIES and not any(each.sound for each in bracket[-TRIES:]):
        rate = bracket[-1].ask.rate
        return "open", f"the generator did not keep the schedule at {rate:.4g}/s"
    return None


def interval(settings: CapacitySettings, ceiling: float, trials: tuple[Trial, ...]) -> Result:
    """Estimate, interval and status of a search whose bracket has ended."""
    sound = [it for it in trials if it.sound and it.ask.purpose in ("search", "anchor")]
    if len(sound) < FEWEST:
        return Result("open", f"{len(sound)} sound trials, and an interval needs {FEWEST}")
    fine = critical(settings, ceiling, trials, is_fine=True)
    tail = (1 - CONFIDENCE) / 2
    low, middle, high = (math.exp(fine.quantile(it)) for it in (tail, 0.5, 1 - tail))
    # No end lies within a gap that no trial has entered, such as that at a cliff.
    passes = [it.achieved for it in sound if it.keeps(settings.limits) and it.achieved < middle]
    fails = [it.achieved for it in sound if not it.keeps(settings.limits) and it.achieved > middle]
    low, high = min(low, max(passes, default=low)), max(high, min(fails, default=high))
    holdouts = [it for it in trials if it.ask.purpose == "holdout"]
    last = holdouts[-1] if holdouts else None
    status, reason = _status(settings, ceiling, (low, middle, high), last)
    return Result(status, reason, middle, low, high, math.expm1(fine.drift), last)


def _status(
    settings: CapacitySettings,
    ceiling: float,
    estimate: tuple[float, float, float],
    holdout: Trial | None,
) -> tuple[Status, str]:
    low, middle, high = estimate
    width = (high - low) / 2 / middle
    if middle > TRUSTED * ceiling:
        reason = f"{middle:.4g}/s lies within a fifth of the {ceiling:.4g}/s that the generator"
        return "generator", f"{reason} reaches: this is the generator, not the service"
    if width > WIDEST:
        return "open", f"the interval is {width:.0%} to either side, more than {WIDEST:.0%}"
    if holdout is None:
        return "open", "the search ended before the minute that tries its answer"
    if not holdout.sound:
        return "open", "the generator did not keep the schedule of the last minute"
    if not holdout.keeps(settings.limits):
        return "open", f"the last minute, at {holdout.achieved:.4g}/s, did not keep the limits"
    return "found", ""


def critical(
    settings: CapacitySettings, ceiling: float, trials: tuple[Trial, ...], is_fine: bool = False
) -> Posterior:
    """What is known of the critical rate of the limit that fails first, on a coarse grid or a fine
    one. A limit that no answer was over says nothing."""
    limits = range(len(settings.limits))
    places = [it for it in limits if any(counted(settings, it, each) != 0 for each in trials)]
    posteriors = [_on_grid(settings, ceiling, trials, place, is_fine) for place in places]
    return min(posteriors, key=lambda each: each.quantile(0.5))


def _on_grid(
    settings: CapacitySettings, ceiling: float, trials: tuple[Trial, ...], limit: int, is_fine: bool
) -> Posterior:
    """On a grid as wide as it needs to be, or on a finer one of what that leaves possible."""
    bracket = [it for it in trials if it.ask.purpose == "bracket" and it.sound]
    low = max(it.achieved for it in bracket if it.keeps(settings.limits)) / BELOW
    high = min(it.achieved for it in bracket if not it.keeps(settings.limits)) * ABOVE
    while True:
        grid = posterior(settings, limit, low, high, trials)
        at = grid.critical
        if at[:_EDGE_CELLS].sum() > EDGE and low > settings.least_rate / 2:
            low /= FARTHER
        elif at[-_EDGE_CELLS:].sum() > EDGE and high < 2 * ceiling:
            high *= FARTHER
        else:
            break
    if not is_fine:
        return grid
    room = 2 * (grid.x[1] - grid.x[0])
    low, high = (math.exp(grid.quantile(it) + by) for it, by in ((0.001, -room), (0.999, room)))
    return posterior(settings, limit, low, high, trials)


def _curves(trials: Sequence[Trial]) -> dict[str, tuple[CurvePoint, ...]]:
    ordered = sorted(trials, key=lambda each: each.achieved)
    groups = [ordered[at : at + NEIGHBOURS] for at in range(len(ordered) - NEIGHBOURS + 1)]
    return {name: tuple(_point(name, each) for each in groups) for name in ("p50", "p95", "p99")}


def _point(name: str, group: Sequence[Trial]) -> CurvePoint:
    times = [getattr(each, f"{name}_ms") for each in group]
    times = sorted(math.inf if math.isnan(each) else each for each in times)
    middle = len(group) // 2
    return CurvePoint(group[middle].achieved, times[middle], times[0], times[-1])
