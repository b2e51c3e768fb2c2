"""The store of a JTL: what it is made from, and what it never holds."""

import os
import signal
import threading

import pytest

from support.jtl_rows import elapsed, fields, lines
from tollgate.samples import store
from tollgate.samples.counts import read_jtl
from tollgate.samples.layout import JtlError
from tollgate.samples.order import step_back
from tollgate.samples.single import read_samples
from tollgate.samples.store import open_store


def test_the_csv_is_read_once_whatever_is_asked_of_a_store(path, scans):
    with open_store(path) as asked:
        read_jtl(asked)
        read_samples(asked, ["search"])
        step_back(asked)
    assert len(scans) == 1


def test_rows_stay_in_the_order_of_the_file_and_a_store_leaves_nothing_beside_it(path):
    with open_store(path) as asked:
        assert elapsed(asked) == list(range(50))
    assert list(path.parent.iterdir()) == [path]


def test_samples_are_those_of_the_jtl_whatever_stands_beside_it(path):
    """Such as the file that an earlier version kept there."""
    with open_store(path) as asked:
        asked.execute(f"""COPY (SELECT * REPLACE (true AS ok, 1 AS elapsed_ms) FROM samples)
            TO '{path.with_name(".kpi.jtl.parquet")}' (FORMAT parquet)""")
    with open_store(path) as asked:
        assert elapsed(asked) == list(range(50))


THREADS = {
    "Search 1-17": ("Search 1", 17),
    "a-b 1-007": ("a-b 1", 7),
    "-5": ("", 5),
    "a--5": ("a-", 5),
    "Größe ✓ 1-3": ("Größe ✓ 1", 3),
    "a-99999999999": ("a", -1),
    **{name: (name, -1) for name in ("a-", "a-5 ", "a-1e3", "17", "main", "-", "")},
}


@pytest.mark.parametrize("name", THREADS)
def test_a_thread_is_numbered_by_the_digits_behind_the_last_hyphen_of_its_name(path, name):
    path.write_bytes(lines([fields(0, thread=name)]))
    with open_store(path) as asked:
        assert asked.rows("SELECT thread_group, number FROM samples") == [THREADS[name]]


def test_a_file_of_the_same_size_and_time_but_another_content_is_read_again(path, scans):
    assert read_jtl(path).samplers["search"].counts.errors == 0
    times, content = path.stat(), path.read_bytes()
    path.write_bytes(content.replace(b",true,", b",false,", 1).replace(b",OK,", b",O,", 1))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert path.stat().st_size == times.st_size
    assert read_jtl(path).samplers["search"].counts.errors == 1
    assert len(scans) == 2


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


def test_queries_are_answered_in_turn_and_see_the_tables_of_the_store(path):
    query = "SELECT elapsed_ms FROM samples JOIN wanted ON label = name WHERE elapsed_ms % 5 = "
    with open_store(path) as asked:
        asked.table("wanted", "name VARCHAR", [("search",)])
        queries = (f"{query}{rest} ORDER BY elapsed_ms" for rest in range(5))
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


def asked_for_seconds(path):
    # A shell without job control has it ignored in what it starts in the background. DuckDB hears
    # it at once or at the end of the query.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with store.database(path) as con:
            threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
            con.execute("SELECT sum(a.range * b.range % 7) FROM range(29999) a, range(29999) b")
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_signal_during_a_query_is_ctrl_c_and_no_error(path):
    with pytest.raises(KeyboardInterrupt):
        asked_for_seconds(path)
    assert list(path.parent.iterdir()) == [path]


def test_a_store_has_for_a_while_only_what_had_ended_by_then(path):
    with open_store(path) as asked:
        (first,) = asked.rows("SELECT min(start_ms + elapsed_ms) FROM samples")[0]
        with asked.until(first):
            assert elapsed(asked) == [0]
        assert elapsed(asked) == list(range(50))
        with pytest.raises(ZeroDivisionError), asked.until(first):
            raise ZeroDivisionError
        assert len(elapsed(asked)) == 50
