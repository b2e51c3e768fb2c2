"""The one reader of a JTL that grows: what each of those who read it has."""

import random

import pytest

from support import jtl_rows
from support.jtl_rows import elapsed, fields, lines
from tollgate.samples import reading
from tollgate.samples.growing import MERGED, Growing
from tollgate.samples.layout import JtlError


@pytest.fixture
def growing(path):
    """Writes more of a file; returns what a reading of it has then."""
    reading_on = Growing(path)

    def read(written):
        path.write_bytes(written)
        with reading_on.read() as asked:
            return elapsed(asked)

    return read


def test_a_reading_of_a_file_that_grows_takes_in_what_is_new_and_whole(growing, scans):
    header = lines([])
    one, two, three = (
        lines([fields(number, 'a "b",\nc', elapsed=number)]).removeprefix(header)
        for number in (1, 2, 3)
    )
    first, whole = header + one, header + one + two + three
    for written in (first, first + two[:30], first + two[:60]):
        assert growing(written) == [1]
    for _ in range(2):
        assert growing(whole) == [1, 2, 3]
    at = len(first)
    assert [begin for begin, _ in scans] == [len(header), at, at, at, len(whole)]


def test_a_wrong_line_of_a_file_that_grows_has_its_number_in_the_whole_file(growing):
    rows = [fields(number) for number in range(3)]
    growing(lines(rows[:2]))
    with pytest.raises(JtlError, match=r"kpi\.jtl:5: elapsed = 'x'"):
        growing(lines([*rows, fields(3, elapsed="x")]))


def test_a_file_that_begins_anew_is_read_anew(growing):
    for count in (5, 2):
        assert growing(lines(fields(it, elapsed=it) for it in range(count))) == [*range(count)]


def test_what_is_written_while_a_file_that_grows_is_read_waits_for_the_next_reading(
    path, monkeypatch
):
    csv_sql = reading._csv_sql

    def written_meanwhile(source, layout):
        with path.open("a") as jtl:
            jtl.write(jtl_rows.row() + "\n")
        return csv_sql(source, layout)

    growing = Growing(path)
    monkeypatch.setattr(reading, "_csv_sql", written_meanwhile)
    for count in (50, 51, 52):
        with growing.read() as asked:
            assert len(elapsed(asked)) == count


def test_listeners_and_looks_have_each_row_once_and_no_half_row_whoever_reads_and_when(tmp_path):
    path, number = tmp_path / "kpi.jtl", 0
    content, random_ = lines([]), random.Random(5)
    samples, heard = Growing(path), ([], [])
    for each in heard:
        samples.listen(lambda new, each=each: each.extend(elapsed(new)))
    samples.advance()  # JMeter has not begun
    cuts = []
    for number in range(4 * MERGED * MERGED):
        content += lines([fields(number, 'no "x",\nat all', elapsed=number)]).removeprefix(
            lines([])
        )
        if random_.random() < 0.07:
            cuts.append(len(content) - random_.randrange(40))
    for cut in [*cuts, len(content)]:
        path.write_bytes(content[:cut])
        if random_.random() < 0.2:
            with samples.read() as store:
                assert elapsed(store) == heard[0]
        else:
            samples.advance()
    assert heard[0] == heard[1] == [*range(number + 1)]
    assert samples.rows == number + 1
    with samples.read() as store:
        assert elapsed(store) == heard[0]
    assert len(samples._parts) < 2 * MERGED


def test_a_reader_that_nobody_looks_through_keeps_no_samples(path):
    samples, heard = Growing(path, keeps=False), []
    samples.listen(lambda new: heard.extend(elapsed(new)))
    samples.advance()
    assert heard == [*range(50)]
    assert samples._parts == []


def test_a_line_that_is_wrong_is_handed_to_nobody(path):
    samples, heard = Growing(path), []
    samples.listen(lambda new: heard.extend(elapsed(new)))
    with path.open("a") as jtl:
        jtl.write(jtl_rows.row(elapsed="x") + "\n")
    for _ in range(2):
        with pytest.raises(JtlError, match=r"kpi\.jtl:52: elapsed = 'x'"):
            samples.advance()
    assert heard == []
