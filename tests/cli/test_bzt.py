"""The command `bzt` of the project: what it sets, and which signals end a run."""

import logging
import os
import signal
import subprocess
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from bzt.engine import Engine

from support import environment
from tollgate.base.paths import SUITE
from tollgate.base.processes import SIGNALS
from tollgate.cli import bzt
from tollgate.taurus.shared import under_way
from tollgate.taurus.verdict import VerdictExit

#: Waits until its input ends, as a run waits for JMeter, and tells how it ended.
WAITING = """
import sys
from types import SimpleNamespace

from bzt import ManualShutdown
from tollgate.cli.bzt import interrupt_once

interrupt_once(SimpleNamespace())
try:
    print("waits", flush=True)
    sys.stdin.read()
except ManualShutdown:
    sys.exit("interrupted")
print("went on")
"""


def waiting(*before):
    command, env = [*before, sys.executable, "-c", WAITING], {"PYTHONPATH": str(SUITE / "scripts")}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(command, env=environment(**env), text=True, **pipes)
    assert process.stdout.readline() == "waits\n"
    return process


@pytest.mark.long
def test_under_nohup_a_run_outlives_its_terminal_and_ends_of_other_signals_as_ever():
    with waiting("nohup") as process:
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate()
        assert (process.returncode, out) == (0, "went on\n")
    with waiting("nohup") as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 1
        assert process.stderr.read().endswith("interrupted\n")


def test_without_nohup_a_terminal_that_is_closed_ends_the_run():
    with waiting() as process:
        process.send_signal(signal.SIGHUP)
        assert process.wait() == 1
        assert process.stderr.read() == "interrupted\n"


@pytest.mark.parametrize("code", [0, 1, 3])
def test_ctrl_c_behind_the_verdict_ends_what_follows_it_with_the_verdicts_exit_code(code):
    engine = Engine(logging.getLogger())
    under_way(engine).judged = SimpleNamespace(verdict=SimpleNamespace(exit_code=code))
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        bzt.interrupt_once(engine)
        with pytest.raises(VerdictExit) as caught:
            signal.raise_signal(signal.SIGINT)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert caught.value.get_rc() == code


def test_a_jmeter_home_is_named_from_where_bzt_was_called(monkeypatch, tmp_path):
    made = SimpleNamespace(log=None, handle_exception=None, perform=lambda _: 3)
    monkeypatch.setattr(bzt.cli, "CLI", lambda _: made)
    for name in ("secrecy", "Engine", "interrupt_once", "artifacts", "judge_unstarted"):
        monkeypatch.setattr(bzt, name, Mock())
    monkeypatch.setattr(sys, "argv", ["bzt", "taurus.yml"])
    monkeypatch.setenv("JMETER_HOME", "tools/jmeter")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        bzt.main()
    assert os.environ["JMETER_HOME"] == str(tmp_path / "tools" / "jmeter")
