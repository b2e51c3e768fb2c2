"""What is answered before a comparison, and what a request costs, of processes and samples that are
at hand."""

import contextlib
import os
import subprocess
import sys
import time

import pytest

from support import jtl_rows
from tollgate.compare.answers import AnswersError, judge
from tollgate.compare.mix import Mix, Part
from tollgate.taurus import rehearsal
from tollgate.taurus.rehearsal import RehearsalError, rehearse
from tollgate.workers.cgroups import usable_cores

BUSY = "while True: pass"
HEADER = jtl_rows.HEADER + ",URL,coin"


class Executor:
    """Its JMeter computes all the time, and has written the samples when it begins."""

    def __init__(self, script=BUSY, answers=0, labels=("sum",), ok=True):
        self.script, self.answers, self.labels, self.ok = script, answers, labels, ok
        self.given = {}

    @contextlib.contextmanager
    def again(self, _folder, samples, _jvm_args="", **given):
        self.given = given
        process = subprocess.Popen([sys.executable, "-c", self.script])
        # One each 10 ms for minutes, so that whenever measuring begins, some are within it.
        at_ms = round(1000 * time.time()) - jtl_rows.START_MS
        rows = [
            jtl_rows.row(at_ms + 10 * n, 0, self.labels[n // 100 % len(self.labels)], ok=self.ok)
            + f",http://127.0.0.1:3601/x,{n % 2}"
            for n in range(self.answers)
        ]
        samples.write_text(jtl_rows.jtl(*rows, header=HEADER))
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def rehearsed(tmp_path, monkeypatch):
    monkeypatch.setattr(rehearsal, "WARMUP_S", 0)
    monkeypatch.setattr(rehearsal, "MEASURED_S", 2)
    monkeypatch.setattr(rehearsal, "rerun_load", Executor.again)
    worker = subprocess.Popen([sys.executable, "-c", BUSY])
    monkeypatch.setattr(rehearsal.pm2, "workers", lambda: [{"pid": worker.pid}])

    def run(executor, labels=("sum",), mix=None, sees_cpu=True):
        given = {"period": 20}
        return rehearse(
            executor, tmp_path, labels, mix, given, sees_cpu, lambda seen: judge(seen, labels)
        )

    yield run
    worker.kill()
    worker.wait()


def test_cost_is_the_cpu_time_of_both_over_what_was_answered(rehearsed):
    executor = Executor(answers=30_000)
    found = rehearsed(executor, ["sum", "search"])
    assert min(found.cost.service_ms, found.cost.generator_ms) > 0
    assert found.cost.labels == {}
    assert executor.given["period"] == 20
    assert len(found.answers) == 30_000


def test_of_a_mix_each_label_has_a_cost_of_its_own(rehearsed):
    mix = Mix((Part("list", ("list",)), Part("cart", ("login", "view"))), (3, 1))
    executor = Executor(answers=30_000, labels=("list", "login"))
    found = rehearsed(executor, ["list", "login", "view"], mix)
    assert found.cost.labels.keys() == {"list", "cart"}
    assert found.cost.total_ms == pytest.approx(
        0.75 * found.cost.labels["list"] + 0.25 * found.cost.labels["cart"]
    )
    assert set(executor.given["mix"]) == {"0", "1"}


def test_without_processes_that_can_be_seen_answers_alone_are_known(rehearsed):
    found = rehearsed(Executor(answers=500), sees_cpu=False)
    assert found.cost is None
    assert len(found.answers) == 500


def test_what_base_does_not_answer_ends_it_with_what_it_said(rehearsed):
    with pytest.raises(AnswersError, match="base does not answer 'sum' rightly, and neither does"):
        rehearsed(Executor(answers=30_000, ok=False))


def test_too_few_answers_and_a_generator_that_ends_are_told(rehearsed, tmp_path):
    with pytest.raises(RehearsalError, match=r"^only [01] answers in "):
        rehearsed(Executor(answers=1))
    (tmp_path / "rehearsal").rename(tmp_path / "before")
    with pytest.raises(RehearsalError, match="JMeter ended too early"):
        rehearsed(Executor(script="", answers=30_000))


def test_cores_are_those_that_this_process_may_use():
    assert 1 <= usable_cores() <= os.cpu_count()
