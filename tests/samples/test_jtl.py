import random
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.golden import check_golden
from support.jtl_rows import HEADER, START_MS, jtl, row
from tollgate.samples.counts import read_jtl
from tollgate.samples.layout import JtlError, peek_test_start
from tollgate.samples.single import read_samples
from tollgate.stats.totals import Totals

WHOLE = [
    row(0, 5),
    row(20, 7, label="sum", thread="TG 1-2"),
    row(1010, 5, code="500", ok=False, message='"said ""no"", twice\nand again"'),
    row(1500, 5),
    row(2500, 9, label='"a, ""b"""'),
]


@pytest.fixture
def written(tmp_path):
    def write(content):
        path = tmp_path / "kpi.jtl"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_counts_are_exact_per_label_second_elapsed_success_and_code_and_sums_per_second(written):
    found = read_jtl(written(jtl(*WHOLE)))
    search, totals = found.samplers["search"].counts, found.samplers["search"].totals
    assert set(found.samplers) == {"search", "sum", 'a, "b"'}
    rows = list(zip(search.second, search.elapsed_ms, search.ok, search.n, strict=True))
    assert rows == [(0, 5, True, 1), (1, 5, False, 1), (1, 5, True, 1)]
    assert [search.codes[code] for code in search.code] == ["200", "500", "200"]
    sums = (totals.latency_ms, totals.connect_ms, totals.bytes, totals.threads)
    assert [list(it) for it in (totals.second, totals.n)] == [[0, 1], [1, 2]]
    assert [list(it) for it in sums] == [[5, 10], [1, 2], [120, 240], [3, 3]]


def test_the_whole_file_is_described(written):
    found = read_jtl(written(jtl(*WHOLE)))
    assert (found.rows, found.origin_ms, found.threads_max) == (5, START_MS, 3)
    assert (found.first_start_ms, found.last_start_ms) == (START_MS, START_MS + 2500)
    assert found.last_end_ms == START_MS + 2509
    assert (found.cut_line, found.missing_columns) == (None, ())


def test_transaction_controllers_stand_apart_even_under_a_samplers_name(written):
    message = '"Number of samples in transaction : 2, number of failing samples : 0"'
    found = read_jtl(written(jtl(row(), row(message=message), row(label="buy", message=message))))
    samplers, transactions = (
        {name: label.counts.total for name, label in labels.items()}
        for labels in (found.samplers, found.transactions)
    )
    assert (samplers, transactions) == ({"search": 1}, {"search": 1, "buy": 1})


def test_a_typed_response_with_that_message_is_a_sample(written):
    header = HEADER + ",dataType"
    line = row(message="Number of samples in transaction : 2") + ",text"
    assert read_jtl(written(jtl(line, header=header))).transactions == {}


def test_seconds_count_from_jmeters_own_start_where_the_file_tells(written):
    start = START_MS - 1300
    rows = [f"{line},{start}" for line in WHOLE]
    path = written(jtl(*rows, header=HEADER + ',"TESTSTART.MS"'))
    found = read_jtl(path)
    assert peek_test_start(path) == found.origin_ms == start
    assert found.test_starts_ms == (start, start)
    assert list(found.samplers["search"].counts.second) == [1, 2, 2]


def test_samples_before_the_origin_have_negative_seconds(written):
    found = read_jtl(written(jtl(*WHOLE)), origin_ms=START_MS + 1)
    assert list(found.samplers["search"].counts.second) == [-1, 1, 1]


OTHERS = {
    "semicolons": (jtl(row(0), row(1)).replace(",", ";"), 2),
    "tabs": (jtl(row(0), row(1)).replace(",", "\t"), 2),
    "line ends of Windows": (jtl(*WHOLE, newline="\r\n"), 5),
    "a byte order mark": (b"\xef\xbb\xbf" + jtl(*WHOLE).encode(), 5),
    "a zero byte in a message": (jtl(row(), row(10, message="a\0b")), 2),
}


@pytest.mark.parametrize(("content", "rows"), OTHERS.values(), ids=OTHERS)
def test_other_ways_to_write_a_jtl_are_read(written, content, rows):
    assert read_jtl(written(content)).rows == rows


def test_columns_go_by_name_in_any_order(written):
    header = "success,label,LABEL,elapsed,responseCode,timeStamp"
    found = read_jtl(written(f"{header}\ntrue,a,b,5,200,{START_MS}\n"))
    assert set(found.samplers) == {"a"}
    assert "Latency" in found.missing_columns


