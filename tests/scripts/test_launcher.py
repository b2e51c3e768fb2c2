"""The launcher scripts of the project's JMeter home."""

import support
from support import jmx_text as jmx


def flags(tmp_path, **settings):
    """The JVM's flags as the launcher sets them."""
    jvm_args = f"-XX:+PrintFlagsFinal {settings.pop('JVM_ARGS', '')}"
    env = support.environment(JVM_ARGS=jvm_args, **settings)
    log = tmp_path / "jmeter.log"
    done = support.run(support.JMETER, "--version", "-j", log, cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    words = [line.split() for line in done.stdout.splitlines() if " = " in line]
    return {line[1]: line[3] for line in words if len(line) > 3 and line[2] == "="}


def test_jmeter_runs_with_a_collector_and_a_heap_for_small_machines(tmp_path):
    default = flags(tmp_path)
    assert (default["UseSerialGC"], default["UseG1GC"]) == ("true", "false")
    assert default["MaxHeapSize"] == str(512 * 1024 * 1024)
    assert default["ExitOnOutOfMemoryError"] == "true"


def test_jvm_args_and_heap_win_over_the_defaults(tmp_path):
    chosen = flags(tmp_path, JVM_ARGS="-XX:+UseParallelGC", HEAP="-Xmx320m")
    assert (chosen["UseParallelGC"], chosen["UseSerialGC"]) == ("true", "false")
    assert chosen["MaxHeapSize"] == str(320 * 1024 * 1024)


def test_a_run_prints_no_warning_of_log4j(tmp_path):
    plan, log = tmp_path / "empty.jmx", tmp_path / "jmeter.log"
    plan.write_text(jmx.loadable(jmx.plan()))
    done = support.run(support.JMETER, "-n", "-t", plan, "-j", log, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "StatusConsoleListener" not in done.stdout


def test_the_home_holds_no_key_and_starts_no_server_without_one(port, tmp_path):
    home = support.JMETER.parent.parent
    keys = [it for it in home.rglob("*") if it.suffix in (".jks", ".keystore", ".p12", ".pem")]
    assert keys == []
    address = ("-Djava.rmi.server.hostname=127.0.0.1", f"-Jserver_port={port()}")
    done = support.run(support.JMETER, "-s", "-j", tmp_path / "server.log", *address, cwd=tmp_path)
    assert done.returncode == 1
    assert "rmi_keystore.jks" in done.stdout + done.stderr + (tmp_path / "server.log").read_text()
