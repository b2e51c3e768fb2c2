"""What is measured, each in a process of its own: readers.py tollgate|bzt PATH.

Prints how many samples were read: nobody is fast by doing less.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path


def tollgate(path: str) -> int:
    """Every sample to exact counts by label, second, elapsed, success and code."""
    from tollgate.samples import read_jtl

    forget(Path(path))
    jtl = read_jtl(path)
    return sum(label.counts.total for label in jtl.samplers.values())


def forget(jtl: Path) -> None:
    """Remove the store of a JTL, so that the next reading is a first one."""
    jtl.with_name(f".{jtl.name}.parquet").unlink(missing_ok=True)


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
    print({"tollgate": tollgate, "bzt": bzt}[sys.argv[1]](sys.argv[2]))
