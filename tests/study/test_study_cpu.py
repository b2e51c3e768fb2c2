import json
import logging
import os
from itertools import pairwise

import pytest

from support.burning import BURNS, TOLERANCE_S, processes
from tollgate.study import cpu as study_cpu
from tollgate.study.cpu import StudyCpuRecorder


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
