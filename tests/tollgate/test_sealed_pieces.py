"""The seal and the verdict of a run whose JTL is in pieces."""

import pytest

import run_folder
from jtl_text import in_pieces
from tollgate import manifest
from tollgate.jtl_pieces import digest, folder_of, index_of, read_index

SIZE = 8_000


def make(folder, finished=True, sealed=True, **changes):
    """A run's folder with a JTL in pieces; its JTL."""
    made, jtl = run_folder.make(folder, **changes), folder / run_folder.JTL
    in_pieces(jtl, SIZE, finished)
    execution = made.executions[0]
    execution.sha256 = execution.bytes = None
    if sealed:
        manifest.seal(execution, folder)
    manifest.write(made, folder)
    return jtl


def refusal(folder):
    with pytest.raises(manifest.ManifestError) as caught:
        run_folder.verdict_of(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("criteria", [run_folder.HOLDS, run_folder.BROKEN])
@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("sealed", [True, False])
def test_the_verdict_is_that_of_the_raw_file(tmp_path, criteria, finished, sealed):
    run_folder.make(tmp_path, criteria)
    expected = run_folder.verdict_of(tmp_path)
    jtl = make(tmp_path, finished, sealed, of_the_run=criteria)
    assert len(read_index(jtl).pieces) > 2
    assert run_folder.verdict_of(tmp_path) == expected


@pytest.mark.parametrize("sealed", [True, False])
def test_a_piece_that_changed_is_refused(tmp_path, sealed):
    jtl = make(tmp_path, sealed=sealed)
    piece = folder_of(jtl) / "000002.parquet"
    data = bytearray(piece.read_bytes())
    data[len(data) // 2] ^= 1
    piece.write_bytes(data)
    expected = f"{piece} has changed since the run ended: nothing can be proven without it"
    assert refusal(tmp_path) == expected


def test_a_piece_that_is_gone_is_refused(tmp_path):
    jtl = make(tmp_path)
    (folder_of(jtl) / "000002.parquet").unlink()
    assert refusal(tmp_path).endswith("000002.parquet is missing: nothing can be proven without it")


def test_a_piece_that_changed_is_refused_even_with_an_index_to_match(tmp_path):
    jtl = make(tmp_path)
    piece = folder_of(jtl) / "000002.parquet"
    before = digest(piece)
    piece.write_bytes((folder_of(jtl) / "000001.parquet").read_bytes())
    index_of(jtl).write_text(index_of(jtl).read_text().replace(before, digest(piece)))
    said = f"{index_of(jtl)} is not the one that the run left: the samples of 'nap-alone' can't be"
    assert refusal(tmp_path) == f"{said} proven"


def test_a_tail_that_changed_is_refused(tmp_path):
    jtl = make(tmp_path)
    jtl.write_bytes(jtl.read_bytes()[:-3])
    assert f"{jtl} has changed since the run ended" in refusal(tmp_path)


def test_pieces_without_their_index_are_refused(tmp_path):
    jtl = make(tmp_path)
    index_of(jtl).unlink()
    said = f"{index_of(jtl)} is missing: the samples of 'nap-alone' can't be proven"
    assert refusal(tmp_path) == said


def test_pieces_that_the_run_did_not_leave_are_refused(tmp_path):
    run_folder.make(tmp_path)
    in_pieces(tmp_path / run_folder.JTL, SIZE, finished=False)
    run_folder.spoil(tmp_path, run_folder.recorded(), sealed=True)
    assert "index.json is not the one that the run left" in refusal(tmp_path)


def test_a_file_in_the_folder_that_the_index_does_not_name_changes_nothing(tmp_path):
    jtl = make(tmp_path)
    expected = run_folder.verdict_of(tmp_path)
    (folder_of(jtl) / "000099.parquet").write_bytes(b"left by a crash")
    assert run_folder.verdict_of(tmp_path) == expected
