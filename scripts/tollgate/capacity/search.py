"""What to send next. The same trials lead to the same ask, so that a search can be replayed.

Rates are doubled until the limits fail. Between there and the last rate that kept them the next
rates are drawn from what the trials so far leave possible (W. Thompson 1933), which also puts them
in an order that a slow minute cannot bias, and at the end a minute is sent just below the interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tollgate.capacity.answer import critical, end_of_bracket, interval
from tollgate.capacity.model import TRUSTED, Ask, CapacitySettings, Purpose, Trial

#: Seconds of a trial of the generator, its first rate, and the highest one that is asked for.
CEILING_S, CEILING_START, CEILING_MOST = 3.0, 100.0, 6400.0
#: A generator that sends less than this share of what is asked has found its ceiling.
SENDS = 0.95
#: Of the generator's ceiling: the most that is asked, to see limits fail that hold at TRUSTED.
HIGHEST = 0.95
#: Each fourth trial is at the same rate.
ANCHOR_EVERY = 4
#: How likely the critical rate is to lie below that of the last minute. This is less than the tail
#: of the interval, as a minute some percent below the capacity fails now and then.
HOLDOUT = 0.003
#: A trial in which so many arrivals wait, in seconds of its rate and in multiples of the limit, or
#: in which so large a share failed, is lost: the rest of it is not sent. So many at least.
WAITING_S, WAITING_LIMITS, FAILED, LEAST_LOST = 1.0, 4.0, 0.2, 20
#: In ln(rate): how far above the critical rate a search asks, at most.
HIGHEST_SHIFT = 0.12


def next_ceiling_ask(trials: Sequence[Trial]) -> Ask | None:
    """What to send next to a server that does nothing; None when the ceiling is known.

    The rate doubles until a trial is not sound or sends less than it was asked for; one more trial
    lies between the last two. trials: those of the ceiling alone.
    """
    number = len(trials) + 1
    if not trials:
        return Ask(1, "ceiling", CEILING_START, CEILING_S)
    kept = [each.ask.rate for each in trials if _was_sent(each)]
    failed = [each.ask.rate for each in trials if not _was_sent(each)]
    if not failed:
        more = 2 * kept[-1]
        return Ask(number, "ceiling", more, CEILING_S) if more <= CEILING_MOST else None
    if not kept or _was_sent(trials[-1]) or len(failed) > 1:
        return None
    return Ask(number, "ceiling", math.sqrt(kept[-1] * failed[0]), CEILING_S)


def ceiling_of(trials: Sequence[Trial]) -> float:
    """The highest rate that the generator really sent in a sound trial, in arrivals a second; 0
    where there was none."""
    return max((each.achieved for each in trials if _was_sent(each)), default=0.0)


def most_lost(
    settings: CapacitySettings, rate: float, count: int, pause_s: float
) -> tuple[float, float]:
    """How many arrivals of a trial of so many may wait, and how many fail: with more of either the
    rest need not be sent. pause_s: of what an arrival sends, which the service does not need."""
    longest_s = max((it.threshold or 0 for it in settings.limits), default=0) / 1000
    waiting = rate * (max(WAITING_S, WAITING_LIMITS * longest_s) + pause_s)
    allowed = max((it.share for it in settings.limits if it.threshold is None), default=0)
    return max(LEAST_LOST, waiting), max(LEAST_LOST, (FAILED + allowed) * count)


def _was_sent(trial: Trial) -> bool:
    return trial.sound and trial.achieved >= SENDS * trial.ask.rate


def next_ask(settings: CapacitySettings, ceiling: float, trials: Sequence[Trial]) -> Ask | None:
    """What to send next to the service; None when there is nothing more to ask.

    ceiling: the generator's own, see `ceiling_of`. trials: all of this search so far, in order,
    without those of the ceiling.
    """
    trials, number = tuple(trials), len(trials) + 1
    if end_of_bracket(settings, ceiling, trials):
        return None
    if trials and trials[-1].ask.purpose == "holdout":
        return None
    left_s = _left_s(settings, trials)
    rate = _bracket_rate(settings, ceiling, trials)
    if rate is not None:
        fits = left_s >= settings.bracket_s + settings.drain_s
        return Ask(number, "bracket", rate, settings.bracket_s) if fits else None
    if left_s >= settings.trial_s + settings.drain_s:
        purpose, rate = _search(settings, ceiling, trials)
        return Ask(number, purpose, rate, settings.trial_s)
    answer = interval(settings, ceiling, trials)
    if answer.low is None or answer.status == "generator":
        return None
    rate = math.exp(critical(settings, ceiling, trials).quantile(HOLDOUT))
    return Ask(number, "holdout", min(rate, answer.low), settings.holdout_s)


def _left_s(settings: CapacitySettings, trials: Sequence[Trial]) -> float:
    """Seconds that are left for searching."""
    ends = [each.began_s + each.ask.seconds + settings.drain_s for each in trials]
    holdout_s = settings.holdout_s + settings.drain_s
    return settings.budget_s - holdout_s - max(ends, default=0.0)


def _bracket_rate(
    settings: CapacitySettings, ceiling: float, trials: Sequence[Trial]
) -> float | None:
    """The next rate of the bracket; None when it has ended."""
    if not trials:
        return min(settings.start_rate, TRUSTED * ceiling)
    if trials[-1].ask.purpose != "bracket":
        return None
    if not trials[-1].sound:
        return trials[-1].ask.rate
    sound = [each for each in trials if each.sound]
    passes = [each.ask.rate for each in sound if each.keeps(settings.limits)]
    fails = [each.ask.rate for each in sound if not each.keeps(settings.limits)]
    if passes and fails:
        return None
    if fails:
        return max(min(fails) / 2, settings.least_rate)
    return min(2 * max(passes), TRUSTED * ceiling)


def _search(
    settings: CapacitySettings, ceiling: float, trials: tuple[Trial, ...]
) -> tuple[Purpose, float]:
    """Purpose and rate: that which is critical in a curve drawn from the posterior, by turns with
    one at which that curve has many answers over the limit, and each fourth the anchor."""
    searching = [each for each in trials if each.ask.purpose != "bracket"]
    posterior = critical(settings, ceiling, trials)
    if len(searching) % ANCHOR_EVERY == ANCHOR_EVERY - 1:
        anchors = [each.ask.rate for each in searching if each.ask.purpose == "anchor"]
        rate = anchors[0] if anchors else math.exp(posterior.quantile(0.5))
        return "anchor", min(rate, HIGHEST * ceiling)
    at, shift = posterior.draw(np.random.default_rng([settings.seed, len(trials)]))
    if len(searching) % 2:
        at += min(shift, HIGHEST_SHIFT)
    return "search", max(min(math.exp(at), HIGHEST * ceiling), settings.least_rate)
