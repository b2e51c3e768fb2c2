"""git's own bisect over real histories. A step asks git for a word in a commit, and exits by it."""

import os
import signal
import subprocess
import sys

import pytest

import support
from support.git_repos import SERVER, repo
from tollgate.base.exit_codes import ExitCode
from tollgate.targets.bisection import SKIP, Bisection, Span, drive, steps
from tollgate.targets.git import GitError

#: What a commit's server says, and what a comparison of it would come to.
CODES = {
    "slow": ExitCode.FAIL,
    "noisy": ExitCode.INCONCLUSIVE,
    "broken": SKIP,
}


class Grep:
    """A step: `git grep` in the commit, whose first word that is found says how it ends."""

    def __init__(self, made, invalid=ExitCode.INVALID, **told_longer):
        """invalid: the code of that word. told_longer: of a word where it is measured longer."""
        self.made, self.told_longer = made, told_longer
        self.codes = CODES | {"invalid": invalid}
        self.asked = []

    def __call__(self, commit, longer):
        self.asked.append((commit, longer))
        for word, code in self.codes.items():
            grep = ("git", "grep", "--quiet", word, commit, "--", SERVER)
            if support.run(*grep, cwd=self.made.root).returncode == 0:
                return self.told_longer.get(word, code) if longer else code
        return ExitCode.PASS


class Has:
    """A step that fails where a commit has a file."""

    def __init__(self, made, path):
        self.made, self.path, self.asked = made, path, []

    def __call__(self, commit, _longer):
        self.asked.append(commit)
        done = support.run("git", "cat-file", "-e", f"{commit}:{self.path}", cwd=self.made.root)
        return ExitCode.PASS if done.returncode else ExitCode.FAIL


@pytest.fixture
def made(tmp_path):
    return repo(tmp_path / "repo")


@pytest.fixture
def begin(made, tmp_path):
    """Begins a bisect, or goes on with it."""

    def begin(good, bad="HEAD", root=made.root):
        return Bisection.of(tmp_path / "state" / "git", root, Span.of(root, good, bad))

    return begin


def history(made, *texts):
    """Commits them one after the other; returns their SHAs, that of the first commit first."""
    first = made.git("rev-parse", "HEAD")
    return [first, *(made.commit(f"{text} {at}") for at, text in enumerate(texts))]


@pytest.mark.parametrize("at", range(1, 17))
def test_whichever_commit_it_is_git_finds_it_within_the_steps_that_were_told(made, begin, at):
    shas = history(made, *("fast" if n < at else "slow" for n in range(1, 17)))
    found, step = begin(shas[0]), Grep(made)
    assert Span.of(made.root, shas[0], "HEAD").commits == found.left == 16
    assert drive(found, step) is None
    assert found.found == (shas[at],)
    assert found.bad == shas[at]
    assert len(step.asked) == len({*step.asked}) == steps(16) == 4
    assert {longer for _, longer in step.asked} == {False}


@pytest.mark.parametrize(("commits", "most"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (100, 7)])
def test_the_steps_are_those_of_halving(commits, most):
    assert steps(commits) == most


def test_the_only_commit_is_the_one(made, begin):
    shas = history(made, "slow")
    found = begin(shas[0])
    assert (found.found, found.candidate, found.left) == ((shas[1],), None, 1)


def test_what_can_t_be_told_is_measured_longer_and_then_skipped(made, begin):
    shas = history(made, "fast", "fast", "noisy", "slow", "slow")
    found, step = begin(shas[0]), Grep(made)
    assert drive(found, step) is None
    assert [it for it in step.asked if it[0] == shas[3]] == [(shas[3], False), (shas[3], True)]
    assert {*found.found} == {shas[3], shas[4]}
    assert found.bad == shas[4]


def test_what_is_told_when_measured_longer_counts(made, begin):
    shas = history(made, "fast", "fast", "noisy", "slow", "slow")
    found = begin(shas[0])
    assert drive(found, Grep(made, noisy=ExitCode.FAIL)) is None
    assert found.found == (shas[3],)


