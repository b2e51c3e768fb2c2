"""bzt follows a JTL while JMeter writes it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import ClassVar

import pytest
from bzt.modules.jmeter import JTLReader

from tollgate.jmeter import WholeRecords
from tollgate.jtl_check import RECORD_BYTES

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


class Lines:
    """bzt's reader of a file with these lines."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def get_lines(self, size: int = -1, last_pass: bool = False):  # noqa: ARG002
        yield from self.lines


class Counted(str):
    """A line that notes how often quotes are counted in it."""

    __slots__ = ()
    counted: ClassVar[list[int]] = []

    def count(self, *words) -> int:
        self.counted.append(len(self))
        return super().count(*words)


def test_a_quote_that_is_never_closed_holds_back_no_more_than_the_longest_record():
    line = "x" * 999 + "\n"
    lines = ['1,"' + line, *[line] * 4500, WHOLE]
    found = list(WholeRecords(Lines(lines)).get_lines())
    assert "".join(found) == "".join(lines)
    assert max(map(len, found)) <= RECORD_BYTES + len(line) + 3
    assert found[-1] == WHOLE


def test_each_line_of_a_long_record_is_looked_at_once():
    Counted.counted.clear()
    lines = [Counted('1,"first\n'), *[Counted("more\n")] * 1000, Counted('last"\n')]
    assert list(WholeRecords(Lines(lines)).get_lines()) == ["".join(lines)]
    assert len(Counted.counted) == len(lines)
