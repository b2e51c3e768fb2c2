"""A JTL in pieces is the JTL that JMeter wrote, whatever it holds and whenever the power fails."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jtl_rows import HEADER
from jtl_text import fields, in_pieces, lines, readings, text_of, usual
from tollgate import compact
from tollgate.compact_piece import record_end
from tollgate.compact_punch import can_punch
from tollgate.jtl import peek_test_start, read_jtl
from tollgate.jtl_pieces import count_samples, folder_of, read_index

SIZE = 20_000

# Also what is not UTF-8: JMeter writes what a server's header holds in the platform's charset.
any_text = st.text(
    st.characters(codec="utf-8")
    | st.sampled_from(list(',;"\r\n\t \x00-0123456789é🐌'))
    | st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF),
    max_size=12,
)
one_line = any_text.map(lambda text: text.replace("\n", ""))
thread_name = one_line | st.from_regex(r"[a-z -]{0,3}-[0-9]{1,22}", fullmatch=True)
row = st.builds(
    fields,
    st.integers(0, 10**6),
    message=any_text,
    label=one_line,
    thread=thread_name,
    code=one_line | st.sampled_from(["200", "404", "-0", "007"]),
    elapsed=st.integers(0, 999_999_999),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(row, min_size=3, max_size=30), st.sampled_from(",;\t"), st.integers(1, 4))
def test_whatever_jmeter_writes_is_read_and_restored_from_pieces_as_it_was(rows, delimiter, count):
    content = lines(rows, delimiter)
    records = [len(lines([it], delimiter)) - len(HEADER) - 1 for it in rows]
    with TemporaryDirectory() as name:
        path = Path(name) / "kpi.jtl"
        path.write_bytes(content)
        expected = readings(path)
        in_pieces(path, max(*records, sum(records) // count))
        assert read_index(path).pieces
        assert text_of(path) == content
        assert readings(path) == expected


@pytest.mark.parametrize("finished", [False, True])
def test_every_reader_finds_the_same_in_pieces_as_in_the_file(written, finished):
    path = written(usual(1500))
    expected, content = readings(path), path.read_bytes()
    in_pieces(path, SIZE, finished)
    assert len(read_index(path).pieces) == len(content) // SIZE
    assert readings(path) == expected
    assert text_of(path) == content


@pytest.mark.parametrize("thread", ["-1", "a-", "a-01", "a-0", "a-" + "9" * 30, "", "7", "a\r-3"])
def test_thread_names_of_any_form_are_restored(written, thread):
    content = lines([fields(1, thread=thread), fields(2), fields(3, thread=thread)])
    path = in_pieces(written(content), len(content) - len(HEADER) - 1)
    assert path.read_bytes() == f"{HEADER}\n".encode()
    assert text_of(path) == content


def test_a_column_may_be_numbers_in_one_piece_and_text_in_another(written):
    codes = ["200"] * 200 + ["Non HTTP response code: java.net.SocketException"] * 200
    content = lines(fields(number, code=code) for number, code in enumerate(codes))
    path = written(content)
    expected = readings(path)
    in_pieces(path, 4_000)
    assert len({piece.whole for piece in read_index(path).pieces}) == 2
    assert readings(path) == expected
    assert text_of(path) == content


def test_pieces_and_tail_may_differ_in_their_encoding(written):
    messages = ["OK"] * 90 + ["Ünïcode 🐌"] * 90 + ["\udcff\udc9f"] * 90 + ["OK"] * 90
    labels = ["search", "süm", "sum 🐌"]
    content = lines(
        fields(number, message, label=labels[number % 3]) for number, message in enumerate(messages)
    )
    path = written(content)
    expected = readings(path)
    assert set(expected["samplers"]) == set(labels)
    in_pieces(path, 5_000)
    assert readings(path) == expected
    assert text_of(path) == content


def test_lines_that_end_as_on_windows_are_restored(written):
    content = lines(fields(number) for number in range(300)).replace(b"\n", b"\r\n")
    path = in_pieces(written(content), SIZE // 4)
    assert read_index(path).pieces
    assert text_of(path) == content


def test_jmeters_own_start_is_found_in_the_first_piece(written):
    rows = [(*fields(number), 1_700_000_000_123) for number in range(300)]
    path = in_pieces(written(lines(rows, header=HEADER + ',"TESTSTART.MS"')), SIZE // 4)
    assert peek_test_start(path) == 1_700_000_000_123
    assert read_jtl(path).origin_ms == 1_700_000_000_123


def test_samples_are_counted_without_reading_the_pieces(written):
    path = written(lines(fields(number) for number in range(700)))
    assert count_samples(path) == 700
    in_pieces(path, SIZE, finished=False)
    assert count_samples(path) == 700
    compact.finish(path)
    assert count_samples(path) == 700


@pytest.mark.parametrize("name", ["a*[b]?", "it's", 'a"b', "a=b", "Ünï ☃"])
def test_a_folder_of_any_name_will_do(tmp_path, name):
    path = tmp_path / name / "kpi.jtl"
    path.parent.mkdir()
    path.write_bytes(usual(500))
    content, expected = path.read_bytes(), readings(path)
    in_pieces(path, SIZE)
    assert readings(path) == expected
    assert text_of(path) == content


def test_a_last_record_that_a_crash_cut_off_stays_in_the_tail_and_has_its_line(written):
    content = usual(800)[:-9]
    path = written(content)
    expected = readings(path)
    assert expected["cut_line"] == content.count(b"\n") + 1
    in_pieces(path, SIZE)
    assert readings(path) == expected
    assert text_of(path) == content


@pytest.mark.parametrize(
    ("data", "end"),
    [
        (b"", 0),
        (b"a,b", 0),
        (b"a,b\nc", 4),
        (b'a,"b\nc"\nd', 8),
        (b'a,"b\nc', 0),
        (b'a\nb,"c\nd\n', 2),
        (b'a\nb,"c""\nd\n', 2),
        (b'"a""\n""b"\n', 10),
    ],
)
def test_a_piece_ends_at_a_newline_outside_of_quotes(data, end):
    assert record_end(data) == end


needs_holes = pytest.mark.skipif(bool(can_punch(Path.cwd())), reason="no holes on this file system")


@needs_holes
class TestHoles:
    """What JMeter and bzt see of the file while its blocks are given back."""

    def test_blocks_are_given_back_while_size_header_and_tail_stay(self, written):
        content = usual(20_000)
        path = written(content)
        before = path.stat()
        in_pieces(path, 200_000, finished=False)
        after, end = path.stat(), read_index(path).end
        assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
        assert after.st_blocks * 512 < len(content) - end + 3 * after.st_blksize
        now = path.read_bytes()
        assert now.startswith(HEADER.encode() + b"\n")
        assert now[end:] == content[end:]
        assert not any(now[after.st_blksize : end - after.st_blksize])

    def test_what_a_crash_left_unpunched_is_given_back_with_the_next_piece(self, written):
        content = usual(20_000)
        path = written(content)
        compact.compact(path, len(content) // 2, 200_000, punching=False)
        expected = readings(path)
        assert path.stat().st_blocks * 512 >= len(content)
        in_pieces(path, 200_000, finished=False)
        tail = len(content) - read_index(path).end
        assert path.stat().st_blocks * 512 < tail + 3 * path.stat().st_blksize
        assert readings(path) == expected


def test_a_finished_file_has_no_zeros_that_a_copy_would_spell_out(written):
    content = usual(3_000)
    path = written(content)
    path.chmod(0o640)
    in_pieces(path, SIZE)
    end = read_index(path).end
    assert path.read_bytes() == f"{HEADER}\n".encode() + content[end:]
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(it.name for it in folder_of(path).iterdir())[-1] == "index.json"
    compact.finish(path)  # once more changes nothing
    assert text_of(path) == content
