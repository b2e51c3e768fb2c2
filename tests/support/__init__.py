"""What several tests need: JMeter, ports, a browser, and the processes of this session."""

import contextlib
import functools
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from support import hosts
from tollgate.install.tools import jmeter_home

#: Every process that a test starts inherits this variable, which is how those left are found.
MARK = "TOLLGATE_TEST_SESSION"
#: Settings of the caller's that would change what a test sees.
SETTINGS = (
    *("JVM_ARGS", "HEAP", "HOST", "PORT", "NODE_OPTIONS", "ENGINE", "ENGINES", "START_AT", "LIVE"),
)
#: Without the compiler for what runs on for minutes, which is half of what a JMeter of seconds
#: costs. No test measures how fast JMeter is.
QUICK_START = "-XX:TieredStopAtLevel=1"
#: Seconds that anything may take before a test gives up on it. Nothing is judged by time.
PATIENCE = 240
#: Above the ports of common services, below those of JMeter's messages and of connections.
PORTS = range(10_000, 24_000)
ROOT = Path(__file__).resolve().parents[2]
PLANS = ROOT / "plans"
JMETER = jmeter_home() / "bin" / "jmeter"


def environment(**extra):
    """The caller's environment without the settings that would change what a test sees, and with a
    JVM that starts quickly."""
    kept = {key: value for key, value in os.environ.items() if key not in SETTINGS}
    return kept | {"JVM_ARGS": QUICK_START} | extra


def run(*command, **options):
    """Run a command to its end and capture what it says; the exit code is the test's business."""
    fixed = {"capture_output": True, "text": True, "check": False, "timeout": PATIENCE}
    options = {"env": environment(), "stdin": subprocess.DEVNULL, **fixed, **options}
    return subprocess.run([str(word) for word in command], **options)


def tollgate(*words, **options):
    """Run the command `tollgate` to its end."""
    return run(Path(sys.executable).with_name("tollgate"), *words, **options)


def script(path, *lines):
    """Write a script of the shell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


def start(*command, output, **options):
    """Start a command that writes what it says into the file `output`."""
    options.setdefault("env", environment())
    with output.open("w") as out:
        return psutil.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            **options,
        )


def end(process):
    """End a process that was started here, if it hasn't ended by itself."""
    if process.poll() is None:
        process.kill()
    process.wait()


def wait_until(condition, what):
    """Poll until the condition gives something true, and return that."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.02)
    return found


def wait_while_it_lives(process, output, condition, what):
    """Poll until the condition is true; a process that ends before fails the test."""
    wait_until(lambda: process.poll() is not None or condition(), what)
    assert process.poll() is None, output.read_text()


@functools.cache
def _ports():
    """Ports below those that the system gives to connections by itself, this process's share of
    them in no particular order: tests that run at the same time have no port in common."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    ports = range(PORTS.start + number, PORTS.stop, count)
    return iter(random.SystemRandom().sample(ports, len(ports)))


def free_port():
    """A port of the loopback that nothing listens on, another one on each call."""
    for port in _ports():
        with socket.socket() as candidate, contextlib.suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def listens(port):
    """Whether something accepts connections on this port of loopback."""
    with socket.socket() as candidate:
        return candidate.connect_ex(("127.0.0.1", port)) == 0


def ours():
    """The processes that this session's tests started and that still live, but for zombies."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            marked = process.environ().get(MARK) == os.environ[MARK]
            if marked and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def browser():
    """The Chromium to use: $CHROMIUM, or the first one on PATH."""
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if name and (path := shutil.which(name))), None)


def screen():
    """Whether a window of Java's can be shown: on a virtual screen, by a Java that has windows."""
    java = shutil.which("java")
    home = Path(java).resolve().parents[1] if java else None
    return bool(home and shutil.which("Xvfb") and (home / "lib" / "libawt_xawt.so").exists())


def mounts():
    """Whether this user may mount a filesystem."""
    with tempfile.TemporaryDirectory() as place:
        is_mounted = run("mount", "-t", "tmpfs", "tmpfs", place).returncode == 0
        if is_mounted:
            subprocess.run(["umount", place], check=True)
        return is_mounted


def other_filesystem():
    """A folder to write to on another filesystem than the project's; none where there is none."""
    memory = Path("/dev/shm")
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    return memory if usable and memory.stat().st_dev != ROOT.stat().st_dev else None


#: What `@pytest.mark.needs` may name, and how to tell whether it is there.
NEEDS = {
    "chromium": browser,
    "a screen": screen,
    "mounts": mounts,
    "network namespaces": hosts.may_make_them,
    "apt-get": functools.partial(shutil.which, "apt-get"),
    "faketime": functools.partial(shutil.which, "faketime"),
    "another filesystem": other_filesystem,
}
