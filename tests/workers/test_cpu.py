"""CPU time as recorded, against what the kernel says of real processes when they have ended."""

import resource
from itertools import pairwise

import psutil
import pytest

from support.burning import BURN, BURNS, TOLERANCE_S, processes
from tollgate.workers import cpu
from tollgate.workers.cpu import ProcessTree, idle_s

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
    with processes() as start:
        yield start


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch):
    monkeypatch.setattr(cpu, "LOOK_S", 0.0)


def reaped_s():
    """CPU seconds of the children of this process that it has waited for."""
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime


def go_on(process, *until):
    """Let it go on until it has said these words."""
    process.stdin.write("go on\n" * max(1, len(until)))
    process.stdin.flush()
    assert [process.stdout.readline() for _ in until] == [f"{it}\n" for it in until]


def test_a_running_process_is_counted_as_the_kernel_counts_it_in_the_end(started):
    before = reaped_s()
    process = started(BURNS)
    assert process.stdout.readline() == "burnt\n"
    tree = ProcessTree(process.pid)
    seen = tree.cpu_s()
    process.communicate()
    spent = reaped_s() - before
    assert spent >= 0.3
    assert seen == pytest.approx(spent, abs=TOLERANCE_S)
    assert tree.cpu_s() == seen  # and what has ended is not forgotten


def test_the_time_of_a_child_stays_when_its_parent_has_waited_for_it(started):
    before = reaped_s()
    process = started(CHILD_BURNS)
    assert process.stdout.readline() == "started\n"
    tree = ProcessTree(process.pid)
    readings = [tree.cpu_s()]
    go_on(process)
    while psutil.Process(process.pid).children():
        readings.append(tree.cpu_s())
    assert process.stdout.readline() == "waited\n"
    readings.append(tree.cpu_s())
    process.communicate()
    assert all(after >= earlier for earlier, after in pairwise(readings))
    # Counted once: neither lost with the child nor counted again with its parent.
    assert readings[-1] == pytest.approx(reaped_s() - before, abs=TOLERANCE_S)


def test_a_child_that_no_look_has_seen_is_counted_through_its_parent(started, monkeypatch):
    monkeypatch.setattr(cpu, "LOOK_S", 1e9)
    process = started(CHILD_BURNS.replace("child =", "sys.stdin.readline(); child ="))
    tree = ProcessTree(process.pid)
    alone = tree.cpu_s()
    go_on(process, "started", "waited")
    assert tree.cpu_s() - alone >= 0.4


def test_time_that_nobody_waited_for_is_not_lost(started):
    process = started(ORPHAN_BURNS)
    assert process.stdout.readline() == "burnt\n"
    tree = ProcessTree(process.pid)
    with_orphan = tree.cpu_s()
    go_on(process, "alone")
    assert len(psutil.Process(process.pid).children(recursive=True)) == 0
    assert tree.cpu_s() >= with_orphan >= 0.3


def test_a_process_that_is_not_there_has_no_tree(started):
    process = started("")
    process.communicate()
    with pytest.raises(psutil.Error):
        ProcessTree(process.pid)


def test_what_other_guests_of_the_host_take_is_not_idle(monkeypatch):
    times = type("Times", (), {"idle": 5.0, "iowait": 2.0, "steal": 100.0})
    monkeypatch.setattr(cpu.psutil, "cpu_times", lambda: times)
    assert idle_s() == 7.0
