"""Where things stand inside the project. The only module that knows."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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
