"""A service that hangs, with a real server and the real bzt and JMeter."""

import sys
from pathlib import Path

import pytest

import support
from e2e.bzt_run import Run
from support.hanging_server import OPEN, hanging_server, write_plan

TOLLGATE = Path(sys.executable).with_name("tollgate")


def fails_for_the_service(ended):
    """Also when the folder is judged again."""
    assert (ended.code, ended.verdict["verdict"]) == (3, "FAIL"), ended.reasons()
    assert {reason["fault"] for reason in ended.verdict["reasons"]} <= {"service", "machine"}
    assert "INVALID" not in ended.reasons()
    assert support.run(TOLLGATE, "judge", ended.folder, cwd=support.ROOT).returncode == 3


@pytest.mark.long
def test_a_service_that_hangs_until_stop_after_ends_the_load_fails(tmp_path):
    with hanging_server(answers_s=4) as port:
        own = {"PLAN": str(write_plan(tmp_path, port)), "STOP_AFTER": "7s"}
        ended = Run(tmp_path, alias="plan", **own, CRITERIA="fail>5%").end()
    fails_for_the_service(ended)
    (execution,) = ended.verdict["executions"]
    told = [text for text in execution["warnings"] if "waited for an answer from about" in text]
    assert len(told) == 1
    assert told[0].startswith("3 threads of the thread group 'visitors' waited")
    assert "the thread group 'visitors' loops for ever without an end" in execution["lint"]
    assert any(line.startswith("the load was ended after ") for line in execution["warnings"])


def test_a_service_that_hangs_until_a_criterion_stops_the_run_fails(tmp_path):
    with hanging_server(answers_s=3) as port:
        plan = write_plan(tmp_path, port, OPEN, timeout_ms=4000)
        criteria = "fail>50% for 2s, stop as failed"
        ended = Run(tmp_path, alias="plan", PLAN=str(plan), CRITERIA=criteria).end()
    fails_for_the_service(ended)
