"""The store of a JTL: what it is made from, and what it never holds."""

import os

import pytest

from support import jtl_rows
from support.jtl_rows import fields, lines
from tollgate.samples import reading, store
from tollgate.samples.counts import read_jtl
from tollgate.samples.layout import JtlError
from tollgate.samples.order import step_back
from tollgate.samples.single import read_samples
from tollgate.samples.store import Growing, open_store


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "kpi.jtl"
    file.write_bytes(lines(fields(number, elapsed=number) for number in range(50)))
    return file


@pytest.fixture
def scans(monkeypatch):
    """How many bytes of CSV each reading began and ended with."""
    found = []
    survey = reading._survey

    def noted(path, begin, size):
        found.append((begin.offset, size))
        return survey(path, begin, size)

    monkeypatch.setattr(reading, "_survey", noted)
    return found


def elapsed(asked):
    return [took for (took,) in asked.rows("SELECT elapsed_ms FROM samples")]


def test_the_csv_is_read_once_whatever_is_asked_of_a_store(path, scans):
    with open_store(path) as asked:
        read_jtl(asked)
        read_samples(asked, ["search"])
        step_back(asked)
    assert len(scans) == 1


def test_a_store_leaves_nothing_beside_its_jtl(path):
    with open_store(path):
        pass
    assert list(path.parent.iterdir()) == [path]


def test_samples_are_those_of_the_jtl_whatever_stands_beside_it(path):
    """Such as the file that an earlier version kept there."""
    with open_store(path) as asked:
        asked.execute(f"""COPY (SELECT * REPLACE (true AS ok, 1 AS elapsed_ms) FROM samples)
            TO '{path.with_name(".kpi.jtl.parquet")}' (FORMAT parquet)""")
    with open_store(path) as asked:
        assert elapsed(asked) == list(range(50))


def test_rows_stay_in_the_order_of_the_file(path):
    with open_store(path) as asked:
        assert elapsed(asked) == list(range(50))


@pytest.mark.parametrize(
    ("name", "group", "number"),
    [
        ("Search 1-17", "Search 1", 17),
        ("a-b 1-007", "a-b 1", 7),
        ("-5", "", 5),
        ("a--5", "a-", 5),
        ("Größe ✓ 1-3", "Größe ✓ 1", 3),
        ("a-99999999999", "a", -1),
        ("a-", "a-", -1),
        ("a-5 ", "a-5 ", -1),
        ("a-1e3", "a-1e3", -1),
        ("17", "17", -1),
        ("main", "main", -1),
        ("-", "-", -1),
        ("", "", -1),
    ],
)
def test_a_thread_is_numbered_by_the_digits_behind_the_last_hyphen_of_its_name(
    path, name, group, number
):
    path.write_bytes(lines([fields(0, thread=name)]))
    with open_store(path) as asked:
        assert asked.rows("SELECT thread_group, number FROM samples") == [(group, number)]


def test_a_file_of_the_same_size_and_time_but_another_content_is_read_again(path, scans):
    assert read_jtl(path).samplers["search"].counts.errors == 0
    times = path.stat()
    path.write_bytes(
        path.read_bytes().replace(b",true,", b",false,", 1).replace(b",OK,", b",O,", 1)
    )
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert path.stat().st_size == times.st_size
    assert read_jtl(path).samplers["search"].counts.errors == 1
    assert len(scans) == 2


def test_a_cut_off_last_record_is_left_out(path):
    path.write_bytes(path.read_bytes()[:-5])
    found = read_jtl(path)
    assert (found.rows, found.cut_line) == (49, 51)


def test_a_file_with_a_wrong_line_leaves_no_store(path):
    path.write_bytes(path.read_bytes().replace(b",true,", b",maybe,", 1))
    with pytest.raises(JtlError, match=r"kpi\.jtl:2: success = 'maybe'"):
        read_jtl(path)
    assert list(path.parent.iterdir()) == [path]


def test_where_the_folder_can_not_be_written_the_store_is_elsewhere(path, monkeypatch):
    make = store.tempfile.TemporaryDirectory

    def made(**given):
        if "dir" in given:
            raise PermissionError
        return make(**given)

    monkeypatch.setattr(store.tempfile, "TemporaryDirectory", made)
    with open_store(path) as asked:
        assert elapsed(asked) == list(range(50))
        assert list(path.parent.iterdir()) == [path]


