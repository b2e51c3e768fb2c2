"""Golden files: TOLLGATE_WRITE_GOLDEN=1 writes them; read the difference before committing it."""

import os
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden"
WRITES = bool(os.environ.get("TOLLGATE_WRITE_GOLDEN"))


def check_golden(file, name, message):
    """Fails unless a golden file of lines `name: message` says exactly that under that name."""
    path = FOLDER / file
    lines = dict(line.split(": ", 1) for line in path.read_text(encoding="utf-8").splitlines())
    if WRITES:
        lines[name] = message
        text = "".join(f"{key}: {lines[key]}\n" for key in sorted(lines))
        path.write_text(text, encoding="utf-8")
    assert lines.get(name) == message


def check_file(file, text):
    """Fails unless a golden file holds exactly that text."""
    if WRITES:
        (FOLDER / file).write_text(text, encoding="utf-8", newline="")
    assert (FOLDER / file).read_text(encoding="utf-8") == text
