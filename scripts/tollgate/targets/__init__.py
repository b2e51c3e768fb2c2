"""The services that are tested: PM2 apps, services by URL, a base's check-out.

In: ecosystem.config.js and the settings of a run. Out: processes that answer, one run at a time.
"""

from __future__ import annotations

from pathlib import Path

from tollgate.targets import checkout, leftovers, lock, pm2, probe, tools
from tollgate.targets.git import GitError, Revisions, find_revisions
from tollgate.targets.pm2 import HOST, PM2, App, Pm2Error, declared_apps, servers_behind
from tollgate.targets.reloads import Reloads, period_of
from tollgate.targets.scenarios import (
    is_inline,
    name_of,
    remote_of,
    scenario_of,
    targets_of,
    wanted_apps,
    wanted_remotes,
)

#: Of a server that does nothing.
IDLE_SERVER = Path(__file__).with_name("idle-server.js")

__all__ = [
    "HOST",
    "IDLE_SERVER",
    "PM2",
    "App",
    "GitError",
    "Pm2Error",
    "Reloads",
    "Revisions",
    "checkout",
    "declared_apps",
    "find_revisions",
    "is_inline",
    "leftovers",
    "lock",
    "name_of",
    "period_of",
    "pm2",
    "probe",
    "remote_of",
    "scenario_of",
    "servers_behind",
    "targets_of",
    "tools",
    "wanted_apps",
    "wanted_remotes",
]