def test_a_commit_that_says_nothing_is_skipped_at_once(made, begin):
    shas = history(made, "fast", "broken", "fast", "slow", "slow")
    found, step = begin(shas[0]), Grep(made)
    assert drive(found, step) is None
    assert found.found == (shas[4],)
    assert all(not longer for _, longer in step.asked)


def test_an_invalid_step_stops_it_and_the_next_call_asks_for_the_same_commit(made, begin):
    shas = history(made, "fast", "fast", "invalid", "slow", "slow")
    stopped = Grep(made)
    assert drive(begin(shas[0]), stopped) == ExitCode.INVALID
    goes_on, found = Grep(made, ExitCode.PASS), begin(shas[0])
    assert found.candidate == stopped.asked[-1][0] == shas[3]
    assert drive(found, goes_on) is None
    assert found.found == (shas[4],)
    assert {commit for commit, _ in stopped.asked[:-1]}.isdisjoint(it for it, _ in goes_on.asked)


def test_the_user_s_repository_is_left_as_it_was_with_a_bisect_of_its_own(made, begin):
    shas = history(made, *["fast"] * 6, *["slow"] * 6)
    made.git("bisect", "start", "--no-checkout", "HEAD", shas[0])
    made.write(SERVER, "changed and not committed")
    made.write("new.js", "untracked")
    before, log = made.state(), made.git("bisect", "log")
    files = sorted((made.root / ".git").rglob("*"))
    found = begin(shas[0], "main")
    assert drive(found, Grep(made)) is None
    assert found.found == (shas[7],)
    assert (made.state(), made.git("bisect", "log")) == (before, log)
    assert sorted((made.root / ".git").rglob("*")) == files
    assert (made.root / SERVER).read_text() == "changed and not committed"


@pytest.fixture
def merged(made):
    """A branch from before GOOD and one from behind it, both merged; returns SHAs by their names.
    The branch from before lacks what GOOD has."""
    made.commit("other", "other.txt")
    made.git("branch", "old")
    found = {"good": made.commit("fast")}
    made.git("switch", "--quiet", "--create", "young")
    found["young"] = made.commit("young", "young.txt")
    made.git("switch", "--quiet", "old")
    found["old"] = made.commit("old", "old.txt")
    made.git("switch", "--quiet", "main")
    for name in ("young", "old"):
        made.git("merge", "--quiet", "--no-ff", "--message", f"merge {name}", name)
        found[f"merge {name}"] = made.git("rev-parse", "HEAD")
    found["bad"] = made.commit("last", "last.txt")
    return found


def test_commits_of_a_branch_from_before_good_come_with_their_merge(made, begin, merged):
    span = Span.of(made.root, merged["good"], "HEAD")
    assert (span.commits, span.hidden, span.apart) == (4, 1, (merged["old"],))
    found, step = begin(merged["good"]), Has(made, "old.txt")
    assert drive(found, step) is None
    assert found.found == (merged["merge old"],)
    assert merged["old"] not in step.asked


def test_a_commit_of_a_branch_from_behind_good_is_found_itself(made, begin, merged):
    found = begin(merged["good"])
    assert drive(found, Has(made, "young.txt")) is None
    assert found.found == (merged["young"],)


def test_what_is_no_span_is_refused_in_a_line_with_the_next_step(made, merged):
    root, good, old = made.root, merged["good"], merged["old"]
    parted = made.git("merge-base", good, old)
    for names, said in {
        (good, good): f"GOOD and BAD are both {good[:7]}: name an older GOOD",
        ("HEAD", good): f"BAD '{good}' is older than GOOD 'HEAD': name the older one first",
        (good, "old"): f"GOOD '{good}' is no ancestor of BAD 'old', as one of both has to be: name "
        f"where they part, {parted[:7]}, as GOOD",
    }.items():
        with pytest.raises(GitError) as refused:
            Span.of(root, *names)
        assert str(refused.value) == said
    for names, whose in ((("none", "HEAD"), "GOOD"), (("HEAD", "--all"), "BAD")):
        with pytest.raises(GitError, match=rf"^{whose} is '\S+', and git knows no such commit"):
            Span.of(root, *names)


