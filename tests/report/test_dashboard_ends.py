"""A drawing that is interrupted leaves no JMeter behind, and one that can't begin says why."""

import psutil
import pytest

from support import wait_until
from support.jtl_rows import usual
from tollgate.report import dashboard

SLEEPING = """#!/bin/sh
echo $$ >> "{home}/pids"
sleep 600 &
echo $! >> "{home}/pids"
wait
"""


@pytest.fixture
def jmeter(tmp_path, monkeypatch):
    """Puts a script in JMeter's place; returns its home."""
    home = tmp_path / "jmeter"
    (home / "bin").mkdir(parents=True)
    script = home / "bin" / "jmeter"
    script.write_text(SLEEPING.format(home=home))
    script.chmod(0o755)
    monkeypatch.setattr(dashboard, "jmeter_home", lambda: home)
    return home


@pytest.fixture
def jtls(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    files = {"fork": run / "kpi.jtl", "cluster": run / "kpi-1.jtl"}
    for file in files.values():
        file.write_bytes(usual(20))
    return files


def pids(home):
    path = home / "pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def is_gone(pid):
    # A child of a killed script is nobody's that reaps it at once.
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("large", [False, True])
def test_an_interruption_ends_all_that_draw(jmeter, jtls, tmp_path, monkeypatch, large):
    if large:
        monkeypatch.setattr(dashboard, "MOST_SAMPLES", 10)
    due = 2 if large else 4  # large ones are drawn one after the other

    class Interrupted(BaseException):
        pass

    def interrupt(*_, **__):
        wait_until(lambda: len(pids(jmeter)) == due, "JMeter draws")
        raise Interrupted

    monkeypatch.setattr(dashboard.subprocess.Popen, "communicate", interrupt)
    with pytest.raises(Interrupted):
        dashboard.draw_all(tmp_path / "run", jtls, however_large=large)
    for pid in pids(jmeter):
        wait_until(lambda: is_gone(pid), "it is gone")  # noqa: B023
    assert list((tmp_path / "run" / "dashboard").iterdir()) == []


def test_a_drawing_that_takes_too_long_is_ended_with_its_jvm(jmeter, jtls, tmp_path, monkeypatch):
    monkeypatch.setattr(dashboard, "TIMEOUT", 0.01)
    problems = dashboard.draw_all(tmp_path / "run", jtls)
    assert set(problems.values()) == {"JMeter drew for more than 0.01 s"}
    for pid in pids(jmeter):
        wait_until(lambda: is_gone(pid), "it is gone")  # noqa: B023


def test_a_jmeter_that_is_gone_is_a_line_and_no_trace(jmeter, jtls, tmp_path):
    (jmeter / "bin" / "jmeter").unlink()
    problems = dashboard.draw_all(tmp_path / "run", jtls)
    assert set(problems) == {"fork", "cluster"}
    assert all("No such file or directory" in line for line in problems.values())
    assert list((tmp_path / "run" / "dashboard").iterdir()) == []


def test_a_full_disk_is_a_line_and_no_trace(jtls, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dashboard.Drawing, "_samples", full)
    problems = dashboard.draw_all(tmp_path / "run", jtls)
    assert problems["fork"] == "[Errno 28] No space left on device"
