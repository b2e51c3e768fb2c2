"""CPU time as recorded, against what the kernel says of real processes when they have ended."""

import json
import logging
import os
import resource
import subprocess
import sys
from itertools import pairwise

import psutil
import pytest

from tollgate.study import cpu as study_cpu
from tollgate.study.cpu import CpuRecorder, ProcessTree, idle_s

#: The kernel counts in ticks, and each figure of each process is cut off to whole ones.
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
TOLERANCE_S = 8 * TICK_S

#: Burns CPU time, says so, and does what else it is told on its standard input.
BURN = """
import os, subprocess, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
"""
BURNS = BURN + "burn(0.3); print('burnt', flush=True); sys.stdin.read()"
CHILD_BURNS = f"""{BURN}
child = subprocess.Popen([sys.executable, '-c', {BURN + "burn(0.3); sys.stdin.read()"!r}],
                         stdin=subprocess.PIPE)
burn(0.1)
print('started', flush=True)
sys.stdin.readline()
child.communicate()  # which waits for it
print('waited', flush=True)
sys.stdin.read()
"""
MIDDLE = f"""
import subprocess, sys
subprocess.Popen([sys.executable, '-c', {BURNS!r}])
sys.stdin.readline()
"""
ORPHAN_BURNS = f"""
import subprocess, sys
middle = subprocess.Popen([sys.executable, '-c', {MIDDLE!r}], stdin=subprocess.PIPE)
sys.stdin.readline()
middle.kill()
middle.wait()
print('alone', flush=True)
sys.stdin.read()
"""


@pytest.fixture
def started():
    """Starts a Python program with pipes; ends what is left of them all."""
    running = []

    def start(program):
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.communicate()


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch):
    monkeypatch.setattr(study_cpu, "LOOK_S", 0.0)


def reaped_s(before):
    """CPU seconds of the children of this process that it has waited for since `before`."""
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime


def test_a_running_process_is_counted_as_the_kernel_counts_it_in_the_end(started):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = started(BURNS)
    assert process.stdout.readline() == "burnt\n"
    tree = ProcessTree(process.pid)
    seen = tree.cpu_s()
    process.communicate()
    spent = reaped_s(before)
    assert spent >= 0.3
    assert seen == pytest.approx(spent, abs=TOLERANCE_S)
    assert tree.cpu_s() == seen  # and what has ended is not forgotten


def test_the_time_of_a_child_stays_when_its_parent_has_waited_for_it(started):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = started(CHILD_BURNS)
    assert process.stdout.readline() == "started\n"
    tree = ProcessTree(process.pid)
    readings = [tree.cpu_s()]
    process.stdin.write("go on\n")
    process.stdin.flush()
    while psutil.Process(process.pid).children():
        readings.append(tree.cpu_s())
    assert process.stdout.readline() == "waited\n"
    readings.append(tree.cpu_s())
    process.communicate()
    assert all(after >= earlier for earlier, after in pairwise(readings))
    # Counted once: neither lost with the child nor counted again with its parent.
    assert readings[-1] == pytest.approx(reaped_s(before), abs=TOLERANCE_S)


def test_a_child_that_no_look_has_seen_is_counted_through_its_parent(started, monkeypatch):
    monkeypatch.setattr(study_cpu, "LOOK_S", 1e9)
    process = started(CHILD_BURNS.replace("child =", "sys.stdin.readline(); child ="))
    tree = ProcessTree(process.pid)
    alone = tree.cpu_s()
    process.stdin.write("start\nwait\n")
    process.stdin.flush()
    assert [process.stdout.readline() for _ in range(2)] == ["started\n", "waited\n"]
    assert tree.cpu_s() - alone >= 0.4


def test_time_that_nobody_waited_for_is_not_lost(started):
    process = started(ORPHAN_BURNS)
    assert process.stdout.readline() == "burnt\n"
    tree = ProcessTree(process.pid)
    with_orphan = tree.cpu_s()
    process.stdin.write("leave it alone\n")
    process.stdin.flush()
    assert process.stdout.readline() == "alone\n"
    assert len(psutil.Process(process.pid).children(recursive=True)) == 0
    assert tree.cpu_s() >= with_orphan >= 0.3


def test_a_process_that_is_not_there_has_no_tree(started):
    process = started("")
    process.communicate()
    with pytest.raises(psutil.Error):
        ProcessTree(process.pid)


def test_the_record_holds_who_used_the_cpus_and_only_grows(started, tmp_path, monkeypatch):
    monkeypatch.setattr(study_cpu, "PERIOD_S", 0.01)
    generator, service = started(BURNS), started("import sys; sys.stdin.read()")
    path = tmp_path / "cpu.jsonl"
    recorder = CpuRecorder(path, generator.pid, service.pid, logging.getLogger("test"))
    recorder.start()
    assert generator.stdout.readline() == "burnt\n"
    recorder.stop()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {tuple(line) for line in lines} == {("time", "generator", "service", "idle", "cores")}
    for name in ("time", "generator", "service", "idle"):
        assert all(after[name] >= earlier[name] for earlier, after in pairwise(lines)), name
    assert lines[-1]["generator"] >= 0.3 - TOLERANCE_S
    assert lines[-1]["generator"] > lines[-1]["service"]
    assert lines[-1]["cores"] == os.cpu_count()


def test_a_record_that_cannot_be_written_is_a_warning_not_the_end(started, tmp_path, caplog):
    process = started("import sys; sys.stdin.read()")
    path = tmp_path / "no such folder" / "cpu.jsonl"
    recorder = CpuRecorder(path, process.pid, process.pid, logging.getLogger("test"))
    recorder.start()
    recorder.stop()
    assert "study: cpu.jsonl ends before the run: FileNotFoundError" in caplog.text


def test_what_other_guests_of_the_host_take_is_not_idle(monkeypatch):
    times = type("Times", (), {"idle": 5.0, "iowait": 2.0, "steal": 100.0})
    monkeypatch.setattr(study_cpu.psutil, "cpu_times", lambda: times)
    assert idle_s() == 7.0
