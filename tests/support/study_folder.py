"""The folder that a small run of the study leaves: two arms of sum at 100 users."""

import json
from dataclasses import replace

import numpy as np

from support.jtl_rows import START_MS
from support.run_folder import write_record
from support.study_blocks import blocks as blocks_of
from support.study_cells import cell
from support.study_jtl import load, write, write_cpu
from tollgate.base.paths import SUITE
from tollgate.plan import copy as plan_copy
from tollgate.record.environment import fingerprint
from tollgate.study import record as study_run
from tollgate.study.design import write_blocks

SEED, ROUNDS = 21, 8
#: Mean service time of each arm, in ms: throughput is twice as high with the cluster.
MEAN_MS = {"fork": 160.0, "cluster": 80.0}
CELLS = tuple(cell(arm, users=100, rounds=ROUNDS) for arm in MEAN_MS)
INSTANCES = {"fork": 1, "cluster": 2}


def design():
    """A warm-up and ROUNDS rounds of both arms."""
    return blocks_of(CELLS, SEED)


def sent_in(blocks):
    """Every request of the blocks, none of which failed."""
    found, later = [], 0
    for block in blocks:
        mine = load([block], seed=block.number, mean_ms=MEAN_MS[block.cell.arm])
        found += [replace(it, start_ms=it.start_ms + later, ok=True) for it in mine]
        later = max(it.start_ms + it.elapsed_ms for it in found) + 20 - START_MS
    return found


def make(folder, sent=(), died_s=None, **changes):
    """Write the run's folder. sent: in place of all requests. died_s: seconds after START_MS at
    which worker 1 of the cluster was another process. changes: of run.json."""
    blocks = design()
    sent = sent or sent_in(blocks)
    write(folder, sent)
    write_blocks(folder / study_run.BLOCKS, blocks, {"fork": 3001, "cluster": 3002})
    study_run.write(study_run.StudyRun("data/study.csv", SEED, False, None, ("sum",)), folder)
    ended_s = max(it.start_ms + it.elapsed_ms for it in sent) / 1000
    times = np.arange(START_MS / 1000 - 2, ended_s + 2, 0.2)
    busy = [(at, 0.05 * turn, 0.3 * turn, 0.05 * turn) for turn, at in enumerate(times)]
    write_cpu(folder / study_run.CPU, busy)
    _write_workers(folder / "workers.jsonl", ended_s, died_s)
    plan = plan_copy.copy(SUITE / "plans" / "study.jmx", folder, "study")
    targets = [{"name": it, "mode": it, "instances": n} for it, n in INSTANCES.items()]
    execution = {"name": "study", "plan": plan, "targets": targets}
    execution |= {"began": START_MS / 1000 - 1, "ended": ended_s + 1}
    environment = fingerprint() | {"cores": 2}
    write_record(folder, execution, **{"kind": "study", "environment": environment} | changes)
    return folder


def _write_workers(path, ended_s, died_s):
    lines = []
    for time_ms in range(START_MS - 2000, int(1000 * ended_s) + 3000, 1000):
        for app, worker in (("fork", 0), ("cluster", 0), ("cluster", 1)):
            is_new = died_s is not None and time_ms >= START_MS + 1000 * died_s
            reborn = int(is_new and (app, worker) == ("cluster", 1))
            look = {"time": time_ms, "app": app, "worker": worker, "pid": 40 + reborn}
            lines.append(look | {"status": "online", "restarts": reborn, "rss": 64})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
