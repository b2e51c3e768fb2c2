import time
from collections import Counter

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.stats.bins import LONGEST_BY_SECOND_S, MOST_BINS, Bins
from tollgate.stats.counts import Counts
from tollgate.stats.percentiles import percentile_by_block

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
def test_percentiles_mean_and_deviation_equal_numpys(samples, p):
    elapsed, counts = [sample[1] for sample in samples], counts_of(samples)
    assert counts.percentile(p) == np.percentile(elapsed, p)  # to the last bit
    assert counts.mean == pytest.approx(np.mean(elapsed))
    assert counts.stdev == pytest.approx(np.std(elapsed), abs=1e-9)


@given(SAMPLES, st.randoms(use_true_random=False), st.integers(0, 200))
def test_the_order_of_samples_does_not_matter_and_parts_merge_into_the_whole(samples, random, cut):
    whole = counts_of(samples)
    assert counts_of(random.sample(samples, len(samples))) == whole
    parts = [part for part in (samples[:cut], samples[cut:]) if part]
    assert Counts.merged(counts_of(part) for part in parts) == whole
    seconds = dict(whole.by_second())
    assert list(seconds) == list(whole.seconds)
    assert [part.total for part in seconds.values()] == list(whole.sum_by_second())
    assert Counts.merged(seconds.values()) == whole


ANY = st.integers(-9, 9) | st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(ANY, ANY, st.booleans()), min_size=1))
def test_counts_are_sorted_and_alike_ones_together_however_far_apart_they_are(samples):
    counts = Counts.of(*zip(*samples, strict=True))
    columns = (counts.second, counts.elapsed_ms, counts.ok, counts.n)
    found = list(zip(*(column.tolist() for column in columns), strict=True))
    assert found == [(*sample, n) for sample, n in sorted(Counter(samples).items())]


@given(SAMPLES, st.integers(-10, 60), st.integers(-10, 60))
def test_a_window_holds_its_start_and_not_its_end(samples, low, high):
    window = counts_of(samples).window(low, high)
    assert window.total == sum(low <= sample[0] < high for sample in samples)


def test_errors_and_ranks_are_those_of_the_samples():
    counts = Counts.of([0, 0, 1], [5, 5, 7], [True, False, False], n=[10, 2, 3])
    assert (counts.total, counts.errors) == (15, 5)
    counts = Counts.of([0, 0, 0], [30, 10, 20], n=[1, 2, 1])
    assert list(counts.order_statistics([1, 2, 3, 4])) == [10, 10, 20, 30]


def test_response_codes_match_by_pattern_and_exceptions_without_their_package():
    counts = Counts.of([0, 0, 0], [1, 2, 3], code=[0, 1, 2], codes=CODES)
    hits = {pattern: int(counts.n @ counts.code_mask(pattern)) for pattern in ("2??", "?0?", "S*")}
    assert hits == {"2??": 1, "?0?": 2, "S*": 1}


def test_no_samples_have_no_values():
    empty = Counts.of([], [])
    assert empty.total == 0
    assert np.isnan([empty.mean, empty.stdev, empty.percentile(95)]).all()
    assert list(empty.by_second()) == []
    assert Counts.merged([]).total == 0


def test_ragged_columns_and_a_code_without_a_name_are_refused():
    with pytest.raises(ValueError, match="equal length"):
        Counts.of([0, 1], [5])
    with pytest.raises(ValueError, match="outside of the 1 codes"):
        Counts.of([0], [5], code=[1], codes=("200",))


HOUR = 3600


@pytest.mark.parametrize(
    ("measured_s", "width"),
    [(None, 1), (60, 1), (6 * HOUR, 1), (6 * HOUR + 1, 7), (24 * HOUR, 24), (48 * HOUR, 48)],
)
def test_a_run_has_a_bounded_number_of_bins_however_long_it_is(measured_s, width):
    assert Bins.of(30, measured_s).width_s == width
    assert (measured_s or 0) / width <= max(MOST_BINS, LONGEST_BY_SECOND_S)


