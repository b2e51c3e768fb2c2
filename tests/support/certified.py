"""Finished runs of a certification, and their samples, made up."""

import os

import numpy as np

from certification.store import Run
from support.compared import compared
from tollgate.base.exit_codes import ExitCode
from tollgate.base.paths import SUITE
from tollgate.compare.model import Blocks, Finding, Side

#: PYTHONPATH of a process that a test starts.
PATHS = os.pathsep.join(str(SUITE / it) for it in ("tests", "scripts", "scripts/dev"))
PROMISE = {
    **{"effect": 0.05, "error_effect": 0.001, "fail_from": 0.5, "false_alarm": 0.01, "miss": 0.02},
    **{"budget_s": 240.0, "gates": ["p50", "p95", "errors"], "labels": []},
    **{"first_s": 60.0, "every_s": 30.0, "mode": "fork", "processes": 1},
}
LOOKS = PROMISE["first_s"], PROMISE["every_s"]
ENVIRONMENT = {
    **{"cpu": "Some CPU", "cores": 2, "memory_bytes": 8 * 2**30, "os": "Linux 6 x86_64"},
    **{"versions": {"jmeter": "5.6.3", "node": "20"}, "commit": "1a2b3c4d5e6f7a8b"},
}


def tables(text):
    """The tables by their titles, and the paragraph behind them."""
    *parts, method = text.split("\n\n")
    return {title.strip("*"): it for title, it in zip(parts[::2], parts[1::2], strict=True)}, method


def finding(verdict="PASS", metric="p95", label="search", decided_s=60.0, gates=True, change=0.0):
    return Finding(label, metric, gates, verdict, "", change=change, at_s=decided_s)


def finished(number, condition="aa", verdict="PASS", **changes):
    """A run with one finding, whose verdict is the run's. number: its seed."""
    values = {
        **{"seed": number, "began": "2026-11-21T10:00:00+00:00", "wall_s": 90.0, "seconds": 60.0},
        **{
            "exit_code": ExitCode.__members__.get(verdict, ExitCode.ERROR).value,
            "findings": (finding(verdict),),
        },
        **{"cores": 2, "promise": PROMISE, "environment": ENVIRONMENT},
        "clock": {"search": {"requests": 40, "handler": 50.0, "work": 40.0, "injected": 2.0}},
    }
    return Run(condition=condition, verdict=verdict, **values | changes)


def by_name(runs, samples):
    """The samples by the names of their runs."""
    return {run.name: it for run, it in zip(runs, samples, strict=True)}


def steady(base_ms, head_ms=None, seconds=60, label="search", later_ms=None):
    """Ten requests a second of each side that all take as long; later_ms: in the second half."""

    def side(took):
        counts = np.zeros((seconds, 200), np.int64)
        counts[: seconds // 2, took] = 10
        counts[seconds // 2 :, later_ms or took] = 10
        return Side(counts, np.zeros(seconds, np.int64))

    return (Blocks(label, np.arange(200), side(base_ms), side(head_ms or base_ms)),)


def runs_of(ratio, many, seed=3):
    rng = np.random.default_rng(seed)
    lengths = [60, 90, 75, 60, 120, 60][:many]
    return [(compared(rng, length, rate=40, sigma=0.2, ratio=ratio),) for length in lengths]
