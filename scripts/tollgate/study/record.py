"""study-run.json: how a run of the study was set up, for the report.

Beside it stand blocks.csv, the blocks of the run in their order, and run.json with the machine,
the apps and their instances.
"""

from __future__ import annotations

from pathlib import Path

from tollgate.base import records
from tollgate.base.fields import Count, Whole
from tollgate.record.manifest import ManifestError

NAME = "study-run.json"
#: The blocks of the run, which the plan reads and the report as well.
BLOCKS = "blocks.csv"
#: What the warm-up measured, see study/lengths.py; written when the other blocks have been.
WARM_UP = "warm-up.json"
#: The CPU time of generator, service and machine, see study/cpu.py.
CPU = "cpu.jsonl"
#: The folder of what the other load generator has found, by block: 312.json.
CHECKS = "crosscheck"


@records.stored
class StudyRun:
    """How the run was set up."""

    design: str
    """The file of the design."""
    seed: Count
    """Of the order of the blocks and of the resampled rounds."""
    short: bool
    """Whether it was the smoke, which has too few rounds for any answer."""
    rounds: Whole | None
    """Rounds in place of the design's; null for those."""
    experiments: tuple[str, ...]
    """The experiments that were to run, in their order."""
    left_out: tuple[str, ...] = ()
    """What of the design could not be run here."""


def write(study: StudyRun, run: Path) -> None:
    """Write study-run.json into the run's folder, whole or not at all."""
    records.write(run / NAME, study)


def read(run: Path) -> StudyRun:
    """The study-run.json of a run's folder. Raises ManifestError, one line."""
    return records.read(run / NAME, StudyRun, ManifestError, "study", "run the study again")
