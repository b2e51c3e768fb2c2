"""The kind `capacity` from end to end: its search goes on in a JMeter of its own."""

import csv
import json
import signal
import sys
from pathlib import Path

import psutil
import pytest

import support
from e2e.bzt_run import Run

pytestmark = pytest.mark.long

TOLLGATE = Path(sys.executable).with_name("tollgate")


def started(tmp_path, *limits, criteria=(), **env):
    """A search of fork with these limits."""
    config = {
        "modules": {"capacity": {"~limits": list(limits), "budget": "5m"}},
        "scenarios": {"fork": {"criteria": list(criteria)}},
    }
    return Run(tmp_path, config=config, alias="capacity", MODE="fork", **env)


def judged_again(folder):
    """What `tollgate judge` says of a run's folder."""
    done = support.run(TOLLGATE, "judge", folder, "--json")
    return json.loads(done.stdout)


def test_limits_that_fail_at_one_request_a_second_fail_the_run(tmp_path):
    slow = {"INJECT_DELAY_MS": "1500"}
    run = started(tmp_path, "p50>500ms", criteria=["capacity of fork<1/s"], **slow)
    ended = run.end()
    (execution,) = ended.verdict["executions"]
    found = execution["capacity"]
    assert (ended.code, ended.verdict["verdict"]) == (3, "FAIL"), ended.output
    assert (found["status"], found["complete"]) == ("below", True)
    assert found["ceiling"] > 0
    assert [it["verdict"] for it in execution["criteria"]] == ["FAIL"]
    with (ended.folder / "kpi.jtl").open(newline="") as rows:
        sums = sum(row["label"] == "sum" for row in csv.DictReader(rows))
    # What measured the generator's ceiling is no request to the service.
    assert f"{sums:,} requests in fork, " in (ended.folder / "index.html").read_text()
    assert judged_again(ended.folder) == ended.verdict
    assert run.left_behind() == []


def assert_interrupted(ended):
    """It tells what it measured until then."""
    (execution,) = ended.verdict["executions"]
    assert (ended.code, ended.verdict["verdict"]) == (2, "INVALID"), ended.output
    assert execution["capacity"]["ceiling"] > 0
    assert not execution["capacity"]["complete"]


def test_a_search_that_is_killed_or_interrupted_keeps_its_trials_and_leaves_nothing(tmp_path):
    run = started(tmp_path, "p95>250ms").until("bracket")
    idle = run.children("idle-server.js")
    jmeter = run.children("ApacheJMeter.jar")
    run.process.kill()
    run.process.wait()
    _, alive = psutil.wait_procs(idle, 30)
    assert (len(idle), alive) == (1, [])
    (execution,) = judged_again(run.folder)["executions"]
    assert execution["capacity"]["ceiling"] > 0
    (tmp_path / "next").mkdir()
    following = started(tmp_path / "next", "p95>250ms")  # which ends what is left
    assert_interrupted(following.until("bracket").signal(signal.SIGINT).end())
    assert [it for it in jmeter if it.is_running()] == []
    assert run.left_behind() == []
