import numpy as np
import pytest

from cell_data import ROUNDS, by_cell, cell_of, measured
from tollgate.study.answers import Ran, build, in_order, usable_cores
from tollgate.study.record import StudyRun

HOW = StudyRun("data/study.csv", 21, False, None, ("sum",))
INSTANCES = {"fork": 1, "cluster": 8, "balancer": 1, "pi-1": 1, "pi-2": 1, "pi-3": 1}


def ran(cores=8, instances=INSTANCES, how=HOW):
    return Ran(cores, instances, how)


@pytest.mark.parametrize(
    ("app", "cores", "usable"),
    [
        ("fork", 8, 1),
        ("fork", 1, 1),
        ("cluster", 8, 8),
        ("cluster", 2, 2),
        ("balancer", 8, 3),
        ("balancer", 2, 2),
        ("search-per-search", 8, 8),
        ("search-per-carrier", 2, 2),
        ("unheard-of", 8, 1),
    ],
)
def test_an_app_can_use_a_core_for_each_of_its_processes(app, cores, usable):
    assert usable_cores(app, ran(cores)) == usable


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
    keys = (("sum", "fork", 5), ("sum", "cluster", 5))
    apps = {key: cell_of(*key, app=key[1]) for key in keys}
    data = by_cell(
        *(measured(key, [10.0] * ROUNDS, cpu=(0.1, 1.0, 6.9), cell=apps[key]) for key in keys)
    )
    fork, cluster = build(data, (), (), ran()).cells
    assert (fork.bottleneck.who, cluster.bottleneck.who) == ("service", "neither")


def test_a_short_study_and_what_it_lacked_are_noted():
    how = StudyRun("data/study.csv", 21, True, None, ("sum",), ("autocannon is not installed",))
    data = by_cell(measured(("sum", "mine", 5), [10.0], cell=cell_of("sum", "mine", 5, rounds=1)))
    notes = build(data, (), (), ran(how=how)).notes
    assert notes[0].startswith("this was the short study: ")
    assert notes[1] == "there are no answers from one round: they need 8"
    assert notes[2] == "autocannon is not installed"
    assert notes[3] == (
        "sum has no concurrency performance: none of its arms is fork, in-process, one server"
    )


def test_nothing_measured_is_a_study_without_answers():
    empty = measured(
        ("sum", "fork", 5),
        [10.0],
        rounds=np.empty(0, np.int64),
        window_s=np.empty(0),
        counts=np.empty((0, 2), np.int64),
        failed=np.empty(0, np.int64),
        generator_cores=np.empty(0),
        service_cores=np.empty(0),
        idle_cores=np.empty(0),
        workers={},
    )
    found = build(by_cell(empty), (), (), ran())
    assert found.cells[0].requests == 0
    assert {claim.answer for claim in found.claims} == {"cannot tell"}
    assert build({}, (), (), ran()).cells == ()
