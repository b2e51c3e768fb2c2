"""Runs put together from recorded seconds, and the gate on them."""

import numpy as np
import pytest

from certification.resample import Pool, resampled, sequences_of
from support.compared import compared
from tollgate.compare.decide import close, look, next_look_s
from tollgate.compare.estimates import percentile_ratio
from tollgate.compare.model import FAIL, PASS, Blocks, Gate, GateSettings, Requests, Side

LOOKS = (60.0, 30.0)
SETTINGS = GateSettings(budget_s=240.0, fail_fast=False)


def recorded(seed, lengths, **service):
    rng = np.random.default_rng(seed)
    return [[compared(rng, seconds, **service)] for seconds in lengths]


def verdicts(pool, many, exchangeable, seed=5):
    gates = sequences_of(pool, SETTINGS, LOOKS, exchangeable, many, seed)
    return [gate.verdict for gate in gates]


def test_a_segment_lies_within_one_run_whose_end_is_joined_to_its_beginning():
    pool = Pool.of(recorded(1, [60, 90, 75]))
    begins, ends = np.array([0, 60, 150]), np.array([60, 150, 225])
    chain = pool.chain(np.random.default_rng(2), 3000, 30)
    for begin in range(0, 3000, 30):
        segment = chain[begin : begin + 30]
        run = np.searchsorted(ends, segment[0], side="right")
        assert ((segment >= begins[run]) & (segment < ends[run])).all()
        steps = np.diff(segment)
        assert set(steps) <= {1, 1 - (ends[run] - begins[run])}


def test_every_recorded_second_is_as_likely_as_any_other_however_long_its_run():
    pool = Pool.of(recorded(1, [60, 240]))
    chain = pool.chain(np.random.default_rng(3), 300_000, 30)
    seen = np.bincount(chain, minlength=300)
    assert (np.abs(seen / 1000 - 1) < 0.25).all()
    assert abs(seen[:60].mean() / seen[60:].mean() - 1) < 0.05


def test_a_picked_second_holds_the_samples_of_that_second_on_the_side_that_the_coin_says():
    (run,) = recorded(1, [60], failing=(0.1, 0.3))
    pool = Pool.of([run])
    seconds = np.array([5, 5, 59])
    swapped = np.array([False, True, False])
    (found,) = pool.picked(seconds, swapped)
    base, head = run[0].base, run[0].head
    at = np.searchsorted(pool.labels[0].values_ms, run[0].values_ms)
    for side, sources in ((found.base, (base, head, base)), (found.head, (head, base, head))):
        for row, (second, source) in enumerate(zip(seconds, sources, strict=True)):
            assert (side.counts[row][at] == source.counts[second]).all()
            assert side.failed[row] == source.failed[second]
            assert side.counts[row].sum() == source.counts[second].sum()


def test_a_picked_second_keeps_what_others_took_in_it():
    (first,), (second,) = recorded(2, [60, 60])
    foreign = np.linspace(0, 1, 60)
    pool = Pool.of([[first.beside(foreign)], [second]])
    (found,) = pool.picked(np.array([59, 3, 70]), np.array([True, False, False]))
    assert found.foreign.tolist() == [1.0, foreign[3], 0.0]
    (found,) = Pool.of([[first], [second]]).picked(np.array([1]), np.array([False]))
    assert found.foreign is None


def test_a_picked_second_keeps_the_rows_and_processes_of_its_requests():
    rng, seconds = np.random.default_rng(1), 60
    made = []
    for _ in range(2):
        block = np.repeat(np.arange(seconds), 5)
        columns = (rng.integers(most, size=len(block)) for most in (7, 9, 3))
        made.append(Requests(block, *columns))
    counts = [np.zeros((seconds, 9), int) for _ in made]
    for table, it in zip(counts, made, strict=True):
        np.add.at(table, (it.block, it.elapsed_ms), 1)
    sides = (
        Side(table, np.zeros(seconds, int), it) for table, it in zip(counts, made, strict=True)
    )
    blocks = Blocks("sum", np.arange(9), *sides)
    pool = Pool.of([[blocks], [blocks]])
    second = np.array([61, 3])
    (found,) = pool.picked(second, np.array([True, False]))
    for side, sources in ((found.base.known, (1, 0)), (found.head.known, (0, 1))):
        for block, source in enumerate(sources):
            got, meant = (
                it.where(it.block == at)
                for it, at in ((side, block), (made[source], second[block] % seconds))
            )
            for name in ("row", "elapsed_ms", "process"):
                assert getattr(got, name).tolist() == getattr(meant, name).tolist()


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
    gate = Gate(SETTINGS)
    while (at_s := next_look_s(gate, LOOKS[1], LOOKS[0])) is not None:
        gate = look(gate, [run[0].first(int(at_s))], at_s)
    assert found == close(gate)


def test_the_seed_decides_what_is_drawn():
    pool = Pool.of(recorded(1, [60, 90]))
    chains = [pool.chain(np.random.default_rng(seed), 600).tolist() for seed in (1, 1, 2)]
    assert chains[0] == chains[1] != chains[2]
