"""JMeter's own HTML dashboard of one execution, drawn by JMeter in a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

import psutil

from tollgate.base.paths import java_finds
from tollgate.base.processes import spawn
from tollgate.install.tools import jmeter_home
from tollgate.samples.layout import JtlError
from tollgate.samples.split import copy_until

#: Milliseconds between two points of a graph. JMeter wants more than 1,000.
GRANULARITY_MS = 1001
#: Percentiles of the statistics table are exact up to this many samples a label.
EXACT_SAMPLES = 10_000_000
#: A drawing of a usual run takes seconds, too few for the optimising compiler to pay off.
QUICK_START = "-XX:TieredStopAtLevel=1"
#: A run draws no dashboard of more samples: 1,000,000 take JMeter 17 s, 2,000,000 take it 44 s and
#: 856 MB, on a machine that may be a small one of a CI. With more samples both grow on.
MOST_SAMPLES = 2_000_000
#: Seconds for drawing as many.
TIMEOUT = 600
#: Heap for as many. The launcher's default is for a generator, which needs less.
HEAP = "1g"
#: The part of the machine's memory that JMeter may take for more samples than that.
LARGE_HEAP = 0.75
_CHUNK = 1 << 20


class Drawing:
    """A dashboard in the making, in `run`/dashboard/`name`."""

    def __init__(
        self, run: Path, name: str, jtl: Path, large: bool = False, until_ms: int | None = None
    ) -> None:
        """Start drawing. large: takes whatever time and memory it needs. until_ms: only samples
        that had ended by then (epoch ms). Raises JtlError, and OSError for a full disk or a JMeter
        that is not there."""
        self.large = large
        self.name = name
        self.folder = run / "dashboard" / name
        self.page = self.folder / "index.html"
        self.log = run / f"jmeter-dashboard-{name}.log"
        self.scratch = run / "dashboard" / f".{name}"
        for old in (self.folder, self.scratch):
            shutil.rmtree(old, ignore_errors=True)
        try:
            self.scratch.mkdir(parents=True)
            self.process = self._started(self._samples(jtl, until_ms), run)
        except BaseException:
            shutil.rmtree(self.scratch, ignore_errors=True)
            raise

    def _started(self, samples: Path, run: Path) -> subprocess.Popen[str]:
        properties = {
            "jmeter.reportgenerator.overall_granularity": GRANULARITY_MS,
            "jmeter.reportgenerator.statistic_window": EXACT_SAMPLES,
            "jmeter.reportgenerator.report_title": f"{run.name}: {self.name}",
            "jmeter.reportgenerator.temp_dir": self.scratch / "temp",
        }
        command = [str(jmeter_home() / "bin" / "jmeter"), "-g", str(samples)]
        command += ["-o", str(self.folder), "-j", str(self.log)]
        command += [f"-J{key}={value}" for key, value in properties.items()]
        env = {**os.environ, **java_finds(run), "JVM_ARGS": self._jvm_arguments()}
        return spawn(command, run, env, subprocess.PIPE, text=True)

    def _samples(self, jtl: Path, until_ms: int | None) -> Path:
        """JMeter takes kpi-1.jtl, kpi-2.jtl ... beside kpi.jtl for further pieces of the same file
        and fails on them, so each drawing sees its own samples alone."""
        samples = self.scratch / jtl.name
        if until_ms is None:
            samples.symlink_to(jtl.resolve())
        else:
            copy_until(jtl, samples, until_ms)
        return samples

    def _jvm_arguments(self) -> str:
        mine = f"{QUICK_START} -Xmx{HEAP}"
        if self.large:
            mine = f"-Xmx{int(psutil.virtual_memory().total * LARGE_HEAP) >> 20}m"
        return f"{mine} {os.environ.get('JVM_ARGS', '')}"

    def finish(self) -> str:
        """Wait for the page; returns why there is none, or an empty string."""
        try:
            out, _ = self.process.communicate(timeout=None if self.large else TIMEOUT)
        except subprocess.TimeoutExpired:
            return f"JMeter drew for more than {TIMEOUT} s"
        finally:
            self.stop()
        if self.process.returncode or not self.page.exists():
            lines = [line for line in out.splitlines() if line.strip()]
            return f"{lines[-1] if lines else 'JMeter said nothing'} (see {self.log.name})"
        return ""

    def stop(self) -> None:
        """End JMeter if it still draws, and remove what only the drawing needed."""
        # JMeter has a session of its own, so that no Ctrl-C of a terminal reaches it; and
        # bin/jmeter is a shell script, whose JVM would outlive it.
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)


def draw_all(
    run: Path,
    jtls: dict[str, Path],
    however_large: bool = False,
    until_ms: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, str]:
    """Draw a dashboard for each JTL; returns why not, for those that were not drawn.

    until_ms: of some of them, only samples that had ended by then (epoch ms) are drawn.
    All at once; those of more than MOST_SAMPLES one after the other, and only if however_large.
    """
    problems: dict[str, str] = {}
    drawings: list[Drawing] = []
    try:
        for name, jtl in jtls.items():
            if not jtl.is_file():
                continue
            try:
                samples = _count_samples(jtl)
                is_large = samples > MOST_SAMPLES
                if is_large and not however_large:
                    problems[name] = _too_large(run, samples)
                    continue
                drawing = Drawing(run.resolve(), name, jtl, is_large, until_ms.get(name))
                if is_large:
                    problems[name] = drawing.finish()
                else:
                    drawings.append(drawing)
            except (JtlError, OSError) as error:
                problems[name] = str(error)
        problems |= {drawing.name: drawing.finish() for drawing in drawings}
    finally:
        for drawing in drawings:
            drawing.stop()
    return {name: problem for name, problem in problems.items() if problem}


def _count_samples(jtl: Path) -> int:
    """How many samples a JTL holds; line breaks in messages count as samples."""
    with jtl.open("rb") as file:
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_CHUNK), b""))
    return max(0, lines - 1)


def _too_large(run: Path, samples: int) -> str:
    return (
        f"{samples:,} samples are more than the {MOST_SAMPLES:,} that JMeter draws in a minute and "
        f"a gigabyte; `tollgate report {os.path.relpath(run)} --dashboards` draws them all the same"
    )
