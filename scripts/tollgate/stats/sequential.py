"""Repeated looks at one false-positive rate: group-sequential boundaries. Pure.

Whoever looks at 20 moments and stops at the first 1 % finding is wrong far more often than
once in a hundred. Here an error is *spent*: by the fraction t of the time budget that has passed,
at most `spent(t, level)` of it (Lan and DeMets 1983, "Discrete sequential boundaries for clinical
trials"), and each look gets the critical value that uses up just what is new. So the moments of
looking need not be known beforehand. An interval with that critical value at every look holds the
truth at all of them together, as often as it says (Jennison and Turnbull 1989, "Interim analyses:
the repeated confidence interval approach"): whatever is decided from it, and whenever, the error
stays bounded.

The statistics of successive looks are those of a Brownian motion at t, whose crossing probability
is integrated look by look (Armitage, McPherson and Rowe 1969; Jennison and Turnbull 2000, "Group
Sequential Methods", chapter 19). A Student t takes the normal quantile of the same one-sided level
(ibid., section 3.8).

The error of a FAIL and of a comparison is spent evenly over time (Kim and DeMets 1987, "Design and
analysis of group sequential tests based on the type I error spending rate function", the power
family with exponent 1), which stops nearly as early as Pocock's manner and finds nearly as much as
O'Brien and Fleming's. That of a PASS has another exponent (judge/levels.py). Chosen by 40,000
simulated runs of 20 looks at a one-sided level of 0.1 %; effect 1 is what a single test at the very
end finds in 95 of 100, times are shares of the budget:

| boundary                            | found at effect 1 | mean time at 1 | at 2 | at 3 |
|-------------------------------------|-------------------|----------------|------|------|
| O'Brien-Fleming, by Lan and DeMets  | 94.5 %            | 0.71           | 0.37 | 0.26 |
| exponent 2                          | 92.7 %            | 0.61           | 0.22 | 0.12 |
| exponent 1, chosen                  | 90.7 %            | 0.60           | 0.20 | 0.10 |
| Pocock, by Lan and DeMets           | 89.0 %            | 0.60           | 0.19 | 0.10 |
| normal mixture (Howard et al. 2021) | 76.7 %            | 0.70           | 0.22 | 0.11 |

The last, a confidence sequence, holds at every moment and without an end; looks and the budget are
known here, so that this would be paid for and not used.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import optimize, special

from tollgate.stats.arrays import Floats

# Of the integral, enough for looks LEAST_STEP apart: the nodes then lie closer than a step's
# spread.
NODES = 300
LEAST_STEP = 0.005
# Standard deviations beyond which there is nothing left to integrate.
FAR = 9.0


def spent(fraction: float, level: float, exponent: float = 1.0) -> float:
    """How much of `level` may be used up when `fraction` of the budget has passed."""
    return float(level * fraction**exponent)


def nominal_level(fractions: tuple[float, ...], level: float, exponent: float = 1.0) -> float:
    """The one-sided level of a single test at the last of these looks.

    fractions: the shares of the budget that had passed at each look, ascending, in (0, 1]. level:
    the one-sided error over all looks. exponent: of the spending function; below 1 the first looks
    get more. ValueError if a look is not LEAST_STEP after the last one.
    """
    return float(special.ndtr(-boundaries(fractions, level, exponent)[-1]))


@lru_cache(maxsize=256)
def boundaries(
    fractions: tuple[float, ...], level: float, exponent: float = 1.0
) -> tuple[float, ...]:
    """The critical value of a standard normal statistic at each look. fractions: the shares of the
    budget that had passed at each look, ascending. level: the one-sided error over all looks.
    exponent: of the spending function. ValueError as nominal_level."""
    _check(fractions)
    critical = []
    # Where the Brownian motion behind the statistic is, and with what probability: at a fraction
    # of the budget its spread is the root of that fraction.
    at, mass = np.zeros(1), np.ones(1)
    before = 0.0
    for fraction in fractions:
        step = math.sqrt(fraction - before)
        budget = spent(fraction, level, exponent) - spent(before, level, exponent)
        bound = _bound(at, mass, step, budget, math.sqrt(fraction))
        critical.append(bound / math.sqrt(fraction))
        at, mass = _moved(at, mass, step, bound, math.sqrt(fraction))
        before = fraction
    return tuple(critical)


def _check(fractions: tuple[float, ...]) -> None:
    steps = np.diff(np.array((0.0, *fractions)))
    if not len(steps) or fractions[-1] > 1:
        raise ValueError(f"looks must lie in (0, 1] of the budget, not at {fractions}")
    # Times are sums of seconds: a hair less than the least step is the least step.
    if steps.min() < LEAST_STEP * (1 - 1e-9):
        raise ValueError(f"looks must be {LEAST_STEP} of the budget apart, not as in {fractions}")


def _bound(at: Floats, mass: Floats, step: float, budget: float, spread: float) -> float:
    """Beyond which value the motion is, after this step, with the probability `budget`."""

    def excess(bound: float) -> float:
        return float(mass @ special.ndtr((at - bound) / step)) - budget

    far = FAR * spread
    return far if excess(far) >= 0 else float(optimize.brentq(excess, -far, far, xtol=1e-10))


def _moved(
    at: Floats, mass: Floats, step: float, bound: float, spread: float
) -> tuple[Floats, Floats]:
    """Where the motion is after the step, as far as it did not cross the bound (Gauss-Legendre)."""
    low = -FAR * spread
    unit, weights = _nodes()
    points = low + (bound - low) * (unit + 1) / 2
    density = np.exp(-0.5 * ((points[:, None] - at) / step) ** 2) @ mass
    scale = (bound - low) / 2 / (step * math.sqrt(2 * math.pi))
    return points, density * weights * scale


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(NODES)
