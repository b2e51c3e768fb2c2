"""study-run.json: how a run of the study was set up, for whoever reports on it later.

Beside it stand blocks.csv, the blocks of the run in their order, and run.json with the machine,
the apps and their instances.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

NAME = "study-run.json"
#: The blocks of the run, which the plan reads and the report as well.
BLOCKS = "blocks.csv"
#: The CPU time of generator, service and machine, see study/cpu.py.
CPU = "cpu.jsonl"
#: The folder of what the other load generator has found, by block: 312.json.
CHECKS = "crosscheck"


class StudyRunError(Exception):
    """One line: which file, what is wrong with it, what to do."""


@dataclass(frozen=True)
class StudyRun:
    """design: the file that it follows. seed: of the order of the blocks. short: whether it was
    the smoke, whose figures mean nothing. rounds: in place of the design's, None for those.
    experiments: the names of those that were to run, in their order. left_out: what of the design
    could not be run here, one sentence each.
    """

    design: str
    seed: int
    short: bool
    rounds: int | None
    experiments: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def write(study: StudyRun, run: Path) -> None:
    """Write study-run.json into the run's folder."""
    (run / NAME).write_text(json.dumps(asdict(study), indent=2) + "\n")


def read(run: Path) -> StudyRun:
    """The study-run.json of a run's folder. Raises StudyRunError."""
    path = run / NAME
    try:
        record = json.loads(path.read_text())
        lists = {name: tuple(map(str, record[name])) for name in ("experiments", "left_out")}
        return StudyRun(**{**record, **lists})
    except FileNotFoundError:
        raise StudyRunError(
            f"{run} is not the folder of a study: it has no {NAME}; name one under reports/"
        ) from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StudyRunError(f"{path} can't be read: {error!r}; run the study again") from None
