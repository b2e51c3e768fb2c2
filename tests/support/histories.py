"""Records of nightly comparisons with an anchor, and of the services behind them."""

import hashlib
import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np

from support.compare_folder import ENVIRONMENT
from tollgate.compare.record import SideRecord
from tollgate.history.model import HistoryExecution, HistoryRecord, Measure
from tollgate.report.json_model import plain

FIRST = datetime(2026, 1, 1, 1, 17, tzinfo=timezone.utc)
ANCHOR = SideRecord("base", "1a2b3c4 (v1.2)", "1a2b3c4" + 33 * "0", None)
EFFECTS = {"typical": 0.02, "p50": 0.05, "p95": 0.05, "tail": 0.05, "stalls": 0.03, "errors": 0.002}
POINTS = ("stalls", "errors")


def measure(label, metric, value, half=0.02, effect=True):
    """Of a comparison, which fails by it where a default one would; without an effect milliseconds
    of a check."""
    if not effect:
        return Measure(label, metric, "ms", float(value), value - half, value + half, None)
    unit = "points" if metric in POINTS else "ratio"
    low, high, effect = float(value - half), float(value + half), EFFECTS[metric]
    failed = low > 0 and high >= effect and bool(value >= effect / 2)
    return Measure(label, metric, unit, float(value), low, high, effect, failed)


def record(night, *measures, commit=None, anchor=ANCHOR, setup="s", kind="compare", **environment):
    """The record of a night's run. commit: of head; 40 digits, by default the night's own."""
    started = FIRST + timedelta(days=night)
    commit = commit or f"{night:040x}"
    head = anchor and SideRecord("head", f"working tree at {commit[:7]}", commit, None)
    name = kind if anchor else "fork"
    known = ENVIRONMENT | {"commit": commit} | environment
    return HistoryRecord(
        version=1,
        id=hashlib.sha256(f"{night} {kind} {setup}".encode()).hexdigest(),
        run=f"{started:%Y%m%dT%H%M%SZ}-{kind}",
        kind=kind,
        started=started.isoformat(),
        verdict="PASS",
        environment=known,
        executions=(HistoryExecution(name, setup, anchor, head, measures),),
    )


def nights(changes, metric="p50", label="sum", **more):
    """A record for each change of one metric."""
    return [record(at, measure(label, metric, it), **more) for at, it in enumerate(changes)]


def noise(rng, nights, spread=0.008, wild=0.02):
    """The logarithm of what chance adds to a ratio each night; now and then four times as much."""
    scale = np.where(rng.random(nights) < wild, 4.0, 1.0)
    return rng.normal(0, spread, nights) * scale


def stepped(nights, *steps):
    """The logarithm of a level. steps: (night, rise) of each."""
    level = np.zeros(nights)
    for night, rise in steps:
        level[night:] += np.log1p(rise)
    return level


def changed(records, **fields):
    """The last record with other fields of its execution."""
    (execution,) = records[-1].executions
    return replace(records[-1], executions=(replace(execution, **fields),))


def line(record):
    """As a file has it."""
    return json.dumps(plain(record)) + "\n"


def leave(record, reports):
    """The folder of its run, with the record in it."""
    run = reports / record.run
    run.mkdir(parents=True)
    (run / "history.jsonl").write_text(line(record))
    return run
