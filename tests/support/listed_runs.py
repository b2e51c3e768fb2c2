"""Folders of runs as the list of runs reads them: run.json and verdict.json, without samples."""

import json
from datetime import datetime, timedelta, timezone

from tollgate.base.exit_codes import ExitCode

BEGIN = datetime(2026, 11, 1, 8, 0, tzinfo=timezone.utc)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ENVIRONMENT = {
    **{"cpu": "AMD EPYC", "cores": 2, "os": "Linux 6.18 x86_64", "commit": COMMIT, "variables": {}},
    "versions": {"node": "20.20.2", "jmeter": "5.6.3"},
    "plans": {"check.jmx": "a" * 64, "sum.jmx": "b" * 64},
}


def criterion(label, observed, subject="p95", **changes):
    """One criterion as verdict.json has it."""
    interval = None if observed is None else [0.9 * observed, 1.1 * observed]
    return {
        **{"criterion": f"{subject} of {label}>250ms", "label": label, "subject": subject},
        **{"unit": "ms", "basis": "response time", "condition": ">", "limit": 250.0},
        **{"observed": observed, "interval": interval, "window": None, "verdict": "PASS"},
    } | changes


def make(folder, at, figures, kind="check", verdict="PASS", properties=(), **changes):
    """Write the at-th run of a folder, an hour after the one before. figures: criteria by
    execution. properties: `{run}` in them is the run's folder. changes: of verdict.json."""
    began = BEGIN + timedelta(hours=at)
    run = folder / f"{began:%Y%m%dT%H%M%SZ}-{kind}"
    run.mkdir(parents=True)
    sent = {"warmup": "5", "measured": "30", "host": "127.0.0.1", "port": str(3000 + at)}
    own = {name: value.replace("{run}", str(run)) for name, value in dict(properties).items()}
    sent |= {"user.classpath": str(run), **own}
    plan = {"plan": f"plan/{kind}.jmx", "properties": sent}
    planned = [
        {"name": name, "targets": [{"name": name, "mode": name, "instances": 2}]} | plan
        for name in figures
    ]
    record = {"kind": kind, "started": began.isoformat(), "executions": planned, "version": 2}
    found = [
        {"name": name, "verdict": verdict, "criteria": list(criteria)}
        for name, criteria in figures.items()
    ]
    judged = {"verdict": verdict, "exit_code": int(ExitCode[verdict]), "kind": kind}
    judged |= {"reasons": [], "environment": ENVIRONMENT, "executions": found}
    (run / "run.json").write_text(json.dumps(record))
    (run / "verdict.json").write_text(json.dumps(judged | changes))
    (run / "verdict.md").write_text(f"# {verdict}\n")
    return run


def series(folder, values, **options):
    """As many runs as values, each the p95 of sum in fork mode."""
    return [
        make(folder, at, {"fork": [criterion("sum", value)]}, **options)
        for at, value in enumerate(values)
    ]
