"""`tollgate judge FOLDER` on folders of runs that were judged as a live run is."""

import json
import subprocess
import sys

import pytest

from support import run_folder
from tollgate.base.paths import ROOT
from tollgate.cli import cli
from tollgate.gather import evidence
from tollgate.judge.judgement import judge
from tollgate.record import manifest
from tollgate.report import write as outputs

RUNS = {
    "pass": {},
    "fail": {"of_the_run": run_folder.BROKEN},
    "inconclusive": {"of_the_run": ("p99 of nap>1s",)},
    "invalid": {"exit_code": 1},
}


def archived(folder, **changes):
    """A run's folder with the files that its own verdict left there."""
    record = run_folder.make(folder, **changes)
    run, settings = evidence.gather(folder, record)
    outputs.write_all(folder, judge(run, settings), run, record)
    return folder


@pytest.fixture
def tollgate(monkeypatch, capsys):
    """Runs the command in this process: (exit code, standard output, standard error)."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tollgate", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        return caught.value.code, *capsys.readouterr()

    return run


def refusal(result):
    """The one line with which the command refuses."""
    code, out, err = result
    assert (code, out) == (1, "")
    assert err.startswith("tollgate: ")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize("name", RUNS)
def test_an_archived_run_is_judged_as_the_live_run_was(tollgate, tmp_path, name):
    folder = archived(tmp_path, **RUNS[name])
    was = json.loads((folder / "verdict.json").read_text())
    code, out, err = tollgate("judge", folder)
    assert (code, err) == (was["exit_code"], "")
    assert f"\n{was['verdict']}: " in out
    assert was["verdict"].lower() == name
    for reason in was["reasons"]:
        assert f"  {reason['verdict']} {reason['text']}\n" in out


def test_as_json_it_says_what_the_live_run_wrote(tollgate, tmp_path):
    folder = archived(tmp_path, of_the_run=run_folder.BROKEN)
    code, out, _ = tollgate("judge", folder, "--json")
    assert (code, out) == (3, (folder / "verdict.json").read_text())


@pytest.mark.parametrize(("where", "lines"), [("| true", 0), (">/dev/full", 1), (">&-", 1)])
def test_a_verdict_that_nobody_can_read_is_no_stack_trace_and_no_pass(tmp_path, where, lines):
    archived(tmp_path)
    command = f'set -o pipefail; "$0" judge "$1" {where}'
    arguments = ["bash", "-c", command, ROOT / ".venv/bin/tollgate", tmp_path]
    ended = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, lines)


def test_an_interrupted_run_exits_as_the_live_run_did(tollgate, tmp_path):
    made = run_folder.make(tmp_path)
    made.interrupted = True
    manifest.write(made, tmp_path)
    code, out, _ = tollgate("judge", tmp_path)
    assert code == 2
    assert "INVALID the run was interrupted\n" in out


def test_nothing_in_the_folder_changes(tollgate, tmp_path):
    def state():
        return {
            each: (each.stat().st_mtime_ns, each.is_file() and each.read_bytes())
            for each in tmp_path.rglob("*")
        }

    archived(tmp_path)
    before = state()
    tollgate("judge", tmp_path)
    tollgate("judge", tmp_path, "--criterion", "p50 of nap>10ms")
    assert state() == before


def test_other_criteria_take_the_place_of_all_of_the_runs_own(tollgate, tmp_path):
    archived(tmp_path, criteria=["p90 of nap>1s"])
    words = ("--criterion", "p50 of nap>10ms", "--criterion", "hits of nap<1")
    code, out, _ = tollgate("judge", tmp_path, *words)
    assert code == 3
    assert "FAIL: 1 of 2 criteria hold" in out
    assert "p90" not in out


def test_a_misspelt_label_is_refused_with_the_nearest_one(tollgate, tmp_path):
    archived(tmp_path)
    said = refusal(tollgate("judge", tmp_path, "--criterion", "p95 of napp>1s"))
    assert "did you mean 'nap'?" in said


@pytest.mark.parametrize("text", ["p95 of nap", "p95 of nap>1", "95 of nap>1s", "", "p95<0ms"])
def test_a_criterion_that_cannot_be_read_is_refused(tollgate, tmp_path, text):
    archived(tmp_path)
    refusal(tollgate("judge", tmp_path, "--criterion", text))


def test_a_lower_bound_on_a_time_is_refused_and_one_of_an_archived_run_is_judged(
    tollgate, tmp_path
):
    archived(tmp_path, criteria=["p50 of nap<10ms"])
    said = refusal(tollgate("judge", tmp_path, "--criterion", "p50 of nap<10ms"))
    assert "did you mean 'p50 of nap>10ms'?" in said
    assert tollgate("judge", tmp_path)[0] == 0


def test_a_folder_that_is_no_runs_is_refused(tollgate, tmp_path):
    assert "it has no run.json" in refusal(tollgate("judge", tmp_path))
    assert "it has no run.json" in refusal(tollgate("judge", tmp_path / "none"))


def test_a_changed_jtl_is_refused(tollgate, tmp_path):
    archived(tmp_path)
    run_folder.spoil(tmp_path, run_folder.recorded()[:-1], sealed=True)
    assert "kpi.jtl has changed since the run ended" in refusal(tollgate("judge", tmp_path))


def test_a_plan_that_is_gone_is_refused(tollgate, tmp_path):
    archived(tmp_path)
    (tmp_path / "plan" / "timer-run.jmx").unlink()
    assert "timer-run.jmx: cannot be read" in refusal(tollgate("judge", tmp_path))


def test_the_command_is_installed_and_prints_in_any_encoding(tmp_path):
    archived(tmp_path, name="nap 🐌", of_the_run=run_folder.BROKEN)
    done = subprocess.run(
        [ROOT / ".venv" / "bin" / "tollgate", "judge", tmp_path],
        capture_output=True,
        check=False,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (3, b"")
    assert b"\nnap ?: FAIL\n" in done.stdout


def test_samples_that_are_a_link_to_themselves_are_refused(tollgate, tmp_path):
    archived(tmp_path)
    jtl = tmp_path / run_folder.JTL
    jtl.unlink()
    jtl.symlink_to(jtl.name)
    assert str(jtl) in refusal(tollgate("judge", tmp_path))


def test_samples_without_the_seal_of_a_run_that_has_ended_are_refused(tollgate, tmp_path):
    made = run_folder.make(tmp_path)
    made.executions[0].sha256 = made.executions[0].bytes = None
    manifest.write(made, tmp_path)
    assert "has no SHA-256" in refusal(tollgate("judge", tmp_path))


def test_samples_of_a_run_that_has_not_ended_have_no_seal_and_prove_nothing(tollgate, tmp_path):
    made = run_folder.make(tmp_path)
    (execution,) = made.executions
    execution.sha256 = execution.bytes = execution.ended = None
    manifest.write(made, tmp_path)
    code, out, _ = tollgate("judge", tmp_path)
    assert code == 1
    assert "no seal" in out
