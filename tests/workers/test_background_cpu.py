"""The background CPU load that real processes make."""

import logging
import os
import time
from array import array

import psutil
import pytest

import support
from support.burning import BURN, TOLERANCE_S, processes
from tollgate.workers import background_cpu
from tollgate.workers.background_cpu import BackgroundCpuRecorder
from tollgate.workers.cpu import own_cores

LOG = logging.getLogger("test")
#: Burns one core for a second, and goes on when told to.
BURNS_1_S = f"""{BURN}
print('ready', flush=True)
sys.stdin.readline()
began = time.time()
burn(1.0)
print(began, time.time(), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def started():
    with processes() as start:
        yield start


@pytest.fixture
def recorder_of(monkeypatch):
    """Starts one that reads often, on one core that never idles; stops it in the end."""
    monkeypatch.setattr(background_cpu, "PERIOD_S", 0.02)
    monkeypatch.setattr(background_cpu, "SILENCE_S", 60.0)
    monkeypatch.setattr(background_cpu, "own_cores", lambda: (1, 0.0))
    made = []

    def start(*pids):
        made.append(BackgroundCpuRecorder(pids, LOG))
        made[-1].start()
        return made[-1]

    yield start
    for each in made:
        each.stop()


def test_a_process_of_the_run_is_none_of_the_others(started, recorder_of):
    """The window begins and ends where it does nothing, so that no late reading matters."""
    process, rest = started(BURNS_1_S), started("import sys; sys.stdin.read()")
    assert process.stdout.readline() == "ready\n"
    both = recorder_of(process.pid), recorder_of(rest.pid)
    support.wait_until(lambda: all(it._readings for it in both), "both have begun to read")
    time.sleep(1.1)
    process.stdin.write("go\n")
    process.stdin.flush()
    began, ended = map(float, process.stdout.readline().split())
    seconds = int(ended - began) + 3
    time.sleep(max(0.0, began - 1 + seconds - time.time()))
    for each in both:
        each.stop()  # with a last reading
    mine, foreign_s = (sum(it.shares(began - 1, seconds)) for it in both)
    assert foreign_s == pytest.approx(seconds, abs=0.01)
    assert foreign_s - mine == pytest.approx(1.0, abs=TOLERANCE_S)


def test_what_idles_is_of_the_cores_that_may_be_used():
    cores, idle_s = own_cores()
    assert cores == len(os.sched_getaffinity(0))
    assert 0 <= idle_s <= sum(it.idle + it.iowait for it in psutil.cpu_times(percpu=True))


@pytest.mark.parametrize(
    ("readings", "found"),
    [
        ([(100, 5.0), (101, 5.25), (102, 5.5)], (0.25, 0.25, None, None)),
        ([(100, 5.0), (101, 5.25), (110, 6.0), (111, 6.0)], (0.25, None, None, None)),
        ([(100.5, 5.0), (101, 5.25), (102, 5.25), (103, 5.25)], (None, 0.0, 0.0, None)),
        ([(100, 5.0), (102, 8.0), (104, 7.9)], (1.0, 1.0, 0.0, 0.0)),
        ([(100, 5.0)], (None,) * 4),
        ([], (None,) * 4),
    ],
)
def test_a_second_is_known_between_readings_that_are_close(readings, found):
    recorder = BackgroundCpuRecorder((os.getpid(),), LOG)
    recorder._readings = array("d", [it for pair in readings for it in pair])
    assert recorder.shares(100.0, 4) == found


def test_a_process_that_is_not_there_is_refused():
    with pytest.raises(psutil.Error):
        BackgroundCpuRecorder((2**22 + 1,), LOG)


def test_readings_that_end_early_are_a_warning_not_the_end(monkeypatch, caplog):
    monkeypatch.setattr(background_cpu, "own_cores", lambda: 1 / 0)
    recorder = BackgroundCpuRecorder((os.getpid(),), LOG)
    recorder.start()
    recorder.stop()
    assert "the background CPU load is no longer recorded" in caplog.text
