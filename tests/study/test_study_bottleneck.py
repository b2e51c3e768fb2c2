import numpy as np
import pytest

from support.study_cells import data
from tollgate.study.stats import bottleneck


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


def test_the_reason_gives_the_figures():
    service = found(0.4, 0.95, 0.6).reason
    assert "0.95 of the one core that it can use" in service
    generator = found(1.3, 0.6, 0.1).reason
    assert "only 0.10 of the machine's 2 cores were idle" in generator
    # 50 requests a second: 1.3 cores are 26 ms of CPU a request.
    assert "26 ms of JMeter's CPU and 12 ms of the service's" in generator


def test_what_other_processes_took_is_told():
    assert "other processes used 0.80" in found(0.7, 0.5, 0.0, usable=2).reason
    assert "other processes" not in found(1.3, 0.6, 0.1).reason


def test_without_the_cpu_nobody_knows():
    assert found(np.nan, np.nan, np.nan).who == "unknown"
    made = data([[20]] * 8)
    made.service_cores[:5] = np.nan
    assert bottleneck(made, 2, 1).who == "unknown"


def test_windows_whose_cpu_is_not_known_do_not_count():
    made = data([[20]] * 8, cores=(0.1, 0.95, 0.9))
    made.service_cores[:3] = np.nan
    made.idle_cores[:3] = 0.0
    assert bottleneck(made, 2, 1).who == "service"


def test_longer_windows_count_for_more():
    made = data([[20]] * 2, window_s=[9.0, 1.0], cores=(0.1, 0.96, 0.9))
    made.service_cores[1] = 0.5
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
