"""The services that are tested: PM2 apps, services by URL, a base's check-out.

In: ecosystem.config.js and the settings of a run. Out: processes that answer, one run at a time.
"""

from __future__ import annotations

from tollgate.targets import (
    leftovers,
    packages,
    place,
    pm2,
    probe,
    proving,
    revision,
    tools,
    worktree,
)
from tollgate.targets.git import GitError
from tollgate.targets.packages import PackagesError
from tollgate.targets.place import PlaceError
from tollgate.targets.pm2 import HOST, PM2, App, Pm2Error, declared_apps, servers_behind
from tollgate.targets.reloads import Reloads, period_of
from tollgate.targets.remote import Remote, remote_of
from tollgate.targets.revision import Revisions
from tollgate.targets.scenarios import is_inline, name_of, scenario_of, targets_of
from tollgate.targets.wanted import wanted_apps

__all__ = [
    "HOST",
    "PM2",
    "App",
    "GitError",
    "PackagesError",
    "PlaceError",
    "Pm2Error",
    "Reloads",
    "Remote",
    "Revisions",
    "declared_apps",
    "is_inline",
    "leftovers",
    "name_of",
    "packages",
    "period_of",
    "place",
    "pm2",
    "probe",
    "proving",
    "remote_of",
    "revision",
    "scenario_of",
    "servers_behind",
    "targets_of",
    "tools",
    "wanted_apps",
    "worktree",
]
