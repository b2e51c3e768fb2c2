"""Shares of a load as their engines leave them: merge_run.py make SHARES RATE SECONDS FOLDER writes
their folders, RATE being the requests a second of each. The others print how many samples they saw
and in how many seconds, without the start of the process:

    count FOLDER    DuckDB scans all JTLs and counts their rows
    scan FOLDER     DuckDB scans them and reads each field
    merge FOLDER    they are merged, seals and stores included, judged, and their page is written
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
from readers import COLUMNS, MEAN_MS, START_MS

from tollgate.commands import merge
from tollgate.run import manifest
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.schedule.share import Share
from tollgate.schedule.share_load import shared_schedule

SEED = 7
CRITERIA = ("p95 of visit>1s", "p99.9>2s", "avg-rt of visit>500ms", "fail>5%")

_PLAN = """<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="visits"/><hashTree>
<OpenModelThreadGroup testname="visitors">
<stringProp name="OpenModelThreadGroup.schedule">${__P(schedule,pause(1 s))}</stringProp>
<stringProp name="OpenModelThreadGroup.random_seed">${__P(seed,7)}</stringProp>
</OpenModelThreadGroup><hashTree><HTTPSamplerProxy testname="visit"/><hashTree/></hashTree>
</hashTree></hashTree></jmeterTestPlan>
"""

# As soak_run.py has them, but for the share's number, which makes the times of each its own.
_ROWS = f"""
    WITH drawn AS (SELECT *, (hash(i * 1000 + $share) % 1000003 + 1) / 1000004 AS chance
                   FROM arrivals)
    SELECT due_ms + hash(i * 3) % 3, (2 - {MEAN_MS} * ln(chance))::INT, 'visit', '200', 'OK',
           'visitors 1-' || i, hash(-i) % 200 > 0, '', 900, 126, 50, 250, '', 1, 'generator', 0, 0,
           {START_MS}
    FROM drawn ORDER BY ALL
"""  # noqa: S608 - all of it is constants


def make(shares: int, rate: float, seconds: int, folder: Path) -> None:
    """Write the sealed folders of all shares."""
    whole = f"rate({rate * shares:g}/sec) random_arrivals({seconds} sec)"
    for number in range(1, shares + 1):
        _make(Share(number, shares), whole, seconds, folder / f"share-{number}")


def _make(share: Share, whole: str, seconds: int, folder: Path) -> None:
    schedule, _ = shared_schedule(whole, share)
    seed = share.seed(SEED)
    (folder / "plan").mkdir(parents=True)
    (folder / "plan" / "visits.jmx").write_text(_PLAN)
    due_s = OpenModelArrivals(schedule, seed).arrivals(float("inf"))
    arrivals = {
        "i": np.arange(1, len(due_s) + 1),
        "due_ms": START_MS + (due_s * 1000).astype(np.int64),
    }
    rows = _ROWS.replace("$share", str(share.number))
    with (folder / "kpi.jtl").open("wb") as jtl, duckdb.connect() as con:
        con.register("arrivals", arrivals)
        con.execute(f"COPY ({rows}) TO '{folder}/rows.csv' (HEADER false)")
        jtl.write((",".join(COLUMNS) + "\n").encode())
        with (folder / "rows.csv").open("rb") as made:
            shutil.copyfileobj(made, jtl)
    (folder / "rows.csv").unlink()
    start = START_MS / 1000
    execution = manifest.Execution(
        name="visits",
        plan="plan/visits.jmx",
        jtl="kpi.jtl",
        properties={"schedule": schedule, "seed": str(seed)},
        undivided_properties={"schedule": whole, "seed": str(SEED)},
        measured=float(seconds),
        exit_code=0,
        began=start,
        ended=start + seconds,
    )
    manifest.seal(execution, folder)
    own = manifest.ShareRecord(
        number=share.number, of=share.of, rows="copy", data={}, start_at=None
    )
    made = manifest.Manifest(
        "check", "2023-11-14T22:13:20+00:00", list(CRITERIA), {}, {}, [execution], share=own
    )
    manifest.write(made, folder)


def scanned(folder: Path, found: str) -> int:
    """With as many threads as the store has, and no limit of memory."""
    types = dict.fromkeys(COLUMNS, "VARCHAR")
    options = f"header=true, auto_detect=false, delim=',', quote='\"', columns={types}"
    with duckdb.connect(config={"threads": 2}) as con:
        query = f"SELECT {found} FROM read_csv('{folder}/share-*/kpi.jtl', {options})"  # noqa: S608
        return con.execute(query).fetchone()[0]


def merged(folder: Path) -> int:
    """As `tollgate merge` does; an exception if the verdict is not PASS."""
    target = folder / "merged"
    code = merge.merge(argparse.Namespace(runs=sorted(folder.glob("share-*")), to=target))
    (execution,) = manifest.read(target).executions
    if code:
        raise SystemExit(f"exit code {code} of {execution.name}")
    shutil.rmtree(target)
    return 0


def timed(what: str, folder: Path) -> None:
    fields = "count(*), " + ", ".join(f'max("{name}")' for name in COLUMNS)
    begin = time.perf_counter()
    rows = {
        "count": lambda: scanned(folder, "count(*)"),
        "scan": lambda: scanned(folder, fields),
        "merge": lambda: merged(folder),
    }[what]()
    print(rows, time.perf_counter() - begin)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))
    else:
        timed(sys.argv[1], Path(sys.argv[2]))
