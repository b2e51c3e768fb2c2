"""index.html of a study run, made from the files in its folder alone."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tollgate import dashboard, manifest, outputs
from tollgate.jtl_pieces import count_samples
from tollgate.page import assemble as page
from tollgate.study import run as study_run
from tollgate.study.blocks import read_blocks
from tollgate.study.model import Study
from tollgate.study.page_sections import Surroundings, to_page
from tollgate.study.series import pi_series

NAME = "index.html"
#: What a run leaves for others to read, by what it is; dashboards come before these.
FILES = {
    "study.json": "the study, for programs",
    "study.md": "the study, for a README",
    "verdict.md": "the verdict on the run itself",
    "junit.xml": "the verdict, for CI systems",
    "kpi.jtl": "the raw samples",
    "kpi.pieces": "the raw samples that were compacted",
    study_run.BLOCKS: "the blocks in the order of the run",
    study_run.CPU: "CPU time of generator, service and machine",
    "workers.jsonl": "the workers, second by second",
}
#: The design that taurus.yml names.
_DESIGN = "data/study.csv"


def write(run: Path, study: Study) -> Path:
    """Write the page of a run's folder, from its files alone; returns its path.

    Raises PageError, JtlError, ManifestError, StudyRunError and DesignError, one line each.
    """
    record = manifest.read(run)
    how = study_run.read(run)
    blocks = read_blocks(run / study_run.BLOCKS)
    jtl = run / record.executions[0].jtl
    series = pi_series(jtl, blocks) if jtl.is_file() else ()
    around = Surroundings(
        environment=record.environment,
        started=record.started,
        command=_command(how),
        verdict=_verdict(run),
        files=_files(run, record.executions),
        short=how.short,
    )
    outputs.write(run / NAME, page.to_html(to_page(study, series, around)))
    return run / NAME


def _command(how: study_run.StudyRun) -> str:
    """What makes the run again, its blocks in the same order."""
    settings = {"seed": str(how.seed), "experiments": ",".join(how.experiments)}
    if how.design != _DESIGN:
        settings["design"] = how.design
    if how.short:
        settings["short"] = "true"
    if how.rounds:
        settings["rounds"] = str(how.rounds)
    words = ["./scripts/run", "-study"]
    for name, value in settings.items():
        words += ["-o", f"modules.study.{name}={value}"]
    return shlex.join(words)


def _verdict(run: Path) -> dict[str, Any] | None:
    try:
        return json.loads((run / "verdict.json").read_text())
    except (OSError, ValueError):
        return None


def _files(run: Path, executions: Sequence[manifest.Execution]) -> list[tuple[str, str]]:
    """(address relative to the page, what it is) of what the run left."""
    pages = {f"dashboard/{it.name}/index.html": it for it in executions}
    found = [(name, "JMeter's dashboard") for name, it in pages.items() if _is_drawn(run, name, it)]
    found += [(name, what) for name, what in FILES.items() if (run / name).exists()]
    return [(quote(name), what) for name, what in found]


def _is_drawn(run: Path, name: str, execution: manifest.Execution) -> bool:
    """Whether the dashboard is there, or will be: a run draws it after this page."""
    jtl = run / execution.jtl
    if (run / name).exists() or not jtl.is_file():
        return (run / name).exists()
    return count_samples(jtl) <= dashboard.MOST_SAMPLES
