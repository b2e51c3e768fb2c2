"""Pieces of time, rows and bursts: what the estimators of a comparison see and what they don't."""

from dataclasses import replace

import numpy as np
import pytest

from tollgate.compare.batches import FEWEST_PIECES, WEIGHTS, pieces_of
from tollgate.compare.estimates import mean_ratio, percentile_ratio
from tollgate.compare.model import Blocks, Requests, Side
from tollgate.compare.typical import typical_ratio
from tollgate.workers.background_cpu import BackgroundCpu

VALUES = np.arange(1000)
SECONDS, RATE = 120, 28
ROWS_MS = 7 * np.exp(0.3 * np.random.default_rng(0).standard_normal(100))


def side(rng, ratio=1.0, burst=None, rows=ROWS_MS, known=True):
    """`burst`: how many times slower each second is, float[SECONDS]."""
    block = np.repeat(np.arange(SECONDS), rng.poisson(RATE, SECONDS))
    row = rng.integers(len(rows), size=len(block))
    took = rows[row] * ratio * np.exp(0.08 * rng.standard_normal(len(block)))
    took *= 1 if burst is None else burst[block]
    elapsed = np.minimum(np.floor(took + rng.random(len(took))), 999).astype(int)
    counts = np.zeros((SECONDS, len(VALUES)), int)
    np.add.at(counts, (block, elapsed), 1)
    failed = np.zeros(SECONDS, int)
    return Side(counts, failed, Requests(block, row, elapsed) if known else None)


def pair(rng, ratio=1.0, bursts=(None, None), **more):
    sides = (side(rng, 1.0, bursts[0], **more), side(rng, ratio, bursts[1], **more))
    return Blocks("sum", VALUES, *sides)


def ratio_of(blocks, metric):
    return typical_ratio(blocks) if metric == "typical" else percentile_ratio(blocks, metric)


def spread_of(ratios):
    return np.std([it.value for it in ratios])


def assert_found(values, ratio):
    """The mean of these logarithms is that of the ratio."""
    error = np.std(values) / len(values) ** 0.5
    assert np.mean(values) == pytest.approx(np.log(ratio), abs=0.002 + 4 * error)


@pytest.mark.parametrize(("metric", "least"), [("typical", 2.5), ("p50", 1.8), ("p95", 1.05)])
def test_what_differs_between_rows_is_taken_off(metric, least):
    rng = np.random.default_rng(1)
    found, blind = (
        [ratio_of(pair(rng, known=known), metric) for _ in range(20)] for known in (True, False)
    )
    assert spread_of(blind) > least * spread_of(found)
    assert np.mean([it.error for it in blind]) > np.mean([it.error for it in found])


@pytest.mark.parametrize("metric", ["typical", "p50", "p95"])
def test_a_change_of_head_does_not_wear_off_with_the_rows(metric):
    rng = np.random.default_rng(2)
    assert_found([ratio_of(pair(rng, 1.05), metric).value for _ in range(30)], 1.05)


def burst(rng, share, most=20.0):
    return np.where(rng.random(SECONDS) < share, rng.uniform(2, most, SECONDS), 1.0)


@pytest.mark.parametrize(("metric", "most"), [("typical", 0.02), ("p50", 0.02), ("p95", 0.1)])
def test_bursts_that_hit_the_sides_by_chance_are_no_change(metric, most):
    rng = np.random.default_rng(3)
    runs = [pair(rng, bursts=(burst(rng, 0.03), burst(rng, 0.03))) for _ in range(20)]
    spread = spread_of(ratio_of(it, metric) for it in runs)
    assert spread < most
    assert spread_of(mean_ratio(it) for it in runs) > 4 * spread


def test_what_is_slow_in_less_than_a_fifth_of_the_pieces_is_left_to_the_mean():
    rng = np.random.default_rng(4)
    blocks = pair(rng, bursts=(None, burst(rng, 0.1, 10.0)))
    assert abs(typical_ratio(blocks).value) < 0.02
    assert mean_ratio(blocks).value > 0.2


@pytest.mark.parametrize("metric", ["typical", "p50", "p95"])
def test_rows_that_are_seen_once_are_one_row(metric):
    blocks = pair(np.random.default_rng(5))
    base, head = blocks.base, blocks.head
    rows = np.arange(len(base.known.row) + len(head.known.row))
    ones, others = np.split(rows, [len(base.known.row)])
    once = replace(
        blocks,
        base=replace(base, known=replace(base.known, row=ones)),
        head=replace(head, known=replace(head.known, row=others)),
    )
    blind = replace(blocks, base=replace(base, known=None))
    found, expected = (ratio_of(it, metric).value for it in (once, blind))
    assert found == pytest.approx(expected, abs=1e-9)


def test_a_service_of_no_time_at_all_has_no_typical_request():
    blocks = pair(np.random.default_rng(6), rows=np.full(100, 1e-9))
    found = typical_ratio(blocks)
    assert (found.note.startswith("all answers"), np.isnan(found.value)) == (True, True)


@pytest.mark.parametrize("level_ms", [0.3, 1.0, 2.0])
def test_whole_milliseconds_hide_nothing_of_what_short_requests_take_longer(level_ms):
    rng = np.random.default_rng(7)
    rows = level_ms * ROWS_MS / ROWS_MS.mean()
    for ratio in (1.06, 1.5):
        assert_found([typical_ratio(pair(rng, ratio, rows=rows)).value for _ in range(30)], ratio)


