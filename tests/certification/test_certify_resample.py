"""Runs put together from recorded seconds, and the gate on them."""

from dataclasses import replace

import numpy as np
import pytest

from certification.resample import Pool, resampled, sequences_of
from support.certified import LOOKS
from support.compared import SHORT as SETTINGS
from support.compared import compared, judged
from tollgate.compare.cpu_times import CpuTimes
from tollgate.compare.estimates import percentile_ratio
from tollgate.compare.model import FAIL, PASS, Blocks, Requests, Side


def recorded(seed, lengths, **service):
    rng = np.random.default_rng(seed)
    return [[compared(rng, seconds, **service)] for seconds in lengths]


def verdicts(pool, many, exchangeable, seed=5):
    return [it.verdict for it in sequences_of(pool, SETTINGS, LOOKS, exchangeable, many, seed)]


def test_a_segment_lies_within_one_run_whose_end_is_joined_to_its_beginning():
    pool = Pool.of(recorded(1, [60, 90, 75]))
    begins, ends = np.array([0, 60, 150]), np.array([60, 150, 225])
    for segment in pool.chain(np.random.default_rng(2), 3000).reshape(100, 30):
        run = np.searchsorted(ends, segment[0], side="right")
        assert ((segment >= begins[run]) & (segment < ends[run])).all()
        assert set(np.diff(segment)) <= {1, 1 - (ends[run] - begins[run])}


def test_every_recorded_second_is_as_likely_as_any_other_however_long_its_run():
    pool = Pool.of(recorded(1, [60, 240]))
    seen = np.bincount(pool.chain(np.random.default_rng(3), 300_000), minlength=300)
    assert (np.abs(seen / 1000 - 1) < 0.25).all()
    assert abs(seen[:60].mean() / seen[60:].mean() - 1) < 0.05


def test_a_picked_second_holds_the_samples_of_that_second_on_the_side_that_the_coin_says():
    (run,) = recorded(1, [60], failing=(0.1, 0.3))
    pool = Pool.of([run])
    seconds = np.array([5, 5, 59])
    (found,) = pool.picked(seconds, np.array([False, True, False]))
    base, head = run[0].base, run[0].head
    at = np.searchsorted(pool.labels[0].values_ms, run[0].values_ms)
    for side, sources in ((found.base, (base, head, base)), (found.head, (head, base, head))):
        for row, (second, source) in enumerate(zip(seconds, sources, strict=True)):
            assert (side.counts[row][at] == source.counts[second]).all()
            assert side.failed[row] == source.failed[second]
            assert side.counts[row].sum() == source.counts[second].sum()


def test_a_picked_second_keeps_what_each_process_used_on_the_side_that_the_coin_says():
    first, second = ([it] for [it] in recorded(2, [60, 60]))
    used = np.arange(4 * 60.0).reshape(4, 60)
    first, second = (
        [replace(it, cpu=CpuTimes(used + more)) for it in run]
        for run, more in ((first, 0.0), (second, 1000.0))
    )
    pool = Pool.of([first, second])
    (found,) = pool.picked(np.array([3, 70]), np.array([True, False]))
    assert found.cpu.used_ms[:, 0].tolist() == used[[1, 0, 3, 2], 3].tolist()
    assert found.cpu.used_ms[:, 1].tolist() == (used[:, 10] + 1000.0).tolist()
    (unlike,) = Pool.of([first, [replace(second[0], cpu=None)]]).picked(
        np.array([3]), np.array([False])
    )
    assert unlike.cpu is None


def test_a_picked_second_keeps_what_others_took_in_it():
    (first,), (second,) = recorded(2, [60, 60])
    foreign = np.linspace(0, 1, 60)
    pool = Pool.of([[first.beside(foreign)], [second]])
    (found,) = pool.picked(np.array([59, 3, 70]), np.array([True, False, False]))
    assert found.background_cpu.tolist() == [1.0, foreign[3], 0.0]
    (found,) = Pool.of([[first], [second]]).picked(np.array([1]), np.array([False]))
    assert found.background_cpu is None


