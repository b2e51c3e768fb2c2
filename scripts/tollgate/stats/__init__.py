"""Numbers: counts of times, intervals, slopes, boundaries of sequential looks.

In: arrays and counts. Out: estimates with their intervals; no file, no word of a run.
"""

from __future__ import annotations

from tollgate.stats.autocorrelation import error_of_steps, error_of_sum, span
from tollgate.stats.bins import SECONDS, Bins
from tollgate.stats.counts import Counts
from tollgate.stats.intervals import (
    CONFIDENCE,
    FEWEST_FOR_MEAN,
    MIN_SECONDS,
    UNKNOWN,
    Interval,
    mean_interval,
    samples_needed,
    share_interval,
    stdev_interval,
)
from tollgate.stats.percentiles import percentile_by_block, percentile_interval
from tollgate.stats.sequential import LEAST_STEP, nominal_level
from tollgate.stats.slope import BLOCKS, FEWEST, Trend, ranked, trend
from tollgate.stats.totals import COLUMNS, SOURCES, Totals
from tollgate.stats.trimmed import TRIMMED, trimmed_mean

__all__ = [
    "BLOCKS",
    "COLUMNS",
    "CONFIDENCE",
    "FEWEST",
    "FEWEST_FOR_MEAN",
    "LEAST_STEP",
    "MIN_SECONDS",
    "SECONDS",
    "SOURCES",
    "TRIMMED",
    "UNKNOWN",
    "Bins",
    "Counts",
    "Interval",
    "Totals",
    "Trend",
    "error_of_steps",
    "error_of_sum",
    "mean_interval",
    "nominal_level",
    "percentile_by_block",
    "percentile_interval",
    "ranked",
    "samples_needed",
    "share_interval",
    "span",
    "stdev_interval",
    "trend",
    "trimmed_mean",
]
