"""A percentile over the course of a run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.stats.counts import Counts
from tollgate.stats.percentiles import percentile_by_block

NEEDED = 72  # for p95, by the binomial interval


def drawn(seconds, per_second, width=1, start=0):
    rng = np.random.default_rng(3)
    second = start + np.repeat(np.arange(0, seconds, width), per_second * width)
    elapsed = rng.integers(1, 500, len(second))
    return Counts.of(second, elapsed, width=width), second, elapsed


@pytest.mark.parametrize("width", [1, 8])
def test_each_block_has_numpys_percentile_of_its_own_samples(width):
    counts, second, elapsed = drawn(800, 20, width, start=3)
    middle, values, samples = percentile_by_block(counts, 95, 3, 803, 10)
    assert list(middle) == [3 + 40 + 80 * block for block in range(10)]
    for block, value in enumerate(values):
        picked = elapsed[(second >= 3 + 80 * block) & (second < 83 + 80 * block)]
        assert (value, samples[block]) == (np.percentile(picked, 95), len(picked))


def test_the_warm_up_and_what_came_after_the_end_are_in_no_block():
    counts = Counts.of([0, 5, 15, 25], [9000, 10, 20, 9000], n=[100] * 4)
    middle, values, samples = percentile_by_block(counts, 50, 5, 25, 2)
    assert (list(middle), list(values), list(samples)) == ([10, 20], [10, 20], [100, 100])


def test_a_block_with_too_few_samples_is_joined_with_its_neighbours():
    counts = Counts.of([0, 10, 20, 30, 40], [1] * 5, n=[80, 40, 40, 80, 10])
    middle, _, samples = percentile_by_block(counts, 95, 0, 50, 5)
    assert list(samples) == [80, 80, 90]
    assert list(middle) == [5, 20, 40]


def test_too_few_samples_in_all_give_no_blocks():
    few = Counts.of([0, 1], [1, 2], n=[NEEDED - 2, 1])
    enough = Counts.of([0, 1], [1, 2], n=[NEEDED - 1, 1])
    assert [len(each) for each in percentile_by_block(few, 95, 0, 10, 4)] == [0, 0, 0]
    assert [len(each) for each in percentile_by_block(enough, 95, 0, 10, 4)] == [1, 1, 1]
    empty = Counts.of([], [])
    assert [len(each) for each in percentile_by_block(empty, 95, 0, 10, 4)] == [0, 0, 0]
    with pytest.raises(ValueError, match="0 blocks"):
        percentile_by_block(enough, 95, 0, 10, 0)


@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=60),
    st.integers(1, 70),
    st.integers(1, 5),
)
def test_blocks_hold_each_sample_once_and_enough_each(per_bin, blocks, width):
    counts = Counts.of(np.arange(len(per_bin)) * width, [7] * len(per_bin), n=per_bin, width=width)
    _, values, samples = percentile_by_block(counts, 95, 0, len(per_bin) * width, blocks)
    assert len(samples) <= blocks
    assert (samples >= NEEDED).all()
    assert (values == 7).all()
    assert samples.sum() in ((sum(per_bin),) if len(samples) else (0, sum(per_bin)))
    assert len(samples) or sum(per_bin) < NEEDED
