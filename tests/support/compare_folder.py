"""The folder of a `-compare` run: each label by an open model of its own, whose arrivals toss a
coin and are answered by a log-normal service, with noise that both sides share."""

from dataclasses import dataclass, replace

import numpy as np

from support import jmx_text, jtl_rows
from support.compared import remembering
from support.jtl_rows import HEADER, START_MS
from support.run_folder import verdict_of, write_record
from tollgate.compare import record
from tollgate.compare.model import GateSettings
from tollgate.compare.record import CompareRecord, SideRecord
from tollgate.schedule.open_model import OpenModelArrivals

WARMUP_S = 5
RATE = 40
NAME = "compare"
PROGRAMS = ("tollgate", "node", "java", "jmeter", "taurus", "pm2", "python")
ENVIRONMENT = {
    **{"cpu": "AMD EPYC", "cores": 2, "memory_bytes": 8 * 2**30, "os": "Linux"},
    **{"versions": dict.fromkeys(PROGRAMS, "1.0"), "commit": "unknown"},
    **{"variables": {}, "plans": {}},
}
BASE = SideRecord("base", "1a2b3c4 (merge base with origin/main)", "1a2b3c4" + 33 * "0", None)
HEAD = SideRecord("head", "5d6e7f8 (HEAD)", "5d6e7f8" + 33 * "0", None)
SETTINGS = GateSettings(budget_s=120.0, error_effect=0.02, fail_fast=False)
SAME = replace(HEAD, revision=BASE.revision, description="1a2b3c4 (HEAD)")


@dataclass(frozen=True)
class Label:
    """ratio: head's times over base's. failing: the share of failures of base and head. odds: of
    the coin, for head. answers: code and bytes of what does not fail, of base and head."""

    name: str
    median_ms: float = 20.0
    ratio: float = 1.0
    failing: tuple[float, float] = (0.0, 0.0)
    odds: float = 0.5
    sigma: float = 0.05
    answers: tuple[tuple[str, int], tuple[str, int]] = (("200", 120), ("200", 120))


@dataclass(frozen=True)
class Load:
    """What is measured of: seconds behind the warm-up, and the seed of everything random."""

    labels: tuple[Label, ...] = (Label("sum"), Label("search", 40.0))
    seconds: int = 120
    schedule_s: int = 120
    seed: int = 1
    settings: GateSettings = SETTINGS

    @property
    def schedule(self):
        length = WARMUP_S + self.schedule_s + 1
        return f"rate({RATE}/sec) random_arrivals({length} sec) pause(5 sec)"


def both(**changes):
    """Two labels, the first with these changes."""
    return Label("sum", **changes), Label("search", 40.0)


def make(run, load=None, decided_s=None, of=None, **changes):
    """Write the folder. decided_s: when the run ended itself. of: changes to compare.json's record,
    changes: to the execution."""
    load = load or Load()
    (run / "plan").mkdir(parents=True, exist_ok=True)
    (run / "plan" / "compare.jmx").write_text(_plan(load))
    (run / "kpi.jtl").write_text(_jtl(load))
    fields = {"base": BASE, "head": HEAD, "execution": NAME, "mode": "fork", "first_s": 60.0}
    fields |= {"every_s": 30.0, "injected": {}, "settings": load.settings, "decided_s": decided_s}
    record.write(CompareRecord(**fields | (of or {})), run)
    ended = START_MS / 1000 + WARMUP_S + load.seconds + 1
    execution = {"name": NAME, "plan": "plan/compare.jmx", "warmup": float(WARMUP_S)}
    execution |= {"measured": load.settings.budget_s, "began": START_MS / 1000 - 1, "ended": ended}
    fields = {"started": "2026-11-21T10:00:00+00:00", "environment": ENVIRONMENT}
    fields["compare_sha256"] = record.sealed(run)
    return write_record(run, execution | changes, kind="compare", **fields)


def judged(run, *args, **changes):
    """The verdict on such a folder."""
    make(run, *args, **changes)
    return verdict_of(run)


def finding(verdict, metric, label="sum"):
    """One finding of a run's only execution."""
    findings = verdict.executions[0].comparison.gate.findings
    return next(each for each in findings if each.key == (label, metric))


def _plan(load):
    groups = []
    for seed, each in enumerate(load.labels, 7):
        how = {"schedule": load.schedule, "seed": seed, "name": each.name}
        groups.append(jmx_text.open_group(jmx_text.sampler(each.name), **how))
    return jmx_text.plan(*groups)


def _jtl(load):
    rng = np.random.default_rng(load.seed)
    noise = 0.1 * remembering(rng, WARMUP_S + load.seconds + 60, 0.6)
    rows = [it for each in enumerate(load.labels, 7) for it in _rows(rng, noise, *each, load)]
    lines = [HEADER + ',"TESTSTART.MS","coin"']
    answers = {it.name: it.answers for it in load.labels}
    for start, took, label, thread, ok, coin in sorted(rows):
        code, size = answers[label][coin] if ok else ("500", 120)
        label, thread = (f'"{text.replace(chr(34), 2 * chr(34))}"' for text in (label, thread))
        row = jtl_rows.row(start - START_MS, took, label, code, "OK", thread, ok, size)
        lines.append(f"{row},{START_MS},{coin}")
    return "\n".join(lines) + "\n"


def _rows(rng, noise, seed, label, load):
    due = OpenModelArrivals(load.schedule, seed).arrivals(WARMUP_S + load.seconds + 1)
    coin = (rng.random(len(due)) < label.odds).astype(int)
    scale = noise[due.astype(int)] + label.sigma * rng.standard_normal(len(due))
    took = label.median_ms * np.where(coin, label.ratio, 1.0) * np.exp(scale)
    took = np.floor(took + rng.random(len(due))).astype(int)
    ok = rng.random(len(due)) >= np.array(label.failing)[coin]
    for index, start in enumerate(START_MS + (1000 * due).astype(int)):
        thread = f"{label.name} 1-{index + 1}"
        yield int(start), int(took[index]), label.name, thread, bool(ok[index]), int(coin[index])
