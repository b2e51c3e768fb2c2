"""Workers as they might have been watched, for tests: exact, and without PM2."""

from dataclasses import replace

import numpy as np

from tollgate.workers.model import Resources, WorkerOutage, WorkerSeries

MIB = 1024**2


def worker(rss_mb, name="0", pid=100, restarts=0, from_s=0.5, **columns):
    """One look a second. rss_mb, pid, restarts and the columns: one value, or one a look."""
    size = len(rss_mb)
    known = {"heap": np.nan, "cpu": 10, "loop_delay_p50": 2, "loop_delay_p95": 9}
    known |= {"rss": np.asarray(rss_mb) * MIB, "requests": np.arange(size) * 20, **columns}
    made = {key: np.broadcast_to(value, size).astype(float) for key, value in known.items()}
    lives = {"pid": pid, "restarts": restarts}
    made |= {key: np.broadcast_to(value, size).astype(np.int64) for key, value in lives.items()}
    return WorkerSeries(worker=name, second=np.arange(size) + from_s, **made)


def leaking(mb_per_min, seconds=120, start=80, seed=1, **changes):
    """A worker with a collector's sawtooth of 12 MB every 15 s or so, and a leak on top of it."""
    rng = np.random.default_rng(seed)
    at = np.arange(seconds)
    saw = 12 * ((at + rng.uniform(0, 15)) % 15) / 15
    return worker(start + saw + rng.normal(0, 0.5, seconds) + mb_per_min * at / 60, **changes)


def reborn(lives, **changes):
    """One worker of several processes, each given by its RSS in MB, one look a second."""
    pids = [100 + number for number, life in enumerate(lives) for _ in life]
    return worker(np.concatenate(lives), pid=pids, restarts=[pid - 100 for pid in pids], **changes)


def watched(*workers, limit_mb=512, planned=(), **changes):
    """Resources of these workers; planned: (worker, second) of reloads."""
    outages = tuple(WorkerOutage(name, 100, at, at + 0.2, planned=True) for name, at in planned)
    limit = limit_mb and limit_mb * MIB
    workers = tuple(replace(series, memory_limit=limit) for series in workers)
    return Resources(workers, outages=outages, memory_limit=limit, **changes)
