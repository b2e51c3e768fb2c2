"""A soak of 48 hours at any rate: soak_run.py make ROWS FOLDER writes the folder of such a run. The
others print how many samples they saw and in how many seconds, without the start of the process:

    count FOLDER    DuckDB scans the JTL and counts its rows
    scan FOLDER     DuckDB scans the JTL and reads each field
    store FOLDER    the samples go into the store for the first time
    judge FOLDER    it is judged, seal and store included
    page FOLDER     the same, and its page is written
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import duckdb
import numpy as np
from readers import COLUMNS, MEAN_MS, START_MS

from tollgate.gather import evidence
from tollgate.judge.judgement import judge
from tollgate.pages.run import write as run_page
from tollgate.run import manifest
from tollgate.samples.store import open_store
from tollgate.schedule.open_model import OpenModelArrivals

HOURS, SEED = 48, 7
CRITERIA = ("p95 of visit>1s", "p99.9>2s", "avg-rt of visit>500ms", "fail>5%", "hits<1 over 96s")

_PLAN = """<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="soak"/><hashTree>
<OpenModelThreadGroup testname="visitors">
<stringProp name="OpenModelThreadGroup.schedule">{schedule}</stringProp>
<longProp name="OpenModelThreadGroup.random_seed">{seed}</longProp>
</OpenModelThreadGroup><hashTree><HTTPSamplerProxy testname="visit"/><hashTree/></hashTree>
</hashTree></hashTree></jmeterTestPlan>
"""

# As readers.py draws them. A name is the thread's number; up to 2 ms late, as JMeter is.
_ROWS = f"""
    WITH drawn AS (SELECT *, (hash(i) % 1000003 + 1) / 1000004 AS chance FROM arrivals)
    SELECT due_ms + hash(i * 3) % 3, (2 - {MEAN_MS} * ln(chance))::INT, 'visit', '200', 'OK',
           'visitors 1-' || i, hash(-i) % 200 > 0, '', 900, 126, 50, 250, '', 1, 'generator', 0, 0,
           {START_MS}
    FROM drawn ORDER BY ALL
"""  # noqa: S608 - all of it is constants


def make(rows: int, folder: Path) -> None:
    """Write plan, samples and run.json of a run with about that many samples."""
    schedule = f"rate({rows / HOURS}/hour) random_arrivals(1 hour) " * HOURS
    (folder / "plan").mkdir(parents=True)
    (folder / "plan" / "soak.jmx").write_text(_PLAN.format(schedule=schedule, seed=SEED))
    with (folder / "kpi.jtl").open("wb") as jtl, duckdb.connect() as con:
        jtl.write((",".join(COLUMNS) + "\n").encode())
        first = 1
        for step in OpenModelArrivals(schedule, SEED).by_step():
            due_ms = START_MS + (step * 1000).astype(np.int64)
            arrivals = {"i": np.arange(first, first + len(step)), "due_ms": due_ms}
            con.register("arrivals", arrivals)
            con.execute(f"COPY ({_ROWS}) TO '{folder}/step.csv' (HEADER false)")
            jtl.write((folder / "step.csv").read_bytes())
            first += len(step)
    (folder / "step.csv").unlink()
    length, start = HOURS * 3600.0, START_MS / 1000
    execution = manifest.Execution(
        name="soak",
        plan="plan/soak.jmx",
        jtl="kpi.jtl",
        properties={},
        measured=length,
        exit_code=0,
        began=start,
        ended=start + length,
        sha256=manifest.digest(folder / "kpi.jtl"),
        bytes=(folder / "kpi.jtl").stat().st_size,
    )
    made = manifest.Manifest(
        "soak", "2023-11-14T22:13:20+00:00", list(CRITERIA), {}, {}, [execution]
    )
    manifest.write(made, folder)


def judged(folder: Path) -> int:
    """Judge it like any other run; an exception if the verdict is not PASS."""
    run, settings = evidence.gather(folder, manifest.read(folder))
    verdict = judge(run, settings)
    if verdict.verdict != "PASS":
        raise SystemExit(f"{verdict.verdict}: {verdict.reasons[0].text}")
    (execution,) = run.executions
    return sum(schedule.sent for schedule in execution.schedules)


def scanned(folder: Path, found: str) -> int:
    """With as many threads as the store has, and no limit of memory."""
    types = dict.fromkeys(COLUMNS, "VARCHAR")
    options = f"header=true, auto_detect=false, delim=',', quote='\"', columns={types}"
    with duckdb.connect(config={"threads": 2}) as con:
        query = f"SELECT {found} FROM read_csv('{folder}/kpi.jtl', {options})"  # noqa: S608
        return con.execute(query).fetchone()[0]


def stored(folder: Path) -> int:
    with open_store(folder / "kpi.jtl") as store:
        return store.rows("SELECT count(*) FROM samples")[0][0]


def paged(folder: Path) -> int:
    run_page.write(folder)
    return stored(folder)


def timed(what: str, folder: Path) -> None:
    fields = "count(*), " + ", ".join(f'max("{name}")' for name in COLUMNS)
    begin = time.perf_counter()
    rows = {
        "count": lambda: scanned(folder, "count(*)"),
        "scan": lambda: scanned(folder, fields),
        "store": lambda: stored(folder),
        "judge": lambda: judged(folder),
        "page": lambda: paged(folder),
    }[what]()
    print(rows, time.perf_counter() - begin)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        timed(sys.argv[1], Path(sys.argv[2]))
