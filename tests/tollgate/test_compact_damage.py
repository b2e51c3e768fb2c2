"""A piece that holds what JMeter does not write stays as text, and so does all after it."""

import pytest

from jtl_text import compacting, fields, in_pieces, lines, text_of, usual
from tollgate import compact
from tollgate.compact_piece import RefusedError
from tollgate.jtl import read_jtl
from tollgate.jtl_layout import JtlError
from tollgate.jtl_pieces import folder_of, index_of, read_index

SIZE = 20_000


BAD = {
    "elapsed": lines([fields(0, elapsed="5.7")]),
    "timeStamp": lines([fields(0)]).replace(b"17000", b"17x00"),
    "success": lines([fields(0)]).replace(b"true", b"True"),
    "Latency": lines([fields(0)]).replace(b",7,h", b",7.0,h"),
}


@pytest.mark.parametrize("field", BAD)
@pytest.mark.parametrize("finished", [False, True])
def test_the_final_reading_names_file_line_and_field_as_it_does_without_pieces(
    written, field, finished
):
    bad = BAD[field].split(b"\n", 1)[1]
    content = usual(500) + bad + usual(500).split(b"\n", 1)[1]
    path = written(content)
    with pytest.raises(JtlError) as before:
        read_jtl(path)
    with pytest.raises(RefusedError):
        in_pieces(path, SIZE, finished=False)
    assert read_index(path).end < content.index(bad)
    if finished:
        compact.finish(path)
    with pytest.raises(JtlError) as after:
        read_jtl(path)
    assert str(after.value) == str(before.value)
    assert f"kpi.jtl:{usual(500).count(bytes([10])) + 1}: {field} = " in str(after.value)
    assert text_of(path) == content


@pytest.mark.parametrize("bad", [b"\n", b'1,"x"\n', b'a"b,c\n', b'1,2,"3\n' * 9])
def test_what_would_not_be_restored_as_it_was_is_refused_and_kept(written, bad):
    content = usual(500) + bad + usual(500).split(b"\n", 1)[1]
    path = written(content)
    with pytest.raises(RefusedError):
        in_pieces(path, SIZE)
    compact.finish(path)
    assert text_of(path) == content


def test_a_file_with_nothing_to_compact_has_no_folder_of_pieces(written):
    path = written(BAD["elapsed"] * 2)
    done = compacting(path, "--final", "--piece-bytes", 50)
    assert done.returncode == compact.REFUSED
    assert not folder_of(path).exists()
    assert path.read_bytes() == BAD["elapsed"] * 2


@pytest.mark.parametrize(
    "change",
    [
        lambda index: index.replace('"start": ', '"start": 1'),
        lambda index: index.replace("000002.parquet", "../x.parquet"),
        lambda index: index.replace('"version": 1', '"version": 2'),
        lambda index: index.replace("timeStamp", "timestamp"),
        lambda index: index[:-20],
        lambda index: index.replace('"rows"', '"raws"'),
        lambda _: "[]",
    ],
)
def test_an_index_that_is_wrong_is_refused_in_one_line(written, change):
    path = in_pieces(written(usual(800)), SIZE)
    index_of(path).write_text(change(index_of(path).read_text()))
    with pytest.raises(JtlError) as caught:
        read_jtl(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_as_long_as_its_index_says_is_refused(written):
    path = in_pieces(written(usual(800)), SIZE)
    path.write_bytes(path.read_bytes() + usual(1).split(b"\n", 1)[1])
    with pytest.raises(JtlError, match=r"which is not what .*index\.json says"):
        read_jtl(path)


def test_a_piece_that_is_gone_or_broken_is_refused_in_one_line(written):
    path = in_pieces(written(usual(800)), SIZE)
    piece = folder_of(path) / "000002.parquet"
    piece.write_bytes(piece.read_bytes()[:-100])
    for _ in range(2):
        with pytest.raises(JtlError) as caught:
            read_jtl(path)
        assert "\n" not in str(caught.value)
        with pytest.raises(JtlError, match=r"000002\.parquet: cannot be read"):
            text_of(path)
        piece.unlink(missing_ok=True)
