"""Pieces of time, rows and bursts: what the estimators of a comparison see and what they don't."""

from dataclasses import replace

import numpy as np
import pytest

from tollgate.compare.estimates import mean_ratio, percentile_ratio, typical_ratio
from tollgate.compare.model import Blocks, Requests, Side

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


@pytest.mark.parametrize(("metric", "least"), [("typical", 2.5), ("p50", 1.8), ("p95", 1.05)])
def test_what_differs_between_rows_is_taken_off(metric, least):
    rng = np.random.default_rng(1)
    found = [ratio_of(pair(rng), metric) for _ in range(20)]
    blind = [ratio_of(pair(rng, known=False), metric) for _ in range(20)]
    spreads = [np.std([it.value for it in each]) for each in (blind, found)]
    assert spreads[0] > least * spreads[1]
    assert np.mean([it.error for it in blind]) > np.mean([it.error for it in found])


@pytest.mark.parametrize("metric", ["typical", "p50", "p95"])
def test_a_change_of_head_does_not_wear_off_with_the_rows(metric):
    rng = np.random.default_rng(2)
    values = [ratio_of(pair(rng, 1.05), metric).value for _ in range(30)]
    assert np.mean(values) == pytest.approx(np.log(1.05), abs=0.002 + 4 * np.std(values) / 30**0.5)


def burst(rng, share, most=20.0):
    return np.where(rng.random(SECONDS) < share, rng.uniform(2, most, SECONDS), 1.0)


@pytest.mark.parametrize(("metric", "most"), [("typical", 0.02), ("p50", 0.02), ("p95", 0.1)])
def test_bursts_that_hit_the_sides_by_chance_are_no_change(metric, most):
    rng = np.random.default_rng(3)
    values, plain = [], []
    for _ in range(20):
        blocks = pair(rng, bursts=(burst(rng, 0.03), burst(rng, 0.03)))
        values.append(ratio_of(blocks, metric).value)
        plain.append(mean_ratio(blocks).value)
    assert np.std(values) < most
    assert np.std(plain) > 4 * np.std(values)


def test_what_is_slow_in_less_than_a_fifth_of_the_pieces_is_left_to_the_mean():
    rng = np.random.default_rng(4)
    blocks = pair(rng, bursts=(None, burst(rng, 0.1, 10.0)))
    assert abs(typical_ratio(blocks).value) < 0.02
    assert mean_ratio(blocks).value > 0.2


def test_rows_that_are_seen_once_are_one_row():
    rng = np.random.default_rng(5)
    blocks = pair(rng)
    unique = []
    for number, each in enumerate((blocks.base, blocks.head)):
        n = len(each.known.row)
        unique.append(replace(each, known=replace(each.known, row=np.arange(n) + number * n)))
    once = replace(blocks, base=unique[0], head=unique[1])
    blind = replace(blocks, base=replace(blocks.base, known=None))
    for metric in ("typical", "p50", "p95"):
        assert ratio_of(once, metric).value == pytest.approx(
            ratio_of(blind, metric).value, abs=1e-9
        )


def test_a_service_of_less_than_half_a_millisecond_has_no_typical_request():
    rng = np.random.default_rng(6)
    found = typical_ratio(pair(rng, rows=np.full(100, 0.2)))
    assert found.note.startswith("all answers")
    assert np.isnan(found.value)


def test_a_piece_without_a_sample_of_one_side_is_left_out():
    rng = np.random.default_rng(7)
    whole = pair(rng)
    block = whole.head.known.block
    kept = block % 10 != 3
    known = Requests(
        *(it[kept] for it in (block, whole.head.known.row, whole.head.known.elapsed_ms))
    )
    counts = whole.head.counts.copy()
    counts[3::10] = 0
    gaps = replace(whole, head=Side(counts, whole.head.failed, known))
    assert abs(typical_ratio(gaps).value - typical_ratio(whole).value) < 0.01
    assert np.isfinite(percentile_ratio(gaps, "p50").error)
