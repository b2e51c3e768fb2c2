import numpy as np
import pytest

from support.cell_data import by_cell, measured
from support.study_cells import data
from tollgate.study.answers import claims
from tollgate.study.published import StudyMachine
from tollgate.study.stats import bottleneck, cell_result, estimate, widest


def found(generator, service, idle, cores=2, usable=1):
    return bottleneck(data([[20] * 50] * 8, cores=(generator, service, idle)), cores, usable)


@pytest.mark.parametrize(
    ("cores", "usable", "who"),
    [
        ((0.4, 0.95, 0.6), 1, "service"),
        ((0.2, 1.82, 0.0), 2, "service"),
        ((0.2, 1.82, 0.0), 8, "service"),  # eight workers on two cores use two
        ((0.2, 0.95, 0.85), 2, "neither"),
        ((0.9, 0.3, 0.8), 1, "neither"),
        ((1.3, 0.6, 0.1), 1, "generator"),
        ((1.0, 1.0, 0.0), 2, "generator"),
        ((0.5, 1.4, 0.1), 2, "machine"),
    ],
)
def test_the_resource_that_is_busy_all_the_time_holds_the_throughput(cores, usable, who):
    assert found(*cores, usable=usable).who == who


def test_the_reason_gives_the_figures_also_of_other_processes():
    assert "0.95 of the one core that it can use" in found(0.4, 0.95, 0.6).reason
    generator = found(1.3, 0.6, 0.1).reason
    assert "only 0.10 of the machine's 2 cores were idle" in generator
    # 50 requests a second: 1.3 cores are 26 ms of CPU a request.
    assert "26 ms of JMeter's CPU and 12 ms of the service's" in generator
    assert "other processes" not in generator
    assert "other processes used 0.80" in found(0.7, 0.5, 0.0, usable=2).reason


def test_without_the_cpu_nobody_knows():
    assert found(np.nan, np.nan, np.nan).who == "unknown"
    made = data([[20]] * 8)
    made.cores[1, :5] = np.nan
    assert bottleneck(made, 2, 1).who == "unknown"


def test_windows_whose_cpu_is_not_known_do_not_count_and_longer_ones_count_for_more():
    made = data([[20]] * 8, cores=(0.1, 0.95, 0.9))
    made.cores[1, :3] = np.nan
    made.cores[2, :3] = 0.0
    assert bottleneck(made, 2, 1).who == "service"
    made = data([[20]] * 2, window_s=[9.0, 1.0], cores=(0.1, 0.96, 0.9))
    made.cores[1, 1] = 0.5
    assert "0.91 of the one core" in bottleneck(made, 2, 1).reason


def test_a_cell_in_which_nothing_was_answered_still_has_its_reason():
    made = data([[]] * 8, cores=(1.5, 0.4, 0.1))
    assert bottleneck(made, 2, 1).reason.endswith("no request ended")


@pytest.mark.parametrize(
    ("cores", "usable", "headroom"),
    [
        ((0.4, 1.2, 0.05), 2, 2 / 1.2),
        ((0.4, 1.2, 0.05), 8, 2 / 1.2),  # no more than the machine has
        ((0.1, 1.9, 0.0), 2, 2 / 1.9),
        ((0.6, 1.05, 0.05), 1, 1.0),  # its one core and its children's
        ((0.4, 0.8, 0.7), 2, 1.0),  # a core was idle, and it did not take it
        ((np.nan, np.nan, np.nan), 2, 1.0),
    ],
)
def test_headroom_is_what_the_cores_that_it_did_not_get_could_give(cores, usable, headroom):
    assert found(*cores, usable=usable).headroom == pytest.approx(headroom)


SEED = 21
MACHINE = StudyMachine(2, {"cluster": 2})
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
    return next(claim for claim in found if claim.of.id == "sum-throughput")


@pytest.mark.parametrize("metric", ["throughput", "mean"])
def test_an_interval_reaches_as_far_as_the_headroom(metric):
    cells = [cell(ARM, 1500.0, SQUEEZED, 1), cell(BASELINE, 1000.0, ALONE, 2)]

    def quantity(arm, baseline):
        return arm[metric] / baseline[metric]

    found = estimate(quantity, cells, SEED)

    def reach(arm, baseline):
        wide = widest(quantity, cells, [arm, baseline], found, SEED)
        return wide.low / found.low, wide.high / found.high

    assert reach(1.0, 1.0) == (1, 1)
    # Little's law turns the mean around.
    more, less = (1, pytest.approx(1.6)), (pytest.approx(1 / 1.6), 1)
    assert reach(1.6, 1.0) == (more if metric == "throughput" else less)
    more, less = (1, pytest.approx(1.25)), (pytest.approx(1 / 1.25), 1)
    assert reach(1.0, 1.25) == (less if metric == "throughput" else more)


def test_a_cluster_that_lost_for_want_of_the_generators_cores_refutes_nothing():
    claim = answer((800.0, SQUEEZED), (1000.0, ALONE))
    assert (claim.answer, claim.measured.high < 1) == ("cannot tell", True)
    told = "got 1.25 cores beside JMeter's 0.50 and others' 0.25, and could use more"
    assert all(it in claim.reason for it in ("is wholly below 1", told))


@pytest.mark.parametrize(
    ("arm", "baseline", "told"),
    [
        ((500.0, SQUEEZED), (1000.0, ALONE), "disagrees"),
        ((1300.0, SQUEEZED), (1000.0, ALONE), "agrees"),
        ((1150.0, (0.3, 1.7, 0.0)), (1000.0, (1.0, 0.8, 0.1)), "cannot tell"),
    ],
    ids=["lost by more than its headroom", "won all the same", "over a fork without its core"],
)
def test_a_claim_is_answered_where_no_headroom_could_turn_it(arm, baseline, told):
    assert answer(arm, baseline).answer == told
