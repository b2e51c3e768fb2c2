"""JTLs for tests, written as JMeter 5.6.3 under Taurus writes them.

A large one for a benchmark comes from DuckDB, some 80 bytes a row:

    COPY (SELECT 1700000000000 + i // 10 AS "timeStamp", (20 * random())::INT AS elapsed,
                 'search' AS label, '200' AS "responseCode", true AS success
          FROM range(10000000) t(i)) TO 'kpi.jtl' (HEADER)
"""

START_MS = 1_700_000_000_000
HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,"
    "allThreads,Latency,Hostname,Connect"
)


def row(at_ms=0, elapsed=5, label="search", code="200", message="OK", thread="TG 1-1", ok=True):
    """One line of a JTL without its newline; fields are put in as they are."""
    success = "true" if ok is True else "false" if ok is False else ok
    start = START_MS + at_ms if isinstance(at_ms, int) else at_ms
    return f"{start},{elapsed},{label},{code},{message},{thread},{success},120,2,3,{elapsed},h,1"


def jtl(*rows, header=HEADER, newline="\n"):
    """The text of a JTL, each line ended by a newline."""
    return "".join(line + newline for line in (header, *rows))
