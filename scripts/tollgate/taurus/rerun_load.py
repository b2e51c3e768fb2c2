"""The load of a run once more, before or after it: for what it makes the services do."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from tollgate.base.processes import defer_signals, spawn
from tollgate.base.text import java_escaped, java_property
from tollgate.plan.inline import put_in_place
from tollgate.targets import lock
from tollgate.taurus.jmeter import InstalledJMeter
from tollgate.taurus.shared import under_way


@contextlib.contextmanager
def rerun_load(
    executor: InstalledJMeter,
    folder: Path,
    samples: Path | None = None,
    jvm_args: str = "",
    **properties: object,
) -> Iterator[subprocess.Popen[Any]]:
    """The same plan once more beside its run, with other properties, for what it makes the service
    do: a process that is ended with the block. samples: where it writes them. jvm_args: in
    addition to those of the run."""
    whole = {**executor.properties, **properties, "jmeterengine.nongui.port": 0}
    plan = Path(executor.original_jmx).absolute()
    prepared = under_way(executor.engine).executions[executor.label]
    within = (prepared.original or plan).absolute().parent
    arguments = [executor.tool.tool_path, "-n", "-j", str(folder / "jmeter.log")]
    arguments += str(executor.settings.get("cmdline") or "").split()
    arguments += [*executor.own_arguments(whole), *(["-l", str(samples)] if samples else [])]
    env = {**os.environ, **executor.env.get()}
    env["JVM_ARGS"] = f"{env.get('JVM_ARGS', '')} {jvm_args}".strip()
    with (
        (folder / "jmeter.out").open("w") as out,
        NamedTemporaryFile("w", prefix="tollgate-", suffix=".properties") as values,
        NamedTemporaryFile(prefix="modified_", suffix=".jmx", dir=plan.parent) as copy,
    ):
        lines = (java_property(key, str(value)) for key, value in whole.items())
        values.write(java_escaped("".join(lines)))
        values.flush()
        shutil.copyfile(plan, copy.name)
        put_in_place(Path(copy.name), within)
        process = spawn([*arguments, "-t", copy.name, "-q", values.name], within, env, out)
        try:
            files = [values.name, copy.name, *filter(None, [executor.modified_jmx])]
            lock.remember([process.pid], files)
            yield process
        finally:
            with defer_signals():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