@given(
    st.integers(1, 50),
    st.integers(0, 90),
    st.integers(100, 900),
    st.lists(st.integers(-200, 2000), min_size=1),
)
def test_sql_and_numpy_agree_and_no_bin_crosses_the_warm_ups_end_or_the_runs(
    width, start, end, seconds
):
    bins, second = Bins(width, start, end), np.array(seconds)
    begin = bins.begin(second)
    assert ((begin <= second) & (second < begin + width)).all()
    for border in (start, end):
        if width > 1:
            assert ((begin >= border) == (second >= border)).all()
    with duckdb.connect() as con:
        sql = bins.sql("second")
        found = con.execute(f"SELECT {sql} FROM (SELECT unnest({seconds}) AS second)").fetchall()
    assert [row for (row,) in found] == begin.tolist()


def test_a_warm_up_of_half_seconds_begins_the_bins_with_the_next_whole_one():
    bins = Bins.of(2.5, 24 * HOUR)
    assert (bins.start_s, bins.end_s) == (3, 24 * HOUR + 3)


NEEDED = 72  # for p95, by the binomial interval


@pytest.mark.parametrize("width", [1, 8])
def test_each_block_has_numpys_percentile_of_its_own_samples(width):
    rng = np.random.default_rng(3)
    second = 3 + np.repeat(np.arange(0, 800, width), 20 * width)
    elapsed = rng.integers(1, 500, len(second))
    counts = Counts.of(second, elapsed, width=width)
    middle, values, samples = percentile_by_block(counts, 95, 3, 803, 10)
    assert list(middle) == [3 + 40 + 80 * block for block in range(10)]
    for block, value in enumerate(values):
        picked = elapsed[(second >= 3 + 80 * block) & (second < 83 + 80 * block)]
        assert (value, samples[block]) == (np.percentile(picked, 95), len(picked))


def test_blocks_leave_out_what_was_not_measured_and_join_if_they_have_too_few_samples():
    counts = Counts.of([0, 5, 15, 25], [9000, 10, 20, 9000], n=[100] * 4)
    middle, values, samples = percentile_by_block(counts, 50, 5, 25, 2)
    assert (list(middle), list(values), list(samples)) == ([10, 20], [10, 20], [100, 100])
    counts = Counts.of([0, 10, 20, 30, 40], [1] * 5, n=[80, 40, 40, 80, 10])
    middle, _, samples = percentile_by_block(counts, 95, 0, 50, 5)
    assert (list(samples), list(middle)) == ([80, 80, 90], [5, 20, 40])


@pytest.mark.parametrize(("n", "blocks"), [([NEEDED - 2, 1], 0), ([NEEDED - 1, 1], 1), ([], 0)])
def test_too_few_samples_in_all_give_no_blocks(n, blocks):
    counts = Counts.of([0, 1][: len(n)], [1, 2][: len(n)], n=n)
    assert [len(each) for each in percentile_by_block(counts, 95, 0, 10, 4)] == [blocks] * 3
    with pytest.raises(ValueError, match="0 blocks"):
        percentile_by_block(counts, 95, 0, 10, 0)


@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=60), st.integers(1, 70), st.integers(1, 5)
)
def test_blocks_hold_each_sample_once_and_enough_each(per_bin, blocks, width):
    counts = Counts.of(np.arange(len(per_bin)) * width, [7] * len(per_bin), n=per_bin, width=width)
    _, values, samples = percentile_by_block(counts, 95, 0, len(per_bin) * width, blocks)
    assert len(samples) <= blocks
    assert (samples >= NEEDED).all()
    assert (values == 7).all()
    assert samples.sum() in ((sum(per_bin),) if len(samples) else (0, sum(per_bin)))
    assert len(samples) or sum(per_bin) < NEEDED


def test_a_service_that_answers_each_request_with_another_code_costs_no_more():
    size = 60_000
    codes = tuple(f"{number:05}" for number in reversed(range(size)))
    began = time.process_time()
    found = Counts.of(np.zeros(size), np.zeros(size), code=np.arange(size), codes=codes)
    assert time.process_time() - began < 3
    assert found.codes == codes[::-1]
    assert found.code.tolist() == [*range(size)]
