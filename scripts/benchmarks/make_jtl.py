"""Writes a JTL of so many rows, the same ones each time: make_jtl.py ROWS PATH."""

from __future__ import annotations

import sys

import duckdb

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


def main() -> None:
    rows, path = int(sys.argv[1]), sys.argv[2]
    with duckdb.connect() as con:
        con.execute("SET memory_limit = '2GB'")
        # JMeter quotes the names of variables, and by that its dashboard tells them apart.
        names = [name.replace("TESTSTART.MS", '""TESTSTART.MS""') for name in COLUMNS]
        columns = ", ".join(f'"{name}"' for name in names)
        query = f"SELECT * FROM ({_ROWS.format(rows=rows)}) made({columns})"  # noqa: S608
        con.execute(f"COPY ({query}) TO '{path}' (HEADER, QUOTE '')")


if __name__ == "__main__":
    main()
