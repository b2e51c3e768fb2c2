"""How far the study has come, by the newest sample that JMeter has written."""

from __future__ import annotations

import csv
from pathlib import Path

#: Bytes at the end of kpi.jtl that hold a whole record, even one with a long message.
TAIL_BYTES = 1 << 16
COLUMN = "block"


def last_block(jtl: Path) -> int | None:
    """The number of the block of the last whole record; None where there is none yet."""
    try:
        with jtl.open("rb") as opened:
            header = opened.readline().decode("utf-8", "replace")
            opened.seek(max(opened.tell(), jtl.stat().st_size - TAIL_BYTES))
            tail = opened.read().decode("utf-8", "replace")
    except OSError:
        return None
    names = next(csv.reader([header]), [])
    # JMeter writes in blocks of its own: the last line may be half of one.
    for line in reversed(tail[: tail.rfind("\n") + 1].splitlines()):
        fields = next(csv.reader([line]), [])
        record = dict(zip(names, fields, strict=False))
        # Anything else is one of the lines of a message.
        if len(fields) == len(names) and record.get(COLUMN, "").isdigit():
            return int(record[COLUMN])
    return None
