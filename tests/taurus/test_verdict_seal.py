"""What the verdict notes in run.json when the load is over."""

import hashlib
from types import SimpleNamespace

import pytest
from bzt import ManualShutdown

import compare_folder
import run_folder
from tollgate.run import manifest
from tollgate.taurus.early_stop import EarlyStop
from tollgate.taurus.own_plan import OwnPlan
from tollgate.taurus.verdict import Verdict


class Executor:
    """JMeter's of an execution that nobody has seen end."""

    def __init__(self, began):
        self.start_time, self.process = began, None


def sealed(folder, made, interrupted_at=None, reporters=(), services=lambda _: []):
    """run.json after the load has ended. services: those of Taurus, for the one executor."""
    (planned,) = made.executions
    executor = Executor(planned.began)
    reporter = Verdict()
    reporter.manifest = made
    reporter.engine = SimpleNamespace(
        artifacts_dir=str(folder),
        provisioning=SimpleNamespace(executors=[executor]),
        stopping_reason=ManualShutdown(),
        interrupted_at=interrupted_at,
        reporters=list(reporters),
        services=services(executor),
    )
    reporter._seal()
    return manifest.read(folder)


@pytest.mark.parametrize("interrupted_at", [None, 1795223340.5])
def test_run_json_says_when_the_run_was_interrupted(tmp_path, interrupted_at):
    found = sealed(tmp_path, run_folder.make(tmp_path), interrupted_at)
    assert (found.interrupted, found.interrupted_at) == (True, interrupted_at)
    # An execution that nobody saw end still ran then.
    assert interrupted_at is None or found.executions[0].ended == interrupted_at


def test_run_json_says_when_a_criterion_stopped_the_run(tmp_path):
    stop = EarlyStop()
    stop.stopped_by, stop.stopped_at = "p95 of nap>1s for 5s", 1795223309.25
    found = sealed(tmp_path, run_folder.make(tmp_path), reporters=[EarlyStop(), stop])
    assert (found.stopped_by, found.stopped_at) == (stop.stopped_by, stop.stopped_at)


#: As jmeter.py notes it.
WAITING = {"at": 1795223309.25, "threads": ["visitors 1-1"]}


def test_run_json_says_when_stop_after_had_jmeter_end(tmp_path):
    def told(executor):
        service = OwnPlan()
        service.told_at = {executor: 1795223309.25}
        executor.forced, executor.in_flight = True, [WAITING]
        return [service]

    found = sealed(tmp_path / "told", run_folder.make(tmp_path / "told"), services=told)
    assert found.executions[0].told_to_end == 1795223309.25
    assert found.executions[0].ended_by_force
    assert found.executions[0].in_flight == [WAITING]
    other = sealed(tmp_path / "other", run_folder.make(tmp_path / "other"))
    assert other.executions[0].told_to_end is None
    assert not other.executions[0].ended_by_force
    assert other.executions[0].in_flight == []


def test_what_was_compared_is_sealed_with_the_samples(tmp_path):
    found = sealed(tmp_path / "compared", compare_folder.make(tmp_path / "compared"))
    compared = (tmp_path / "compared" / "compare.json").read_bytes()
    assert found.compare_sha256 == hashlib.sha256(compared).hexdigest()
    other = sealed(tmp_path / "other", run_folder.make(tmp_path / "other"))
    assert other.compare_sha256 is None
