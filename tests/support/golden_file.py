"""Golden files of a whole output, for looking at it as its reader will.

TOLLGATE_WRITE_GOLDEN=1 writes what is said now; read the difference before committing it.
"""

import os

from support.golden_lines import FOLDER


def check_file(file, text):
    """Fails unless the golden file holds exactly that text."""
    path = FOLDER / file
    if os.environ.get("TOLLGATE_WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    assert path.read_text(encoding="utf-8") == text