def test_a_picked_second_keeps_the_rows_and_processes_of_its_requests():
    rng, block = np.random.default_rng(1), np.repeat(np.arange(60), 5)
    made = [Requests(block, *(rng.integers(it, size=300) for it in (7, 9, 3))) for _ in range(2)]
    blocks = Blocks("sum", np.arange(9), *(Side.of(it, np.arange(9), np.zeros(60)) for it in made))
    (found,) = Pool.of([[blocks], [blocks]]).picked(np.array([61, 3]), np.array([True, False]))
    for side, sources in ((found.base.known, (1, 0)), (found.head.known, (0, 1))):
        for at, (source, second) in enumerate(zip(sources, (1, 3), strict=True)):
            got, meant = side.where(side.block == at), made[source].where(block == second)
            for name in ("row", "elapsed_ms", "process"):
                assert getattr(got, name).tolist() == getattr(meant, name).tolist()


def test_the_cpu_time_of_runs_with_other_rows_is_that_of_whole_sides():
    rng, block, values = np.random.default_rng(1), np.repeat(np.arange(60), 5), np.arange(9)
    runs = []
    for rows in (7, 5):
        made = (Requests(block, *(rng.integers(it, size=300) for it in (rows, 9, 3))) for _ in "ab")
        sides = (Side.of(it, values, np.zeros(60)) for it in made)
        runs.append([Blocks("sum", values, *sides, cpu=CpuTimes(np.ones((6, 60))))])
    (found,) = Pool.of(runs).picked(np.array([3]), np.array([False]))
    assert (found.cpu.used_ms.tolist(), found.cpu.workers) == ([[3.0], [3.0]], 3)


def test_runs_of_other_labels_are_refused():
    rng = np.random.default_rng(1)
    runs = [[compared(rng, 30, label=label)] for label in ("sum", "search")]
    with pytest.raises(ValueError, match="must have the same labels"):
        Pool.of(runs)


def test_in_a_a_no_difference_is_left_though_the_recorded_runs_happened_to_show_one():
    """Head was 10 % slower in every recorded run: as chance that vanishes, as truth it stays."""
    runs = recorded(4, [60] * 6, rate=40, sigma=0.2, ratio=1.10)
    pool = Pool.of(runs)
    assert verdicts(pool, 20, exchangeable=False) == [FAIL] * 20
    rng = np.random.default_rng(6)
    signs = []
    for _ in range(200):
        chain = pool.chain(rng, 240)
        coins = np.repeat(rng.integers(2, size=8).astype(bool), 30)
        signs.append(percentile_ratio(pool.picked(chain, coins)[0], "p50").value)
    assert abs(np.mean(signs)) < 4 * np.std(signs) / np.sqrt(200)


def test_runs_like_their_base_seldom_fail_and_those_of_10_percent_more_nearly_always_do():
    like = Pool.of(recorded(7, [60, 90, 120, 60, 60], rate=40, sigma=0.2))
    found = verdicts(like, 150, exchangeable=True)
    assert found.count(FAIL) <= 5
    assert found.count(PASS) >= 100
    slowed = Pool.of(recorded(8, [60, 60, 60], rate=40, sigma=0.2, ratio=1.10))
    assert verdicts(slowed, 30, exchangeable=False).count(FAIL) >= 28


def test_the_gate_looks_as_it_does_live(monkeypatch):
    """A recorded run told in its own order is judged as it was."""
    (run,) = recorded(9, [240])
    monkeypatch.setattr(Pool, "chain", lambda *_: np.arange(240))
    found = resampled(Pool.of([run]), SETTINGS, LOOKS, False, np.random.default_rng(1))
    assert found == judged(run, SETTINGS)


def test_the_seed_decides_what_is_drawn():
    pool = Pool.of(recorded(1, [60, 90]))
    chains = [pool.chain(np.random.default_rng(seed), 600).tolist() for seed in (1, 1, 2)]
    assert chains[0] == chains[1] != chains[2]
