"""Exponential histograms: against OpenTelemetry's own, which takes one value at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.metrics.view import ExponentialBucketHistogramAggregation, View

from tollgate.stats.exponential import FINEST, MOST_BUCKETS, Exponential


def made(*parts):
    found = Exponential()
    for values in parts:
        found.add(values)
    return found


def of_the_sdk(values):
    """The point that OpenTelemetry's SDK makes of these values."""
    reader = InMemoryMetricReader()
    aggregation = ExponentialBucketHistogramAggregation(MOST_BUCKETS, max_scale=FINEST)
    view = View(instrument_name="*", aggregation=aggregation)
    provider = MeterProvider(metric_readers=[reader], views=[view])
    histogram = provider.get_meter("test").create_histogram("h")
    for value in values:
        histogram.record(value)
    data = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics[0].data
    (point,) = data.data_points
    return point


def as_buckets(offset, counts):
    return {offset + place: n for place, n in enumerate(counts) if n}


@pytest.mark.parametrize(
    "values",
    [
        [0.005],
        [0.0, 0.0],
        [0.001, 0.0, 9.0],
        np.random.default_rng(1).integers(0, 9000, 500) / 1000,
        np.random.default_rng(2).integers(1, 90, 300) / 1000,
    ],
)
def test_buckets_are_those_of_the_sdk(values):
    meant, found = of_the_sdk([float(it) for it in values]), made(values)
    assert (found.total, found.zeros) == (meant.count, meant.zero_count)
    assert found.sum == pytest.approx(meant.sum)
    assert (found.least, found.most) == (meant.min, meant.max)
    assert found.scale == meant.scale or found.total == found.zeros
    buckets = meant.positive.offset, meant.positive.bucket_counts
    assert as_buckets(*found.dense()) == as_buckets(*buckets)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 10**9), max_size=30), max_size=6))
def test_pieces_in_any_order_make_the_histogram_of_all_with_no_more_buckets_than_allowed(parts):
    parts = [[it / 1000 for it in part] for part in parts]
    whole, pieces = made([it for part in parts for it in part]), made(*reversed(parts))
    assert len(whole.dense()[1]) <= MOST_BUCKETS
    assert (pieces.scale, pieces.dense()) == (whole.scale, whole.dense())
    assert (pieces.total, pieces.zeros) == (whole.total, whole.zeros)


def test_buckets_keep_their_bounds_from_the_first_time_on_up_to_50_s():
    times = made([0.02])
    scales = [times.scale]
    for values in ([0.021, 0.019], np.arange(1, 50_001) / 1000):
        times.add(values)
        scales.append(times.scale)
    assert set(scales) == {FINEST}
    assert 2.0 ** (2.0**-FINEST) < 1.011
    times.add([60])
    assert times.scale == FINEST - 1
