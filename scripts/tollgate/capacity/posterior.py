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
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tollgate.capacity.model import Limit, Settings, Trial

Floats = NDArray[np.float64]

#: d ln(share) / d ln(rate) at the critical rate: a soft knee, queues, a cliff.
SLOPES = np.array([1.5, 4.0, 10.0, 25.0, 60.0, 150.0, 600.0])
#: Correlation of the answers of a trial.
CORRELATIONS = np.array([0.003, 0.04, 0.15, 0.35, 0.65])
#: ln(capacity at the end / at the beginning), with a normal prior of this standard deviation.
DRIFTS, DRIFT_SD = np.linspace(-0.3, 0.3, 7), 0.12
#: Logistic; and 1 - exp(-exp()) turned round, which rises early and saturates late, as the share of
#: those does that wait in a queue which has begun to grow.
SHAPES = ("logistic", "gumbel")
#: Points in ln(critical rate).
CELLS = 64
#: A trial with so many times the allowed share over the limit says no more than that it has: the
#: curves are trusted near the limit alone. MOST: where this ends for lax limits.
CAP, MOST = 4.0, 0.5
#: Share over the limit, as so many times the allowed one, at which half of the searching trials aim:
#: they say how steep the curve is.
AIM = 2.5
#: Where the curves are tabulated, on their own scales.
_SCALE = {"logistic": np.linspace(-14, 10, 193), "gumbel": np.linspace(-3.5, 10, 193)}


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
    return tuple(np.minimum(found, 0.5))


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
        prior = -0.5 * (DRIFTS / DRIFT_SD) ** 2
        shape = (CELLS, len(SLOPES), len(DRIFTS), len(SHAPES), len(CORRELATIONS))
        return np.broadcast_to(prior[None, None, :, None, None], shape)
    before = _log_posterior(settings, limit, low, high, trials[:-1])
    if not trials[-1].sound or not trials[-1].n:
        return before
    return before + _log_likelihood(settings, limit, low, high, trials[-1])


def _log_likelihood(
    settings: Settings, limit: int, low: float, high: float, trial: Trial
) -> Floats:
    x = np.linspace(math.log(low), math.log(high), CELLS)
    middle_s = trial.began_s + trial.ask.seconds / 2
    at = middle_s / settings.budget_s - 0.5
    distance = math.log(trial.achieved) - x[:, None, None] - at * DRIFTS
    out = np.empty((CELLS, len(SLOPES), len(DRIFTS), len(SHAPES), len(CORRELATIONS)))
    asked = settings.limits[limit]
    over = counted(asked, trial, limit)
    starts, rates = _curves(settings, limit)
    for j, shape in enumerate(SHAPES):
        table = _table(shape, over, trial.n, min(CAP * asked.share, MOST))
        for i in range(len(CORRELATIONS)):
            z = starts[j, i] + rates[j, i, None, :, None] * distance
            out[:, :, :, j, i] = np.interp(z, _SCALE[shape], table[i])
    return out


def counted(limit: Limit, trial: Trial, place: int) -> int | None:
    """Answers over a limit; None for so many that only that counts, which is also so where a queue
    grew, for limits of latency."""
    over = trial.over[place]
    is_many = over >= min(CAP * limit.share, MOST) * trial.n
    return None if is_many or (trial.grew and limit.subject != "fail") else over


def _curves(settings: Settings, limit: int) -> tuple[Floats, Floats]:
    """float[shapes, correlations], where on its scale a curve is at the critical rate; and
    float[shapes, correlations, slopes], how far it goes on its scale by 1 in ln(rate)."""
    means = critical_means(
        settings.limits[limit].share, max(1.0, settings.holdout_s / settings.trial_s)
    )
    p = np.array(means)
    starts = np.array([special.logit(p), -np.log(-np.log(p))])
    per = np.array([1 / (1 - p), -1 / np.log(p)])
    return starts, per[:, :, None] * SLOPES


def _shifts(settings: Settings, limit: int) -> Floats:
    starts, rates = _curves(settings, limit)
    aim = min(AIM * settings.limits[limit].share, MOST)
    ends = np.array([special.logit(aim), -math.log(-math.log(aim))])
    return (np.maximum(ends[:, None] - starts, 0)[:, :, None] / rates).transpose(2, 0, 1)


@lru_cache(maxsize=64)
def _table(shape: str, over: int | None, n: int, cap: float) -> Floats:
    """float[correlations, scale]: ln of the beta-binomial's likelihood of so many over, less a
    constant; or of a share of at least `cap`, for which a beta of the same variance stands."""
    scale = _SCALE[shape]
    share = special.expit(scale) if shape == "logistic" else np.exp(-np.exp(-scale))
    share = np.clip(share, 1e-12, 1 - 1e-12)
    if over is None:
        correlations = CORRELATIONS + (1 - CORRELATIONS) / n
        size = ((1 - correlations) / correlations)[:, None]
        return np.log(np.maximum(special.betaincc(size * share, size * (1 - share), cap), 1e-30))
    size = ((1 - CORRELATIONS) / CORRELATIONS)[:, None]
    a, b = size * share, size * (1 - share)
    return special.betaln(over + a, n - over + b) - special.betaln(a, b)
