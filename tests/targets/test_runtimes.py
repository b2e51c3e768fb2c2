"""What runs an app, by real processes."""

import shutil
import subprocess

import psutil
import pytest

import support
from tollgate.targets import pm2
from tollgate.targets.runtimes import other_node, runtimes_of

NODE = support.run("node", "-p", "process.execPath").stdout.strip()
VERSION = support.run("node", "-p", "process.versions.node").stdout.strip()
SERVER = "require('http').createServer().listen(process.argv[1], () => console.log('up'))"


def app(interpreter="node", port=0):
    return pm2.App("web", port, "fork", 1, interpreter=interpreter, cwd="/")


@pytest.fixture
def started():
    """Starts a command that prints a line, and gives what PM2 knows of it."""
    processes = []

    def start(*command):
        process = psutil.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        processes.append(process)
        process.stdout.readline()
        return {"name": "web", "pid": process.pid}

    yield start
    for process in processes:
        for each in (*process.children(recursive=True), process):
            each.kill()
        process.communicate()


@pytest.fixture
def shim(tmp_path):
    """Writes a program that stands before Node's, as version managers have one."""

    def written(line):
        path = tmp_path / "node"
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
        return str(path)

    return written


def test_processes_under_one_program_are_counted(started):
    workers = [started("node", "-e", SERVER, "0") for _ in range(2)]
    found = [{"path": NODE, "version": VERSION, "processes": 2}]
    assert runtimes_of(app(), [*workers, {"name": "other", "pid": 1}]) == found


def test_a_shim_of_a_version_manager_is_asked_for_its_node(started, shim):
    worker = started("node", "-e", SERVER, "0")
    [found] = runtimes_of(app(shim(f'exec {NODE} "$@"')), [worker])
    assert found["path"] == NODE


def test_an_app_that_runs_under_another_node_than_its_own_is_refused(started, shim):
    worker = started("node", "-e", SERVER, "0")
    with pytest.raises(pm2.Pm2Error, match=f"runs under {NODE} .*, and its interpreter is /bin/sh"):
        runtimes_of(app(shim("echo /bin/sh")), [worker])


def test_an_interpreter_that_says_nothing_is_refused(started, shim):
    worker = started("node", "-e", SERVER, "0")
    with pytest.raises(pm2.Pm2Error, match="does not say which Node it is: no such version: "):
        runtimes_of(app(shim("echo no such version >&2; exit 1")), [worker])


def test_another_node_than_that_of_the_report_is_said_and_another_program_is_no_node():
    runtimes = [
        {"path": "/a/node", "version": "1.0", "processes": 1},
        {"path": "/b/node", "version": "2.0", "processes": 1},
        {"path": "/usr/bin/python3", "version": "Python 3", "processes": 1},
    ]
    assert other_node("web", runtimes, "1.0") == "web runs under Node 2.0 (/b/node), not 1.0"
    assert other_node("web", runtimes[:1], "1.0") == ""


def test_what_serves_below_a_shell_is_what_counts(started):
    port = support.free_port()
    worker = started("sh", "-c", f'node -e "{SERVER}" {port}; true')
    [found] = runtimes_of(app("none", port), [worker])
    assert found == {"path": NODE, "version": VERSION, "processes": 1}


def test_a_program_that_need_not_know_the_option_is_not_asked_for_its_version(started):
    worker = started("sh", "-c", "echo up; read line")
    [found] = runtimes_of(app("none"), [worker])
    assert found["version"] == ""
    assert found["path"].startswith(shutil.which("sh")[:5])


def test_of_a_process_that_has_ended_nothing_is_known():
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert runtimes_of(app(), [{"name": "web", "pid": ended.pid}]) == []
