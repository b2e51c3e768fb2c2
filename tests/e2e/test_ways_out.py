"""Every way out of a run: one clear line, the right exit code, nothing left behind."""

import re
import signal

import pytest

import support
from e2e.bzt_run import LENIENT, Finished, Run, mostly_right, only, seconds
from tollgate.report.pages.runs import build as runs_page

LONG = seconds(1, 60)
#: One execution, which is interrupted before it is through; the first one of two may be through.
FORK = {"~execution": [{"scenario": "fork"}]}
COUNTS = {**FORK, "modules": {"verdict": {"cut-short-counts": True}}}


def assert_readable(ended, verdict):
    """The folder has what a person and a program look for, and can be judged again."""
    present = {path.name for path in ended.folder.iterdir()}
    assert {"verdict.json", "verdict.md", "junit.xml", "run.json"} <= present
    assert (*ended.outcome, ended.verdict["exit_code"]) == (2, verdict, 2)
    again = ended.judged_again()
    assert (again.returncode, again.stderr) == (2, "")
    assert f"\n{verdict}: " in again.stdout
    assert f"\n{verdict}: " in ended.output
    assert "Traceback" not in ended.output


def test_an_app_that_dies_at_start_ends_the_run_with_its_last_words(tmp_path):
    ended = Run(tmp_path, PI_POINTS="many").end_cleanly()
    assert ended.code == 1
    assert "app 'fork' died at start" in ended.error()
    assert 'PI_POINTS is "many"' in ended.error()
    assert "PI_POINTS" in (ended.folder / "pm2-fork-error.log").read_text()


def test_a_target_that_answers_wrong_gets_no_load(tmp_path):
    probes = [{"path": "/sum/1000", "answer": '"sum":1$'}]
    config = {"~services": [{"module": "targets", "probes": probes}]}
    ended = Run(tmp_path, config=config).end_cleanly()
    assert ended.code == 1
    assert all(words in ended.error() for words in ("GET /sum/1000", "500500"))
    assert not list(ended.folder.glob("kpi*"))


def assert_turned_away(second, first):
    """A second run in the same checkout does not begin, and the first one goes on."""
    assert second.code == 1
    said = f"another run is under way in this suite (bzt with pid {first.process.pid})"
    assert said in second.error()
    assert not second.folder.exists()
    assert first.process.poll() is None


@pytest.mark.long
def test_of_two_starts_at_once_one_runs_and_a_signal_under_load_keeps_its_samples(tmp_path):
    reports = tmp_path / "reports"
    reports.mkdir()
    runs_page.write(reports)  # so that `latest` is kept up here
    ran = reports / "chosen"  # for both; names with a time in them are in test_artifacts.py
    options = (*LONG, f"settings.artifacts-dir={ran}")
    both = [Run(tmp_path / name, *options, dashboards=True) for name in ("one", "other")]
    support.wait_until(lambda: any(it.process.poll() is not None for it in both), "one has ended")
    first, second = sorted(both, key=lambda it: it.process.poll() is not None)
    refused = second.end()
    assert refused.code == 1
    assert "under way" in refused.error()
    assert_turned_away(Run(tmp_path / "late").end(), first.until(" of 61 s, "))
    ended = first.signal(signal.SIGINT).end_cleanly()
    assert refused.error().split("ERROR: ")[1] not in (ran / "bzt.log").read_text()
    assert (reports / "latest").resolve() == ran
    assert not (ran / "merged-1.yml").exists(), "Taurus numbers what it finds already"
    assert_interrupted_under_load(Finished(ended.code, ended.output, ran))


def assert_interrupted_under_load(ended):
    assert (ended.folder / "kpi.jtl").stat().st_size > 0
    assert_readable(ended, "INVALID")
    assert "INVALID the run was interrupted" in ended.reasons()
    assert re.search(r"INVALID fork: cut short after [\d.]+ s of 61 s$", ended.reasons(), re.M)
    assert "INVALID cluster: it never began: the run was interrupted before" in ended.reasons()
    assert "service" not in {it["fault"] for it in ended.verdict["reasons"]}
    assert (ended.folder / "dashboard" / "fork" / "index.html").exists()
    assert "no dashboard of cluster: it has no samples" in ended.output


@pytest.mark.long
def test_a_signal_while_the_targets_start_leaves_a_verdict_and_nothing_else(tmp_path):
    ended = Run(tmp_path, *LONG).until("under PM2...").signal(signal.SIGINT).end_cleanly()
    assert_readable(ended, "INVALID")
    assert "nothing ran: the run was interrupted before any load" in ended.reasons()


@pytest.mark.long
def test_a_signal_in_the_warm_up_says_that_nothing_was_measured(tmp_path):
    run = Run(tmp_path, *seconds(60, 30), config=COUNTS, dashboards=True).until(" of 90 s, ")
    ended = run.signal(signal.SIGINT).end_cleanly()
    assert_readable(ended, "INVALID")
    said = r"INVALID fork: cut short after [\d.]+ s of 90 s, in the warm-up: nothing was measured"
    assert re.fullmatch(said, ended.reasons())
    assert (ended.folder / "dashboard" / "fork" / "index.html").exists()


@pytest.mark.long
def test_the_next_run_cleans_up_after_a_killed_one_and_may_count_though_cut_short(tmp_path):
    ports = {name: str(support.free_port()) for name in ("PORT_FORK", "PORT_CLUSTER")}
    modules = {"verdict": {**LENIENT, "cut-short-counts": True}}
    cluster = only("cluster", mostly_right("calculate"), modules, warmup=1, measured=60)
    killed = Run(tmp_path / "killed", config=cluster, **ports).until(" of 61 s, ")
    killed.kill()
    assert killed.left_behind() != []
    run = Run(tmp_path / "next", config=cluster, **ports).until(" of 61 s, ")
    support.wait_until(lambda: run.log.read_text().count(" of 61 s, ") > 2, "seconds have passed")
    ended = run.signal(signal.SIGTERM).end_cleanly()
    assert "left by a run that was killed" in ended.output
    assert_readable(ended, "PASS")
    warnings = ended.execution["warnings"]
    (told,) = [text for text in warnings if text.startswith("cut short after ")]
    assert told.endswith(" s of 61 s: judged by what was measured until then")
    assert told in (ended.folder / "verdict.md").read_text()
