"""Reloads on a timetable and a worker that is killed: what each cost. Real processes under load."""

import json
import os
import re
import signal
import time

import pytest

import support
from e2e.bzt_run import LENIENT, Run, mostly_right, only
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
    config = only("cluster", CRITERIA, warmup=1, measured=MEASURED, **BUSY)
    config["modules"]["targets"] = {"reload-every": f"{period}s"}
    config["modules"]["verdict"] = {**LENIENT, "cut-short-counts": True}
    return config


def after_reloads(run, least):
    """Ends it when so many reloads are over."""
    for number in range(least + 1):
        support.wait_until(
            lambda wanted=number: run.log.read_text().count("Reloading cluster, ") > wanted,
            f"reload {number + 1} begins",
        )
    return run.signal(signal.SIGINT).end()


def judged(ended):
    """The one execution of a run, as judge was told about it."""
    gathered, _ = evidence.gather(ended.folder, manifest.read(ended.folder))
    [execution] = gathered.executions
    return execution


def worker_pids(folder, requests=0):
    """Of the newest look at the workers that are online and have answered so many requests."""

    def newest():
        text = (folder / "workers.jsonl").read_text()
        lines = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        looks = [line for line in lines if line.get("status") == "online"]
        last = max((line["time"] for line in looks), default=None)
        now = [line for line in looks if line["time"] == last]
        return [it["pid"] for it in now if (it.get("requests") or 0) >= requests]

    return support.wait_until(newest, "the watcher has looked")


def kill_in_a_request(pid):
    """Ends a worker that holds requests for certain: an idle one loses none."""
    os.kill(pid, signal.SIGSTOP)
    time.sleep(1)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.long
def test_20_reloads_under_load_lose_no_request(tmp_path):
    run = Run(tmp_path, config=under_reload(2))
    ended = after_reloads(run, RELOADS)
    reloads = judged(ended).resources.reloads
    assert len(reloads) >= RELOADS  # the one that the signal came into may be left out
    assert [(it.lost, it.problem) for it in reloads] == [(0, "")] * len(reloads), ended.output
    [execution] = ended.verdict["executions"]
    assert {it["verdict"] for it in execution["criteria"]} == {"PASS"}, ended.reasons()
    assert {it["observed"] for it in execution["criteria"]} == {0}, ended.reasons()
    assert all(outage["planned"] for outage in execution["outages"])
    assert f"{len(reloads)} reloads of the target lost no request" in ended.output
    assert run.left_behind() == []


def test_a_worker_that_is_killed_in_a_reload_makes_that_reload_a_lossy_one(tmp_path):
    run = Run(tmp_path, config=under_reload(5)).until("Reloading cluster, ")
    kill_in_a_request(worker_pids(run.folder, requests=10)[-1])
    ended = after_reloads(run, 1)
    [lossy, *others] = judged(ended).resources.reloads
    assert lossy.lost > 0
    assert [reload.lost for reload in others] == [0] * len(others)
    assert f"into the execution lost {lossy.lost} requests" in ended.reasons()
    assert ended.code in (1, 2, 3)


def test_a_killed_worker_is_told_with_when_how_long_and_what_it_cost(tmp_path):
    config = only("cluster", CRITERIA, warmup=1, measured=10, **BUSY)
    run = Run(tmp_path, config=config).until(" of 11 s, ")
    pid = worker_pids(run.folder, requests=50)[0]  # in the middle of the load
    kill_in_a_request(pid)
    ended = run.end()
    pattern = (
        rf"INVALID cluster: worker \d+ \(pid {pid}\) died and was started again [\d.]+ s into the "
        r"execution; PM2 had it back after [\d.]+ s; (\d+ requests were|one request was) lost"
    )
    assert len(re.findall(pattern, ended.reasons())) == 1, ended.reasons()
    [outage] = [it for it in ended.verdict["executions"][0]["outages"] if it["pid"] == pid]
    assert outage["lost"] > 0
    assert outage["to_s"] > outage["from_s"]
    assert not outage["planned"]
    assert run.left_behind() == []
