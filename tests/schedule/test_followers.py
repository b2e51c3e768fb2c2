"""Arrivals that send more than one request, from the plan to the verdict."""

import pytest

from support import jmx_text as jmx
from support import jtl_rows, run_folder
from support.run_folder import reasons
from support.simulated import expected_schedules
from tollgate.plan.read import read_plan

START = jtl_rows.START_MS
TIMES = {"warmup": 2.0, "measured": 8.0, "began": START / 1000, "ended": START / 1000 + 12}


def jtl(*rows, starts=(START,)):
    """Each row with a test start, in turns."""
    told = [f"{row},{starts[number % len(starts)]}" for number, row in enumerate(rows)]
    return jtl_rows.jtl(*told, header=jtl_rows.HEADER + ",TESTSTART.MS").encode()


@pytest.fixture
def looped(tmp_path):
    """Judges a run whose arrivals each ask for a page some times, first fast, then slowly."""

    def judge(*criteria, slow_ms=300, **more):
        again = jmx.element("LoopController", "again", [jmx.sampler("page")])
        plan = tmp_path / "plan" / "looped.jmx"
        plan.parent.mkdir()
        plan.write_text(jmx.plan(jmx.open_group(again)))
        run_folder.make(tmp_path, criteria, plan="plan/looped.jmx", **TIMES)
        rows = []
        schedule = expected_schedules(read_plan(plan, {}))["page"]
        for arrival, due_s in enumerate(schedule.arrivals(10), 1):
            at_ms = int(due_s * 1000)
            for elapsed in (20, slow_ms, slow_ms, slow_ms):
                row = jtl_rows.row(at_ms, elapsed, "page", thread=f"arrivals 1-{arrival}")
                rows.append(row)
                at_ms += elapsed
        run_folder.spoil(tmp_path, jtl(*rows, **more))
        return run_folder.verdict_of(tmp_path)

    return judge


def test_a_page_that_is_fast_once_and_then_slow_is_judged_slow(looped):
    verdict = looped("p50 of page>100ms", "fail of page>0%")
    assert verdict.verdict == "FAIL"
    assert "p50 of page" in reasons(verdict)
    latency, failures = verdict.executions[0].criteria
    assert latency.observed == 300
    assert latency.samples == failures.samples


def test_a_page_that_is_fast_whenever_it_is_asked_for_passes(looped):
    assert looped("p50 of page>100ms", slow_ms=30).verdict == "PASS"


def test_a_file_with_the_samples_of_several_jmeters_is_invalid_and_says_so(looped):
    verdict = looped("p50 of page>1s", starts=(START, START + 70))
    assert verdict.verdict == "INVALID"
    assert "JMeters that began at different times" in reasons(verdict)
