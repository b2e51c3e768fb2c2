"""The CPU time of workers as recorded, against what real processes say of themselves."""

import json
import logging
import os
from itertools import pairwise

import numpy as np
import psutil
import pytest

import support
from support.burning import BURN, TOLERANCE_S, processes
from tollgate.workers import cpu, worker_cpu
from tollgate.workers.lines import WorkersError
from tollgate.workers.model import WorkerCpu
from tollgate.workers.worker_cpu import WorkerCpuRecorder, read

LOG = logging.getLogger("test")
#: Burns as many CPU seconds as it is told, and says what it has used by then.
OBEYS = f"""{BURN}
for line in iter(sys.stdin.readline, ''):
    burn(float(line))
    print(time.process_time_ns(), flush=True)
"""
#: The same, but first waits for a child that burns.
HAD_A_CHILD = OBEYS.replace(
    "for line", f"subprocess.run([sys.executable, '-c', {BURN + 'burn(0.3)'!r}])\nfor line", 1
)
#: The same, and a child that it does not wait for has burnt, and lives on.
HAS_A_CHILD = OBEYS.replace(
    "for line",
    f"""child = subprocess.Popen([sys.executable, '-c', {OBEYS!r}], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
child.stdin.write('0.3\\n')
child.stdin.flush()
child.stdout.readline()
for line""",
    1,
)
#: Of nanoseconds as seconds.
ROUNDED_S = 1e-6


@pytest.fixture
def started():
    with processes() as start:
        yield start


@pytest.fixture
def recorder(tmp_path, monkeypatch):
    """Of this process's children, as if it were PM2's daemon; reads only when told to."""
    monkeypatch.setattr(cpu, "LOOK_S", 0.0)
    return WorkerCpuRecorder(tmp_path / worker_cpu.NAME, os.getpid(), LOG)


def used_s(process, seconds=0.0):
    """What it says that it has used, after it has burnt so much more."""
    process.stdin.write(f"{seconds}\n")
    process.stdin.flush()
    return int(process.stdout.readline()) / 1e9


def column(recorder, process):
    return read(recorder.path).used_s[process.pid]


def test_a_reading_lies_between_what_a_process_says_before_and_after_it(started, recorder):
    one, other = started(OBEYS), started(OBEYS)
    said = []
    for seconds in (0.0, 0.05, 0.1):
        before = used_s(one, seconds), used_s(other)
        recorder._write()
        said.append((before, (used_s(one), used_s(other))))
    for number, process in enumerate((one, other)):
        for found, (before, after) in zip(column(recorder, process), said, strict=True):
            assert before[number] - ROUNDED_S <= found <= after[number] + ROUNDED_S
    first, second = (np.diff(column(recorder, it)) for it in (one, other))
    assert first.sum() >= 0.15
    assert second.sum() < first.sum()


def test_what_is_used_between_two_readings_is_at_least_what_was_burnt(started, recorder):
    """Where the kernel's ticks of 10 ms would show nothing."""
    process = started(OBEYS)
    used_s(process)
    recorder._write()
    for _ in range(5):
        used_s(process, 0.002)
        recorder._write()
    assert (np.diff(column(recorder, process)) >= 0.002).all()


@pytest.mark.parametrize("program", [HAD_A_CHILD, HAS_A_CHILD])
def test_children_count_whether_they_live_or_have_been_waited_for(started, recorder, program):
    process = started(program)
    own = used_s(process)
    recorder._write()
    [found] = column(recorder, process)
    assert found >= own + 0.3 - TOLERANCE_S


def test_it_records_a_worker_from_when_it_comes_until_it_has_gone(started, recorder):
    first = started(OBEYS)
    used_s(first)
    recorder._write()
    second = started(OBEYS)
    used_s(second)
    recorder._write()
    first.communicate()
    recorder._write()
    assert np.isfinite(column(recorder, first)).tolist() == [True, True, False]
    assert np.isfinite(column(recorder, second)).tolist() == [False, True, True]


def test_it_reads_from_start_to_stop_in_a_thread_of_its_own(started, recorder):
    process = started(OBEYS)
    before = used_s(process)
    recorder.start()
    support.wait_until(lambda: recorder.path.exists(), "it has begun to read")
    after = used_s(process, 0.1)
    recorder.stop()  # with a last reading
    found = column(recorder, process)
    assert before - ROUNDED_S <= found[0]
    assert after - ROUNDED_S <= found[-1] <= used_s(process) + ROUNDED_S
    assert all(later >= earlier for earlier, later in pairwise(found))


