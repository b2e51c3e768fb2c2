"""How much head differs from base in one metric of a label. Pure."""

from __future__ import annotations

import math

from tollgate.compare.errors import ShareRise, error_rise
from tollgate.compare.estimates import LogRatio, mean_ratio, percentile_ratio
from tollgate.compare.model import ERRORS, PERCENTILES, SHARES, STALLS, TAIL, TYPICAL, Blocks
from tollgate.compare.stalls import stall_rise
from tollgate.compare.tail import TailRise, tail_rise
from tollgate.compare.typical import typical_ratio

MetricChange = LogRatio | ShareRise | TailRise


def change_of(blocks: Blocks, metric: str, is_tossed: bool = True) -> MetricChange:
    """is_tossed: whether each sample's side is a fair coin's, as of errors and the mean it is."""
    if metric == ERRORS:
        return error_rise(blocks)
    if metric == STALLS:
        return stall_rise(blocks, is_tossed)
    if metric == TAIL:
        return tail_rise(blocks, is_tossed)
    if metric == TYPICAL:
        return typical_ratio(blocks, is_tossed)
    if metric in PERCENTILES:
        return percentile_ratio(blocks, metric, is_tossed)
    return mean_ratio(blocks)


#: A logarithm; of a larger one no number is the ratio.
_LARGEST = 700.0


def as_share(metric: str, change: float) -> float:
    """A change as people read it: head / base - 1 from a logarithm, a difference of shares as it
    is."""
    return change if metric in SHARES else math.expm1(min(change, _LARGEST))
