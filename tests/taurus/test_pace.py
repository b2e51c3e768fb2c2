"""What a request costs, of processes and samples that are at hand."""

import contextlib
import os
import subprocess
import sys
import time

import pytest

from support import jtl_rows
from tollgate.taurus import pace
from tollgate.taurus.pace import CostError, cost_of
from tollgate.workers.cgroups import usable_cores

BUSY = "while True: pass"


class Executor:
    """Its JMeter computes all the time, and has written the samples when it begins."""

    def __init__(self, script=BUSY, answers=0, label="sum", ok=True):
        self.script, self.answers, self.label, self.ok = script, answers, label, ok
        self.given = {}

    @contextlib.contextmanager
    def again(self, _folder, samples, **given):
        self.given = given
        process = subprocess.Popen([sys.executable, "-c", self.script])
        # One each 10 ms for minutes, so that whenever measuring begins, some are within it.
        at_ms = round(1000 * time.time()) - jtl_rows.START_MS
        count = range(self.answers)
        rows = [jtl_rows.row(at_ms + 10 * n, 0, self.label, ok=self.ok) for n in count]
        samples.write_text(jtl_rows.jtl(*rows))
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def measured(tmp_path, monkeypatch):
    monkeypatch.setattr(pace, "WARMUP_S", 0)
    monkeypatch.setattr(pace, "MEASURED_S", 2)
    monkeypatch.setattr(pace, "rerun_load", Executor.again)
    worker = subprocess.Popen([sys.executable, "-c", BUSY])
    monkeypatch.setattr(pace.pm2, "workers", lambda: [{"pid": worker.pid}])
    yield lambda executor, labels=("sum",): cost_of(
        executor, tmp_path, labels, {"period": 18, "search_lag": 16}
    )
    worker.kill()
    worker.wait()


def test_cost_is_the_cpu_time_of_both_over_what_was_answered(measured):
    executor = Executor(answers=30_000)
    cost = measured(executor, ["sum", "search"])
    assert min(cost.service_ms, cost.generator_ms) > 0
    assert (executor.given["period"], executor.given["search_lag"]) == (28, 25)


def test_failed_answers_and_those_of_other_labels_do_not_count(measured):
    with pytest.raises(CostError, match="0 requests were answered"):
        measured(Executor(answers=30_000, ok=False))


def test_a_generator_that_ends_is_told(measured):
    with pytest.raises(CostError, match="JMeter ended too early"):
        measured(Executor(script="", answers=30_000))


def test_cores_are_those_that_this_process_may_use():
    assert 1 <= usable_cores() <= os.cpu_count()
