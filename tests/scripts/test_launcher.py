"""The launcher scripts of the project's JMeter home."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil

import support

EMPTY_PLAN = """<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="empty"/><hashTree/>
</hashTree></jmeterTestPlan>
"""


def flags(tmp_path: Path, **settings: str) -> dict[str, str]:
    """The JVM's flags as the launcher sets them."""
    jvm_args = f"-XX:+PrintFlagsFinal {settings.pop('JVM_ARGS', '')}"
    done = support.run(
        *(support.JMETER, "--version", "-j", tmp_path / "jmeter.log"),
        cwd=tmp_path,
        env=support.environment(JVM_ARGS=jvm_args, **settings),
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    words = [line.split() for line in done.stdout.splitlines() if " = " in line]
    return {line[1]: line[3] for line in words if len(line) > 3 and line[2] == "="}


def test_jmeter_runs_with_a_collector_and_a_heap_for_small_machines(tmp_path: Path) -> None:
    default = flags(tmp_path)
    assert (default["UseSerialGC"], default["UseG1GC"]) == ("true", "false")
    assert default["MaxHeapSize"] == str(512 * 1024 * 1024)
    assert default["ExitOnOutOfMemoryError"] == "true"


def test_jvm_args_and_heap_win_over_the_defaults(tmp_path: Path) -> None:
    chosen = flags(tmp_path, JVM_ARGS="-XX:+UseParallelGC", HEAP="-Xmx320m")
    assert (chosen["UseParallelGC"], chosen["UseSerialGC"]) == ("true", "false")
    assert chosen["MaxHeapSize"] == str(320 * 1024 * 1024)


def test_a_run_prints_no_warning_of_log4j(tmp_path: Path) -> None:
    plan = tmp_path / "empty.jmx"
    plan.write_text(EMPTY_PLAN)
    done = support.run(
        support.JMETER, "-n", "-t", plan, "-j", tmp_path / "jmeter.log", cwd=tmp_path
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert "StatusConsoleListener" not in done.stdout


def listening(process: psutil.Process) -> set[str]:
    """The addresses on which a process and those below it accept connections."""
    return {
        connection.laddr.ip.removeprefix("::ffff:")
        for each in [process, *process.children(recursive=True)]
        for connection in each.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }


def test_a_jmeter_server_listens_on_loopback_only(port: Callable[[], int], tmp_path: Path) -> None:
    registry = port()
    server = subprocess.Popen(
        [support.JMETER.with_name("jmeter-server")],
        cwd=tmp_path,
        env=support.environment(SERVER_PORT=str(registry)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        support.wait_until(
            lambda: support.listens(registry) or server.poll() is not None,
            "the server listens or has ended",
        )
        assert server.poll() is None, server.stdout.read()
        assert listening(psutil.Process(server.pid)) == {"127.0.0.1"}
    finally:
        server.terminate()
        server.communicate()
