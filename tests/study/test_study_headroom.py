"""Arms that had to share their cores with the generator, and what is said of them."""

import numpy as np
import pytest

from support.cell_data import by_cell, measured
from tollgate.study.answers import claims
from tollgate.study.published import PublishedMachine
from tollgate.study.stats import cell_result, estimate, widest

SEED = 21
MACHINE = PublishedMachine(cores=2, workers=2)
ARM, BASELINE = ("sum", "cluster", 100), ("sum", "fork", 100)
#: Mean cores of generator, service and nobody: all cores busy, one idle.
SQUEEZED, ALONE = (0.5, 1.25, 0.0), (0.4, 1.0, 0.6)


def cell(key, throughput, cpu, seed):
    noise = np.exp(0.004 * np.random.default_rng(seed).standard_normal(10))
    return measured(key, throughput * noise, 100_000 / throughput / noise, cpu)


def answer(arm, baseline):
    cells = by_cell(cell(ARM, *arm, seed=1), cell(BASELINE, *baseline, seed=2))
    usable = {"cluster": 2, "fork": 1}
    results = [cell_result(it, 2, usable[it.cell.arm], SEED) for it in cells.values()]
    found = claims(cells, results, MACHINE, SEED)
    return next(claim for claim in found if claim.id == "sum-throughput")


@pytest.mark.parametrize("metric", ["throughput", "mean"])
def test_an_interval_reaches_as_far_as_the_headroom(metric):
    cells = [cell(ARM, 1500.0, SQUEEZED, 1), cell(BASELINE, 1000.0, ALONE, 2)]

    def quantity(arm, baseline):
        return arm[metric] / baseline[metric]

    found = estimate(quantity, cells, SEED)
    wide = widest(quantity, cells, [1.6, 1.0], found, SEED)
    assert widest(quantity, cells, [1.0, 1.0], found, SEED) == found
    if metric == "throughput":
        assert wide.low == found.low
        assert wide.high == pytest.approx(1.6 * found.high)
    else:  # Little's law
        assert wide.low == pytest.approx(found.low / 1.6)
        assert wide.high == found.high
    wide = widest(quantity, cells, [1.0, 1.25], found, SEED)
    factor = 1 / 1.25 if metric == "throughput" else 1.25
    assert sorted([wide.low / found.low, wide.high / found.high]) == pytest.approx(
        sorted([min(factor, 1), max(factor, 1)])
    )


def test_a_cluster_that_lost_for_want_of_the_generators_cores_refutes_nothing():
    claim = answer((800.0, SQUEEZED), (1000.0, ALONE))
    assert claim.answer == "cannot tell"
    assert "is wholly below 1" in claim.reason
    told = "got 1.25 cores beside JMeter's 0.50 and others' 0.25, and could use more"
    assert told in claim.reason
    assert claim.measured.high < 1


def test_a_cluster_that_lost_by_more_than_its_headroom_refutes_the_claim():
    assert answer((500.0, SQUEEZED), (1000.0, ALONE)).answer == "disagrees"


def test_a_cluster_that_won_in_spite_of_the_generator_has_won():
    assert answer((1300.0, SQUEEZED), (1000.0, ALONE)).answer == "agrees"


def test_a_win_over_a_fork_that_lacked_its_core_is_none():
    claim = answer((1150.0, (0.3, 1.7, 0.0)), (1000.0, (1.0, 0.8, 0.1)))
    assert claim.answer == "cannot tell"
