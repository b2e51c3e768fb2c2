import pytest

from support import study_cells
from support.cell_data import ROUNDS, by_cell, cell_of, measured
from tollgate.study.answers import build, in_order, usable_cores
from tollgate.study.published import StudyMachine
from tollgate.study.record import StudyRun

HOW = StudyRun("data/study.csv", 21, False, None, ("sum",))
INSTANCES = {"fork": 1, "cluster": 8, "balancer": 1, "pi-1": 1, "pi-2": 1, "pi-3": 1}


def built(data, cores=8, how=HOW):
    return build(data, (), (), StudyMachine(cores, INSTANCES), how)


@pytest.mark.parametrize(
    ("app", "cores", "usable"),
    [
        *(("fork", 8, 1), ("fork", 1, 1), ("cluster", 8, 8), ("cluster", 2, 2)),
        *(("balancer", 8, 3), ("balancer", 2, 2), ("unheard-of", 8, 1)),
        *(("search-per-search", 8, 8), ("search-per-carrier", 2, 2)),
    ],
)
def test_an_app_can_use_a_core_for_each_of_its_processes(app, cores, usable):
    assert usable_cores(app, StudyMachine(cores, INSTANCES)) == usable


def test_cells_come_by_experiment_then_one_process_first_then_users():
    keys = [
        *(("pi", "three servers", 10), ("pi", "one server", 10)),
        *(("sum", "mine", 1), ("sum", "cluster", 5), ("sum", "fork", 5), ("sum", "fork", 1)),
        *(("crosscheck", "autocannon", 20), ("crosscheck", "jmeter", 20)),
    ]
    data = by_cell(*(measured(key, [10.0] * ROUNDS) for key in keys))
    assert [(it.experiment, it.arm, it.users) for it in in_order(data)] == [
        *(("pi", "one server", 10), ("pi", "three servers", 10)),
        *(("sum", "fork", 1), ("sum", "fork", 5), ("sum", "cluster", 5), ("sum", "mine", 1)),
        ("crosscheck", "jmeter", 20),
    ]


def test_the_bottleneck_of_a_cluster_is_held_against_all_of_its_cores():
    cells = [cell_of("sum", app, 5, app=app) for app in ("fork", "cluster")]
    measurements = (measured(it.key, [10.0] * ROUNDS, cpu=(0.1, 1.0, 6.9), cell=it) for it in cells)
    fork, cluster = built(by_cell(*measurements)).cells
    assert (fork.bottleneck.who, cluster.bottleneck.who) == ("service", "neither")


def test_a_short_study_and_what_it_lacked_are_noted():
    how = StudyRun("data/study.csv", 21, True, None, ("sum",), ("autocannon is not installed",))
    data = by_cell(measured(("sum", "mine", 5), [10.0], cell=cell_of("sum", "mine", 5, rounds=1)))
    first, *notes = built(data, how=how).notes
    assert first.startswith("this was the short study: ")
    assert notes == [
        "there are no answers from one round: they need 8",
        "autocannon is not installed",
    ]


def test_nothing_measured_is_a_study_without_answers():
    found = built(by_cell(study_cells.data([])))
    assert found.cells[0].requests == 0
    assert {claim.answer for claim in found.claims} == {"cannot tell"}
    assert built({}).cells == ()
