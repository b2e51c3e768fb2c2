"""One engine's share of a load that several send.

In: ENGINE=k/N, a plan, its properties and data files. Out: the properties and rows by which JMeter
sends that share.
"""

from __future__ import annotations

from tollgate.shares.load import ShareError, shared_forecast, shared_properties, shared_schedule
from tollgate.shares.rows import COPY, HOW, SPLIT, Feed, feeds_of, records_of, share_of_rows
from tollgate.shares.share import Share, parse_share

__all__ = [
    "COPY",
    "HOW",
    "SPLIT",
    "Feed",
    "Share",
    "ShareError",
    "feeds_of",
    "parse_share",
    "records_of",
    "share_of_rows",
    "shared_forecast",
    "shared_properties",
    "shared_schedule",
]
