"""What trials leave possible: the critical rate, and how the share over a limit rises around it.

The share of a trial's answers over a limit is modelled against the rate that was really sent. Its
mean rises along a curve. From trial to trial it varies by far more than a binomial would, because
the answers of a trial share a queue and a noisy machine: each trial has a critical rate of its own,
drawn from a log-normal distribution whose spread is one of the unknowns. A minute holds several
such states, and one slow one can be enough to break its limit: so the rate that half of the minutes
keep lies the farther below the usual trial's, the more trials differ. The posterior of all unknowns
is held on a grid, as in the psi method of psychophysics (L. Kontsevich and C. Tyler 1999, "Bayesian
adaptive estimation of psychometric slope and threshold"; A. Watson 2017, "QUEST+"), and two curves
are averaged as in PLRsearch (M. Konstantynowicz and V. Polak 2020, draft-vpolak-bmwg-plrsearch).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tollgate.capacity.model import CapacitySettings, Limit, Trial
from tollgate.stats.arrays import Floats

#: d ln(share) / d ln(rate) at the critical rate: a soft knee, queues, a cliff.
SLOPES = np.array([1.5, 2.5, 4.0, 6.5, 10.0, 25.0, 60.0, 150.0, 600.0, 4000.0])
#: Standard deviation of ln(critical rate) from state to state, half normal with one of SPREAD.
#: STATES: for each, how many states a minute has. A trial has one: what makes trials differ much is
#: the machine, whose slow spells may be brief or long; what makes them differ little is the queue.
SPREAD = 0.08
SPREADS = np.array([0.003, 0.01, 0.025, 0.05, 0.1, 0.1, 0.2, 0.2])
STATES = np.array([4, 4, 4, 4, 7, 2, 7, 2])
#: For each, the correlation of a trial's answers beside what its critical rate explains (a
#: beta-binomial, J. Skellam 1948): also within a trial a machine changes.
CORRELATIONS = np.array([0.003, 0.003, 0.003, 0.01, 0.03, 0.03, 0.03, 0.03])
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
#: In ln(rate) from the critical rate: where the curves are tabulated.
_DISTANCE = np.concatenate([-np.geomspace(3, 0.002, 70), [0.0], np.geomspace(0.002, 3, 70)])
#: Of a mean share: where likelihoods are tabulated.
_LOGITS = np.linspace(-28, 28, 1121)
#: Moments of a trial, or a minute, at which a queue is looked at.
_MOMENTS = 24
#: Equally likely values that stand for what varies from trial to trial; and the draws, an odd
#: multiple of that, whose quantiles they are.
NODES, _DRAWS = 15, 255


@dataclass(frozen=True)
class Posterior:
    """weights: float[CELLS, slopes, drifts, shapes, spreads], of sum 1. x: float[CELLS], ln of
    critical rates. shifts: float[slopes, shapes, spreads], how much higher in ln(rate) the share
    over the limit is AIM times the allowed one."""

    x: Floats
    weights: Floats
    shifts: Floats

    @property
    def critical(self) -> Floats:
        critical: Floats = self.weights.sum(axis=(1, 2, 3, 4))
        return critical

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
        at = int(np.searchsorted(ends, random.random() * ends[-1]))
        place = np.unravel_index(at, self.weights.shape)
        step = self.x[1] - self.x[0]
        jitter = step * (random.random() - 0.5)
        return float(self.x[place[0]] + jitter), float(self.shifts[place[1], place[3], place[4]])


def posterior(
    settings: CapacitySettings, limit: int, low: float, high: float, trials: tuple[Trial, ...]
) -> Posterior:
    """limit: its place in Settings.limits. low, high: the critical rates that are considered."""
    x = np.linspace(math.log(low), math.log(high), CELLS)
    logs = _log_posterior(settings, limit, low, high, trials)
    weights = np.exp(logs - logs.max())
    return Posterior(x, weights / weights.sum(), _shifts(settings, limit))


@lru_cache(maxsize=16)
def _log_posterior(
    settings: CapacitySettings, limit: int, low: float, high: float, trials: tuple[Trial, ...]
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
    settings: CapacitySettings, limit: int, low: float, high: float, trial: Trial
) -> Floats:
    x = np.linspace(math.log(low), math.log(high), CELLS)
    middle_s = trial.began_s + trial.ask.seconds / 2
    at = middle_s / settings.budget_s - MIDDLE
    distance = math.log(trial.achieved) - x[:, None] - at * DRIFTS
    place = np.interp(distance, _DISTANCE, np.arange(len(_DISTANCE)))
    below = np.minimum(place.astype(int), len(_DISTANCE) - 2)
    part = (place - below)[..., None, None, None]
    table = _log_likelihoods(settings, limit, trial)
    logs: Floats = table[below] * (1 - part) + table[below + 1] * part
    return logs.swapaxes(1, 2)


@lru_cache(maxsize=64)
def _log_likelihoods(settings: CapacitySettings, limit: int, trial: Trial) -> Floats:
    """float[_DISTANCE, slopes, shapes, spreads], less a constant."""
    places = _curves(settings, limit, trial.ask.seconds).places
    trials = _trials(settings, trial.ask.seconds)
    logs = _of_share(counted(settings, limit, trial), trial.n, _cap(settings.limits[limit]), trials)
    each = np.arange(len(SPREADS))[:, None, None]
    likely = np.exp(logs - logs.max())[each, places].mean(axis=-1)
    return np.ascontiguousarray(np.moveaxis(np.log(np.maximum(likely, 1e-300)), 3, 0))


def _trials(settings: CapacitySettings, seconds: float) -> float:
    """As many searching trials are judged for as long, but at least one."""
    return max(1.0, (seconds - settings.lead_s) / (settings.trial_s - settings.lead_s))


def _cap(limit: Limit) -> float:
    return min(CAP * limit.share, MOST)


def counted(settings: CapacitySettings, limit: int, trial: Trial) -> int | None:
    """Answers of a trial over a limit; None for so many that only that counts. So does a queue that
    grew, whatever its answers say: for limits of latency, or for all where there is none."""
    asked, over = settings.limits[limit], trial.over[limit]
    of_latency = [each.threshold is not None for each in settings.limits]
    has_grown = trial.grew and (of_latency[limit] or not any(of_latency))
    return None if has_grown or over >= _cap(asked) * trial.n else over


@dataclass(frozen=True)
class Curves:
    """places: int[slopes, shapes, spreads, _DISTANCE, NODES], in _LOGITS, of equally likely shares
    of a trial over a limit. weights: float[slopes, shapes, spreads], how likely they are
    beforehand."""

    places: NDArray[np.int16]
    weights: Floats


def _curves(settings: CapacitySettings, limit: int, seconds: float) -> Curves:
    """seconds: of a trial."""
    whole = replace(settings, limits=(settings.limits[limit],), seed=0)
    return _curves_of(whole, seconds)


@lru_cache(maxsize=64)
def _curves_of(settings: CapacitySettings, seconds: float) -> Curves:
    """settings: with one limit."""
    limit = settings.limits[0]
    logits = np.empty((len(SLOPES), len(SHAPES), len(SPREADS), len(_DISTANCE), NODES))
    prior = np.exp(-0.5 * (SPREADS / SPREAD) ** 2)
    prior /= (SPREADS[:, None] == SPREADS).sum(axis=0)
    weights = np.broadcast_to(LIKELY[:, None] * prior, logits.shape[:3]).copy()
    is_minute = seconds >= settings.holdout_s
    for i, j in np.ndindex(logits.shape[:2]):
        minute = _shares(settings, float(SLOPES[i]), SHAPES[j], settings.holdout_s)
        own = _shares(settings, float(SLOPES[i]), SHAPES[j], seconds)
        if minute is None or own is None:
            logits[i, j], weights[i, j] = logits[i, 0], 0.0
            continue
        for k, (spread, states) in enumerate(zip(SPREADS, STATES, strict=True)):
            usual = _nodes(minute, spread, states, 0.0)[:, NODES // 2]
            critical = np.interp(math.log(limit.share), np.log(usual + 1e-300), _DISTANCE)
            logits[i, j, k] = _nodes(own, spread, states if is_minute else 1, critical)
    logits = special.logit(np.clip(logits, 1e-12, 1 - 1e-12))
    places = np.rint((logits - _LOGITS[0]) / (_LOGITS[1] - _LOGITS[0])).astype(np.int16)
    return Curves(places, weights / weights.sum())


def _shares(settings: CapacitySettings, slope: float, shape: str, seconds: float) -> Floats | None:
    """float[_DISTANCE]: the share over the limit in so many seconds of one state, at distances from
    where it is the allowed one in a minute. None where a queue has no such rate."""
    limit = settings.limits[0]
    if shape == "logistic":
        steep = slope / (1 - limit.share)
        shares: Floats = special.expit(special.logit(limit.share) + steep * _DISTANCE)
        return shares
    if not limit.threshold:
        return None
    load = _critical_load(slope, limit.share, limit.threshold, settings)
    if not load:
        return None
    window = (settings.lead_s, seconds)
    return queue_share(load * np.exp(_DISTANCE), slope, limit.threshold, window)


def _nodes(shares: Floats, spread: float, states: int, critical: float) -> Floats:
    """float[_DISTANCE, NODES]: equally likely means of the shares of as many states, at distances
    from `critical`."""
    at = _DISTANCE[:, None, None] + critical + spread * _normals(int(states))
    means = np.sort(np.interp(at, _DISTANCE, shares).mean(axis=-1), axis=-1)
    return means[:, _DRAWS // NODES // 2 :: _DRAWS // NODES]


@lru_cache(maxsize=8)
def _normals(states: int) -> Floats:
    """float[_DRAWS, states]: standard normal values, of each state the same ones in some order."""
    values = special.ndtri((np.arange(_DRAWS) + 0.5) / _DRAWS)
    random = np.random.default_rng(1)
    return np.stack([random.permutation(values) for _ in range(states)], axis=1)


#: Of a queue at its critical load, which must lie between these.
_LOADS = np.concatenate([np.linspace(0.2, 0.9, 71), np.linspace(0.902, 1.2, 150)])


def _critical_load(
    slope: float, share: float, limit_ms: float, settings: CapacitySettings
) -> float | None:
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
    reflected = np.exp(log_reflected + 2 * drift * limit_ms / variance)
    shares: Floats = (free + reflected).mean(axis=1)
    return shares


def _shifts(settings: CapacitySettings, limit: int) -> Floats:
    aim = min(AIM * settings.limits[limit].share, MOST)
    middle = _curves(settings, limit, settings.trial_s).places[..., NODES // 2]
    is_less = _LOGITS[middle] < special.logit(aim)
    shifts: Floats = np.maximum(_DISTANCE[is_less.sum(axis=-1).clip(max=len(_DISTANCE) - 1)], 0)
    return shifts


@lru_cache(maxsize=64)
def _of_share(over: int | None, n: int, cap: float, trials: float) -> Floats:
    """float[spreads, _LOGITS]: ln of the beta-binomial's likelihood of so many over, less a
    constant; or of a share of at least `cap`, for which a beta of the same variance stands. trials:
    how many trials it is as long as, whose shares are averaged in it."""
    share = special.expit(_LOGITS)
    correlations = CORRELATIONS / trials
    if over is None:
        correlations = correlations + (1 - correlations) / n
    size = ((1 - correlations) / correlations)[:, None]
    a, b = size * share, size * (1 - share)
    logs: Floats
    if over is None:
        logs = np.log(np.maximum(special.betaincc(a, b, cap), 1e-30))
    else:
        logs = special.betaln(over + a, n - over + b) - special.betaln(a, b)
    return logs
