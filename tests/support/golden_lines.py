"""Golden files of one message a line, `name: message`, so that a change of words shows in a diff.

TOLLGATE_WRITE_GOLDEN=1 writes what is said now; read the difference before committing it.
"""

import os
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden"


def check_golden(file, name, message):
    """Fails unless the golden file says exactly that under that name."""
    path = FOLDER / file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = dict(line.split(": ", 1) for line in text.splitlines())
    if os.environ.get("TOLLGATE_WRITE_GOLDEN"):
        lines[name] = message
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{key}: {lines[key]}\n" for key in sorted(lines))
        path.write_text(text, encoding="utf-8")
    assert lines.get(name) == message
