"""The check-out of a base: the whole revision, beside a checkout that nothing happens to."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

import support
from support.git_repos import SERVER, repo
from tollgate.base.processes import TooLongError
from tollgate.targets import checkout as checkouts
from tollgate.targets import leftovers, lock, pm2
from tollgate.targets.checkout import PlaceError
from tollgate.targets.git import GitError


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """Where processes are written down and what marks them, apart from any run's."""
    folder = tmp_path / "state"
    folder.mkdir()
    monkeypatch.setattr(lock, "STARTED", folder / "started.json")
    monkeypatch.setattr(pm2, "started_from", lambda: str(tmp_path))
    return folder


@pytest.fixture
def checkout(tmp_path):
    """A repository with two commits, changes, and a hook that would be noticed."""
    made = repo(tmp_path / "repo")
    made.write("link.txt", "linked")
    (made.root / "app" / "link").symlink_to("../link.txt")
    made.write(".gitattributes", "*.crlf text eol=crlf\nomitted.txt export-ignore\n")
    made.write("omitted.txt", "here")
    made.write("a.crlf", "one\ntwo\n")
    made.commit("second")
    for hook in ("post-checkout", "post-index-change"):
        made.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch '{tmp_path}/hooked'\n")
        (made.root / ".git" / "hooks" / hook).chmod(0o755)
    made.write(SERVER, "changed")
    return made


@pytest.fixture
def check_out(checkout, tmp_path):
    """Checks a revision of the repository out as a base; returns the folder."""

    def check_out(of):
        checkouts.check_out(checkout.root, of, tmp_path / "base")
        return tmp_path / "base"

    return check_out


def test_a_check_out_is_the_whole_revision_and_nothing_else(checkout, check_out):
    folder = check_out(checkout.git("rev-parse", "HEAD"))
    assert (folder / SERVER).read_text() == "second"
    assert (folder / "app" / "link").read_text() == "linked"
    assert (folder / "omitted.txt").exists()
    assert (folder / "a.crlf").read_bytes() == b"one\r\ntwo\r\n"
    folder = check_out(checkout.git("rev-parse", "HEAD~1"))
    assert sorted(it.name for it in folder.iterdir()) == [".git", "app"]
    assert (folder / SERVER).read_text() == "first"


def test_afterwards_the_checkout_is_as_it_was_and_no_hook_ran(checkout, tmp_path, check_out):
    before = checkout.state()
    git_before = sorted((checkout.root / ".git").rglob("*"))
    check_out(checkout.git("rev-parse", "HEAD"))
    for _ in range(2):
        checkouts.remove(tmp_path / "base", checkout.root)
        assert not (tmp_path / "base").exists()
    assert checkout.state() == before
    assert sorted((checkout.root / ".git").rglob("*")) == git_before
    assert not (tmp_path / "hooked").exists()


def test_meanwhile_no_branch_is_locked(checkout, check_out):
    check_out("main")
    checkout.git("switch", "--quiet", "--detach")
    checkout.git("switch", "--quiet", "main")
    checkout.git("branch", "--move", "main", "other")


def test_worktrees_of_the_user_s_stay_mounted_or_not(checkout, tmp_path, check_out):
    for name in ("base", "away"):
        mine = str(tmp_path / "mine" / name)
        checkout.git("worktree", "add", "--quiet", "--detach", mine, "HEAD")
    (tmp_path / "mine" / "away").rename(tmp_path / "unmounted")
    before = checkout.git("worktree", "list")
    check_out("HEAD")
    assert checkout.git("worktree", "list").count("\n") == 3
    checkouts.remove(tmp_path / "base", checkout.root)
    assert checkout.git("worktree", "list") == before


def test_an_entry_that_a_killed_git_left_locked_goes_with_the_next_check_out(checkout, check_out):
    check_out("HEAD")
    (checkout.root / ".git" / "worktrees" / "base" / "locked").write_text("initializing")
    assert (check_out("HEAD~1") / SERVER).read_text() == "first"
    assert checkout.git("worktree", "list").count("\n") == 1


def test_a_sparse_checkout_gets_the_whole_base_and_a_linked_worktree_is_like_any_other(
    checkout, check_out, tmp_path
):
    checkout.git("restore", ".")
    checkout.git("sparse-checkout", "set", "--no-cone", "/app/")
    assert not (checkout.root / "link.txt").exists()
    assert (check_out("HEAD") / "link.txt").exists()
    checkout.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), "HEAD~1")
    checkouts.check_out(tmp_path / "linked", "main", tmp_path / "base")
    assert (tmp_path / "base" / SERVER).read_text() == "second"


def test_called_from_a_hook_the_index_of_the_commit_under_way_is_left_alone(
    checkout, check_out, monkeypatch
):
    index = checkout.root / ".git" / "index"
    monkeypatch.setenv("GIT_DIR", str(index.parent))
    monkeypatch.setenv("GIT_INDEX_FILE", str(index))
    before = index.read_bytes()
    assert (check_out("HEAD~1") / SERVER).read_text() == "first"
    assert index.read_bytes() == before


