from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from support import run_folder
from tollgate.base.clock import ClockWatch
from tollgate.record import manifest
from tollgate.taurus.shared import under_way
from tollgate.taurus.verdict import Verdict

NOW = 1_795_223_300.0


class Clocks:
    """Both clocks of a machine; slow_s: what it takes to read one of them."""

    wall_s, steady_s, slow_s = NOW, 77.0, 0.0

    def wall(self):
        return self.wall_s

    def steady(self):
        self.go_on(self.slow_s)
        return self.steady_s

    def go_on(self, seconds, step_s=0.0):
        self.wall_s += seconds + step_s
        self.steady_s += seconds


@pytest.fixture
def clocks():
    return Clocks()


@pytest.fixture
def watch(clocks):
    made = ClockWatch(clocks.wall, clocks.steady)
    assert made.look() is None
    return made


@pytest.mark.parametrize("step_s", [-30.0, -0.6, 0.6, 3600.0])
def test_a_clock_that_is_set_is_seen_once_with_its_moment_and_step(clocks, watch, step_s):
    clocks.go_on(14, step_s)
    assert watch.look() == pytest.approx((NOW + 14, step_s))
    clocks.go_on(1)
    assert watch.look() is None


def test_a_clock_that_is_slowed_down_is_not_set_however_long(clocks, watch):
    for _ in range(10_000):
        clocks.go_on(1, -0.0005)
        assert watch.look() is None


@pytest.mark.parametrize(("slow_s", "step_s"), [(5, -2), (0.7, 0)])
def test_a_machine_that_was_busy_between_the_clocks_is_looked_at_again(
    clocks, watch, slow_s, step_s
):
    clocks.go_on(1, step_s)
    clocks.slow_s = slow_s
    assert watch.look() is None
    clocks.slow_s = 0
    found = watch.look()
    assert found[1] == pytest.approx(step_s) if step_s else found is None


@pytest.fixture
def reporter(tmp_path, clocks):
    """Verdict in a run of three executions: one that is over, one that goes on, one to come."""
    made = run_folder.make(tmp_path)
    made.executions = [replace(made.executions[0], clock_steps=[]) for _ in range(3)]

    def executor(began, code):
        return Mock(start_time=began, process=SimpleNamespace(poll=lambda: code), get_scenario=dict)

    executors = [executor(NOW - 60, 0), executor(NOW - 10, None), executor(None, None)]
    reporter = Verdict()
    reporter.clock = ClockWatch(clocks.wall, clocks.steady)
    reporter.engine = SimpleNamespace(
        artifacts_dir=str(tmp_path), provisioning=SimpleNamespace(executors=executors)
    )
    under_way(reporter.engine).manifest = made
    reporter.startup()
    reporter.check()
    return reporter


def steps(reporter):
    return [each.clock_steps for each in reporter.manifest.executions]


def test_the_run_notes_steps_of_the_clock_for_the_executions_that_they_fall_into(reporter, clocks):
    clocks.go_on(4, -30)
    reporter.check()
    assert steps(reporter) == [[], [[14.0, -30.0]], []]
    clocks.go_on(2, 30)
    reporter.check()
    assert steps(reporter) == [[], [[14.0, -30.0], [16.0, 30.0]], []]


def test_a_step_after_the_last_check_is_seen_when_the_load_is_shut_down(reporter, clocks):
    clocks.go_on(5, 1)
    reporter.shutdown()
    assert steps(reporter) == [[], [[15.0, 1.0]], []]


def test_what_was_noted_makes_the_run_invalid_by_the_machines_fault(tmp_path, reporter, clocks):
    clocks.go_on(4, -30)
    reporter.check()
    manifest.write(reporter.manifest, tmp_path)
    verdict = run_folder.verdict_of(tmp_path)
    assert [it.verdict for it in verdict.executions] == ["PASS", "INVALID", "PASS"]
    [reason] = verdict.reasons
    assert reason.fault == "machine"
    assert "the clock was set back by 30 s, 14 s into the execution" in reason.text