def test_short_and_long_rows_together_change_as_each_does():
    rng = np.random.default_rng(8)
    found = [typical_ratio(pair(rng, 1.06, rows=ROWS_MS * 0.7)) for _ in range(30)]
    assert_found([it.value for it in found], 1.06)
    assert 0 < max(it.coarse for it in found) < 0.02


def test_a_piece_without_a_sample_of_one_side_is_left_out():
    whole = pair(np.random.default_rng(7))
    head, known = whole.head, whole.head.known
    kept = known.block % 10 != 3
    counts = head.counts.copy()
    counts[3::10] = 0
    requests = Requests(*(it[kept] for it in (known.block, known.row, known.elapsed_ms)))
    gaps = replace(whole, head=Side(counts, head.failed, requests))
    assert abs(typical_ratio(gaps).value - typical_ratio(whole).value) < 0.01
    assert np.isfinite(percentile_ratio(gaps, "p50").error)


def beside_a_neighbour(rng, foreign):
    """A control whose requests wait in some of the seconds in which others take CPU time."""
    slow = [
        np.where(rng.random(SECONDS) < 2 * foreign, rng.uniform(1, 4, SECONDS), 1) for _ in "bh"
    ]
    return pair(rng, bursts=slow)


def bursts_of_a_neighbour(rng):
    return np.where(np.arange(SECONDS) // 2 % 2, rng.uniform(0.4, 0.6, SECONDS), 0.02)


def test_what_others_take_makes_the_tail_surer_and_leaves_the_middle_as_it_is():
    rng = np.random.default_rng(8)
    plain, weighed = [], []
    for _ in range(30):
        foreign = bursts_of_a_neighbour(rng)
        blocks = beside_a_neighbour(rng, foreign)
        beside = blocks.beside(foreign)
        plain.append(percentile_ratio(blocks, "p95"))
        weighed.append(percentile_ratio(beside, "p95"))
        for metric in ("p50", "typical"):
            assert ratio_of(beside, metric) == ratio_of(blocks, metric)
    errors = [np.median([it.error for it in each]) for each in (plain, weighed)]
    assert spread_of(plain) > 1.6 * spread_of(weighed)
    assert errors[0] > 1.6 * errors[1]
    assert errors[1] > 0.8 * spread_of(weighed)


def test_a_change_of_head_is_seen_beside_a_neighbour_as_large_as_it_is():
    rng = np.random.default_rng(9)
    foreign = (bursts_of_a_neighbour(rng) for _ in range(30))
    runs = (pair(rng, 1.1).beside(it) for it in foreign)
    assert_found([percentile_ratio(it, "p95").value for it in runs], 1.1)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 0.9, 1.0, "0.9 in one"])
def test_where_all_seconds_but_too_few_are_alike_what_others_take_says_nothing(share):
    blocks = pair(np.random.default_rng(10))
    one = np.where(np.arange(SECONDS) == 50, 0.9, 0)  # too few for a piece join calmer ones
    beside = blocks.beside(one if share == "0.9 in one" else [share] * SECONDS)
    assert percentile_ratio(beside, "p95") == percentile_ratio(blocks, "p95")


@pytest.mark.parametrize("seconds", [20, 21, 40, 119])
@pytest.mark.parametrize("seed", range(5))
def test_every_second_is_in_one_piece_whatever_others_take(seconds, seed):
    rng = np.random.default_rng(seed)
    blocks = pair(rng).first(seconds).beside(rng.uniform(0, 1, seconds))
    pieces = pieces_of(blocks, 60.0, is_tail=True)
    assert pieces.begins[0] == 0
    assert (np.diff(pieces.begins) > 0).all()
    assert len(pieces.begins) == len(pieces.weight) >= FEWEST_PIECES
    assert sorted(pieces.in_time) == list(range(len(pieces.begins)))
    for name in ("base", "head"):
        before, after = (getattr(it, name) for it in (blocks, pieces.blocks))
        assert after.n.sum() == before.n.sum()
        assert (np.diff(after.known.block) >= 0).all()
        assert np.bincount(after.known.block, minlength=seconds).tolist() == after.n.tolist()


def test_calm_seconds_weigh_the_most_and_lie_together():
    foreign = np.tile([0.0, 0.0, 0.2, 0.2, 0.5, 0.5], SECONDS // 6)
    blocks = pair(np.random.default_rng(12)).beside(foreign)
    pieces = pieces_of(blocks, 56.0, is_tail=True)
    assert pieces.weight.tolist() == np.repeat(WEIGHTS, SECONDS // 3 // 2).tolist()
    calm = np.flatnonzero(foreign == 0)
    assert pieces.blocks.base.n[: SECONDS // 3].tolist() == blocks.base.n[calm].tolist()


@pytest.mark.parametrize(
    ("shares", "told"),
    [((), None), ((None, None), None), ((None, 0.5, 0.0, 0.1), BackgroundCpu(0.2, 3, 1))],
)
def test_what_others_took_is_told_of_the_seconds_in_which_it_is_known(shares, told):
    assert BackgroundCpu.of(shares) == told
