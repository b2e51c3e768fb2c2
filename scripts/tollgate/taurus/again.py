"""The load of a run once more, after it: for what it makes the services do."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tollgate.base import uninterrupted
from tollgate.plan import put_in_place
from tollgate.targets import lock
from tollgate.taurus.jmeter import InstalledJMeter


@contextlib.contextmanager
def again(executor: InstalledJMeter, folder: Path, **properties: int) -> Iterator[subprocess.Popen]:
    """The same plan once more after its run, as it was started but for these properties: a process
    that is ended with the block, and writes no samples."""
    given = {**executor.properties, **properties, "jmeterengine.nongui.port": lock.take_port()}
    plan = Path(executor.original_jmx).absolute()
    with (
        (folder / "jmeter.out").open("w") as out,
        _temporary("tollgate-", ".properties") as values,
        _temporary("modified_", ".jmx", plan.parent) as copy,
    ):
        values.write_text("".join(f"{key}={value}\n" for key, value in given.items()))
        shutil.copyfile(plan, copy)
        put_in_place(copy, plan.parent)
        arguments = [*executor.arguments]
        for option, file in (("-t", copy), ("-j", folder / "jmeter.log"), ("-q", values)):
            arguments[arguments.index(option) + 1] = str(file)
        process = subprocess.Popen(
            arguments,
            cwd=plan.parent,
            env={**os.environ, **executor.env.get()},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            lock.remember([process.pid], [str(values), str(copy)])
            yield process
        finally:
            with uninterrupted():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@contextlib.contextmanager
def _temporary(prefix: str, suffix: str, folder: Path | None = None) -> Iterator[Path]:
    """An empty file that only this user can read, for as long as the block lasts."""
    number, name = tempfile.mkstemp(suffix, prefix, folder)
    os.close(number)
    try:
        yield Path(name)
    finally:
        Path(name).unlink()
