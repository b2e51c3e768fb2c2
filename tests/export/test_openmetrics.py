"""OpenMetrics text as Prometheus reads it."""

import io
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tollgate.export import openmetrics
from tollgate.export.finished import Moment
from tollgate.export.metrics import Metric
from tollgate.export.totals import Exemplar, Histogram

RESOURCE = {"service.name": "shop", "service.instance.id": "run-1", "host.name": "h"}
#: How many times its lower end a bucket's upper end is, with the six digits that its name keeps.
WIDTH = 2.0 ** (1 / 16) * 1.00001
TIMES_MS = st.lists(st.integers(0, 9_000), min_size=1, max_size=60)


def written(series, resource=RESOURCE, exemplar=None):
    """The families of a run with these times, a series each."""
    points = []
    for name, times_ms in series.items():
        times = Histogram()
        times.add(np.array(times_ms) / 1000)
        times.exemplar = exemplar
        points.append(({"tollgate.label": name}, times))
    metric = Metric("tollgate.service_time", "s", "histogram", "Times.", tuple(points))
    text = io.StringIO()
    openmetrics.write([Moment(100.0, [metric], {})], resource, text)
    return {it.name: it for it in text_string_to_metric_families(text.getvalue())}


def quantile(family, p):
    """As `histogram_quantile(p, sum by (le) (...))` of Prometheus has it."""
    upto = Counter()
    for sample in family.samples:
        if sample.name.endswith("_bucket"):
            upto[float(sample.labels["le"])] += sample.value
    rank, low, below = p * upto[math.inf], 0.0, 0
    for end, count in sorted(upto.items()):
        if count >= rank:
            return low + (end - low) * (rank - below) / (count - below) if end > 0 else end
        low, below = end, count
    raise AssertionError(f"no bucket has the rank {rank}")


@given(TIMES_MS, TIMES_MS)
def test_a_quantile_of_series_together_is_within_a_bucket_of_the_nearest_rank(some, others):
    family = written({"a": some, "b": others})["tollgate_service_time_seconds"]
    both = sorted([*some, *others])
    for p in (0.01, 0.5, 0.9, 0.95, 1.0):
        nearest = both[math.ceil(len(both) * p) - 1] / 1000
        assert nearest / WIDTH <= quantile(family, p) <= nearest * WIDTH, p


@settings(max_examples=30)
@given(TIMES_MS, TIMES_MS, st.data())
def test_an_exemplar_stands_at_the_bucket_of_its_time_and_leads_to_its_trace(some, others, data):
    """Whatever other series fill buckets between."""
    took_s = data.draw(st.sampled_from(some)) / 1000
    exemplar = Exemplar(took_s, 99.5, "000" + "1" * 29, "2" * 16)
    family = written({"a": some}, exemplar=exemplar)["tollgate_service_time_seconds"]
    beside = written({"a": some, "b": [*others, *some]}, exemplar=exemplar)
    for samples in (family.samples, beside["tollgate_service_time_seconds"].samples):
        buckets = [
            (float(sample.labels["le"]), sample.exemplar)
            for sample in samples
            if sample.name.endswith("_bucket") and sample.labels["tollgate_label"] == "a"
        ]
        [(end, shown)] = [bucket for bucket in buckets if bucket[1]]
        assert end == min(each for each, _ in buckets if each * 1.00001 >= took_s)
        assert shown.labels == {"trace_id": exemplar.trace, "span_id": exemplar.span}
        assert (shown.value, float(shown.timestamp)) == (took_s, 99.5)


def test_a_run_is_known_by_the_labels_that_prometheus_makes_of_its_resource():
    families = written({"a": [1]})
    (about,) = families["target"].samples
    assert about.labels == {"job": "shop", "instance": "run-1", "host_name": "h"}
    for sample in families["tollgate_service_time_seconds"].samples:
        assert (sample.labels["job"], sample.labels["instance"]) == ("shop", "run-1")


@pytest.mark.parametrize(
    "more", [{"service.namespace": "x"}, {"a.b": "1", "a_b": "2"}, {"9-lives": '"\\\n'}]
)
def test_a_users_own_resource_makes_labels_that_can_be_read(more):
    (about,) = written({"a": [1]}, {**RESOURCE, **more})["target"].samples
    job = "x/shop" if "service.namespace" in more else "shop"
    expected = (
        {"a_b": "2"} if "a.b" in more else {"key_9_lives": '"\\\n'} if "9-lives" in more else {}
    )
    assert about.labels == {"job": job, "instance": "run-1", "host_name": "h"} | expected
