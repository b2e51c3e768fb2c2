"""What trials leave possible: the critical rate, and how the share over a limit rises around it.

The share of a trial's answers over a limit is modelled against the rate that was really sent. Its
mean rises along a curve, and it varies around the mean from trial to trial by far more than a
binomial would, because the answers of a trial share a queue and a noisy machine: a beta-binomial
(J. Skellam 1948) whose correlation within a trial is one of the unknowns. The posterior of all
unknowns is held on a grid, as in the psi method of psychophysics (L. Kontsevich and C. Tyler 1999,
"Bayesian adaptive estimation of psychometric slope and threshold"; A. Watson 2017, "QUEST+"), and
two curves are averaged as in PLRsearch (M. Konstantynowicz and V. Polak 2020,
draft-vpolak-bmwg-plrsearch).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tollgate.capacity.model import Limit, Settings, Trial

Floats = NDArray[np.float64]

#: d ln(share) / d ln(rate) at the critical rate: a soft knee, queues, a cliff.
SLOPES = np.array([1.5, 2.5, 4.0, 6.5, 10.0, 25.0, 60.0, 150.0, 600.0, 4000.0])
#: Correlation of the answers of a trial.
CORRELATIONS = np.array([0.003, 0.04, 0.15, 0.35, 0.65])
#: ln(capacity at the end / at the beginning), with a normal prior of this standard deviation.
DRIFTS, DRIFT_SD = np.linspace(-0.3, 0.3, 7), 0.12
#: Of the budget: where the middle of the searching trials is.
MIDDLE = 0.45
#: A logistic curve of ln(rate), which a trial shows as a minute does; and that of a queue, see
#: `queue_share`, which begins empty in each trial.
SHAPES = ("logistic", "queue")
#: What waits for a process waits in a queue, which makes the second the likelier one beforehand.
LIKELY = np.array([0.25, 0.75])
#: Points in ln(critical rate).
CELLS = 64
#: A trial with so many times the allowed share over the limit says no more than that it has: the
#: curves are trusted near the limit alone. MOST: where this ends for lax limits.
CAP, MOST = 4.0, 0.9
#: Share over the limit, as so many times the allowed one, at which half of the searching trials
#: aim: they say how steep the curve is.
AIM = 2.5
#: From trial to trial the critical rate varies by about so much, in ln(rate): that, and how steep
#: the curve is, is what correlates the answers of a trial.
NOISE = 0.08
#: In ln(rate) from the critical rate: where the curves are tabulated.
_DISTANCE = np.concatenate([-np.geomspace(3, 0.002, 70), [0.0], np.geomspace(0.002, 3, 70)])
#: Of a mean share: where likelihoods are tabulated.
_LOGITS = np.linspace(-28, 28, 337)
#: Moments of a trial, or a minute, at which a queue is looked at.
_MOMENTS = 24


@dataclass(frozen=True)
class Posterior:
    """weights: float[CELLS, slopes, drifts, shapes, correlations], of sum 1. x: float[CELLS], ln of
    critical rates. shifts: float[slopes, shapes, correlations], how much higher in ln(rate) the
    share over the limit is AIM times the allowed one."""

    x: Floats
    weights: Floats
    shifts: Floats

    @property
    def critical(self) -> Floats:
        return self.weights.sum(axis=(1, 2, 3, 4))

    def quantile(self, level: float) -> float:
        """Of ln(critical rate)."""
        step = self.x[1] - self.x[0]
        ends = np.concatenate([[0.0], np.cumsum(self.critical)])
        return float(np.interp(level, ends, np.append(self.x - step / 2, self.x[-1] + step / 2)))

    @property
    def drift(self) -> float:
        """Its mean, in ln(rate) from the beginning to the end of the search."""
        return float(DRIFTS @ self.weights.sum(axis=(0, 1, 3, 4)))

    def draw(self, random: np.random.Generator) -> tuple[float, float]:
        """ln(critical rate), and how much higher in ln(rate) the drawn curve has AIM over."""
        ends = np.cumsum(self.weights.ravel())
        place = np.unravel_index(
            int(np.searchsorted(ends, random.random() * ends[-1])), self.weights.shape
        )
        step = self.x[1] - self.x[0]
        jitter = step * (random.random() - 0.5)
        return float(self.x[place[0]] + jitter), float(self.shifts[place[1], place[3], place[4]])


@lru_cache(maxsize=64)
def critical_means(share: float, trials: float) -> tuple[float, ...]:
    """For each of CORRELATIONS the mean share of a trial at which the mean of so many trials has
    `share` as its median: what a minute keeps half of the time.

    The mean of m betas is taken as a beta of the same mean and a correlation m times smaller.
    """
    found = []
    for correlation in CORRELATIONS / trials:
        size = (1 - correlation) / correlation
        low, high = math.log(share) - 2, 0.0
        for _ in range(40):
            middle = (low + high) / 2
            mean = math.exp(middle)
            if special.betaincinv(size * mean, size * (1 - mean), 0.5) < share:
                low = middle
            else:
                high = middle
        found.append(math.exp(high))
    return tuple(found)


def posterior(
    settings: Settings, limit: int, low: float, high: float, trials: tuple[Trial, ...]
) -> Posterior:
    """limit: its place in Settings.limits. low, high: the critical rates that are considered."""
    x = np.linspace(math.log(low), math.log(high), CELLS)
    logs = _log_posterior(settings, limit, low, high, trials)
    weights = np.exp(logs - logs.max())
    return Posterior(x, weights / weights.sum(), _shifts(settings, limit))


@lru_cache(maxsize=16)
def _log_posterior(
    settings: Settings, limit: int, low: float, high: float, trials: tuple[Trial, ...]
) -> Floats:
    if not trials:
        drifts = -0.5 * (DRIFTS / DRIFT_SD) ** 2
        curves = np.log(_curves(settings, limit, settings.trial_s).weights + 1e-300)
        return np.repeat(drifts[:, None, None] + curves[None, :, None], CELLS, axis=0)
    before = _log_posterior(settings, limit, low, high, trials[:-1])
    if not trials[-1].sound or not trials[-1].n:
        return before
    return before + _log_likelihood(settings, limit, low, high, trials[-1])


def _log_likelihood(
    settings: Settings, limit: int, low: float, high: float, trial: Trial
) -> Floats:
    x = np.linspace(math.log(low), math.log(high), CELLS)
    middle_s = trial.began_s + trial.ask.seconds / 2
    at = middle_s / settings.budget_s - MIDDLE
    distance = math.log(trial.achieved) - x[:, None] - at * DRIFTS
    asked = settings.limits[limit]
    logits = _curves(settings, limit, trial.ask.seconds).logits
    trials = _trials(settings, trial.ask.seconds)
    logs = _of_share(counted(settings, limit, trial), trial.n, _cap(asked), trials)
    out = np.empty((CELLS, len(SLOPES), len(DRIFTS), len(SHAPES), len(CORRELATIONS)))
    for slope, shape, correlation in np.ndindex(logits.shape[:3]):
        table = np.interp(logits[slope, shape, correlation], _LOGITS, logs[correlation])
        out[:, slope, :, shape, correlation] = np.interp(distance, _DISTANCE, table)
    return out


def _trials(settings: Settings, seconds: float) -> float:
    """As many searching trials are judged for as long, but at least one."""
    return max(1.0, (seconds - settings.lead_s) / (settings.trial_s - settings.lead_s))


def _cap(limit: Limit) -> float:
    return min(CAP * limit.share, MOST)


def counted(settings: Settings, limit: int, trial: Trial) -> int | None:
    """Answers of a trial over a limit; None for so many that only that counts. So does a queue that
    grew, whatever its answers say: for limits of latency, or for all where there is none."""
    asked, over = settings.limits[limit], trial.over[limit]
    of_latency = [each.threshold is not None for each in settings.limits]
    has_grown = trial.grew and (of_latency[limit] or not any(of_latency))
    return None if has_grown or over >= _cap(asked) * trial.n else over


@dataclass(frozen=True)
class Curves:
    """logits: float[slopes, shapes, correlations, _DISTANCE], of a trial's mean share over a limit.
    weights: float[slopes, shapes, correlations], how likely they are beforehand."""

    logits: Floats
    weights: Floats


def _curves(settings: Settings, limit: int, seconds: float) -> Curves:
    """seconds: of a trial."""
    whole = replace(settings, limits=(settings.limits[limit],), seed=0)
    return _curves_of(whole, seconds)


@lru_cache(maxsize=64)
def _curves_of(settings: Settings, seconds: float) -> Curves:
    """settings: with one limit."""
    asked = settings.limits[0]
    critical = np.array(critical_means(asked.share, _trials(settings, settings.holdout_s)))
    shares = np.empty((len(SLOPES), len(SHAPES), len(CORRELATIONS), len(_DISTANCE)))
    noise = np.sqrt(np.log1p(CORRELATIONS * (1 - critical) / critical)) / SLOPES[:, None]
    weights = np.exp(-0.5 * (noise / NOISE) ** 2)[:, None] * LIKELY[:, None]
    for i, slope in enumerate(SLOPES):
        steep = slope / (1 - critical)
        shares[i, 0] = special.expit(special.logit(critical)[:, None] + steep[:, None] * _DISTANCE)
        is_queue = asked.threshold is not None
        for j, mean in enumerate(critical):
            load = is_queue and _critical_load(slope, mean, asked.threshold, settings)
            if not load:
                shares[i, 1, j], weights[i, 1, j] = shares[i, 0, j], 0.0
                continue
            loads = load * np.exp(_DISTANCE)
            window = (settings.lead_s, seconds)
            shares[i, 1, j] = queue_share(loads, slope, asked.threshold, window)
    logits = special.logit(np.clip(shares, 1e-12, 1 - 1e-12))
    return Curves(logits, weights / weights.sum())


#: Of a queue at its critical load, which must lie between these.
_LOADS = np.concatenate([np.linspace(0.2, 0.9, 71), np.linspace(0.902, 1.2, 150)])


def _critical_load(slope: float, share: float, limit_ms: float, settings: Settings) -> float | None:
    """The load at which a minute's mean share over the limit is so large."""
    shares = queue_share(_LOADS, slope, limit_ms, (settings.lead_s, settings.holdout_s))
    if not shares[0] < share < shares[-1]:
        return None
    return float(np.exp(np.interp(math.log(share), np.log(shares + 1e-300), np.log(_LOADS))))


