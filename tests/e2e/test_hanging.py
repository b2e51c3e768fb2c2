"""A service that hangs, with a real server and the real bzt and JMeter."""

import pytest

from e2e.bzt_run import Run
from support.hanging_server import OPEN, hanging_server, write_plan

pytestmark = pytest.mark.long


def fails_for_the_service(ended):
    """Also when the folder is judged again."""
    assert ended.outcome == (3, "FAIL"), ended.reasons()
    assert ended.blamed <= {"service", "machine"}
    assert "INVALID" not in ended.reasons()
    assert ended.judged_again().returncode == 3


def test_a_service_that_hangs_until_stop_after_ends_the_load_fails(tmp_path):
    with hanging_server(answers_s=4) as port:
        own = {"PLAN": str(write_plan(tmp_path, port)), "STOP_AFTER": "7s"}
        ended = Run(tmp_path, alias="plan", **own, CRITERIA="fail>5%").end()
    fails_for_the_service(ended)
    warnings = ended.execution["warnings"]
    (told,) = [text for text in warnings if "waited for an answer from about" in text]
    assert told.startswith("3 threads of the thread group 'visitors' waited")
    assert "the thread group 'visitors' loops for ever without an end" in ended.execution["lint"]
    assert any(line.startswith("the load was ended after ") for line in warnings)


def test_a_service_that_hangs_until_a_criterion_stops_the_run_fails(tmp_path):
    with hanging_server(answers_s=3) as port:
        plan = str(write_plan(tmp_path, port, OPEN, timeout_ms=4000))
        own = {"PLAN": plan, "CRITERIA": "fail>50% for 2s, stop as failed"}
        ended = Run(tmp_path, alias="plan", **own).end()
    fails_for_the_service(ended)
