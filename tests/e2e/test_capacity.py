"""The kind `capacity` from end to end: its search goes on in a JMeter of its own."""

import json
import signal

import psutil
import pytest

import support
from e2e.bzt_run import Run

pytestmark = pytest.mark.long


def started(tmp_path, *limits, criteria=(), **env):
    """A search of fork with these limits."""
    config = {
        "modules": {"capacity": {"~limits": list(limits), "budget": "5m"}},
        "scenarios": {"fork": {"criteria": list(criteria)}},
    }
    return Run(tmp_path, config=config, alias="capacity", MODE="fork", **env)


def judged_again(folder):
    """What `tollgate judge` says of a run's folder."""
    return json.loads(support.tollgate("judge", folder, "--json").stdout)


def test_limits_that_fail_at_one_request_a_second_fail_the_run(tmp_path):
    given = {"criteria": ["capacity of fork<1/s"], "INJECT_DELAY_MS": "1500"}
    ended = started(tmp_path, "p50>500ms", **given).end_cleanly()
    found = ended.execution["capacity"]
    assert ended.outcome == (3, "FAIL"), ended.output
    assert (found["status"], found["complete"]) == ("below", True)
    assert found["ceiling"] > 0
    assert [it["verdict"] for it in ended.execution["criteria"]] == ["FAIL"]
    # What measured the generator's ceiling is no request to the service.
    sums = sum(row["label"] == "sum" for row in ended.samples)
    assert f"{sums:,} requests in fork, " in ended.page
    assert judged_again(ended.folder) == ended.verdict


def test_a_search_that_is_killed_or_interrupted_keeps_its_trials_and_leaves_nothing(tmp_path):
    run = started(tmp_path, "p95>250ms").until("bracket")
    idle = run.children("idle-server.js")
    jmeter = run.children("ApacheJMeter.jar")
    run.kill()
    _, alive = psutil.wait_procs(idle, support.PATIENCE)
    assert (len(idle), alive) == (1, [])
    (execution,) = judged_again(run.folder)["executions"]
    assert execution["capacity"]["ceiling"] > 0
    following = started(tmp_path / "next", "p95>250ms")  # which ends what is left
    ended = following.until("bracket").signal(signal.SIGINT).end_cleanly()
    assert ended.outcome == (2, "INVALID"), ended.output
    # It tells what it measured until then.
    assert ended.execution["capacity"]["ceiling"] > 0
    assert not ended.execution["capacity"]["complete"]
    assert [it for it in jmeter if it.is_running()] == []
    assert run.left_behind() == []
