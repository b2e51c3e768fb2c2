"""`tollgate history`: steps with the commits between them, and a gate on what has risen."""

import os
from dataclasses import replace

import numpy as np
import pytest

import support
from support import git_repos
from support.histories import leave, measure, nights, noise, record, stepped
from tollgate.base import paths
from tollgate.history import files

STEP = 40


@pytest.fixture
def kept(tmp_path):
    """Keeps records; gives the folder that has them."""

    def keep(records, name="history"):
        files.collect(records, tmp_path / name)
        return tmp_path / name

    return keep


@pytest.fixture
def repo(tmp_path):
    return git_repos.repo(tmp_path / "service")


def ratios(nights, *steps, seed=1):
    rng = np.random.default_rng(seed)
    return np.expm1(stepped(nights, *steps) + noise(rng, nights, wild=0))


def test_a_step_is_shown_with_the_commits_between_its_runs_and_what_else_changed(
    tollgate, kept, repo
):
    old = repo.git("rev-parse", "HEAD")
    repo.commit("faster they say")
    new = repo.commit("cache nothing")
    changes = ratios(48, (STEP, 0.045))
    versions = dict.fromkeys(("tollgate", "node", "java", "jmeter", "taurus", "pm2", "python"), "1")
    records = [
        record(
            night,
            measure("sum", "p50", it),
            commit=new if night >= STEP else old,
            versions=versions | {"node": "22.1" if night >= STEP else "20.2"},
        )
        for night, it in enumerate(changes)
    ]
    code, out, _ = tollgate("history", kept(records), "--repository", repo.root)
    assert code == 0
    lines = out.splitlines()
    at = next(at for at, it in enumerate(lines) if it.startswith("p50 of sum +4."))
    assert records[STEP - 1].run in lines[at + 1]
    assert records[STEP].run in lines[at + 1]
    shown = [it.split(maxsplit=1)[1] for it in lines[at + 2 : at + 4]]
    assert shown == ["cache nothing", "faster they say"]
    assert lines[at + 4] == "  also changed: node 20.2 to 22.1"


def test_commits_that_git_does_not_know_and_runs_of_one_commit_are_said_to_be(tollgate, kept, repo):
    changes = ratios(48, (STEP, 0.045))
    _, out, _ = tollgate("history", kept(nights(changes)), "--repository", repo.root)
    assert "is not in this repository" in out
    same = nights(changes, commit="a" * 40, setup="other")
    _, out, _ = tollgate("history", kept(same, "same"), "--repository", repo.root)
    assert "both runs measured aaaaaaa" in out


def test_what_is_no_commit_is_not_given_to_git(tollgate, kept, repo, tmp_path):
    changes = ratios(48, (STEP, 0.045))
    folder = kept(nights(changes, commit=f"--output={tmp_path}/written"))
    assert tollgate("history", folder, "--repository", repo.root)[0] == 0
    assert not list(tmp_path.glob("written*"))


@pytest.mark.parametrize(
    ("changes", "code", "reason"),
    [
        (ratios(48), 0, None),
        (ratios(60, (STEP, 0.045)), 0, None),
        (ratios(48, (STEP, 0.045)), 3, "a step of +4."),
        (ratios(60, (STEP, 0.08)), 3, "since the anchor"),
        (ratios(48, (STEP, -0.08)), 0, None),
        ([0.0], 0, None),
        ([0.3], 3, "since the anchor"),
        ([0.0, 0.0, 9.0], 3, "in the newest run"),
        ([0.0, 9.0, 0.0, 9.0], 3, "in the newest run"),
        ([0.0, 9.0, 0.0], 0, None),
    ],
    ids=[
        *("nothing", "old", "new", "lasting", "faster", "first", "first and slow"),
        *("one night", "every second night", "the night after"),
    ],
)
def test_the_gate_ends_with_3_for_a_rise_since_the_anchor_and_a_new_step_alone(
    changes, code, reason, tollgate, kept
):
    folder = kept(nights(changes))
    given, out, _ = tollgate("history", folder, "--gate")
    assert given == code
    failed = [it for it in out.splitlines() if it.startswith("  FAIL compare: p50 of sum")]
    assert len(failed) == (1 if code else 0)
    if reason:
        assert reason in failed[0]
    assert tollgate("history", folder)[0] == 0


