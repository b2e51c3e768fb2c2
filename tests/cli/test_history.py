"""`tollgate history`: steps with the commits between them, and a gate on what has risen."""

import numpy as np
import pytest

from support import git_repos
from support.histories import measure, nights, noise, record, stepped
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
    ],
    ids=["nothing", "old", "new", "lasting", "faster", "first", "first and slow"],
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
    folder = kept([record(1, measure("\033[2J\033[31mred", "p50", 0.0))])
    assert "\033" not in tollgate("history", folder)[1]
