"""bzt follows a JTL while JMeter writes it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from bzt.modules.jmeter import JTLReader

from tollgate.jmeter import WholeRecords

HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,"
    "grpThreads,allThreads,Latency,Connect\n"
)
BROKEN = '1700000000000,5,search,500,"first line\nsecond ""line""\n",a 1-1,false,9,1,1,4,1\n'
WHOLE = "1700000001000,6,search,200,OK,a 1-1,true,9,1,1,4,1\n"


def reader(path: Path) -> JTLReader:
    found = JTLReader(str(path), logging.getLogger("test"), None)
    found.csvreader.file = WholeRecords(found.csvreader.file)
    return found


@pytest.mark.parametrize("cut", range(1, len(BROKEN)))
def test_a_message_with_line_breaks_is_one_record_wherever_the_file_ends_for_now(tmp_path, cut):
    path = tmp_path / "kpi.jtl"
    follows = reader(path)
    rows = []
    written = ""
    for piece in (HEADER + WHOLE, BROKEN[:cut], BROKEN[cut:] + WHOLE):
        written += piece
        path.write_text(written)
        rows += [row.copy() for row in follows.csvreader.read()]
    assert [row["responseCode"] for row in rows] == ["200", "500", "200"]
    assert rows[1]["responseMessage"] == 'first line\nsecond "line"\n'


def test_how_far_bzt_has_read_is_told_as_before(tmp_path):
    path = tmp_path / "kpi.jtl"
    path.write_text(HEADER + WHOLE)
    follows = reader(path)
    assert len(list(follows.csvreader.read())) == 1
    assert follows.csvreader.file.offset == path.stat().st_size
