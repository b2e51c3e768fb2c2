"""Which of JMeter's threads wait for an answer, by a dump of its JVM's threads: it writes one to
its standard output when it gets a SIGQUIT, and goes on."""

from __future__ import annotations

import contextlib
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

#: The line of a dump that follows all threads.
DUMP_END = "JNI global ref"
#: Seconds that a JVM may take to write it.
DUMP_PATIENCE_S = 5.0
#: In the stack of a thread that is inside a sampler, rather than in a timer before it.
SAMPLING = "org.apache.jmeter.threads.JMeterThread.doSampling("
#: A Flow Control Action, whose pause sends no request.
PAUSING = "org.apache.jmeter.sampler.TestAction."
_THREAD = re.compile(r'^"(?P<name>.*)" #\d+ ', re.MULTILINE)


def sampling_now(process: psutil.Process, output: Path) -> list[str] | None:
    """Names of the JMeter's threads that are inside a sampler; None where its JVM does not say.
    output: of that process."""
    jvm = _jvm(process)
    if jvm is None:
        return None
    before = output.stat().st_size
    with contextlib.suppress(psutil.Error):
        jvm.send_signal(signal.SIGQUIT)
    deadline = time.monotonic() + DUMP_PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        dump = _text_from(output, before)
        if DUMP_END in dump:
            return list(sampling(dump))
        time.sleep(0.02)
    return None


def sampling(dump: str) -> Iterator[str]:
    """Names of the threads in a dump that are inside a sampler."""
    starts = [*_THREAD.finditer(dump)]
    ends = [*(each.start() for each in starts[1:]), len(dump)]
    for thread, end in zip(starts, ends, strict=True):
        stack = dump[thread.end() : end]
        if SAMPLING in stack and PAUSING not in stack:
            yield thread["name"]


def _jvm(process: psutil.Process) -> psutil.Process | None:
    """The process that answers SIGQUIT with a dump: others would die of it, such as the shell of a
    launcher, or a JVM with -Xrs."""
    with contextlib.suppress(psutil.Error):
        for each in (process, *process.children(recursive=True)):
            if "java" in each.name() and _catches_quit(each.pid):
                return each
    return None


def _catches_quit(pid: int) -> bool:
    with contextlib.suppress(OSError):
        caught = re.search(r"^SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.M)
        return bool(caught and int(caught[1], 16) >> (signal.SIGQUIT - 1) & 1)
    return False


def _text_from(path: Path, offset: int) -> str:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read().decode(errors="replace")
