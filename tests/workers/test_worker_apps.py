"""The workers of several targets of one execution, each app watched for itself."""

import pytest

from support.watch_lines import BEGAN, ENDED, died, look, texts, write
from tollgate.workers.model import WorkerCount
from tollgate.workers.reading import read_targets, unwatched

BALANCER = {"name": "balancer", "mode": "fork", "instances": 1, "memory_limit": None}
PI = {"name": "pi-2", "mode": "fork", "instances": 1, "memory_limit": 300.0}
CLUSTER = {"name": "cluster", "mode": "cluster", "instances": 2, "memory_limit": 500.0}
ALL = [BALANCER, PI, CLUSTER]


def looks(dead=()):
    """dead: apps whose process is another one from second 5 on."""
    return [
        look(second, worker, pid=8 if app in dead and second >= 5 else 7, app=app["name"])
        for second in range(-1, 11)
        for app in ALL
        for worker in range(app["instances"])
    ]


@pytest.fixture
def found(tmp_path):
    """Reads what was written of some targets."""

    def read(lines, targets=ALL, reloads=()):
        return read_targets(write(tmp_path, lines), targets, BEGAN, ENDED, reloads)

    return read


def test_workers_of_all_targets_are_counted_and_called_by_their_app(found):
    watched = found(looks())
    assert watched.counts == (
        WorkerCount(1, 1, 1, "balancer"),
        WorkerCount(1, 1, 1, "pi-2"),
        WorkerCount(2, 2, 2, "cluster"),
    )
    assert (texts(watched), watched.problems, watched.resources.outages) == ((), (), ())
    names = [series.worker for series in watched.resources.workers]
    assert names == ["0 of balancer", "0 of pi-2", "0 of cluster", "1 of cluster"]


def test_a_worker_of_any_target_that_died_is_told_with_its_app(found):
    watched = found(looks(dead=[PI]))
    death = "worker 0 of pi-2 (pid 7) died and was started again 5 s into the execution"
    assert texts(watched) == (death,)
    assert [(it.worker, it.pid) for it in watched.resources.outages] == [("0 of pi-2", 7)]


def test_outages_of_several_targets_are_told_in_the_order_of_time(found):
    at = {"pi-2": 6.5, "balancer": 3.5, "cluster": 4.5}
    events = [died(second, 7, worker=0) | {"app": app} for app, second in at.items()]
    outages = [(it.worker, it.from_s) for it in found(looks() + events).resources.outages]
    assert outages == [("0 of balancer", 3.5), ("0 of cluster", 4.5), ("0 of pi-2", 6.5)]


def test_one_target_is_told_without_its_name(found):
    watched = found(looks(dead=[PI]), [PI])
    death = "worker 0 (pid 7) died and was started again 5 s into the execution"
    assert (watched.counts, texts(watched)) == ((WorkerCount(1, 1, 1),), (death,))
    assert [it.worker for it in watched.resources.workers] == ["0"]
    assert [it.worker for it in watched.resources.outages] == ["0"]


def test_a_target_that_the_watcher_never_saw_is_told(found):
    watched = found([each for each in looks() if each["app"] != "pi-2"])
    assert watched.counts[1] == WorkerCount(1, None, None, "pi-2")
    [problem] = watched.problems
    assert "the workers of pi-2 were not watched" in problem


def test_a_file_that_cannot_be_read_is_one_problem_for_all_targets(found):
    lines = looks()
    del lines[9]["pid"]
    [problem] = found(lines).problems
    assert problem.startswith("workers.jsonl can't be read: line 10 is damaged")


def test_each_worker_has_the_memory_limit_of_its_app(found):
    resources = found(looks()).resources
    limits = {series.worker: series.memory_limit for series in resources.workers}
    assert limits["0 of balancer"] is None
    assert (limits["0 of pi-2"], limits["1 of cluster"]) == (300.0, 500.0)
    assert resources.memory_limit == 300.0


def test_a_reload_excuses_the_app_that_was_reloaded_and_no_other(found):
    reload = {"app": "cluster", "began": BEGAN + 4, "ended": BEGAN + 5.5, "problem": ""}
    watched = found(looks(dead=[PI, CLUSTER]), reloads=[reload])
    [event] = watched.events
    assert event.text.startswith("worker 0 of pi-2 ")
    planned = {it.worker: it.planned for it in watched.resources.outages}
    assert planned == {"0 of pi-2": False, "0 of cluster": True, "1 of cluster": True}


def test_targets_whose_load_never_began_were_asked_for_and_not_seen():
    both = WorkerCount(1, app="pi-2"), WorkerCount(2, app="cluster")
    assert unwatched([PI, CLUSTER]).counts == both
    assert unwatched([PI]).counts == (WorkerCount(1),)
    assert unwatched([]).counts == ()
