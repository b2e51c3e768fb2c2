"""The Universal Scalability Law, fitted to an arm's throughput over its users. Pure.

    X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))

N. J. Gunther, "A Simple Capacity Model of Massively Parallel Transaction Systems", CMG 1993;
"Guerrilla Capacity Planning", Springer 2007, chapters 4 to 6. lambda is the throughput of one user,
sigma the share of the work that nobody can do at the same time (contention: queueing for a core),
kappa what keeping each pair of users consistent costs (coherency: it makes throughput fall again).

The fit makes the squared relative errors of throughput least, for its noise is proportional to it.
With a = (1 - sigma) / lambda, b = sigma / lambda and c = kappa / lambda,

    X measured / X(N) - 1 = X measured / N * (a + b N + c N (N - 1)) - 1

is linear in a, b and c, and lambda > 0, 0 <= sigma <= 1, kappa >= 0 hold exactly where none of the
three is negative: non-negative least squares (Lawson and Hanson 1974, in SciPy) finds the one best
fit, without values to start from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import optimize

from tollgate.study.metrics import Floats, Metrics
from tollgate.study.model import CellData, Estimate, UslFit
from tollgate.study.stats import estimates

#: Three parameters need three loads; two more show whether the law holds there at all.
MIN_LOADS = 5
#: How far a curve may go on beyond the most users measured, and a peak be believed.
REACH = 2
#: Of a curve: smooth on paper.
CURVE_POINTS = 60
# Below this a parameter is zero: far less than any throughput here can tell.
_ZERO = 1e-9
_NONE = Estimate(None)


def fit(users: Sequence[float], throughput: Floats) -> Floats:
    """(lambda, sigma, kappa) of each row of throughput: float[B, len(users)] to float[B, 3].

    lambda is in the unit of throughput; NaN where no parameters fit, as where nothing was answered.
    """
    n = np.asarray(users, dtype=np.float64)
    terms = np.stack([np.ones_like(n), n, n * (n - 1)], axis=1)
    return np.array([_fit_one(terms, row / n) for row in np.atleast_2d(throughput)])


def _fit_one(terms: Floats, per_user: Floats) -> tuple[float, float, float]:
    if not (np.isfinite(per_user).all() and (per_user > 0).all()):
        return math.nan, math.nan, math.nan
    scale = per_user[0]  # so that the columns are near one, whatever the throughput
    (a, b, c), _ = optimize.nnls(terms * (per_user / scale)[:, None], np.ones(len(per_user)))
    if a + b <= 0:
        return math.nan, math.nan, math.nan
    return float(scale / (a + b)), float(b / (a + b)), float(c / (a + b))


def usl(users: Floats, throughput_of_one: float, contention: float, coherency: float) -> Floats:
    """X(N) at each number of users."""
    n = np.asarray(users, dtype=np.float64)
    return throughput_of_one * n / (1 + contention * (n - 1) + coherency * n * (n - 1))


def fit_usl(cells: Sequence[CellData], seed: int) -> UslFit:
    """The law of one arm from its cells, each of another number of users.

    The intervals come from the law fitted again to the resampled rounds (study/resampling.py), the
    same rounds for all numbers of users. Fewer than MIN_LOADS of these give a note and no fit.
    """
    users = [data.cell.users for data in cells]
    if len(set(users)) < MIN_LOADS:
        count = f"{len(set(users))} numbers of users, the law needs {MIN_LOADS}"
        return UslFit(_NONE, _NONE, _NONE, _NONE, note=f"no fit: measured at {count}")
    most = max(users)
    one, contention, coherency, peak = _estimated(cells, REACH * most, seed)
    values = one.value, contention.value, coherency.value
    if any(value is None for value in values):
        return UslFit(_NONE, _NONE, _NONE, _NONE, note=f"no fit: {one.note or 'nothing answered'}")
    along = np.geomspace(1, REACH * most, CURVE_POINTS)
    curve = zip(along.tolist(), usl(along, *values).tolist(), strict=True)
    return UslFit(
        one,
        _at_bounds(contention, 1.0),
        _at_bounds(coherency, math.inf),
        _believed(peak, most),
        tuple(curve),
    )


def _estimated(cells: Sequence[CellData], limit: float, seed: int) -> Iterable[Estimate]:
    """lambda, sigma, kappa, and the users of the most throughput, sqrt((1 - sigma) / kappa), from 1
    to `limit`."""
    users = [data.cell.users for data in cells]
    known: dict[int, Floats] = {}  # one fit for all four

    def parameter(which: int, metrics: Sequence[Metrics]) -> Floats:
        throughput = np.stack([each["throughput"] for each in metrics], axis=1)
        resamples = len(throughput)  # tells the rounds as they were from the resampled ones
        if resamples not in known:
            known[resamples] = fit(users, throughput)
        return known[resamples][:, which]

    def users_at_peak(*metrics: Metrics) -> Floats:
        falls = np.maximum(parameter(2, metrics), _ZERO)  # without any, the peak is at the limit
        return np.clip(np.sqrt((1 - parameter(1, metrics)) / falls), 1, limit)

    functions = {
        "one": lambda *metrics: parameter(0, metrics),
        "contention": lambda *metrics: parameter(1, metrics),
        "coherency": lambda *metrics: parameter(2, metrics),
        "peak": users_at_peak,
    }
    return estimates(functions, cells, seed).values()


def _at_bounds(found: Estimate, upper: float) -> Estimate:
    """Says where the bound, not the samples, ends an interval."""
    if found.low is None or found.high is None:
        return found
    ends = []
    if found.low <= _ZERO:
        ends.append("its lower bound, 0")
    if found.high >= upper - _ZERO:
        ends.append(f"its upper bound, {upper:g}")
    note = f"the interval ends at {' and at '.join(ends)}" if ends else found.note
    return Estimate(found.value, max(found.low, 0.0), min(found.high, upper), note)


def _believed(peak: Estimate, most: int) -> Estimate:
    """A peak only as far as the curve may go."""
    limit = REACH * most
    if peak.value is None or peak.value >= limit:
        return Estimate(None, note=f"no peak up to {limit} users, twice the most measured")
    if peak.high is not None and peak.high >= limit:
        note = f"no upper end up to {limit} users, twice the most measured"
        return Estimate(peak.value, peak.low, None, note)
    return peak
