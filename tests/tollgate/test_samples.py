"""`tollgate samples RUN [EXECUTION]`: the CSV that JMeter wrote, whatever became of it."""

import subprocess
import sys
from dataclasses import replace

import pytest

import run_folder
from jtl_text import in_pieces
from tollgate import cli, manifest
from tollgate.jtl_pieces import folder_of, read_index
from tollgate.paths import ROOT

TOLLGATE = ROOT / ".venv" / "bin" / "tollgate"


@pytest.fixture
def archived(tmp_path):
    """Makes a sealed run whose JTL is in pieces."""
    made = run_folder.make(tmp_path)
    in_pieces(tmp_path / run_folder.JTL, 8_000)
    manifest.seal(made.executions[0], tmp_path)
    manifest.write(made, tmp_path)
    assert read_index(tmp_path / run_folder.JTL).pieces
    return tmp_path


def samples(*words):
    return subprocess.run([TOLLGATE, "samples", *words], capture_output=True, check=False)


@pytest.fixture
def refusal(monkeypatch, capsys):
    """The one line with which the command refuses."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tollgate", "samples", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        assert caught.value.code == 1
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        return err.removesuffix("\n")

    return run


@pytest.mark.parametrize("words", [(), ("nap-alone",)])
def test_a_compacted_run_gives_back_every_byte(archived, words):
    done = samples(archived, *words)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == run_folder.recorded()


def test_a_run_that_was_never_compacted_gives_its_file(tmp_path):
    run_folder.make(tmp_path)
    assert samples(tmp_path).stdout == run_folder.recorded()


def test_a_reader_that_has_seen_enough_is_no_error(archived):
    script = f'"{TOLLGATE}" samples "{archived}" | head -1'
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=False)
    assert done.stdout == run_folder.recorded().split(b"\n")[0] + b"\n"
    assert done.stderr == b""


def test_one_of_several_executions_must_be_named(archived, refusal):
    made = manifest.read(archived)
    made.executions.append(replace(made.executions[0], name="cluster"))
    manifest.write(made, archived)
    expected = "tollgate: the run has several executions: name one of nap-alone, cluster"
    assert refusal(archived) == expected
    expected = "tollgate: the run has no execution 'fork': name one of nap-alone, cluster"
    assert refusal(archived, "fork") == expected


def test_a_folder_that_is_no_runs_and_a_run_without_samples_are_refused(tmp_path, refusal):
    assert "is not the folder of a run" in refusal(tmp_path)
    made = run_folder.make(tmp_path)
    (tmp_path / run_folder.JTL).unlink()
    assert "kpi.jtl is missing" in refusal(tmp_path)
    made.executions[0].sha256 = None
    manifest.write(made, tmp_path)
    assert "kpi.jtl: cannot be read" in refusal(tmp_path)


def test_a_piece_that_was_changed_is_refused_before_a_byte_is_written(archived, refusal):
    piece = folder_of(archived / run_folder.JTL) / "000001.parquet"
    piece.write_bytes(piece.read_bytes()[:-1] + b"x")
    assert "000001.parquet has changed since the run ended" in refusal(archived)
