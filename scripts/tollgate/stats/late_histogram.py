"""Percentiles of lateness over any number of samples: a histogram that takes them in batches.

Values are rounded to the nearest tenth of a millisecond, and from ten seconds on to five digits.
Rounding keeps the order, so a percentile is the exact one, rounded: JMeter's own clock shows whole
milliseconds. The histogram has at most 100,000 values below ten seconds and 90,000 for each power
of ten above, whatever the generator did.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TENTHS = 10
# Below this, in milliseconds, a tenth is the unit: 10 ** 4.
_FINE_DIGITS = 4


def rounded_tenths(values_ms: Floats) -> NDArray[np.int64]:
    """Return the values in tenths of a millisecond, rounded as the module says."""
    size = np.maximum(np.abs(values_ms), 1.0)
    unit = 10.0 ** np.maximum(np.floor(np.log10(size)) - (_FINE_DIGITS - 1), 0)
    return (np.rint(values_ms * _TENTHS / unit) * unit).astype(np.int64)


class LateHistogram:
    """Counts of rounded values in ms, and the largest one as it was."""

    def __init__(self) -> None:
        self._values = np.empty(0, dtype=np.int64)
        self._counts = np.empty(0, dtype=np.int64)
        self.max_ms = math.nan

    def add(self, values_ms: Floats) -> None:
        if not len(values_ms):
            return
        self.max_ms = float(np.fmax(self.max_ms, values_ms.max()))
        values = np.concatenate([self._values, rounded_tenths(values_ms)])
        counts = np.concatenate([self._counts, np.ones(len(values_ms), dtype=np.int64)])
        self._values, place = np.unique(values, return_inverse=True)
        self._counts = np.bincount(place, weights=counts).astype(np.int64)

    def percentile(self, percent: float) -> float:
        """The smallest value that at least that share of all does not exceed; NaN without any."""
        if not len(self._counts):
            return math.nan
        upto = np.cumsum(self._counts)
        rank = max(1, math.ceil(upto[-1] * (percent / 100)))
        return float(self._values[np.searchsorted(upto, rank)]) / _TENTHS
