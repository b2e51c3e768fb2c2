"""One process's luck is not taken for a change: what the processes of a side say together."""

from dataclasses import replace

import numpy as np
import pytest

from tollgate.compare.decide import close, look
from tollgate.compare.model import Blocks, Gate, GateSettings, Requests, Side
from tollgate.compare.processes import spread

SECONDS, RATE, VALUES = 240, 40, np.arange(100)
ROWS_MS = 7 * np.exp(0.3 * np.random.default_rng(0).standard_normal(50))
SETTINGS = GateSettings(gates=("typical", "p50", "p95"))
ALIKE = (1.0, 1.0)
METRICS = ("typical", "p50", "p95")


def blocks_of(base=ALIKE, head=ALIKE, seed=1, is_told=True):
    """base, head: how many times slower each of its processes is."""
    rng = np.random.default_rng(seed)
    sides = []
    for times in (base, head):
        block = np.repeat(np.arange(SECONDS), rng.poisson(RATE, SECONDS))
        row = rng.integers(len(ROWS_MS), size=len(block))
        process = rng.integers(len(times), size=len(block))
        took = ROWS_MS[row] * np.array(times)[process]
        took *= np.exp(0.05 * rng.standard_normal(len(block)))
        elapsed = np.floor(took + rng.random(len(took))).astype(int)
        counts = np.zeros((SECONDS, len(VALUES)), int)
        np.add.at(counts, (block, elapsed), 1)
        known = Requests(block, row, elapsed, process if is_told else None)
        sides.append(Side(counts, np.zeros(SECONDS, int), known))
    return Blocks("sum", VALUES, *sides)


def findings(blocks, settings=SETTINGS):
    gate = look(Gate(settings), [blocks], float(SECONDS))
    return {it.metric: it for it in gate.findings}, gate


@pytest.mark.parametrize("metric", METRICS)
def test_each_process_is_told_against_all_of_bases(metric):
    found = spread(blocks_of((0.98, 1.02), (1.08, 1.12)), metric)
    assert found.base == pytest.approx((-0.02, 0.02), abs=0.02)
    assert found.head == pytest.approx((0.08, 0.12), abs=0.02)
    assert (found.is_slower, found.is_faster) == (True, False)


def test_what_all_of_heads_processes_have_is_a_change():
    found, gate = findings(blocks_of((1.0, 1.01), (1.1, 1.12)))
    assert {found[it].verdict for it in METRICS} == {"FAIL"}
    assert gate.finished
    found, _ = findings(blocks_of((1.1, 1.12), (1.0, 1.01)))
    assert {found[it].verdict for it in METRICS} == {"IMPROVED"}


def test_what_one_of_them_has_alone_is_none():
    blocks = blocks_of((1.0, 1.02), (1.0, 1.2))
    found, gate = findings(blocks)
    for metric in METRICS:
        assert found[metric].low > 0  # by the samples alone it is worse beyond doubt
        assert (found[metric].verdict, found[metric].at_s) == ("OPEN", None)
        assert str(spread(blocks, metric)) in found[metric].reason
    assert close(gate).verdict == "INCONCLUSIVE"
    found, _ = findings(blocks_of((0.98, 1.0), (1.0, 0.8)))
    assert {found[it].verdict for it in METRICS} == {"PASS"}


def test_of_a_single_process_its_luck_is_the_change_as_ever():
    for blocks in (blocks_of((1.0,), (1.1,)), blocks_of(ALIKE, (1.0, 1.2), is_told=False)):
        assert blocks.processes == 1
        assert spread(blocks, "typical") is None
        assert findings(blocks)[0]["typical"].verdict == "FAIL"


def test_a_process_with_too_few_samples_bears_nothing_out():
    blocks = blocks_of((1.0,), (1.2,))
    base, head = (
        replace(
            it, known=replace(it.known, process=(np.arange(len(it.known.row)) < 10).astype(int))
        )
        for it in (blocks.base, blocks.head)
    )
    blocks = Blocks("sum", VALUES, base, head)
    found = spread(blocks, "p95")
    assert (np.isnan(found.head[1]), found.is_slower) == (True, False)
    assert findings(blocks)[0]["p95"].verdict == "OPEN"
    assert spread(blocks_of(), "errors") is None  # which are counted over all processes


@pytest.mark.statistics
def test_luck_of_any_size_seldom_fails_with_four_processes(repetitions):
    """Whichever are slow, the four slowest of eight are all head's in one of 70 cases."""
    rng, repeated = np.random.default_rng(5), repetitions(400)
    settings = replace(SETTINGS, gates=("typical",))
    failed = 0
    for seed in repeated:
        base, head = np.exp(0.05 * rng.standard_normal((2, 4)))
        found, _ = findings(blocks_of(base, head, seed), settings)
        failed += found["typical"].verdict == "FAIL"
    assert failed <= repeated.most(2 / 70)
