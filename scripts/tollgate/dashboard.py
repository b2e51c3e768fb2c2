"""JMeter's own HTML dashboard of one execution, drawn by JMeter in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tollgate.paths import jmeter_home

#: Milliseconds between two points of a graph. JMeter wants more than 1,000.
GRANULARITY_MS = 1001
#: Percentiles of the statistics table are exact up to this many samples a label.
EXACT_SAMPLES = 10_000_000
#: A drawing of a usual run takes seconds, too few for the optimising compiler to pay off.
QUICK_START = "-XX:TieredStopAtLevel=1"
#: Seconds for drawing. A run of 2,000,000 samples takes about 45 s.
TIMEOUT = 600


class Drawing:
    """A dashboard in the making, in `run`/dashboard/`name`."""

    def __init__(self, run: Path, name: str, jtl: Path) -> None:
        """Start drawing."""
        self.name = name
        self.folder = run / "dashboard" / name
        self.page = self.folder / "index.html"
        self.log = run / f"jmeter-dashboard-{name}.log"
        self.scratch = run / "dashboard" / f".{name}"
        for old in (self.folder, self.scratch):
            shutil.rmtree(old, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        # JMeter takes kpi-1.jtl, kpi-2.jtl ... beside kpi.jtl for further pieces of the same file
        # and fails on them, so each drawing sees its own samples alone.
        samples = self.scratch / jtl.name
        samples.symlink_to(jtl.resolve())
        properties = {
            "jmeter.reportgenerator.overall_granularity": GRANULARITY_MS,
            "jmeter.reportgenerator.statistic_window": EXACT_SAMPLES,
            "jmeter.reportgenerator.report_title": f"{run.name}: {name}",
            "jmeter.reportgenerator.temp_dir": self.scratch / "temp",
        }
        self.process = subprocess.Popen(
            [
                str(jmeter_home() / "bin" / "jmeter"),
                *("-g", str(samples), "-o", str(self.folder), "-j", str(self.log)),
                *(f"-J{key}={value}" for key, value in properties.items()),
            ],
            cwd=run,
            env={**os.environ, "JVM_ARGS": f"{QUICK_START} {os.environ.get('JVM_ARGS', '')}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def finish(self) -> str:
        """Wait for the page; returns why there is none, or an empty string."""
        try:
            out, _ = self.process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return f"JMeter drew for more than {TIMEOUT} s"
        finally:
            shutil.rmtree(self.scratch, ignore_errors=True)
        if self.process.returncode or not self.page.exists():
            lines = [line for line in out.splitlines() if line.strip()]
            return f"{lines[-1] if lines else 'JMeter said nothing'} (see {self.log.name})"
        return ""


def draw_all(run: Path, jtls: dict[str, Path]) -> dict[str, str]:
    """Draw a dashboard for each JTL, all at once; returns why not, for those that failed."""
    drawings = [Drawing(run.resolve(), name, jtl) for name, jtl in jtls.items() if jtl.exists()]
    problems = {drawing.name: drawing.finish() for drawing in drawings}
    return {name: problem for name, problem in problems.items() if problem}
