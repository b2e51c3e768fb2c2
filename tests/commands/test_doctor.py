"""`tollgate doctor`, the real command, on a machine on which something is wrong."""

import argparse
import fcntl
import os
import shutil
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

import support
from tollgate.commands.doctor import machine, show
from tollgate.commands.doctor.finding import FAIL, WARN, Diagnosis
from tollgate.targets import leftovers, lock
from tollgate.targets.pm2 import declared_apps

TOLLGATE = Path(sys.executable).with_name("tollgate")
TOOLS = ("sh", "sed", "head", "node", "npm", "java", "mvn", "python3", "git")


def doctor(**env):
    """On ports of its own."""
    ports = {
        f"PORT_{name.upper().replace('-', '_')}": str(support.free_port())
        for name in declared_apps()
    }
    return support.run(TOLLGATE, "doctor", env=support.environment(**(ports | env)))


def told(done, what):
    """The words of the line that begins with a status and this, and what to do."""
    lines = done.stdout.splitlines()
    for at, line in enumerate(lines):
        if line[6 : 6 + len(what)] == what:
            todo = lines[at + 1].strip() if "->" in lines[at + 1] else ""
            return [line[:4].strip(), line[20:], todo.removeprefix("-> ")]
    raise AssertionError(f"no {what} in:\n{done.stdout}{done.stderr}")


@pytest.fixture
def path_with(tmp_path):
    """Makes a PATH with these tools alone; those of `says` are scripts that print one line."""

    def make(*names, **says):
        for name in names:
            # The one that the tool itself names: a shim would look for its kind on PATH.
            place = sys.executable if name == "python3" else shutil.which(name)
            (tmp_path / name).symlink_to(place)
        for name, text in says.items():
            (tmp_path / name).write_text(f"#!/bin/sh\necho '{text}'\n")
            (tmp_path / name).chmod(0o755)
        return str(tmp_path)

    return make


def test_a_port_in_use_is_told_with_the_process_that_holds_it():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        done = doctor(PORT_CLUSTER=str(port))
    status, found, todo = told(done, f"port {port}")
    assert (status, done.returncode) == (FAIL, 1)
    assert found.startswith(f"of app cluster: in use by pid {os.getpid()} (")
    assert todo == "end it, or set PORT_CLUSTER to a free port"


def test_free_ports_are_named():
    port = support.free_port()
    status, found, _ = told(doctor(PORT_FORK=str(port)), "ports")
    assert status == "ok"
    assert found.startswith(f"free: {port}, ")


@pytest.mark.parametrize(
    ("command_name", "what", "least"), [("node", "Node", "20"), ("java", "Java", "17")]
)
def test_a_missing_tool_is_told_and_the_rest_is_still_looked_at(
    path_with, command_name, what, least
):
    path = path_with(*(name for name in TOOLS if name != command_name))
    done = doctor(PATH=path, JAVA_HOME="")
    assert told(done, what) == [
        *(FAIL, f"no `{command_name}` that runs on PATH"),
        f"install {what} {least} or later",
    ]
    assert (done.returncode, done.stderr) == (1, "")
    assert told(done, "disk")[0] == "ok"
    assert told(done, "Chromium")[0] == WARN


def test_a_node_that_is_too_old_is_told_with_its_version_and_not_asked_for_ports(path_with):
    path = path_with(*(name for name in TOOLS if name != "node"), node="v16.20.2")
    done = doctor(PATH=path)
    assert told(done, "Node") == [FAIL, f"16.20.2 ({path}/node)", "install Node 20 or later"]
    assert told(done, "ports")[0] == WARN
    assert "not looked at" in told(done, "ports")[1]


def test_without_anything_on_the_path_each_tool_is_told():
    done = doctor(PATH="/nowhere", JAVA_HOME="")
    assert (done.returncode, done.stderr) == (1, "")
    for what in ("Node", "npm", "Java", "Maven", "Python"):
        assert told(done, what)[0] == FAIL


