from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.stats.counts import Counts

SAMPLES = st.lists(
    st.tuples(st.integers(-5, 50), st.integers(0, 400), st.booleans(), st.integers(0, 2)),
    min_size=1,
    max_size=200,
)
CODES = ("404", "200", "Non HTTP response code: java.net.SocketException")


def counts_of(samples):
    second, elapsed, ok, code = zip(*samples, strict=True)
    return Counts.of(second, elapsed, ok, code, CODES)


@given(SAMPLES, st.floats(0, 100))
def test_percentiles_equal_numpys_to_the_last_bit(samples, p):
    elapsed = [sample[1] for sample in samples]
    assert counts_of(samples).percentile(p) == np.percentile(elapsed, p)


@given(SAMPLES)
def test_mean_and_deviation_equal_numpys(samples):
    elapsed, counts = [sample[1] for sample in samples], counts_of(samples)
    assert counts.mean == pytest.approx(np.mean(elapsed))
    assert counts.stdev == pytest.approx(np.std(elapsed), abs=1e-9)


@given(SAMPLES, st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(samples, random):
    shuffled = random.sample(samples, len(samples))
    assert counts_of(shuffled) == counts_of(samples)


ANY = st.integers(-9, 9) | st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(ANY, ANY, st.booleans()), min_size=1))
def test_counts_are_sorted_and_alike_ones_together_however_far_apart_they_are(samples):
    counts = Counts.of(*zip(*samples, strict=True))
    columns = (counts.second, counts.elapsed_ms, counts.ok, counts.n)
    found = list(zip(*(column.tolist() for column in columns), strict=True))
    assert found == [(*sample, n) for sample, n in sorted(Counter(samples).items())]


@given(SAMPLES, st.integers(0, 200))
def test_parts_merge_into_the_whole(samples, cut):
    parts = [part for part in (samples[:cut], samples[cut:]) if part]
    assert Counts.merged(counts_of(part) for part in parts) == counts_of(samples)


@given(SAMPLES, st.integers(-10, 60), st.integers(-10, 60))
def test_a_window_holds_its_start_and_not_its_end(samples, low, high):
    window = counts_of(samples).window(low, high)
    assert window.total == sum(low <= sample[0] < high for sample in samples)


@given(SAMPLES)
def test_seconds_add_up_to_the_whole(samples):
    counts = counts_of(samples)
    parts = dict(counts.by_second())
    assert list(parts) == list(counts.seconds)
    assert [part.total for part in parts.values()] == list(counts.sum_by_second())
    assert Counts.merged(parts.values()) == counts


def test_errors_are_counted():
    counts = Counts.of([0, 0, 1], [5, 5, 7], [True, False, False], n=[10, 2, 3])
    assert (counts.total, counts.errors) == (15, 5)


def test_response_codes_match_by_pattern_and_exceptions_without_their_package():
    counts = Counts.of([0, 0, 0], [1, 2, 3], code=[0, 1, 2], codes=CODES)
    hits = {pattern: int(counts.n @ counts.code_mask(pattern)) for pattern in ("2??", "?0?", "S*")}
    assert hits == {"2??": 1, "?0?": 2, "S*": 1}


def test_ranks_are_order_statistics():
    counts = Counts.of([0, 0, 0], [30, 10, 20], n=[1, 2, 1])
    assert list(counts.order_statistics([1, 2, 3, 4])) == [10, 10, 20, 30]


def test_no_samples_have_no_values():
    empty = Counts.of([], [])
    assert empty.total == 0
    assert np.isnan([empty.mean, empty.stdev, empty.percentile(95)]).all()
    assert list(empty.by_second()) == []
    assert Counts.merged([]).total == 0


def test_ragged_columns_are_refused():
    with pytest.raises(ValueError, match="equal length"):
        Counts.of([0, 1], [5])


def test_a_code_without_a_name_is_refused():
    with pytest.raises(ValueError, match="outside of the 1 codes"):
        Counts.of([0], [5], code=[1], codes=("200",))
