"""What is measured, each in a process of its own: readers.py tollgate|bzt PATH.

Prints how many samples were read: nobody is fast by doing less. `readers.py make PATH ROWS` writes
a JTL of so many rows, the same ones each time.
"""

from __future__ import annotations

import logging
import sys

#: The columns that JMeter 5.6.3 writes under taurus.yml.
COLUMNS = (
    *("timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "success"),
    *("failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", "Latency"),
    *("Hostname", "IdleTime", "Connect", "TESTSTART.MS"),
)
START_MS = 1_700_000_000_000
#: Rows in a second of the run.
RATE = 1000
LABELS = ("calculate", "sum", "search", "kittens", "pi")
#: Mean of the exponential part of elapsed, in ms, and one request in so many fails.
MEAN_MS, FAILURE = 40, 200

# hash() stands in for a random number: unlike random() it gives the same rows on any machine.
_ROWS = f"""
    WITH drawn AS (
        SELECT i, (hash(i) % 1000003 + 1) / 1000004 AS chance, hash(-i) % {FAILURE} > 0 AS ok,
               (hash(i * 7) % {len(LABELS)})::INT AS label
        FROM range({{rows}}) rows(i)
    )
    SELECT {START_MS} + i * 1000 // {RATE}, (2 - {MEAN_MS} * ln(chance))::INT,
           {list(LABELS)}[label + 1] AS name, CASE WHEN ok THEN '200' ELSE '500' END,
           CASE WHEN ok THEN 'OK' ELSE 'Internal Server Error' END,
           name || ' ' || (label + 1) || '-' || (i % 50 + 1), ok,
           CASE WHEN ok THEN '' ELSE 'Test failed: code expected to equal 200' END,
           900 + label * 50, 126, 50, 250, 'http://127.0.0.1:3001/' || name || '/' || (i % 1000),
           (1 - {MEAN_MS} * ln(chance))::INT, 'generator', 0, 0, {START_MS} - 700
    FROM drawn ORDER BY i
"""  # noqa: S608 - all of it is constants


def make(path: str, rows: str) -> int:
    """Write a JTL."""
    import duckdb  # here, so that it is in no reader's time

    with duckdb.connect() as con:
        con.execute("SET memory_limit = '2GB'")
        # JMeter quotes the names of variables, and by that its dashboard tells them apart.
        names = [name.replace("TESTSTART.MS", '""TESTSTART.MS""') for name in COLUMNS]
        columns = ", ".join(f'"{name}"' for name in names)
        query = f"SELECT * FROM ({_ROWS.format(rows=int(rows))}) made({columns})"  # noqa: S608
        con.execute(f"COPY ({query}) TO '{path}' (HEADER, QUOTE '')")
    return int(rows)


def tollgate(path: str) -> int:
    """Every sample to exact counts by label, second, elapsed, success and code."""
    from tollgate.samples.counts import read_jtl

    jtl = read_jtl(path)
    return sum(label.counts.total for label in jtl.samplers.values())


def bzt(path: str) -> int:
    """As Taurus reads while a run goes on, a piece a call, and then the rest of it."""
    from bzt.modules.aggregator import DataPoint, KPISet
    from bzt.modules.jmeter import JTLReader

    reader = JTLReader(path, logging.getLogger("bzt"))
    read, before, point = 0, -1, None
    while before != reader.read_records:
        before = reader.read_records
        for point in reader.datapoints():
            read += point[DataPoint.CURRENT][""][KPISet.SAMPLE_COUNT]
    for point in reader.datapoints(final_pass=True):
        read += point[DataPoint.CURRENT][""][KPISet.SAMPLE_COUNT]
    return read


if __name__ == "__main__":
    logging.disable()
    print({"make": make, "tollgate": tollgate, "bzt": bzt}[sys.argv[1]](*sys.argv[2:]))