def test_a_jmeter_home_of_yours_that_is_none_is_told(tmp_path):
    done = doctor(JMETER_HOME=str(tmp_path))
    assert told(done, "JMeter") == [
        *(FAIL, f"no {tmp_path}/bin/jmeter"),
        "set JMETER_HOME to a JMeter 5.6.3, or unset it",
    ]


@pytest.fixture
def jmeter_home(tmp_path):
    """Makes a JMeter of the user's own that says it is this version and has these plugins."""

    def make(version, *plugins):
        for folder in ("bin", "lib/ext"):
            (tmp_path / folder).mkdir(parents=True)
        launcher = tmp_path / "bin" / "jmeter"
        launcher.write_text(f"#!/bin/sh\necho ' /_/   \\_\\_| {version}'\n")
        launcher.chmod(0o755)
        for plugin in plugins:
            (tmp_path / "lib" / "ext" / f"jmeter-plugins-{plugin}-2.10.jar").touch()
        return tmp_path

    return make


def test_a_jmeter_home_of_another_version_is_told_as_bootstrap_would(jmeter_home):
    home = jmeter_home("5.4.1", "casutg", "tst")
    assert told(doctor(JMETER_HOME=str(home)), "JMeter") == [
        *(FAIL, f"JMETER_HOME={home} is JMeter 5.4.1, but the plans need 5.6.3"),
        "unset JMETER_HOME to use the project's own JMeter",
    ]


def test_a_jmeter_home_without_the_plugins_is_told_with_how_to_add_them(jmeter_home):
    home = jmeter_home("5.6.3", "tst")
    status, found, todo = told(doctor(JMETER_HOME=str(home)), "JMeter")
    assert (status, found) == (WARN, f"the JMeter in {home} lacks the plugins jpgc-casutg.")
    assert todo.endswith("install jpgc-casutg")


def test_a_listener_of_another_user_is_not_taken_for_this_process(monkeypatch):
    address = SimpleNamespace(ip="127.0.0.1", port=4711)
    other = SimpleNamespace(status=psutil.CONN_LISTEN, laddr=address, pid=None)
    monkeypatch.setattr(psutil, "net_connections", lambda _: [other])
    assert leftovers.port_owner(4711).startswith("a process of somebody else, which this user may")


def test_a_run_that_is_under_way_is_told_and_its_lock_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "LOCK", tmp_path / "run.lock")
    monkeypatch.setattr(lock, "STATE", tmp_path)
    assert lock.holder() is None
    with lock.take_lock() as held:
        assert lock.holder() == os.getpid()
        with (tmp_path / "run.lock").open() as other, pytest.raises(OSError):  # noqa: PT011
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert not held.closed
    assert lock.holder() is None


def test_a_lock_that_names_a_process_of_another_kind_is_nobodys(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "LOCK", tmp_path / "run.lock")
    (tmp_path / "run.lock").write_text(str(os.getppid()))
    assert lock.holder() is None


def test_another_run_that_is_under_way_is_in_the_way(monkeypatch):
    monkeypatch.setattr(lock, "holder", lambda: 4711)
    assert machine.look(node_runs=False)[:2] == [
        Diagnosis(
            *(FAIL, "other runs", "one is under way (bzt with pid 4711)"),
            "wait for it or end it; two runs measure each other",
        ),
        Diagnosis(
            *(WARN, "ports"),
            "not looked at: they stand in ecosystem.config.js, which Node and PM2 read",
            "install these first",
        ),
    ]


def test_there_is_no_colour_in_a_pipe_and_the_last_line_sums_up():
    done = doctor()
    assert "\033" not in done.stdout
    assert done.stdout.splitlines()[-1].endswith("to know about")


def test_ctrl_c_keeps_what_was_found_and_ends_with_one_line(monkeypatch, capsys):
    def interrupted(_node_runs):
        raise KeyboardInterrupt

    monkeypatch.setattr(machine, "look", interrupted)
    assert show(argparse.Namespace()) == 2
    out, err = capsys.readouterr()
    assert err == "tollgate: interrupted: what is above holds\n"
    assert "Taurus" in out
