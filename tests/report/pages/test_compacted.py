"""A run whose samples an earlier version moved to kpi.pieces/ is refused: kpi.jtl lacks them."""

import json

import pytest

from support import run_folder
from tollgate.cli import cli
from tollgate.record import manifest
from tollgate.report.pages.runs import build
from tollgate.report.pages.runs.read import read


def pieces_without_a_seal(run):
    """As a run leaves them that was killed."""
    (run / "kpi.pieces").mkdir()
    (run / "kpi.pieces" / "index.json").write_text('{"version": 1}')


def a_seal_without_pieces(run):
    """As a copy of a run that lacks the folder."""
    raw = json.loads((run / "run.json").read_text())
    raw["executions"][0]["pieces_sha256"] = "0" * 64
    del raw["seal"]
    (run / "run.json").write_text(json.dumps(raw))


@pytest.fixture(params=[pieces_without_a_seal, a_seal_without_pieces])
def compacted(tmp_path, request):
    """The folder of such a run, in a folder of runs."""
    run = tmp_path / "20260101T000000Z-check"
    run_folder.make(run)
    request.param(run)
    return run


def line(run):
    return (
        f"{run / 'kpi.jtl'} was compacted by an earlier version of Tollgate, and does not hold all "
        "samples: judge the run with that version; its `tollgate samples` writes the whole file"
    )


@pytest.mark.parametrize("command", ["judge", "report"])
def test_judge_and_report_refuse_it_in_one_line_and_change_nothing(
    compacted, command, monkeypatch, capsys
):
    before = sorted(compacted.rglob("*"))
    monkeypatch.setattr("sys.argv", ["tollgate", command, str(compacted)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == f"tollgate: {line(compacted)}\n"
    assert sorted(compacted.rglob("*")) == before


def test_the_list_of_runs_keeps_its_verdict_and_says_why_it_cannot_be_judged_again(compacted):
    (compacted / "verdict.json").write_text('{"verdict": "PASS", "kind": "check"}')
    [run] = read(compacted.parent).runs
    assert (run.verdict, run.problem) == ("PASS", line(compacted))
    assert "was compacted by an earlier version" in build.write(compacted.parent).read_text()


def test_a_folder_of_pieces_that_holds_no_index_took_no_samples(tmp_path):
    run_folder.make(tmp_path)
    (tmp_path / "kpi.pieces").mkdir()
    assert manifest.read(tmp_path).executions[0].jtl == "kpi.jtl"
    assert run_folder.verdict_of(tmp_path).verdict == "PASS"
