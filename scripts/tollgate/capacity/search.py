"""What to send next, and what the trials of a search say. Deterministic: `tollgate judge` replays it.

Rates are doubled until the limits fail. Between there and the last rate that kept them the next
rates are drawn from what the trials so far leave possible, and at the end a minute is sent at the
low end of the interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tollgate.capacity.model import TRUSTED, Ask, Point, Purpose, Result, Settings, Status, Trial
from tollgate.capacity.posterior import Posterior, posterior

#: Seconds of a trial of the generator, its first rate, and the highest one that is asked for.
CEILING_S, CEILING_START, CEILING_MOST = 3.0, 100.0, 6400.0
#: Between the generator's ceiling and what it is trusted with lies room to see the limits fail.
HIGHEST = 0.95
#: Trials at the slowest rate, or at one that the generator does not keep, before it is believed.
TRIES = 2
#: Each fourth trial is at the same rate.
ANCHOR_EVERY = 4
#: A critical rate is looked for from below the last rate of the bracket that kept the limits to
#: above the first that didn't, and farther where that ends at an edge with this probability.
BELOW, ABOVE, EDGE, FARTHER = 1.5, 1.25, 0.06, 1.6
#: In ln(rate): how far above the critical rate a search asks, at most.
HIGHEST_SHIFT = 0.12
#: Of searching trials that are sound, for an interval.
FEWEST = 6
#: A half-width above which there is no answer.
WIDEST = 0.25
CONFIDENCE = 0.95
#: A generator that sends less than this share of what is asked has found its ceiling.
SENDS = 0.95


def next_ceiling_ask(trials: Sequence[Trial]) -> Ask | None:
    """What to send next to a server that does nothing; None when the ceiling is known.

    The rate doubles until a trial is not sound or sends less than it was asked for; one more trial
    lies between the last two. trials: those of the ceiling alone.
    """
    number = len(trials) + 1
    if not trials:
        return Ask(1, "ceiling", CEILING_START, CEILING_S)
    kept = [each for each in trials if _was_sent(each)]
    failed = [each for each in trials if not _was_sent(each)]
    if not failed:
        highest = kept[-1].ask.rate
        return None if highest >= CEILING_MOST else Ask(number, "ceiling", 2 * highest, CEILING_S)
    if len(failed) > 1 or not kept or kept[-1].ask.number > failed[0].ask.number:
        return None
    between = (kept[-1].ask.rate * failed[0].ask.rate) ** 0.5
    return Ask(number, "ceiling", between, CEILING_S)


def ceiling_of(trials: Sequence[Trial]) -> float:
    """The highest rate that the generator really sent in a sound trial, in arrivals a second; 0
    where there was none."""
    return max((each.achieved for each in trials if _was_sent(each)), default=0.0)


def _was_sent(trial: Trial) -> bool:
    return trial.sound and trial.achieved >= SENDS * trial.ask.rate


def next_ask(settings: Settings, ceiling: float, trials: Sequence[Trial]) -> Ask | None:
    """What to send next to the service; None when there is nothing more to ask.

    ceiling: the generator's own, see `ceiling_of`. trials: all of this search so far, in order,
    without those of the ceiling.
    """
    trials, number = tuple(trials), len(trials) + 1
    if trials and trials[-1].ask.purpose == "holdout":
        return None
    rate = _bracket_rate(settings, ceiling, trials)
    if rate is not None:
        fits = _left_s(settings, trials) >= settings.bracket_s + settings.drain_s
        return Ask(number, "bracket", rate, settings.bracket_s) if fits else None
    if _end_of_bracket(settings, ceiling, trials):
        return None
    if _left_s(settings, trials) < settings.trial_s + settings.drain_s:
        return _holdout(settings, ceiling, trials)
    purpose, rate = _search_rate(settings, ceiling, trials)
    return Ask(number, purpose, rate, settings.trial_s)


def _left_s(settings: Settings, trials: Sequence[Trial]) -> float:
    """Seconds that are left for searching."""
    ends = [each.began_s + each.ask.seconds + settings.drain_s for each in trials]
    holdout_s = settings.holdout_s + settings.drain_s
    return settings.budget_s - holdout_s - max(ends, default=0.0)


def _bracket_rate(settings: Settings, ceiling: float, trials: Sequence[Trial]) -> float | None:
    """The next rate of the bracket; None when it has ended."""
    top = TRUSTED * ceiling
    if not trials:
        return min(settings.start_rate, top) if top >= settings.least_rate else None
    bracket = [each for each in trials if each.ask.purpose == "bracket"]
    if len(bracket) < len(trials) or _end_of_bracket(settings, ceiling, bracket):
        return None
    last = bracket[-1]
    if not last.sound:
        return last.ask.rate
    fails = [each.ask.rate for each in bracket if each.sound and not each.keeps(settings.limits)]
    passes = [each.ask.rate for each in bracket if each.sound and each.keeps(settings.limits)]
    if fails and passes:
        return None
    if fails:
        return max(min(fails) / 2, settings.least_rate)
    return min(2 * max(passes), top)


def _end_of_bracket(
    settings: Settings, ceiling: float, trials: Sequence[Trial]
) -> tuple[Status, str] | None:
    """What the bracket alone says, if it does: status and reason."""
    bracket = [each for each in trials if each.ask.purpose == "bracket"]
    if TRUSTED * ceiling < settings.least_rate:
        reason = f"the generator reaches {ceiling:.3g}/s, less than the {settings.least_rate:g}/s"
        return "generator", f"{reason} of the slowest trial"
    sound = [it for it in bracket if it.sound]
    at_least = [it for it in sound if it.ask.rate <= settings.least_rate]
    if len(at_least) >= TRIES and not any(it.keeps(settings.limits) for it in sound):
        return "below", f"the limits fail at {settings.least_rate:g}/s"
    at_top = [it for it in sound if it.ask.rate >= TRUSTED * ceiling]
    if at_top and all(it.keeps(settings.limits) for it in sound):
        reason = f"the limits hold at {at_top[0].achieved:.4g}/s, and the generator reaches only"
        return "unsaturated", f"{reason} {ceiling:.4g}/s"
    if len(bracket) > TRIES and not any(it.sound for it in bracket[-TRIES:]):
        rate = bracket[-1].ask.rate
        return "open", f"the generator did not keep the schedule at {rate:.4g}/s"
    return None


def _search_rate(
    settings: Settings, ceiling: float, trials: tuple[Trial, ...]
) -> tuple[Purpose, float]:
    """Thompson sampling: a rate that is critical in a curve drawn from the posterior, by turns with
    one at which that curve has many answers over the limit."""
    searching = [each for each in trials if each.ask.purpose != "bracket"]
    if len(searching) % ANCHOR_EVERY == ANCHOR_EVERY - 1:
        anchors = [each.ask.rate for each in searching if each.ask.purpose == "anchor"]
        if anchors:
            return "anchor", anchors[0]
        rate = math.exp(_binding(settings, ceiling, trials).quantile(0.5))
        return "anchor", min(rate, HIGHEST * ceiling)
    random = np.random.default_rng([settings.seed, len(trials)])
    critical, shift = _binding(settings, ceiling, trials).draw(random)
    if len(searching) % 2:
        critical += min(shift, HIGHEST_SHIFT)
    rate = min(math.exp(critical), HIGHEST * ceiling)
    return "search", max(rate, settings.least_rate)


def _binding(settings: Settings, ceiling: float, trials: tuple[Trial, ...]) -> Posterior:
    """The posterior of the limit that fails first."""
    over = [sum(each.over[place] for each in trials) for place in range(len(settings.limits))]
    found = [
        _posterior(settings, ceiling, trials, place)
        for place, limit in enumerate(settings.limits)
        if over[place] or (limit.subject != "fail" and any(each.grew for each in trials))
    ]
    return min(found, key=lambda each: each.quantile(0.5))


def _posterior(
    settings: Settings, ceiling: float, trials: tuple[Trial, ...], limit: int
) -> Posterior:
    """On a grid that is as wide as it needs to be."""
    bracket = [it for it in trials if it.ask.purpose == "bracket" and it.sound]
    low = max(it.achieved for it in bracket if it.keeps(settings.limits)) / BELOW
    high = min(it.achieved for it in bracket if not it.keeps(settings.limits)) * ABOVE
    while True:
        found = posterior(settings, limit, low, high, trials)
        critical = found.critical
        if critical[:3].sum() > EDGE and low > settings.least_rate / 2:
            low /= FARTHER
        elif critical[-3:].sum() > EDGE and high < 2 * ceiling:
            high *= FARTHER
        else:
            return found


def _finer(settings: Settings, trials: tuple[Trial, ...], ceiling: float) -> Posterior:
    """The binding limit's posterior on a grid of the rates alone that it leaves possible."""
    over = [
        place
        for place, limit in enumerate(settings.limits)
        if any(each.over[place] for each in trials)
        or (limit.subject != "fail" and any(each.grew for each in trials))
    ]
    found = []
    for place in over:
        coarse = _posterior(settings, ceiling, trials, place)
        step = coarse.x[1] - coarse.x[0]
        low, high = coarse.quantile(0.001) - 2 * step, coarse.quantile(0.999) + 2 * step
        found.append(posterior(settings, place, math.exp(low), math.exp(high), trials))
    return min(found, key=lambda each: each.quantile(0.5))


