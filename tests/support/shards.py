"""Shares of a load as their engines leave them, with samples that follow each one's schedule."""

import numpy as np

from support import jmx_text
from support.jtl_rows import HEADER, START_MS
from support.run_folder import write_record
from tollgate.record import manifest
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.schedule.share import Share
from tollgate.schedule.share_load import shared_schedule

SEED = 21
WARMUP_S, MEASURED_S = 2, 20
CRITERIA = ("p95 of visit>1s", "p50>500ms", "avg-rt of visit>500ms", "fail of visit>0%")

ARRIVING = {"schedule": "${__P(schedule,pause(1 s))}", "seed": "${__P(seed,7)}"}
PLAN = jmx_text.plan(jmx_text.open_group(jmx_text.sampler("visit"), name="visitors", **ARRIVING))


def whole(rate=50):
    """The schedule of all engines together."""
    return f"rate({rate}/sec) random_arrivals({WARMUP_S + MEASURED_S} sec)"


def make(folder, number=1, of=2, rate=50, later_ms=0, without=None, criteria=CRITERIA, **changes):
    """Write the folder of a share and return it. later_ms: when it began after START_MS. without:
    arrivals that were not sent. changes: of its one execution."""
    share = Share(number, of)
    schedule, _ = shared_schedule(whole(rate), share)
    (folder / "plan").mkdir(parents=True)
    (folder / "plan" / "visits.jmx").write_text(PLAN)
    due_s = OpenModelArrivals(schedule, share.seed(SEED)).arrivals(float("inf"))
    start_ms = START_MS + later_ms
    at_ms = start_ms + (due_s * 1000).astype(np.int64)
    took_ms = np.random.default_rng(number).gamma(4, 20, len(due_s)).astype(np.int64)
    lines = [
        f"{at},{ms},visit,200,OK,visitors 1-{thread},true,120,1,1,{ms},h,1,{start_ms}"
        for thread, (at, ms) in enumerate(zip(at_ms, took_ms, strict=True), 1)
    ]
    if without:
        del lines[without]
    (folder / "kpi.jtl").write_text("\n".join([f"{HEADER},TESTSTART.MS", *lines]) + "\n")
    execution = {
        **{"name": "visits", "plan": "plan/visits.jmx", "url": "http://127.0.0.1:8080"},
        "properties": {"schedule": schedule, "seed": str(share.seed(SEED))},
        "undivided_properties": {"schedule": whole(rate), "seed": str(SEED)},
        **{"warmup": float(WARMUP_S), "measured": float(MEASURED_S), "began": start_ms / 1000},
        "ended": start_ms / 1000 + WARMUP_S + MEASURED_S + 1,
    }
    plans = {"visits.jmx": manifest.digest(folder / "plan" / "visits.jmx")}
    environment = {"cpu": "abacus", "cores": 2, "commit": "c0ffee", "plans": plans}
    shared = manifest.ShareRecord(number=number, of=of, rows="copy", data={}, start_at=None)
    fields = {"criteria": list(criteria), "environment": environment, "share": shared}
    write_record(folder, execution | changes, started="2023-11-14T22:13:20+00:00", **fields)
    return folder


def change(folder, **fields):
    """Change a share's record."""
    record = manifest.read(folder)
    for name, value in fields.items():
        setattr(record, name, value)
    manifest.write(record, folder)
