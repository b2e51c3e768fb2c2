"""What a run ends of what was left, and what it must not touch. Real processes."""

import os
import socket
import subprocess
import sys

import psutil
import pytest

import support
from tollgate.targets import leftovers, lock, pm2, probe

#: Says that it is there, and stays.
STAYING = "import time; print(flush=True); time.sleep(600)"
#: Does not end when it is asked to.
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {STAYING}"


@pytest.fixture
def start():
    """Starts a process that stays, with a variable that says of which checkout it is."""
    started = []

    def start(mark, code=STAYING):
        env = support.environment(**({} if mark is None else {pm2.STARTED_FROM: mark}))
        process = subprocess.Popen(
            [sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, start_new_session=True
        )
        started.append(process)
        assert process.stdout.readline() == b"\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch, tmp_path):
    monkeypatch.setattr(leftovers, "ON_ITS_WAY", 0.1)
    monkeypatch.setattr(leftovers, "GRACE", 1)
    monkeypatch.setattr(pm2, "PM2_HOME", tmp_path / "pm2")  # no daemon
    # A checkout of this test's own: a run may be under way in the real one.
    monkeypatch.setattr(pm2, "started_from", lambda: f"{tmp_path}#1")


def test_what_pm2_started_from_this_checkout_is_ended_and_nothing_of_anybody_else(start, tmp_path):
    ours = [start(f"{tmp_path}#1"), start(f"{tmp_path}#1", STUBBORN)]
    others = [start(None), start(f"{tmp_path}#2"), start(f"{tmp_path}#1/clone"), start("")]
    told = leftovers.end_pm2()
    assert sorted(line.split(" (")[0] for line in told) == sorted(
        f"ended pid {process.pid}" for process in ours
    )
    assert all(process.poll() is not None for process in ours)
    assert all(process.poll() is None for process in others)


def test_every_process_of_pm2_says_from_which_checkout_it_was_started():
    assert pm2.environment()[pm2.STARTED_FROM] == pm2.started_from()
    assert pm2.STARTED_FROM not in os.environ


def test_what_ends_by_itself_is_left_to_it(start, tmp_path, monkeypatch):
    process = start(f"{tmp_path}#1")
    monkeypatch.setattr(leftovers, "ON_ITS_WAY", 60)
    monkeypatch.setattr(leftovers.time, "sleep", lambda _: process.kill())
    assert leftovers.end_pm2() == []


def test_a_port_that_an_app_could_not_have_is_told_with_who_has_it(tmp_path):
    logs = tmp_path / "pm2" / "logs"
    logs.mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        for address in (f"127.0.0.1:{port}", f":::{port}"):
            error = f"Error: listen EADDRINUSE: address already in use {address}"
            (logs / "shop-error.log").write_text(f"{error}\n    at Server (node:net:1:16)\n")
            assert f"{error}, held by pid {os.getpid()} (" in probe.last_error("shop")


def test_the_end_of_a_connection_is_told_where_nobody_listens():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        port = client.getsockname()[1]
        assert leftovers.port_owner(port).startswith(f"pid {os.getpid()} (")


def test_nobody_is_told_twice_where_a_left_over_has_children(start, tmp_path):
    code = (
        "import subprocess, sys; "
        f"child = subprocess.Popen([sys.executable, '-c', {STAYING!r}], stdout=subprocess.PIPE); "
        f"child.stdout.readline(); {STAYING}"
    )
    parent = start(f"{tmp_path}#1", code)
    family = [psutil.Process(parent.pid), *psutil.Process(parent.pid).children()]
    told = leftovers.end_pm2()
    assert len(told) == 2
    assert not any(it.is_running() and it.status() != psutil.STATUS_ZOMBIE for it in family)


def test_what_a_killed_run_wrote_down_is_known_again_though_the_clock_was_set(
    start, tmp_path, monkeypatch
):
    monkeypatch.setattr(lock, "STARTED", tmp_path / "started.json")
    monkeypatch.setattr(leftovers, "BASE", tmp_path / "base")
    process = start(None)
    lock.remember([process.pid], [])
    booted = psutil.boot_time()
    for module in (psutil, psutil._psplatform):
        monkeypatch.setattr(module, "boot_time", lambda: booted + 3600)
    [line] = leftovers.clean_up()
    assert line.startswith(f"ended pid {process.pid} (")
    assert process.wait(support.PATIENCE) is not None
