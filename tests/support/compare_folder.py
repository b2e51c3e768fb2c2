"""The folder of a `-compare` run as JMeter and the service leave it, with a truth that is known.

Two labels, each by an open model of its own; every arrival tosses a coin and is answered by a
log-normal service whose noise both sides share.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from support import jmx_text
from support.compared import remembering
from support.jtl_rows import HEADER, START_MS
from support.run_folder import verdict_of
from tollgate.compare import record
from tollgate.compare.model import GateSettings
from tollgate.compare.record import CompareRecord, SideRecord
from tollgate.record import manifest
from tollgate.schedule.open_model import OpenModelArrivals

WARMUP_S = 5
RATE = 40
NAME = "compare"
ENVIRONMENT = {
    "cpu": "AMD EPYC",
    "cores": 2,
    "memory_bytes": 8 * 2**30,
    "os": "Linux",
    "versions": dict.fromkeys(
        ("tollgate", "node", "java", "jmeter", "taurus", "pm2", "python"), "1.0"
    ),
    "commit": "unknown",
    "variables": {},
    "plans": {},
}
BASE = SideRecord("base", "1a2b3c4 (merge base with origin/main)", "1a2b3c4" + 33 * "0", None)
HEAD = SideRecord("head", "5d6e7f8 (HEAD)", "5d6e7f8" + 33 * "0", None)
SAME = replace(HEAD, revision=BASE.revision, told="1a2b3c4 (HEAD)")


@dataclass(frozen=True)
class Label:
    """ratio: head's times over base's. failing: the share of failures of base and head. odds: of
    the coin, for head."""

    name: str
    median_ms: float = 20.0
    ratio: float = 1.0
    failing: tuple[float, float] = (0.0, 0.0)
    odds: float = 0.5
    sigma: float = 0.05


@dataclass(frozen=True)
class Load:
    """What is measured of: seconds behind the warm-up, and the seed of everything random."""

    labels: tuple[Label, ...] = (Label("sum"), Label("search", 40.0))
    seconds: int = 120
    schedule_s: int = 120
    seed: int = 1
    settings: GateSettings = field(
        default_factory=lambda: GateSettings(budget_s=120.0, error_effect=0.02, fail_fast=False)
    )


def both(**changes):
    """Two labels, the first with these changes."""
    return Label("sum", **changes), Label("search", 40.0)


def make(run, load=None, decided_s=None, of=None, **changes):
    """Write the folder. decided_s: when the run ended itself. of: changes to compare.json's record,
    changes: to the execution."""
    load = load or Load()
    run.mkdir(parents=True, exist_ok=True)
    (run / "plan").mkdir(exist_ok=True)
    (run / "plan" / "compare.jmx").write_text(_plan(load))
    (run / "kpi.jtl").write_text(_jtl(load))
    fields = {
        **{"base": BASE, "head": HEAD, "execution": NAME, "mode": "fork", "first_s": 60.0},
        **{"every_s": 30.0, "injected": {}, "settings": load.settings, "decided_s": decided_s},
    }
    record.write(CompareRecord(**(fields | (of or {}))), run)
    ended = START_MS / 1000 + WARMUP_S + load.seconds + 1
    fields = {
        **{"name": NAME, "plan": "plan/compare.jmx", "jtl": "kpi.jtl", "properties": {}},
        **{"warmup": float(WARMUP_S), "measured": load.settings.budget_s, "exit_code": 0},
        **{"began": START_MS / 1000 - 1, "ended": ended},
    }
    execution = manifest.Execution(**(fields | changes))
    manifest.seal(execution, run)
    made = manifest.Manifest(
        kind="compare",
        started="2026-11-21T10:00:00+00:00",
        criteria=[],
        settings={},
        environment=ENVIRONMENT,
        executions=[execution],
        compare_sha256=record.sealed(run),
    )
    manifest.write(made, run)
    return made


def judged(run, *args, **changes):
    """The verdict on such a folder."""
    make(run, *args, **changes)
    return verdict_of(run)


def finding(verdict, metric, label="sum"):
    """One finding of a run's only execution."""
    findings = verdict.executions[0].comparison.gate.findings
    return next(each for each in findings if each.key == (label, metric))


def _schedule(load):
    length = WARMUP_S + load.schedule_s + 1
    return f"rate({RATE}/sec) random_arrivals({length} sec) pause(5 sec)"


def _plan(load):
    groups = [
        jmx_text.open_group(
            jmx_text.sampler(each.name), schedule=_schedule(load), seed=7 + number, name=each.name
        )
        for number, each in enumerate(load.labels)
    ]
    return jmx_text.plan(*groups)


def _jtl(load):
    rng = np.random.default_rng(load.seed)
    noise = 0.1 * remembering(rng, WARMUP_S + load.seconds + 60, 0.6)
    rows = [
        row
        for number, each in enumerate(load.labels)
        for row in _rows(rng, noise, each, number, load)
    ]
    rows.sort()
    return "".join(f"{line}\n" for line in (HEADER + ',"TESTSTART.MS","coin"', *_lines(rows)))


def _rows(rng, noise, label, number, load):
    due = OpenModelArrivals(_schedule(load), 7 + number).arrivals(WARMUP_S + load.seconds + 1)
    coin = (rng.random(len(due)) < label.odds).astype(int)
    scale = noise[due.astype(int)] + label.sigma * rng.standard_normal(len(due))
    took = label.median_ms * np.where(coin, label.ratio, 1.0) * np.exp(scale)
    took = np.floor(took + rng.random(len(due))).astype(int)
    ok = rng.random(len(due)) >= np.array(label.failing)[coin]
    for index in range(len(due)):
        start = START_MS + int(1000 * due[index])
        thread = f"{label.name} 1-{index + 1}"
        yield start, int(took[index]), label.name, thread, bool(ok[index]), int(coin[index])


def _lines(rows):
    for start, took, label, thread, ok, coin in rows:
        code, success = ("200", "true") if ok else ("500", "false")
        quoted = f'"{label.replace(chr(34), 2 * chr(34))}"'
        thread = f'"{thread.replace(chr(34), 2 * chr(34))}"'
        yield (
            f"{start},{took},{quoted},{code},OK,{thread},{success},120,2,3,{took},h,1,"
            f"{START_MS},{coin}"
        )