def test_a_reading_of_a_file_that_grows_takes_in_what_is_new_and_whole(tmp_path, scans):
    path = tmp_path / "kpi.jtl"
    rows = [
        lines([fields(number, 'a "b",\nc', elapsed=number)], header="")[1:] for number in (1, 2, 3)
    ]
    header = f"{jtl_rows.HEADER}\n".encode()
    growing = Growing(path)
    for written, whole in (
        (header + rows[0], [1]),
        (header + rows[0] + rows[1][:30], [1]),
        (header + rows[0] + rows[1][:60], [1]),
        (header + rows[0] + rows[1] + rows[2], [1, 2, 3]),
        (header + rows[0] + rows[1] + rows[2], [1, 2, 3]),
    ):
        path.write_bytes(written)
        with growing.read() as asked:
            assert elapsed(asked) == whole
    first = len(header + rows[0])
    assert [begin for begin, _ in scans] == [len(header), first, first, first, len(written)]


def test_a_wrong_line_of_a_file_that_grows_has_its_number_in_the_whole_file(tmp_path):
    path = tmp_path / "kpi.jtl"
    path.write_text(jtl_rows.jtl(jtl_rows.row(), jtl_rows.row()))
    growing = Growing(path)
    with growing.read():
        pass
    path.write_text(jtl_rows.jtl(*[jtl_rows.row()] * 3, jtl_rows.row(elapsed="x")))
    with pytest.raises(JtlError, match=r"kpi\.jtl:5: elapsed = 'x'"), growing.read():
        pass


def test_a_file_that_begins_anew_is_read_anew(tmp_path):
    path = tmp_path / "kpi.jtl"
    growing = Growing(path)
    for count in (5, 2):
        path.write_text(jtl_rows.jtl(*[jtl_rows.row()] * count))
        with growing.read() as asked:
            assert len(elapsed(asked)) == count


def test_queries_are_answered_in_turn_and_see_the_tables_of_the_store(path):
    with open_store(path) as asked:
        asked.table("wanted", ["name VARCHAR"], [("search",)])
        queries = (
            "SELECT elapsed_ms FROM samples JOIN wanted ON label = name "
            f"WHERE elapsed_ms % 5 = {rest} ORDER BY elapsed_ms"
            for rest in range(5)
        )
        found = [each["elapsed_ms"].tolist() for each in asked.each(queries)]
    assert found == [list(range(rest, 50, 5)) for rest in range(5)]


def test_no_queries_find_nothing(path):
    with open_store(path) as asked:
        assert list(asked.each([])) == []


def test_queries_that_nobody_waits_for_any_more_leave_the_store_usable(path):
    with open_store(path) as asked:
        answers = asked.each(["SELECT count(*) AS n FROM samples"] * 3)
        next(answers)
        answers.close()
        assert asked.rows("SELECT count(*) FROM samples") == [(50,)]


def test_a_query_that_fails_is_refused_like_any_other(path):
    with pytest.raises(JtlError) as caught, open_store(path) as asked:
        list(asked.each(["SELECT 1 AS one", "SELECT error('broken') AS one", "SELECT 1 AS one"]))
    assert caught.value.path == str(path)


def test_what_is_written_while_a_file_that_grows_is_read_waits_for_the_next_reading(
    tmp_path, monkeypatch
):
    path = tmp_path / "kpi.jtl"
    path.write_text(jtl_rows.jtl(*[jtl_rows.row()] * 5))
    csv_sql = reading._csv_sql

    def written_meanwhile(source, layout):
        with path.open("a") as jtl:
            jtl.write(jtl_rows.row() + "\n")
        return csv_sql(source, layout)

    growing = Growing(path)
    monkeypatch.setattr(reading, "_csv_sql", written_meanwhile)
    for count in (5, 6, 7):
        with growing.read() as asked:
            assert len(elapsed(asked)) == count


def test_a_store_has_for_a_while_only_what_had_ended_by_then(path):
    with open_store(path) as asked:
        (first,) = asked.rows("SELECT min(start_ms + elapsed_ms) FROM samples")[0]
        with asked.until(first):
            assert elapsed(asked) == [0]
        assert elapsed(asked) == list(range(50))
        with pytest.raises(ZeroDivisionError), asked.until(first):
            raise ZeroDivisionError
        assert len(elapsed(asked)) == 50
