"""Where things stand inside the project. The only module that knows."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
#: Everything that is installed or remembered between runs; ignored by git.
STATE = ROOT / ".tollgate"
PM2_HOME = STATE / "pm2"
REPORTS = ROOT / "reports"
#: While a comparison lasts, a link to the check-out of its base, which stands outside.
BASE = STATE / "base"
ECOSYSTEM = ROOT / "ecosystem.config.js"


def jmeter_home() -> Path:
    """The JMeter home in use: the user's JMETER_HOME if set, the project's own otherwise."""
    return Path(os.environ.get("JMETER_HOME") or STATE / "jmeter")


def java_finds(*files: object) -> dict[str, str]:
    """The variables with which Java finds these files: in the locale `C`, which many a CI job has,
    it finds none whose path is not ASCII."""
    return {} if all(str(file).isascii() for file in files) else {"LC_ALL": "C.UTF-8"}
