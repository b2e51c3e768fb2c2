"""Whether the ports of ecosystem.config.js are free, and whether another run is under way."""

from __future__ import annotations

from tollgate import leftovers, pm2, probe
from tollgate.doctor.finding import FAIL, OK, WARN, Finding

OTHER_RUNS = "other runs"


def look(node_runs: bool) -> list[Finding]:
    """node_runs: whether there is a Node to read ecosystem.config.js with."""
    return [_another_run(), *_ports(node_runs)]


def another_run(findings: list[Finding]) -> bool:
    """Whether one of the findings is a run that is under way."""
    return any(each.what == OTHER_RUNS and each.status == FAIL for each in findings)


def _another_run() -> Finding:
    pid = leftovers.holder()
    if pid is None:
        return Finding(OK, OTHER_RUNS, "none is under way in this checkout")
    todo = "wait for it or end it; two runs measure each other"
    return Finding(FAIL, OTHER_RUNS, f"one is under way (bzt with pid {pid})", todo)


def _ports(node_runs: bool) -> list[Finding]:
    if not node_runs or not pm2.PM2.exists():
        found = "not looked at: they stand in ecosystem.config.js, which Node and PM2 read"
        return [Finding(WARN, "ports", found, "install these first")]
    try:
        apps = pm2.declared_apps().values()
    except (pm2.Pm2Error, OSError, ValueError) as problem:
        return [Finding(FAIL, "ports", str(problem), "mend ecosystem.config.js")]
    taken = [_taken(app) for app in apps if not _is_free(app.port, app.name)]
    if taken:
        return taken
    named = ", ".join(str(app.port) for app in apps)
    return [Finding(OK, "ports", f"free: {named}")]


def _taken(app: pm2.App) -> Finding:
    variable = f"PORT_{app.name.upper().replace('-', '_')}"
    return Finding(
        FAIL,
        f"port {app.port}",
        f"of app {app.name}: in use by {leftovers.port_owner(app.port)}",
        f"end it, or set {variable} to a free port",
    )


def _is_free(port: int, app: str) -> bool:
    try:
        probe.port_is_free(pm2.HOST, port, app)
    except probe.ProbeError:
        return False
    return True