def test_how_long_a_step_counts_can_be_said(tollgate, kept):
    folder = kept(nights(ratios(60, (STEP, 0.045))))
    assert tollgate("history", folder, "--gate", "--newest", "7")[0] == 0
    assert tollgate("history", folder, "--gate", "--newest", "30")[0] == 3


def test_records_of_jobs_come_together_in_a_folder_each_once(tollgate, kept, tmp_path):
    records = nights([0.0] * 5)
    one, two = kept(records[:3], "one"), kept(records[2:], "two")
    code, out, _ = tollgate("history", one, two, "--to", tmp_path / "all")
    assert (code, out.splitlines()[0]) == (0, f"{tmp_path / 'all'}: 5 of 5 records were new")
    assert files.read([tmp_path / "all"]) == records
    out = tollgate("history", one, "--to", tmp_path / "all")[1]
    assert out.splitlines()[0] == f"{tmp_path / 'all'}: 0 of 3 records were new"


def test_a_gate_on_no_comparison_is_refused(tollgate, kept):
    check = [record(1, measure("sum", "p95", 9.0, effect=False), kind="check", anchor=None)]
    folder = kept(check)
    assert tollgate("history", folder)[0] == 0
    code, _, err = tollgate("history", folder, "--gate")
    assert code == 1
    assert "none of 1 runs is a comparison with an anchor" in err
    code, _, err = tollgate("history", kept(nights([0.0])), "--anchor", "v9")
    assert code == 1
    assert "'v9'" in err


@pytest.mark.parametrize("words", [("--newest", "0"), ("--newest", "soon")])
def test_a_wrong_option_is_refused_in_one_line(words, refusal):
    assert f"{words[1]!r} is no number of runs" in refusal("history", *words)


def test_a_folder_without_records_is_refused_with_the_next_step(refusal, tmp_path):
    assert "make a run, or name another" in refusal("history", tmp_path)


def test_what_a_record_holds_moves_no_cursor(tollgate, kept):
    evil = "\033[2J\033[31mred\n::add-mask::red"
    records = [
        replace(
            record(night, measure(evil, "p50", it), kind=evil, cpu=f"{evil} {night >= STEP}"),
            failed=(evil,),
        )
        for night, it in enumerate(ratios(48, (STEP, 0.045)))
    ]
    code, out, _ = tollgate("history", kept(records), "--gate")
    assert (code, out.count("a step of +4.")) == (3, 1)
    assert "also changed: CPU " in out
    assert "\033" not in out
    assert not [it for it in out.splitlines() if it.strip().startswith("::")]


