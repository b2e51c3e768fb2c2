"""`tollgate judge FOLDER` on folders of runs that were judged as a live run is."""

import json

import pytest

import support
from support import command, run_folder
from tollgate.base.exit_codes import ExitCode
from tollgate.base.paths import SUITE
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


def unsealed(folder, **changes):
    """A run's folder whose samples have no SHA-256."""
    made = run_folder.make(folder)
    for name, value in {"sha256": None, "bytes": None, **changes}.items():
        setattr(made.executions[0], name, value)
    manifest.write(made, folder)


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
    command = f'set -o pipefail; "$0" judge "$1" {where}'
    ended = support.run("bash", "-c", command, SUITE / ".venv/bin/tollgate", archived(tmp_path))
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
        every = tmp_path.rglob("*")
        return {it: (it.stat().st_mtime_ns, it.is_file() and it.read_bytes()) for it in every}

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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p95 of napp>1s", "did you mean 'nap'?"),  # the nearest label
        *((it, "") for it in ("p95 of nap", "p95 of nap>1", "95 of nap>1s", "", "p95<0ms")),
    ],
)
def test_a_criterion_that_cannot_be_read_is_refused(refusal, tmp_path, text, said):
    archived(tmp_path)
    assert said in refusal("judge", tmp_path, "--criterion", text)


def test_a_lower_bound_on_a_time_is_refused_and_one_of_an_archived_run_is_judged(
    tollgate, refusal, tmp_path
):
    archived(tmp_path, criteria=["p50 of nap<10ms"])
    said = refusal("judge", tmp_path, "--criterion", "p50 of nap<10ms")
    assert "did you mean 'p50 of nap>10ms'?" in said
    assert tollgate("judge", tmp_path)[0] == 0


def loop(folder):
    jtl = folder / run_folder.JTL
    jtl.unlink()
    jtl.symlink_to(jtl.name)


#: What is done to the folder of a run, and what the refusal says then.
BROKEN = {
    "a changed JTL": (
        lambda folder: run_folder.spoil(folder, run_folder.recorded()[:-1], sealed=True),
        "kpi.jtl has changed since the run ended",
    ),
    "a plan that is gone": (
        lambda folder: (folder / "plan" / "timer-run.jmx").unlink(),
        "timer-run.jmx: cannot be read",
    ),
    "samples that are a link to themselves": (loop, "/kpi.jtl"),
    "samples without the seal of a run that has ended": (unsealed, "has no SHA-256"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_cannot_be_judged_is_refused(refusal, tmp_path, what):
    change, said = BROKEN[what]
    change(archived(tmp_path))
    assert said in refusal("judge", tmp_path)


def test_a_folder_that_is_no_runs_is_refused(refusal, tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        assert "it has no run.json" in refusal("judge", folder)


def test_samples_of_a_run_that_has_not_ended_have_no_seal_and_prove_nothing(tollgate, tmp_path):
    unsealed(tmp_path, ended=None)
    code, out, _ = tollgate("judge", tmp_path)
    assert code == ExitCode.INVALID
    assert "no seal" in out


def test_the_command_is_installed_and_prints_in_any_encoding(tmp_path):
    archived(tmp_path, name="nap 🐌", of_the_run=run_folder.BROKEN)
    ascii_only = {"PYTHONIOENCODING": "ascii", "PATH": ""}
    done = support.run(SUITE / ".venv/bin/tollgate", "judge", tmp_path, env=ascii_only)
    assert (done.returncode, done.stderr) == (3, "")
    assert "\nnap ?: FAIL\n" in done.stdout


def test_a_misspelt_command_is_refused_with_the_nearest():
    code, out, said = command.tollgate("jugde", "reports/latest")
    assert (code, out) == (1, "")
    assert said == "tollgate: 'jugde' is no command: did you mean 'judge'?\n"


@pytest.mark.parametrize(("words", "source"), [((), None), (("--from", "x.tar"), "x.tar")])
def test_an_installation_takes_jmeter_from_the_archive_that_is_named(
    tollgate, monkeypatch, words, source
):
    asked = []
    monkeypatch.setattr(cli.assemble, "provide", asked.append)
    assert tollgate("install", *words) == (0, "", "")
    assert asked == [source]
