"""What the verdict notes in run.json when the load is over."""

from types import SimpleNamespace

import pytest
from bzt import ManualShutdown

import run_folder
from tollgate import manifest
from tollgate.verdict import Verdict


class Executor:
    """JMeter's of an execution that nobody has seen end."""

    def __init__(self, began):
        self.start_time, self.process = began, None


@pytest.mark.parametrize("interrupted_at", [None, 1795223340.5])
def test_run_json_says_when_the_run_was_interrupted(tmp_path, interrupted_at):
    made = run_folder.make(tmp_path)
    (planned,) = made.executions
    executor = Executor(planned.began)
    reporter = Verdict()
    reporter.manifest = made
    reporter.engine = SimpleNamespace(
        artifacts_dir=str(tmp_path),
        provisioning=SimpleNamespace(executors=[executor]),
        stopping_reason=ManualShutdown(),
        interrupted_at=interrupted_at,
        reporters=[],
        services=[],
    )
    reporter._seal()
    sealed = manifest.read(tmp_path)
    assert (sealed.interrupted, sealed.interrupted_at) == (True, interrupted_at)
    # An execution that nobody saw end still ran then.
    assert interrupted_at is None or sealed.executions[0].ended == interrupted_at