def _holdout(settings: Settings, ceiling: float, trials: tuple[Trial, ...]) -> Ask | None:
    found = _interval(settings, ceiling, trials)
    if found.low is None or found.status == "generator":
        return None
    return Ask(len(trials) + 1, "holdout", found.low, settings.holdout_s)


def result(settings: Settings, ceiling: float, trials: Sequence[Trial]) -> Result:
    """What the trials say, also of a search that was cut short. Arguments: see `next_ask`."""
    trials = tuple(trials)
    early = _end_of_bracket(settings, ceiling, trials)
    found = Result(*early) if early else _interval(settings, ceiling, trials)
    return replace(found, **_ends(settings, trials))


def _interval(settings: Settings, ceiling: float, trials: tuple[Trial, ...]) -> Result:
    # A minute that keeps the limits was sought; one that doesn't is news.
    told = tuple(
        it for it in trials if it.ask.purpose != "holdout" or not it.keeps(settings.limits)
    )
    sound = [it for it in trials if it.sound and it.ask.purpose in ("search", "anchor")]
    if len(sound) < FEWEST:
        return Result("open", f"{len(sound)} sound trials, and an interval needs {FEWEST}")
    found = _finer(settings, told, ceiling)
    tail = (1 - CONFIDENCE) / 2
    low, middle, high = (math.exp(found.quantile(it)) for it in (tail, 0.5, 1 - tail))
    # No end lies within a gap that no trial has entered, such as that at a cliff.
    passes = [it.achieved for it in sound if it.keeps(settings.limits) and it.achieved < middle]
    fails = [it.achieved for it in sound if not it.keeps(settings.limits) and it.achieved > middle]
    low, high = min(low, max(passes, default=low)), max(high, min(fails, default=high))
    holdouts = [it for it in trials if it.ask.purpose == "holdout"]
    last = holdouts[-1] if holdouts else None
    drift = math.expm1(found.drift)
    answer = {"estimate": middle, "low": low, "high": high, "drift": drift, "holdout": last}
    status, reason = _status(settings, ceiling, middle, (high - low) / 2 / middle, last)
    return Result(status, reason, **answer)