def queue_share(
    load: Floats, slope: float, limit_ms: float, window_s: tuple[float, float]
) -> Floats:
    """The mean share over a limit of those who come to a queue within a window, since it was empty.

    load: of the server, 1 for all that it can do. slope: d ln(share) / d load of a queue that has
    been there for ever. A queue in heavy traffic is a Brownian motion which is reflected at nothing
    (M. Harrison 1985, "Brownian Motion and Stochastic Flow Systems", section 3.6), with a drift of
    load - 1 and a variance of 2 limit / slope a millisecond.
    """
    at_ms = np.linspace(max(window_s[0], 0.01), window_s[1], _MOMENTS) * 1000
    drift = (np.asarray(load) - 1)[:, None]
    variance = 2 * limit_ms / slope
    spread = np.sqrt(variance * at_ms)
    free = special.ndtr((drift * at_ms - limit_ms) / spread)
    log_reflected = special.log_ndtr((-drift * at_ms - limit_ms) / spread)
    return (free + np.exp(log_reflected + 2 * drift * limit_ms / variance)).mean(axis=1)


def _shifts(settings: Settings, limit: int) -> Floats:
    aim = min(AIM * settings.limits[limit].share, MOST)
    is_less = _curves(settings, limit, settings.trial_s).logits < special.logit(aim)
    return np.maximum(_DISTANCE[is_less.sum(axis=-1).clip(max=len(_DISTANCE) - 1)], 0)


@lru_cache(maxsize=64)
def _of_share(over: int | None, n: int, cap: float, trials: float) -> Floats:
    """float[correlations, _LOGITS]: ln of the beta-binomial's likelihood of so many over, less a
    constant; or of a share of at least `cap`, for which a beta of the same variance stands.
    trials: how many trials it is as long as, whose shares are averaged in it."""
    share = special.expit(_LOGITS)
    correlations = CORRELATIONS / trials
    if over is None:
        correlations = correlations + (1 - correlations) / n
    size = ((1 - correlations) / correlations)[:, None]
    a, b = size * share, size * (1 - share)
    if over is None:
        return np.log(np.maximum(special.betaincc(a, b, cap), 1e-30))
    return special.betaln(over + a, n - over + b) - special.betaln(a, b)
