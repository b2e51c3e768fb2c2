"""What a certification starts ends with it; and what a real server's clock says."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from certification import burner
from certification.probe import ProbeError, paths_of, probe, timing
from certification.processes import ended, neighbour, run_to_end, stop
from support import wait_until

BURNER = [sys.executable, burner.__file__, "7"]
# Ends in good order when asked to, and says so in a file.
POLITE = """
import pathlib, signal, sys, time
def end(*_):
    pathlib.Path(sys.argv[1], "ended").touch()
    sys.exit(2)
signal.signal(signal.SIGINT, end)
pathlib.Path(sys.argv[1], "began").touch()
time.sleep(60)
"""


def polite(folder):
    return [sys.executable, "-c", POLITE, str(folder)]


def is_gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_neighbour_burns_a_core_now_and_then_and_is_gone_afterwards():
    with neighbour(True, 7, 30) as told:
        (child,) = psutil.Process().children()
        wait_until(lambda: child.cpu_times().user > 0.5, "it burns")
        assert told["seed"] == 7
    assert told["cpu_s"] >= 0.5
    assert is_gone(child.pid)


def test_without_noise_there_is_no_neighbour():
    with neighbour(False, 7, 30) as told:
        assert psutil.Process().children() == []
    assert told == {}


STARTER = """
import psutil, time
from certification.processes import neighbour
with neighbour(True, 7, 60):
    print(psutil.Process().children()[0].pid, flush=True)
    time.sleep(60)
"""


def test_a_neighbour_ends_when_its_starter_was_killed_without_a_word():
    command = [sys.executable, "-c", STARTER]
    env = os.environ | {"PYTHONPATH": str(Path(burner.__file__).parents[1])}
    starter = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    pid = int(starter.stdout.readline())
    starter.kill()
    starter.wait()
    starter.stdout.close()
    wait_until(lambda: is_gone(pid), "the neighbour has gone")


def test_a_neighbour_ends_by_itself_when_its_time_is_over():
    process = subprocess.Popen([*BURNER, "0.2"], stdin=subprocess.PIPE)
    assert process.wait(20) == 0
    process.stdin.close()


def test_a_command_that_is_interrupted_ends_in_good_order_before_anything_else(tmp_path):
    def interrupt(*_):
        if (tmp_path / "began").exists():
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_to_end(polite(tmp_path), os.environ, tmp_path / "out", 60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert (tmp_path / "ended").exists()
    assert psutil.Process().children() == []


def test_a_command_that_takes_too_long_is_ended(tmp_path):
    with pytest.raises(subprocess.TimeoutExpired):
        run_to_end(polite(tmp_path), os.environ, tmp_path / "out", 1)
    assert psutil.Process().children() == []


def test_a_command_that_will_not_end_is_ended_by_force():
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    with ended([sys.executable, "-c", deaf], os.environ, grace_s=0.1) as process:
        pass
    assert process.returncode in (-signal.SIGKILL, -signal.SIGTERM)


def test_a_wait_that_was_interrupted_while_it_held_its_lock_keeps_nobody_waiting(tmp_path):
    with (tmp_path / "out").open("w") as out:
        process = subprocess.Popen(polite(tmp_path), stdout=out)
    wait_until((tmp_path / "began").exists, "it began")
    process._waitpid_lock.acquire()  # as after an exception of a signal's handler
    stop(process, signal.SIGINT, 20)
    assert (tmp_path / "ended").exists()
    assert process.returncode == 2
    assert is_gone(process.pid)


def test_the_exit_code_and_the_output_of_a_command_are_kept(tmp_path):
    log = tmp_path / "out"
    assert run_to_end(["sh", "-c", "echo said; exit 3"], os.environ, log, 20) == 3
    assert log.read_text() == "said\n"


@pytest.fixture
def jtl(tmp_path):
    """Requests of two labels, and a transaction, which asks for nothing by itself."""
    path = tmp_path / "kpi.jtl"
    path.write_text(
        "timeStamp,elapsed,label,responseCode,success,URL\n"
        "1700000000000,5,sum,200,true,http://127.0.0.1:3021/sum/500000\n"
        "1700000000000,5,sum,200,true,http://127.0.0.1:3021/sum/600000\n"
        "1700000000001,5,visit,200,true,\n"
        "1700000000002,9,calculate,200,true,http://127.0.0.1:3022/calculate?seed=1\n"
        "1700000000003,9,wrong,200,true,http://127.0.0.1:3021/nowhere?x=1\n"
    )
    return path


def test_the_probe_asks_what_the_run_asked(jtl):
    assert paths_of(jtl, ["sum", "visit", "calculate"]) == {
        "sum": ["/sum/500000", "/sum/600000"],
        "calculate": ["/calculate?seed=1"],
    }


def test_a_slowed_servers_own_clock_tells_what_was_added(jtl):
    (slowed,) = probe(jtl, ["sum"], {"INJECT_WORK_PERCENT": "400"}).values()
    # Never less; more as far as the machine is busy with something else.
    assert 3.99 * slowed["work"] <= slowed["injected"] < 20 * slowed["work"]
    (waits,) = probe(jtl, ["sum"], {"INJECT_DELAY_MS": "3"}).values()
    assert 3 <= waits["injected"] < 30
    assert waits["requests"] == 40
    (like,) = probe(jtl, ["sum"], {}).values()
    assert like["injected"] < 1
    assert psutil.Process().children() == []


def test_an_answer_that_is_an_error_ends_the_probe_with_its_path(jtl):
    with pytest.raises(ProbeError, match=r"/nowhere\?x=1 was answered 404"):
        probe(jtl, ["wrong"], {})


def test_a_header_without_a_duration_is_refused():
    whole = timing("handler;dur=3.5, work;dur=2.000, injected;dur=0.1")
    assert whole == {"handler": 3.5, "work": 2.0, "injected": 0.1}
    with pytest.raises(ProbeError, match="is None, without handler, work, injected"):
        timing(None)
    with pytest.raises(ProbeError, match="without injected"):
        timing("handler;dur=3.5, work;dur=2.000")
