"""The archived runs of tests/archive, unpacked as they were left."""

import gzip
import shutil
from pathlib import Path

ARCHIVE = Path(__file__).parents[1] / "archive"
#: What was said of a run, in place of what it left: no run's folder has it before it is judged.
SAID = ("verdict.json", "study.json")


def unpacked(name, to):
    """The folder of a run, as the run left it for whoever judges it."""
    archived = ARCHIVE / name
    for file in (it for it in archived.rglob("*") if it.is_file() and it.name not in SAID):
        target = to / file.relative_to(archived)
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".gz":
            target.with_suffix("").write_bytes(gzip.decompress(file.read_bytes()))
        else:
            shutil.copyfile(file, target)
    return to