def test_a_label_is_printed_in_any_encoding(kept):
    folder = kept([record(1, measure("search → book", "p50", 0.0))])
    env = support.environment(PYTHONIOENCODING="iso-8859-1")
    done = support.tollgate("history", folder, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert "  search ? book  " in done.stdout


def test_why_no_commits_are_listed_is_said(tollgate, kept, repo, tmp_path, monkeypatch):
    folder = kept(nights(ratios(48, (STEP, 0.045))))

    def said(place):
        code, out, err = tollgate("history", folder, "--repository", place)
        assert (code, err) == (0, "")
        return next(it for it in out.splitlines() if "is not known: " in it)

    assert "is not in this repository: `git fetch` it" in said(repo.root)
    repo.commit("second")
    shallow = repo.clone(tmp_path / "shallow", "--depth=1")
    assert "is not in this repository: `git fetch --unshallow` gets" in said(shallow.root)
    assert "fatal: not a git repository" in said(tmp_path)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert "fatal: detected dubious ownership" in said(repo.root)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git is not on PATH: install it" in said(repo.root)


def test_the_gate_of_a_run_is_that_of_its_record_and_of_those_before_it(tollgate, kept, tmp_path):
    slow, fine = nights([0.3, 0.0])
    folder = kept([slow, fine])
    for each, code in ((slow, 3), (fine, 0)):
        run = leave(each, tmp_path / "reports")
        assert tollgate("history", folder, "--gate", "--run", run)[0] == code


def test_the_record_of_a_run_counts_where_the_history_does_not_have_it(
    tollgate, kept, tmp_path, monkeypatch
):
    before, slow = nights([0.3, 0.3])
    reports = tmp_path / "reports"
    (reports / "latest").symlink_to(leave(slow, reports))
    words = ("history", "--gate", "--run", reports / "latest")
    code, out, _ = tollgate(*words, kept([before]))
    assert code == 3
    assert "compare, compare against 1a2b3c4 (v1.2): 2 runs, " in out
    monkeypatch.setattr(paths, "HISTORY", tmp_path / "none")
    code, out, _ = tollgate(*words)
    assert code == 3
    assert "compare, compare against 1a2b3c4 (v1.2): 1 run, " in out


def test_the_gate_of_a_run_that_left_nothing_to_decide_is_refused(refusal, kept, tmp_path):
    words = ("history", kept(nights([0.0])), "--gate", "--run")
    said = refusal(*words, tmp_path / "none")
    assert said == f"tollgate: {tmp_path / 'none'} is no folder of a run\n"
    (tmp_path / "invalid").mkdir()
    left = f"{tmp_path / 'invalid'} left no record, as a run that is INVALID"
    assert left in refusal(*words, tmp_path / "invalid")
    short = replace(record(1), executions=())
    check = record(2, measure("sum", "p95", 9.0, effect=False), kind="check", anchor=None)
    for each in (short, check):
        run = leave(each, tmp_path)
        assert f"{run} measured nothing that can gate: " in refusal(*words, run)
    assert "not allowed with argument" in refusal(*words, run, "--anchor", "v1.2")


def test_what_a_run_of_another_kind_measured_is_shown_without_a_gate(tollgate, kept, tmp_path):
    check = record(2, measure("sum", "p95", 9.0, effect=False), kind="check", anchor=None)
    code, out, _ = tollgate("history", kept(nights([0.0])), "--run", leave(check, tmp_path))
    assert (code, out.splitlines()[0].split(":")[0]) == (0, "check, fork")


def test_a_fail_that_is_no_metric_fails_the_gate(tollgate, kept):
    lost = "compare: reload of fork 1 lost 3 requests"
    failed = replace(nights([0.0])[0], failed=(lost,))
    code, out, _ = tollgate("history", kept([failed]), "--gate")
    assert code == 3
    assert out.splitlines()[-2:] == ["FAIL: 1 reason", f"  FAIL {failed.run}: {lost}"]


def test_an_empty_anchor_is_refused(refusal, kept):
    said = refusal("history", kept(nights([0.0])), "--anchor", "")
    assert said == "tollgate: --anchor is empty: name the release\n"


def test_a_newer_run_that_failed_before_it_measured_anything_fails_the_gate(tollgate, kept):
    quiet, lost = nights([0.0] * 4), "compare: every request of sum to head failed"
    dead = replace(record(4), executions=(), verdict="FAIL", failed=(lost,))
    for each, said in ((dead, lost), (replace(dead, failed=()), "it failed, and measured nothing")):
        code, out, _ = tollgate("history", kept([*quiet, each], f"with {said[:2]}"), "--gate")
        assert (code, out.splitlines()[-1]) == (3, f"  FAIL {dead.run}: {said}")
    mended = kept([*quiet, dead, *nights([0.0] * 6)[5:]], "mended")
    assert tollgate("history", mended, "--gate")[0] == 0
    other = kept([*quiet, replace(dead, kind="soak")], "other")
    assert tollgate("history", other, "--gate")[0] == 0


def test_what_the_newest_run_lacks_is_named_until_it_is_old(tollgate, kept):
    quiet = nights([0.0] * 4)
    for runs, is_named in ((1, True), (7, False)):
        others = [record(4 + it, measure("list", "p50", 0.0)) for it in range(runs)]
        _, out, _ = tollgate("history", kept([*quiet, *others], f"{runs}"))
        line = "  INCONCLUSIVE compare: p50 of sum was not measured by the newest run"
        assert (line in out.splitlines()) == is_named
        assert [it.split()[0] for it in out.splitlines() if "  sum  " in it] == ["informational"]