def test_readings_come_at_the_edges_of_seconds_or_as_much_later_as_is_asked(recorder, monkeypatch):
    monkeypatch.setattr(worker_cpu.time, "time", lambda: 1000.25)
    assert recorder._pause_s() == pytest.approx(0.75)
    recorder.phase_s = 0.5
    assert recorder._pause_s() == pytest.approx(0.25)


def test_without_a_daemon_there_is_no_recorder(started, tmp_path):
    process = started("")
    process.communicate()
    with pytest.raises(psutil.Error):
        WorkerCpuRecorder(tmp_path / worker_cpu.NAME, process.pid, LOG)


def write(folder, *lines, tail=""):
    path = folder / worker_cpu.NAME
    text = "".join(json.dumps(it) + "\n" if isinstance(it, dict) else f"{it}\n" for it in lines)
    path.write_text(text + tail)
    return path


def line(second, **used):
    return {"time": 1000.0 + second, "cpu": {pid.strip("p"): value for pid, value in used.items()}}


def test_the_seconds_of_each_process_are_those_between_the_readings_beside_them(tmp_path, caplog):
    lines = [line(it, p7=0.2 * it, p8=0.1 * it) for it in range(6)]
    lines += [line(it, p7=0.2 * it) for it in range(6, 9)]
    write(tmp_path, *lines, tail='{"time": 1009.0, "cpu": {"7": 1')
    recorder = WorkerCpuRecorder(tmp_path / worker_cpu.NAME, os.getpid(), LOG)
    found = recorder.used_ms([[7], [8], [7, 8], [9], []], 1000.5, 8)
    assert found[0] == (*[pytest.approx(200.0)] * 7, None)  # no reading after the last
    assert found[1] == (*[pytest.approx(100.0)] * 4, *[None] * 4)  # it has gone
    assert found[2] == (*[pytest.approx(300.0)] * 4, *[None] * 4)
    assert set(found[3]) == set(found[4]) == {None}
    write(tmp_path, "no line")
    assert recorder.used_ms([[7]], 1000.5, 2) == ((None, None),)
    assert "line 1 is damaged" in caplog.text


def test_a_silence_is_not_known_and_a_process_that_came_later_counts_from_its_start():
    at_s = np.array([0.0, 1.0, 2.0, 6.0, 7.0, 8.0])
    first = np.array([1.0, 2.0, 3.0, np.nan, np.nan, np.nan])
    second = np.array([np.nan, np.nan, np.nan, 50.0, 50.5, 51.0])
    found = WorkerCpu(at_s, {1: first, 2: second})
    edges_s = np.array([0.0, 1.0, 2.0, 4.0, 6.5, 7.0, 8.0])
    nan = np.nan
    np.testing.assert_allclose(found.of_one(1, edges_s), [1.0, 1.0, nan, nan, nan, nan])
    np.testing.assert_allclose(found.of_all([1, 2, 3], edges_s), [1.0, 1.0, nan, nan, 0.25, 0.5])
    np.testing.assert_allclose(found.since(2.0).at_s, at_s - 2.0)
    assert np.isnan(WorkerCpu().of_all([1], edges_s)).all()
    third = WorkerCpu(np.arange(4.0), {1: np.arange(4.0), 9: np.array([np.nan, np.nan, 0.8, 1.0])})
    np.testing.assert_allclose(third.of_all([1, 9], np.arange(4.0)), [1.0, 1.8, 1.2])


def test_without_a_file_nothing_was_recorded(tmp_path):
    assert read(tmp_path / worker_cpu.NAME) is None


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        ("{}", "line 2 is damaged: 'time'"),
        ('{"time": 1001, "cpu": {"7": "a"}}', "line 2 is damaged"),
        ('{"time": 1001, "cpu": []}', "line 2 is damaged"),
        ('{"time": NaN, "cpu": {}}', "line 2 is damaged: not finite"),
        ('{"time": 1' + 400 * "0" + ', "cpu": {}}', "line 2 is damaged"),
        ("[" * 100_000, "line 2 is damaged: maximum recursion depth"),
        ('{"time": 999.0, "cpu": {}}', "line 2: the clock was set back"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, damaged, said):
    with pytest.raises(WorkersError, match=said):
        read(write(tmp_path, line(0, p7=1.0), damaged, line(2, p7=1.0)))