def test_a_line_with_bytes_that_are_not_utf_8_is_refused_by_its_number(written):
    content = jtl(row(), row(label="caf\u00e9"), row(label="bad?")).encode()
    with pytest.raises(JtlError, match=r":4: not CSV: it holds bytes that are not UTF-8; the file"):
        read_jtl(written(content.replace(b"bad?", b"\xff!")))


def test_a_path_is_not_a_pattern(tmp_path):
    path = tmp_path / "kpi[1]*'s.jtl"
    path.write_text(jtl(*WHOLE))
    (tmp_path / "kpi1.jtl").write_text(jtl(row()))
    assert read_jtl(path).rows == 5


@pytest.mark.parametrize("order", range(3))
def test_shuffled_lines_give_identical_counts(written, order):
    rows = [row(i * 37 % 5000, i % 40, label="ab"[i % 2], ok=bool(i % 9)) for i in range(400)]
    whole = read_jtl(written(jtl(*rows)))
    random.Random(order).shuffle(rows)
    shuffled = read_jtl(written(jtl(*rows)))
    for name, label in whole.samplers.items():
        assert shuffled.samplers[name].counts == label.counts
    assert shuffled.origin_ms == whole.origin_ms


TAILS = {
    "last field": row(9000)[:-1],
    "newline": row(9000),
    "first field": "17",
    "in a quote": f'{START_MS},5,search,200,"a quoted\nmessage',
    "in a quote, after a newline": f'{START_MS},5,search,200,"a quoted\nmessage\n',
    "zeros": "\0" * 4096,
}


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_a_last_line_cut_off_by_a_crash_is_reported_and_left_out(written, tail):
    path = written(jtl(*WHOLE) + tail)
    found = read_jtl(path)
    assert (found.cut_line, found.rows) == (8, 5)
    assert len(read_samples(path, ["search"])["search"]) == 3


CONTENT = jtl(*WHOLE).encode()
PROPERTY = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@settings(PROPERTY, max_examples=60)
@given(st.integers(0, len(CONTENT) - 1))
def test_a_truncated_file_gives_a_prefix_a_reported_cut_or_a_refusal(written, cut):
    try:
        found = read_jtl(written(CONTENT[:cut]))
    except JtlError:
        return
    ends = [len(jtl(*WHOLE[:count]).encode()) for count in range(len(WHOLE) + 1)]
    assert found.rows == max(count for count, end in enumerate(ends) if end <= cut)
    assert (found.cut_line is not None) == (cut not in ends)


@settings(PROPERTY, max_examples=150)
@given(st.integers(len(HEADER) + 1, len(CONTENT) - 1), st.integers(0, 255))
def test_a_corrupted_byte_loses_no_sample_in_silence(written, at, byte):
    try:
        found = read_jtl(written(CONTENT[:at] + bytes([byte]) + CONTENT[at + 1 :]))
    except JtlError:
        return
    assert found.cut_line is not None or found.rows == len(WHOLE)


def _refusals():
    good = jtl(row())
    yield "empty", ""
    yield "header_only", HEADER + "\n"
    yield "header_cut_off", HEADER[:-3]
    yield "only_a_cut_off_sample", HEADER + "\n" + row()[:20]
    yield "xml", '<?xml version="1.0" encoding="UTF-8"?>\n<testResults version="1.2">\n'
    yield "headerless", row() + "\n"
    yield "headerless_with_dates", row("2026/01/02 03:04:05.678") + "\n"
    yield "not_a_jtl", "Server started\n"
    yield "carriage_return_in_the_header", good.replace("label", "la\rbel")
    yield "column_missing", good.replace("elapsed", "elapse")
    yield "column_twice", good.replace("Hostname", "label")
    yield "formatted_date", jtl(row(), row("2026/01/02 03:04:05.678"))
    yield "seconds_not_milliseconds", jtl(row(), row("1700000000"))
    yield "time_with_letters", jtl(row(), row("17000000000o0"))
    yield "elapsed_negative", jtl(row(), row(elapsed=-3))
    yield "latency_negative", jtl(row(), row().replace(",5,h,", ",-5,h,"))
    yield "connect_negative", jtl(row(), row()[:-1] + "-1")
    yield "elapsed_with_a_point", jtl(row(), row(elapsed=5.7))
    yield "elapsed_empty", jtl(row(), row(elapsed=""))
    yield "elapsed_absurd", jtl(row(), row(elapsed=10**12))
    yield "success_in_capitals", jtl(row(), row(ok="TRUE"))
    yield "field_missing", jtl(row(), row()[:-2])
    yield "field_too_many", jtl(row(), row() + ",1")
    yield "text_behind_a_quote", jtl(row(), row(message='"a"b'), row())
    yield "quote_that_swallows_samples", jtl(row(), row(label='"a'), row(label='a"'))
    yield "bytes_not_a_number", jtl(row(), row().replace(",120,", ",x,"))
    yield "after_a_message_of_two_lines", jtl(row(message='"a\nb"'), row(), row(elapsed="x"))


