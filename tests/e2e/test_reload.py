"""Reloads on a timetable and a worker that is killed: what each cost. Real processes under load."""

import os
import re
import signal
import time

import pytest

import support
from e2e.bzt_run import LENIENT, Run, mostly_right, newest_look, only
from tollgate.gather import evidence
from tollgate.record import manifest

TARGETS = ("calculate", "sum", "search", "kittens", "pi")
CRITERIA = mostly_right(*TARGETS)
#: A few busy connections, some 100 requests a second: an idle one holds up a drain for seconds.
BUSY = {
    **{"calculate_rate": 45, "calculate_threads": 4, "sum_rate": 45, "sum_threads": 4},
    **{"kittens_rate": 4, "kittens_threads": 1, "search_rate": 4, "search_threads": 2},
    **{"pi_rate": 2, "pi_threads": 1, "think": 50, "think_spread": 50},
}
RELOADS = 20
#: Seconds with room for a reload, however many cores there are. No test waits for their end.
MEASURED = 600 + 10 * (os.cpu_count() or 1)


def under_reload(period):
    """A run that is ended once there was enough of it."""
    modules = {
        "targets": {"reload-every": f"{period}s"},
        "verdict": {**LENIENT, "cut-short-counts": True},
    }
    return only("cluster", CRITERIA, modules, warmup=1, measured=MEASURED, **BUSY)


def after_reloads(run, least):
    """Ends it when so many reloads are over."""
    for number in range(least + 1):
        support.wait_until(
            lambda wanted=number: run.log.read_text().count("Reloading cluster, ") > wanted,
            f"reload {number + 1} begins",
        )
    return run.signal(signal.SIGINT).end()


def reloads_of(ended):
    """What judge was told of the reloads."""
    gathered, _ = evidence.gather(ended.folder, manifest.read(ended.folder))
    [execution] = gathered.executions
    return execution.resources.reloads


def worker_pids(folder, requests):
    """Of workers that are online and have answered so many requests."""

    def busy():
        looks = newest_look(folder, "cluster")
        return [it["pid"] for it in looks if (it.get("requests") or 0) >= requests]

    return support.wait_until(busy, "the watcher has looked")


def kill_in_a_request(pid):
    """Ends a worker that holds requests for certain: an idle one loses none."""
    os.kill(pid, signal.SIGSTOP)
    time.sleep(1)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.long
def test_20_reloads_under_load_lose_no_request(tmp_path):
    run = Run(tmp_path, config=under_reload(2))
    ended = after_reloads(run, RELOADS)
    reloads = reloads_of(ended)
    assert len(reloads) >= RELOADS  # the one that the signal came into may be left out
    assert [(it.lost, it.problem) for it in reloads] == [(0, "")] * len(reloads), ended.output
    # The criteria also count what a busy machine could not send, or what a search had no time for.
    assert {row["responseCode"] for row in ended.samples} == {"200"}
    assert all(outage["planned"] for outage in ended.execution["outages"])
    assert f"{len(reloads)} reloads of the target lost no request" in ended.output
    assert run.left_behind() == []


@pytest.mark.long
def test_a_worker_that_is_killed_in_a_reload_makes_that_reload_a_lossy_one(tmp_path):
    run = Run(tmp_path, config=under_reload(5)).until("Reloading cluster, ")
    kill_in_a_request(worker_pids(run.folder, requests=10)[-1])
    ended = after_reloads(run, 1)
    [lossy, *others] = reloads_of(ended)
    assert lossy.lost > 0
    assert [reload.lost for reload in others] == [0] * len(others)
    assert f"into the execution lost {lossy.lost} requests" in ended.reasons()
    assert ended.code in (2, 3, 4, 5)


def test_a_killed_worker_is_told_with_when_how_long_and_what_it_cost(tmp_path):
    config = only("cluster", CRITERIA, warmup=1, measured=10, **BUSY)
    run = Run(tmp_path, config=config).until(" of 11 s, ")
    pid = worker_pids(run.folder, requests=50)[0]  # in the middle of the load
    kill_in_a_request(pid)
    ended = run.end_cleanly()
    pattern = (
        rf"INVALID cluster: worker \d+ \(pid {pid}\) died and was started again [\d.]+ s into the "
        r"execution; PM2 had it back after [\d.]+ s; (\d+ requests were|one request was) lost"
    )
    assert len(re.findall(pattern, ended.reasons())) == 1, ended.reasons()
    [outage] = [it for it in ended.execution["outages"] if it["pid"] == pid]
    assert outage["lost"] > 0
    assert outage["to_s"] > outage["from_s"]
    assert not outage["planned"]