def test_histories_without_a_common_commit_are_refused(made):
    made.git("checkout", "--quiet", "--orphan", "other")
    made.commit("other")
    with pytest.raises(GitError, match=r"^GOOD 'main' is no ancestor .*: name another GOOD$"):
        Span.of(made.root, "main", "other")


@pytest.mark.parametrize("kind", ["shallow", "partial", "linked", "sha256"])
def test_it_reads_any_repository(made, begin, tmp_path, kind):
    other = made
    if kind == "sha256":
        other = repo(tmp_path / "other")
        (other.root / ".git").rename(tmp_path / "gone")
        other.git("init", "--quiet", "--initial-branch=main", "--object-format=sha256")
        other.commit("first")
    shas = history(other, "fast", "fast", "slow", "slow")
    if kind == "shallow":
        other = made.clone(tmp_path / "clone", "--depth", "4")
    elif kind == "partial":
        made.git("config", "uploadpack.allowFilter", "true")
        other = made.clone(tmp_path / "clone", "--no-checkout", "--filter=tree:0")
    elif kind == "linked":
        other.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    root = tmp_path / "linked" if kind == "linked" else other.root
    found = begin(shas[1], root=root)
    assert drive(found, Grep(other)) is None
    assert found.found == (shas[3],)


def test_a_user_for_whom_git_looks_for_no_bare_repository_has_one_all_the_same(
    made, begin, monkeypatch
):
    config = {"COUNT": "1", "KEY_0": "safe.bareRepository", "VALUE_0": "explicit"}
    for name, value in config.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    shas = history(made, "fast", "slow")
    found = begin(shas[0])
    assert drive(found, Grep(made)) is None
    assert found.found == (shas[2],)


def test_a_start_that_was_cut_off_begins_anew(made, begin, monkeypatch):
    def cut_off(*_):
        raise KeyboardInterrupt

    shas = history(made, "fast", "slow")
    with monkeypatch.context() as patch:
        patch.setattr(Bisection, "_bisect", cut_off)
        with pytest.raises(KeyboardInterrupt):
            begin(shas[0])
    found = begin(shas[0])
    assert drive(found, Grep(made)) is None
    assert found.found == (shas[2],)


def test_one_that_is_broken_names_the_folder_without_which_it_goes_on(made, begin):
    shas = history(made, "fast", "slow")
    found = begin(shas[0])
    (found.folder / "objects" / "info" / "alternates").unlink()
    said = rf"^`git \S+` failed in {found.folder}: .*: remove {found.folder}, and the same command"
    with pytest.raises(GitError, match=said):
        drive(found, Grep(made))


#: Is told where it lies, where the user's repository is, both ends, and the commit at which it
#: stays.
DRIVER = """
import subprocess, sys, time
from pathlib import Path
from tollgate.targets.bisection import Bisection, Span, drive
folder, root, good, bad, stays = sys.argv[1:]
def step(commit, longer):
    print(commit, flush=True)
    while commit == stays:
        time.sleep(60)
    grep = ("git", "grep", "--quiet", "slow", commit)
    return 3 if subprocess.run(grep, cwd=root).returncode == 0 else 0
drive(Bisection.of(Path(folder), Path(root), Span.of(Path(root), good, bad)), step)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_one_that_was_ended_goes_on_where_it_was(made, begin, tmp_path, number):
    shas = history(made, *["fast"] * 10, *["slow"] * 6)
    before, files = made.state(), sorted((made.root / ".git").rglob("*"))
    first = Grep(made)
    drive(Bisection.of(tmp_path / "whole", made.root, Span.of(made.root, shas[0], "HEAD")), first)
    whole = [commit for commit, _ in first.asked]
    words = [str(tmp_path / "state" / "git"), str(made.root), shas[0], "HEAD", whole[2]]
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, *words],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with driver:
        assert [driver.stdout.readline().strip() for _ in range(3)] == whole[:3]
        driver.send_signal(number)
    step, found = Grep(made), begin(shas[0])
    assert drive(found, step) is None
    assert [commit for commit, _ in step.asked] == whole[2:]
    assert found.found == (shas[11],)
    assert made.state() == before
    assert sorted((made.root / ".git").rglob("*")) == files
