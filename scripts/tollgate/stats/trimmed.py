"""A mean that a few wild values can't move, and what each value adds to its error. Pure.

The trimmed mean leaves out the same share of the values at both ends (Tukey and McLaughlin 1963,
"Less vulnerable confidence and significance procedures for location based on a single sample").
Its standard error is that of the *winsorised* values, in which those beyond the ends are replaced
by the ends: as a sum of one influence a value, so that an estimate of the long-run variance
(autocorrelation.py) takes their order in time into account as well. Yuen (1974, "The two-sample
trimmed t for unequal population variances") has the same error for independent values.
"""

from __future__ import annotations

import numpy as np

from tollgate.stats.arrays import Floats

#: Left out at each end. Wilcox's (2012, "Introduction to Robust Estimation", section 3.3) choice:
#: of normal values the error is a tenth larger than the mean's, and of a fifth nothing is seen.
TRIMMED = 0.2


def trimmed_mean(values: Floats, weights: Floats | None = None) -> tuple[float, Floats]:
    """(the trimmed mean, float[N]: what each value adds to its error; they sum to 0).

    weights: of the values, all the same by default; the share at both ends is one of their sum.
    ValueError without a value.
    """
    if not len(values):
        raise ValueError("a trimmed mean needs a value")
    weights = np.ones(len(values)) if weights is None else weights
    order = np.argsort(values, kind="stable")
    out = TRIMMED * weights.sum()
    is_kept = (np.cumsum(weights[order]) > out) & (np.cumsum(weights[order[::-1]])[::-1] > out)
    kept = order[is_kept]
    clipped = np.clip(values, values[kept[0]], values[kept[-1]])
    added = weights * (clipped - np.average(clipped, weights=weights))
    return float(np.average(values[kept], weights=weights[kept])), added / weights[kept].sum()
