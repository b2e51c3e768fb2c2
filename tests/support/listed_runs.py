"""Folders of runs as the list of runs reads them: run.json, verdict.json and the record for the
history, without samples."""

import json
from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone

from tollgate.base.exit_codes import ExitCode
from tollgate.history.model import HistoryExecution, HistoryRecord, Measure
from tollgate.record import manifest

BEGIN = datetime(2026, 11, 1, 8, 0, tzinfo=timezone.utc)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ENVIRONMENT = {
    **{"cpu": "AMD EPYC", "cores": 2, "os": "Linux 6.18 x86_64", "commit": COMMIT, "variables": {}},
    "versions": {
        **{"tollgate": "0.2.0", "node": "20.20.2", "java": "17.0.15", "jmeter": "5.6.3"},
        **{"taurus": "1.17.2", "pm2": "7.0.4", "python": "3.11.7"},
    },
    "memory_bytes": 8_000_000_000,
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


def make(folder, at, figures, kind="check", verdict="PASS", setup="s", **changes):
    """Write the at-th run of a folder, an hour after the one before. figures: criteria by
    execution. setup: the same of comparable runs. changes: of verdict.json."""
    began = BEGIN + timedelta(hours=at)
    run = folder / f"{began:%Y%m%dT%H%M%SZ}-{kind}"
    run.mkdir(parents=True)
    record = {"kind": kind, "started": began.isoformat(), "version": 2}
    executions = [
        {"name": name, "verdict": verdict, "criteria": list(criteria)}
        for name, criteria in figures.items()
    ]
    judged = {"verdict": verdict, "exit_code": int(ExitCode[verdict]), "kind": kind}
    judged |= {"reasons": [], "environment": ENVIRONMENT, "executions": executions} | changes
    (run / "run.json").write_text(json.dumps(record))
    (run / "verdict.json").write_text(json.dumps(judged))
    (run / "verdict.md").write_text(f"# {verdict}\n")
    if verdict != "INVALID":
        leave(run, judged, began, setup)
    return run


def leave(run, judged, began, setup):
    """Write what a run leaves in the history."""
    executions = [
        HistoryExecution(each["name"], setup, None, None, tuple(map(measure, each["criteria"])))
        for each in judged["executions"]
    ]
    record = HistoryRecord(
        version=1,
        id="0" * 64,
        run=run.name,
        kind=judged["kind"],
        started=began.isoformat(),
        verdict=judged["verdict"],
        environment=judged["environment"],
        executions=tuple(executions),
    )
    keep(run, record)


def keep(run, record):
    """Leave a record in a run's folder as that of the run."""
    own = replace(record, id=manifest.digest(run / "run.json"), run=run.name)
    (run / "history.jsonl").write_text(json.dumps(asdict(own)))


def measure(criterion):
    """What the history keeps of a criterion."""
    low, high = criterion["interval"] or (None, None)
    return Measure(
        label=criterion["label"],
        metric=criterion["subject"],
        unit=criterion["unit"],
        value=criterion["observed"],
        low=low,
        high=high,
        effect=None,
        condition=criterion["condition"],
        limit=criterion["limit"] if criterion.get("decides", True) else None,
    )


def series(folder, values, **options):
    """As many runs as values, each the p95 of sum in fork mode."""
    return [
        make(folder, at, {"fork": [criterion("sum", value)]}, **options)
        for at, value in enumerate(values)
    ]