REFUSALS = list(_refusals())


@pytest.mark.parametrize(("name", "content"), REFUSALS, ids=[name for name, _ in REFUSALS])
def test_what_is_no_jtl_is_refused_with_file_line_field_value_and_next_step(written, name, content):
    path = written(content)
    with pytest.raises(JtlError) as refused:
        read_jtl(path)
    check_golden("jtl/refusals.txt", name, str(refused.value).replace(str(path), "kpi.jtl"))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(JtlError, match="No such file"):
        read_jtl(tmp_path / "kpi.jtl")


@pytest.mark.parametrize("lost", [8, 4096, 2_500_000])
def test_a_block_of_zeros_that_swallowed_samples_is_refused_by_its_line(written, lost):
    """From within a message to within one two samples later, whose line then has all its fields."""
    content = jtl(*(row(100 * number, message="said OOO and more") for number in range(5))).encode()
    lines = content.splitlines(keepends=True)
    inside = lines[2].index(b"OOO")
    hole = lines[2][:inside] + bytes(lost) + lines[4][inside:]
    with pytest.raises(JtlError) as refused:
        read_jtl(written(b"".join([*lines[:2], hole, *lines[5:]])))
    assert refused.value.line == 3


def test_a_damaged_file_is_refused_by_both_readers_alike(written):
    path = written(jtl(row(), row(elapsed=5.7)))
    with pytest.raises(JtlError) as refused:
        read_jtl(path)
    with pytest.raises(JtlError, match=re.escape(str(refused.value))):
        read_samples(path, ["search"])


def test_samples_come_in_the_order_of_their_start_whatever_the_files_order(written):
    rows = [row(30, 7, thread="Search 1-2"), row(10, 9, thread="Search 1-12"), row(10, 8, ok=False)]
    for lines in (rows, rows[::-1]):
        samples = read_samples(written(jtl(*lines)), ["search", "none"])["search"]
        assert list(samples.start_ms - START_MS) == [10, 10, 30]
        assert list(samples.elapsed_ms) == [9, 8, 7]
        assert list(samples.ok) == [True, False, True]
        groups = [samples.groups[group] for group in samples.group]
        assert groups == ["Search 1", "TG 1", "Search 1"]
        assert list(samples.number) == [12, 1, 2]


def test_a_label_without_samples_gives_empty_arrays(written):
    samples = read_samples(written(jtl(row())), ["none"])["none"]
    assert len(samples) == 0
    assert samples.start_ms.dtype == np.int64


def test_columns_that_are_missing_leave_sums_unknown_and_threads_unnamed(written):
    path = written(f"timeStamp,elapsed,label,responseCode,success\n{START_MS},5,a,200,true\n")
    totals = read_jtl(path).samplers["a"].totals
    assert list(totals.n) == [1]
    for sums in (totals, totals.window(0, 1), Totals.merged([totals, totals])):
        unknown = (sums.latency_ms, sums.connect_ms, sums.bytes, sums.threads)
        assert unknown == (None, None, None, None)
    samples = read_samples(path, ["a"])["a"]
    assert (list(samples.number), samples.groups) == ([-1], ("",))


NO_ANSWER = "Non HTTP response code: java.net.SocketTimeoutException"


@pytest.mark.parametrize(
    ("code", "ok", "latency", "first_byte_ms"),
    [
        (NO_ANSWER, False, 0, 5000),
        # The first byte came and then nothing more; an error that came at once; a script's success.
        (NO_ANSWER, False, 40, 40),
        ("500", False, 0, 0),
        ("", True, 0, 0),
    ],
)
def test_an_answer_that_never_came_has_a_first_byte_as_late_as_its_end(
    written, code, ok, latency, first_byte_ms
):
    line = row(0, 5000, code=code, ok=ok).rsplit(",", 3)[0] + f",{latency},h,1"
    found = read_jtl(written(jtl(line).encode()))
    assert list(found.samplers["search"].totals.latency_ms) == [first_byte_ms]