def test_a_base_that_would_be_without_its_submodule_is_refused(checkout, tmp_path, check_out):
    lib = repo(tmp_path / "lib").root.as_uri()
    checkout.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", lib, "app/lib")
    checkout.commit("with lib")
    said = r"app/lib is a submodule in HEAD, .*: start both .* compare them with BASE_URL and HEAD"
    with pytest.raises(GitError, match=said):
        check_out("HEAD")
    assert not (tmp_path / "base").exists()


def test_a_check_out_that_is_still_there_is_not_checked_out_into(monkeypatch, check_out):
    check_out("HEAD~1")
    monkeypatch.setattr(checkouts.shutil, "rmtree", lambda *_, **__: None)
    with pytest.raises(PlaceError, match=r"/base can't be removed"):
        check_out("HEAD")


def test_a_check_out_that_fails_or_has_nothing_is_refused_in_one_line(checkout, check_out):
    blob = checkout.git("rev-parse", f"HEAD:{SERVER}")
    (checkout.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError, match=r"can't be checked out: (error|fatal): .*\Z"):
        check_out(checkout.git("rev-parse", "HEAD"))
    checkout.git("rm", "--quiet", "-r", "--force", ".")
    checkout.git("commit", "--quiet", "--message", "gone")
    with pytest.raises(GitError, match=r"^HEAD has no file: set BASE to a later commit$"):
        check_out("HEAD")


def test_the_next_run_removes_what_a_killed_one_left(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("TOLLGATE_HOME", str(tmp_path / "cache"))
    folder, link = checkouts.provide_folder(checkout.root, checkout.root), tmp_path / "link"
    checkouts.note(folder, link)
    checkouts.check_out(checkout.root, "HEAD", folder / checkouts.CHECKOUT)
    monkeypatch.setattr(leftovers, "BASE", link)
    monkeypatch.setattr(leftovers, "SUITE", checkout.root)
    monkeypatch.setattr(pm2, "PM2_HOME", tmp_path / "pm2")
    with monkeypatch.context() as patch:
        patch.setattr(checkouts.shutil, "rmtree", lambda *_, **__: None)
        [left] = leftovers.clean_up()
    assert left.endswith("/base can't be removed: remove it by hand")
    assert leftovers.clean_up() == [
        "removed the check-out of a base, left by a run that was killed"
    ]
    assert not folder.exists()
    assert not (checkout.root / ".git" / "worktrees").exists()
    assert leftovers.clean_up() == []


#: Prints nothing: a write to the pipe of a reader that was killed would end it.
SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]
SLEEPS = f"'{sys.executable}' -c 'import time; time.sleep(600)'"


# The second ends itself, but what it left holds the output open: nobody knows whether more comes.
@pytest.mark.parametrize("nested", [f"{SLEEPS} & wait", f"{SLEEPS} & exit 0"])
def test_a_command_that_takes_too_long_is_ended_with_what_it_has_started(tmp_path, nested):
    with pytest.raises(TooLongError, match=r"`sh -c` did not end within 0\.5 s"):
        checkouts.run(["sh", "-c", nested], tmp_path, os.environ | {"MARK": str(tmp_path)}, 0.5)
    support.wait_until(lambda: not marked(str(tmp_path)), "they have ended")
    assert not lock.STARTED.exists()


def marked(text):
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("MARK") == text and process.status() != "zombie":
                found.append(process)
        except psutil.Error:
            continue
    return found


RUNNER = """
import sys
from pathlib import Path
from tollgate.targets import checkout, lock
lock.STARTED = Path(sys.argv[1])
checkout.run(sys.argv[2:], Path.cwd(), __import__("os").environ, 600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_ends_with_who_waits_for_it_or_with_the_next_run(
    tmp_path, state, monkeypatch, number
):
    started, mark = state / "started.json", str(tmp_path)
    waiting = subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(started), *SLEEPER],
        env=support.environment(MARK=mark),
        stderr=subprocess.DEVNULL,
    )
    support.wait_until(lambda: len(marked(mark)) == 2, "both run")
    support.wait_until(started.exists, "it is written down")
    waiting.send_signal(number)
    waiting.wait(support.PATIENCE)
    if number == signal.SIGKILL:
        [orphan] = marked(mark)
        monkeypatch.setattr(leftovers, "BASE", tmp_path / "base")
        monkeypatch.setattr(pm2, "PM2_HOME", tmp_path / "pm2")
        [told] = leftovers.clean_up()
        assert told.startswith(f"ended pid {orphan.pid} (")
        assert told.endswith("), left by a run that was killed")
    support.wait_until(lambda: not marked(mark), "it has ended")
    assert not started.exists()


def test_a_command_s_output_and_exit_code_come_back(tmp_path):
    done = checkouts.run(["sh", "-c", "echo out; echo err >&2; exit 3"], tmp_path, os.environ, 60)
    assert (done.returncode, done.stdout) == (3, "out\nerr\n")