def _status(settings, ceiling, estimate, half_width, holdout):
    if estimate > TRUSTED * ceiling:
        reason = f"{estimate:.4g}/s lies within a fifth of the {ceiling:.4g}/s that the generator"
        return "generator", f"{reason} reaches: this is the generator, not the service"
    if half_width > WIDEST:
        return "open", f"the interval is {half_width:.0%} to either side, more than {WIDEST:.0%}"
    if holdout is None:
        return "open", "the search ended before the minute that tries its answer"
    if not holdout.sound:
        return "open", "the generator did not keep the schedule of the last minute"
    if not holdout.keeps(settings.limits):
        return "open", f"the last minute, at {holdout.achieved:.4g}/s, did not keep the limits"
    return "found", ""


def _ends(settings: Settings, trials: Sequence[Trial]) -> dict:
    sound = [it for it in trials if it.sound]
    passes = [it.achieved for it in sound if it.keeps(settings.limits)]
    fails = [it.achieved for it in sound if not it.keeps(settings.limits)]
    return {
        "last_pass": max(passes, default=None),
        "first_fail": min(fails, default=None),
        "curves": _curves(sound),
    }


#: Neighbouring trials of a point of a curve: the median of all that they could have been lies
#: between their smallest and largest in 1 - 2 / 2**5 = 94 % of cases.
NEIGHBOURS = 5


def _curves(trials: Sequence[Trial]) -> dict[str, tuple[Point, ...]]:
    ordered = sorted(trials, key=lambda each: each.achieved)
    groups = [ordered[at : at + NEIGHBOURS] for at in range(len(ordered) - NEIGHBOURS + 1)]
    return {
        name: tuple(
            Point(
                float(np.median([each.achieved for each in group])),
                *(float(it) for it in np.quantile([getattr(each, f"{name}_ms") for each in group], (0.5, 0, 1))),
            )
            for group in groups
        )
        for name in ("p50", "p95", "p99")
    }
