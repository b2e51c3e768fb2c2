"""The workers of several targets of one execution, each app watched for itself."""

import json

import pytest

from tollgate.workers.model import WorkerCount
from tollgate.workers.reading import read_targets, unwatched

BEGAN, ENDED = 1_700_000_000.0, 1_700_000_010.0
BALANCER, PI, CLUSTER = (
    {"name": name, "mode": mode, "instances": instances, "memory_limit": limit}
    for name, mode, instances, limit in (
        ("balancer", "fork", 1, None),
        ("pi-2", "fork", 1, 300.0),
        ("cluster", "cluster", 2, 500.0),
    )
)
ALL = [BALANCER, PI, CLUSTER]


def line(second, app, worker=0, **changed):
    fields = {"time": int((BEGAN + second) * 1000), "app": app["name"], "worker": worker}
    return fields | {"pid": 7, "status": "online", "restarts": 0, "rss": 64} | changed


def looks(seconds=range(-1, 11), dead=()):
    """What the watcher writes; dead: apps whose process is another one from second 5 on."""
    return [
        line(second, app, worker, pid=8 if app in dead and second >= 5 else 7)
        for second in seconds
        for app in ALL
        for worker in range(app["instances"])
    ]


@pytest.fixture
def found(tmp_path):
    """Reads what was written of some targets."""

    def read(lines, targets=ALL, reloads=()):
        path = tmp_path / "workers.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in lines))
        return read_targets(path, targets, BEGAN, ENDED, reloads)

    return read


def test_workers_of_all_targets_are_counted_and_called_by_their_app(found):
    watched = found(looks())
    assert watched.counts == (
        WorkerCount(1, 1, 1, "balancer"),
        WorkerCount(1, 1, 1, "pi-2"),
        WorkerCount(2, 2, 2, "cluster"),
    )
    assert (
        tuple(event.text for event in watched.events),
        watched.problems,
        watched.resources.outages,
    ) == ((), (), ())
    names = [series.worker for series in watched.resources.workers]
    assert names == ["0 of balancer", "0 of pi-2", "0 of cluster", "1 of cluster"]


def test_a_worker_of_any_target_that_died_is_told_with_its_app(found):
    watched = found(looks(dead=[PI]))
    died = "worker 0 of pi-2 (pid 7) died and was started again 5 s into the execution"
    assert tuple(event.text for event in watched.events) == (died,)
    assert [(it.worker, it.pid) for it in watched.resources.outages] == [("0 of pi-2", 7)]


def test_outages_of_several_targets_are_told_in_the_order_of_time(found):
    killed = [(PI, 6.5), (BALANCER, 3.5), (CLUSTER, 4.5)]
    events = [
        {"time": (BEGAN + at) * 1000, "app": app["name"], "worker": 0, "pid": 7, "event": "exit"}
        for app, at in killed
    ]
    outages = found(looks() + events).resources.outages
    assert [(it.worker, it.from_s) for it in outages] == [
        ("0 of balancer", 3.5),
        ("0 of cluster", 4.5),
        ("0 of pi-2", 6.5),
    ]


def test_one_target_is_told_without_its_name(found):
    watched = found(looks(dead=[PI]), [PI])
    died = "worker 0 (pid 7) died and was started again 5 s into the execution"
    assert (watched.counts, tuple(event.text for event in watched.events)) == (
        (WorkerCount(1, 1, 1),),
        (died,),
    )
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
    lines[9]["app"] = "pi-2"
    assert len(found(lines).problems) == 1
    lines[9] = 7
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
    assert unwatched([PI, CLUSTER]).counts == (
        WorkerCount(1, app="pi-2"),
        WorkerCount(2, app="cluster"),
    )
    assert unwatched([PI]).counts == (WorkerCount(1),)
    assert unwatched([]).counts == ()
