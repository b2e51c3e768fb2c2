import json
import logging
import os
from itertools import pairwise

import numpy as np
import pytest

from support.burning import BURNS, TOLERANCE_S, processes
from support.study_jtl import write_cpu
from tollgate.study import cpu as study_cpu
from tollgate.study.cpu import SILENCE_S, CpuError, StudyCpuRecorder, mean_cores


@pytest.fixture
def started():
    with processes() as start:
        yield start


def test_the_record_holds_who_used_the_cpus_and_only_grows(started, tmp_path, monkeypatch):
    monkeypatch.setattr(study_cpu, "PERIOD_S", 0.01)
    generator, service = started(BURNS), started("import sys; sys.stdin.read()")
    path = tmp_path / "cpu.jsonl"
    recorder = StudyCpuRecorder(path, generator.pid, service.pid, logging.getLogger("test"))
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
    recorder = StudyCpuRecorder(path, process.pid, process.pid, logging.getLogger("test"))
    recorder.start()
    recorder.stop()
    assert "study: cpu.jsonl ends before the run: FileNotFoundError" in caplog.text


@pytest.fixture
def cores(tmp_path):
    """Mean cores in windows of a record of rows."""

    def told(rows, *windows):
        write_cpu(tmp_path / "cpu.jsonl", rows)
        low, high = np.array(windows, float).T
        return mean_cores(tmp_path / "cpu.jsonl", low, high).T.tolist()

    return told


def steady(count, step=0.2):
    return [(10 + k * step, 5 + 0.1 * k, 7 + 0.2 * k, 9 + 0.04 * k) for k in range(count)]


def test_counters_are_interpolated_at_the_ends_of_a_window(cores):
    rows = [(0, 0, 0, 0), (1, 1.0, 0.5, 0.0), (2, 1.0, 2.5, 0.2)]
    # From 0.5, 0.25, 0 to 1.0, 1.5, 0.1.
    assert cores(rows, (0.5, 1.5)) == [pytest.approx([0.5, 1.25, 0.1])]
    assert cores(steady(6), (10, 11)) == [pytest.approx([0.5, 1.0, 0.2])]


def test_windows_that_the_record_does_not_cover_are_not_known_nor_those_that_end_in_a_silence(
    cores,
):
    found = cores(steady(6), (9.9, 10.5), (10.5, 11.01), (10.2, 10.8), (10.5, 10.5))
    assert [np.isnan(row).all() for row in found] == [True, True, False, True]
    rows = [*steady(6), *((it[0] + SILENCE_S + 0.1, *it[1:]) for it in steady(12)[6:])]
    found = cores(rows, (10.1, 10.9), (10.5, 11.5), (12.5, 13.1))
    assert [np.isnan(row).all() for row in found] == [False, True, False]


@pytest.mark.parametrize("rows", [[], steady(1)])
def test_a_record_that_has_hardly_begun_tells_nothing(cores, rows):
    assert np.isnan(cores(rows, (10, 10.5))).all()


def test_without_a_record_nothing_is_known(tmp_path):
    found = mean_cores(tmp_path / "cpu.jsonl", np.array([1.0]), np.array([2.0]))
    assert (found.shape, np.isnan(found).all()) == ((3, 1), True)


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path):
    path = tmp_path / "cpu.jsonl"
    write_cpu(path, steady(6))
    with path.open("a") as file:
        file.write('{"time": 11.2, "gener')
    assert mean_cores(path, np.array([10.0]), np.array([11.0]))[1, 0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"time": 11.2, "generator": "x", "service": 1, "idle": 1}', "NaN"]
)
def test_a_line_that_is_none_of_the_recorders_is_refused_by_its_number(tmp_path, line):
    path = tmp_path / "cpu.jsonl"
    write_cpu(path, steady(6))
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(CpuError, match=r"cpu\.jsonl:7: is no line of the recorder's: "):
        mean_cores(path, np.array([10.0]), np.array([11.0]))


def test_a_clock_that_was_set_back_is_refused(cores):
    rows = steady(6)
    with pytest.raises(CpuError, match=r"cpu\.jsonl:7: the clock was set back"):
        cores([*rows, rows[2]], (10, 11))
