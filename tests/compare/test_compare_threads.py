"""A coin that falls once a thread: the luck of threads is no change, and a change is found all the
same."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from support.compared import SHORT, finding, judged, remembering
from tollgate.compare.model import ERRORS, FAIL, PASS, STALLS, TYPICAL, Blocks, Requests, Side
from tollgate.compare.power import rise_by_threads
from tollgate.compare.threads import design_effect, error_of_threads, joined

SECONDS = int(SHORT.budget_s)
#: Each a standard deviation of the logarithm of what a thread takes longer, and of its rate.
LUCKS = (
    {"luck": 0.0},
    {"luck": 0.02},
    {"luck": 0.1},
    {"luck": 0.3, "unlike_rates": 0.5},
    {"luck": 0.1, "of_one": 1.0},
    {"luck": 0.05, "failing": 0.02},
)
RUNS = 600


def blocks_of(
    rng, threads=8, ratio=1.0, luck=0.05, unlike_rates=0.1, of_one=0.0, failing=0.0, repeats=None
):
    """What so many threads of each side have sent in a closed loop: one with bad luck sends less.
    of_one: by how much one thread of either side is slower than the others. failing: the standard
    deviation of the shares of their requests that fail."""
    common, sides = 0.15 * remembering(rng, SECONDS, 0.6), []
    unlucky = rng.integers(2)
    for side, times in enumerate((1.0, ratio)):
        level = luck * rng.standard_normal(threads) + np.log(times)
        level[0] += of_one * (side == unlucky)
        rate = 3 * np.exp(unlike_rates * rng.standard_normal(threads) - level)
        thread = np.repeat(np.arange(threads), rng.poisson(SECONDS * rate))
        block = np.sort(rng.integers(SECONDS, size=len(thread)))
        thread = rng.permutation(thread)
        took = 40 * np.exp(level[thread] + common[block] + 0.4 * rng.standard_normal(len(thread)))
        elapsed = np.minimum(np.floor(took + rng.random(len(took))), 1999).astype(np.int64)
        ok = rng.random(len(thread)) >= np.abs(failing * rng.standard_normal(threads))[thread]
        known = Requests(block, np.zeros_like(block), elapsed, None, thread, ok)
        sides.append((known, np.bincount(block[~ok], minlength=SECONDS)))
    values = np.unique(np.concatenate([known.elapsed_ms for known, _ in sides]))
    made = (Side.of(known, values, failed) for known, failed in sides)
    return Blocks("cart", values, *made, repeats=repeats)


def without_threads(blocks):
    sides = (blocks.base, blocks.head)
    base, head = (replace(it, known=replace(it.known, thread=None, ok=None)) for it in sides)
    return replace(blocks, base=base, head=head)


@pytest.mark.statistics
def test_the_luck_of_eight_threads_a_side_fails_at_most_1_percent_of_runs(repetitions):
    rng, repeated = np.random.default_rng(31), repetitions(RUNS)
    alarms = 0
    for number in repeated:
        alarms += judged([blocks_of(rng, **LUCKS[number % len(LUCKS)])], SHORT).verdict == FAIL
    assert alarms <= repeated.most(0.01), alarms


@pytest.mark.statistics
def test_a_rise_as_large_as_the_effect_passes_in_at_most_2_percent_of_runs(repetitions):
    rng, repeated = np.random.default_rng(32), repetitions(100)
    settings = replace(SHORT, gates=(TYPICAL,), typical_effect=0.05)
    gates = [judged([blocks_of(rng, ratio=1.05, luck=0.03)], settings) for _ in repeated]
    passed = sum(gate.verdict == PASS for gate in gates)
    assert stats.binomtest(passed, repeated.made, 0.02, alternative="greater").pvalue > 0.001


def test_luck_that_time_does_not_average_out_would_fail_without_threads():
    rng, settings = np.random.default_rng(33), replace(SHORT, gates=(TYPICAL,))
    found = [blocks_of(rng, luck=0.3) for _ in range(10)]
    verdicts = [judged([it], settings).verdict for it in found]
    blind = [judged([without_threads(it)], settings).verdict for it in found]
    assert verdicts.count(FAIL) <= 1 < blind.count(FAIL)


def test_a_head_that_is_slower_in_each_thread_fails_and_one_like_base_passes():
    rng = np.random.default_rng(34)
    slower = judged([blocks_of(rng, threads=20, ratio=1.3, luck=0.02)], SHORT)
    assert finding(slower, TYPICAL, "cart").verdict == FAIL
    settings = replace(SHORT, gates=(TYPICAL, ERRORS, STALLS), typical_effect=0.2)
    assert judged([blocks_of(rng, threads=20, luck=0.02)], settings).verdict == PASS


def test_the_smallest_rise_that_threads_luck_lets_be_found_is_found_in_most_runs():
    settings = replace(SHORT, gates=(TYPICAL,))
    rng, rise = np.random.default_rng(9), rise_by_threads(8, settings, (60.0, 30.0), 0.05)
    gates = [judged([blocks_of(rng, luck=0.05, ratio=1 + rise)], settings) for _ in range(30)]
    assert 17 <= sum(gate.verdict == FAIL for gate in gates) <= 29
    many = rise_by_threads(80, settings, (60.0, 30.0), 0.05)
    assert many < rise / 3


def test_sides_that_send_unlike_numbers_are_no_lost_samples():
    rng, settings = np.random.default_rng(35), replace(SHORT, gates=(TYPICAL,), typical_effect=0.2)
    blocks = blocks_of(rng, threads=20, ratio=2.0, luck=0.02)
    assert blocks.base.total > 1.5 * blocks.head.total
    assert finding(judged([blocks], settings), TYPICAL, "cart").verdict == FAIL
    tossed = judged([replace(blocks, repeats=1.0)], settings)
    assert "no fair coin" in finding(tossed, TYPICAL, "cart").reason


def test_one_thread_of_eight_whose_every_request_fails_counts_once():
    thread = np.repeat(np.arange(8), 100)
    side = Requests(thread, thread, thread, None, thread, thread > 0)
    other = replace(side, ok=np.ones(800, bool))
    assert design_effect((other, side), [~other.ok, ~side.ok]) == pytest.approx(100, rel=0.2)
    assert design_effect((other, other), [~other.ok, ~other.ok]) == 1.0
    every = replace(side, ok=np.arange(800) % 100 > 1)
    assert design_effect((other, every), [~other.ok, ~every.ok]) == 1.0


def test_few_threads_that_send_most_requests_are_few():
    thread = np.concatenate([np.zeros(9_000, int), np.arange(1, 11)])
    side = Requests(thread, thread, thread, None, thread)
    error, freedom = error_of_threads((side, side), [np.zeros(len(thread))] * 2)
    assert (error, freedom) == (0.0, pytest.approx(1.0, abs=0.1))
    even = replace(side, thread=np.arange(len(thread)) % 8)
    rng = np.random.default_rng(36)
    error, freedom = error_of_threads((even, even), rng.standard_normal((2, len(thread))))
    assert freedom == pytest.approx(14, rel=0.5)
    assert error_of_threads((side, replace(side, thread=None)), [thread, thread]) is None


def test_errors_of_parts_join():
    assert joined((3.0, 5.0), (4.0, 7.0)) == (5.0, pytest.approx(625 / (81 / 5 + 256 / 7)))
    assert joined((0.0, 5.0), (0.0, 7.0)) == (0.0, 5.0)
