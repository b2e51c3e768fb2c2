"""The folder that a small run of the study leaves: two arms of sum at 100 users."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from support.jtl_rows import START_MS
from support.study_cells import cell
from support.study_jtl import Sent, load, write, write_cpu
from tollgate.base.paths import ROOT
from tollgate.plan import copy as plan_copy
from tollgate.record import manifest
from tollgate.record.environment import fingerprint
from tollgate.study import record as study_run
from tollgate.study.design import blocks as blocks_of
from tollgate.study.design import write_blocks

SEED, ROUNDS = 21, 8
#: Mean service time of each arm, in ms: throughput is twice as high with the cluster.
MEAN_MS = {"fork": 160.0, "cluster": 80.0}
CELLS = tuple(cell(arm, users=100, rounds=ROUNDS) for arm in MEAN_MS)
INSTANCES = {"fork": 1, "cluster": 2}
#: Of the workers at first.
PID = 40


def design():
    """A warm-up and ROUNDS rounds of both arms."""
    return blocks_of(CELLS, SEED)


def sent_in(blocks):
    """Every request of the blocks, none of which failed."""
    found: list[Sent] = []
    at = START_MS
    for block in blocks:
        mine = load([block], seed=block.number, mean_ms=MEAN_MS[block.cell.arm])
        later = at - START_MS
        found += [replace(it, start_ms=it.start_ms + later, ok=True) for it in mine]
        at = max(it.start_ms + it.elapsed_ms for it in found) + 20
    return found


def make(folder, sent=(), died_s=None, **changes):
    """Write the run's folder. sent: in place of all requests. died_s: seconds after START_MS at
    which worker 1 of the cluster was another process. changes: of run.json."""
    blocks = design()
    sent = sent or sent_in(blocks)
    write(folder, sent)
    write_blocks(folder / study_run.BLOCKS, blocks, {"fork": 3001, "cluster": 3002})
    how = study_run.StudyRun("data/study.csv", SEED, False, None, ("sum",))
    study_run.write(how, folder)
    ended_s = max(it.start_ms + it.elapsed_ms for it in sent) / 1000
    times = np.arange(START_MS / 1000 - 2, ended_s + 2, 0.2)
    busy = [(at, 0.05 * turn, 0.3 * turn, 0.05 * turn) for turn, at in enumerate(times)]
    write_cpu(folder / study_run.CPU, busy)
    _write_workers(folder / "workers.jsonl", ended_s, died_s)
    _write_manifest(folder, ended_s, changes)
    return folder


def _write_workers(path, ended_s, died_s):
    lines = []
    for time_ms in range(START_MS - 2000, int(1000 * ended_s) + 3000, 1000):
        for app, instances in INSTANCES.items():
            for worker in range(instances):
                is_new = died_s is not None and time_ms >= START_MS + 1000 * died_s
                reborn = int(is_new and (app, worker) == ("cluster", 1))
                lines.append(
                    {"time": time_ms, "app": app, "worker": worker, "pid": PID + reborn}
                    | {"status": "online", "restarts": reborn, "rss": 64}
                )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _write_manifest(folder, ended_s, changes):
    targets = [
        {"name": app, "mode": app, "instances": instances, "memory_limit": None}
        for app, instances in INSTANCES.items()
    ]
    execution = manifest.Execution(
        name="study",
        plan=plan_copy.copy(ROOT / "plans" / "study.jmx", folder),
        jtl="kpi.jtl",
        properties={},
        targets=targets,
        exit_code=0,
        began=START_MS / 1000 - 1,
        ended=ended_s + 1,
    )
    manifest.seal(execution, folder)
    fields = {
        "kind": "study",
        "started": "2026-11-20T23:08:20+00:00",
        "criteria": [],
        "settings": {},
        "environment": fingerprint() | {"cores": 2},
        "executions": [execution],
    }
    manifest.write(manifest.Manifest(**fields | changes), folder)
