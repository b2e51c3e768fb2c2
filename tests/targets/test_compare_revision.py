"""Which commit is the base, in real repositories."""

import shutil

import pytest

from support.git_repos import SERVER, Repo, repo
from tollgate.targets import git
from tollgate.targets.git import GitError, find_revisions


@pytest.fixture
def upstream(tmp_path):
    """The shared repository, with two commits on main."""
    made = repo(tmp_path / "upstream")
    made.commit("second")
    return made


@pytest.fixture
def clone(upstream, tmp_path):
    """A clone of it on a branch with a commit of its own, while main went on."""
    made = upstream.clone(tmp_path / "clone")
    upstream.commit("third")
    made.git("fetch", "--quiet")
    made.git("switch", "--quiet", "--create", "feature")
    made.commit("feature")
    return made


def refused(root, wanted=None):
    with pytest.raises(GitError) as refusal:
        find_revisions(root, wanted)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def test_the_base_is_where_the_branch_left_the_main_branch_of_the_remote(clone):
    found = find_revisions(clone.root, None)
    assert found.base == clone.git("rev-parse", "HEAD~1")
    assert found.base_text == f"{found.base[:7]} (merge base with origin/main)"
    assert found.head == clone.git("rev-parse", "HEAD")
    assert found.head_text == f"working tree at {found.head[:7]}"
    assert not found.is_control


def test_a_detached_head_is_no_different_and_the_merge_of_a_pull_request_is_based_on_main(clone):
    expected = find_revisions(clone.root, None)
    clone.git("checkout", "--quiet", "--detach")
    assert find_revisions(clone.root, None) == expected
    clone.git("merge", "--quiet", "--strategy=ours", "--message", "merge", "origin/main")
    assert find_revisions(clone.root, None).base == clone.git("rev-parse", "origin/main")


def test_the_remote_of_the_branch_goes_before_origin(clone, tmp_path):
    other = repo(tmp_path / "other")
    clone.git("remote", "rename", "origin", "mine")
    clone.git("remote", "add", "origin", other.root.as_uri())
    clone.git("fetch", "--quiet", "origin")
    clone.git("branch", "--set-upstream-to=mine/main")
    assert find_revisions(clone.root, None).base_is.startswith("merge base with mine/")


def test_without_a_remote_the_local_main_branch_has_to_do(tmp_path):
    made = repo(tmp_path / "alone")
    made.git("branch", "--move", "master")
    made.git("switch", "--quiet", "--create", "feature")
    made.commit("feature")
    assert find_revisions(made.root, None).base_is == "merge base with master"


def test_on_the_main_branch_with_nothing_ahead_it_says_what_to_set(upstream, tmp_path):
    said = refused(upstream.clone(tmp_path / "fresh").root)
    for words in ("nothing that origin/main has not", "BASE=HEAD~1", "BASE=HEAD for the control"):
        assert words in said


@pytest.mark.parametrize("path", ["app/server.js", "app/new.js", "README.md", "lib/new.js"])
def test_changes_on_the_main_branch_are_compared_with_its_commit(upstream, path):
    upstream.commit("read me", "README.md")
    upstream.write(path, "changed")
    found = find_revisions(upstream.root, None)
    assert (found.base, found.is_commit) == (found.head, False)
    assert found.changed[0] in (path, "lib/")
    assert found.head_text.endswith(", with changes")
    assert not found.is_control


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_a_file_that_git_was_told_not_to_look_at_may_be_anything(upstream, flag):
    upstream.git("update-index", flag, SERVER)
    upstream.write(SERVER, "changed")
    assert upstream.git("status", "--porcelain") == ""
    found = find_revisions(upstream.root, "HEAD")
    assert found.changed == (SERVER,)
    assert not found.is_control


def test_a_clean_tree_is_the_control_also_where_its_folder_of_reports_is_a_link(upstream, tmp_path):
    reports = upstream.root / "reports"
    assert find_revisions(upstream.root, "HEAD").is_control
    upstream.commit("A page.", "reports/README.md")
    shutil.rmtree(reports)
    reports.symlink_to(tmp_path)
    assert find_revisions(upstream.root, "HEAD", apart_from=[reports]).is_control


def test_what_git_ignores_beside_the_app_is_head_s_alone_and_no_control(upstream):
    app = upstream.root / "app"
    upstream.commit("*.local.json\nnode_modules/\n", ".gitignore")
    upstream.write("notes.local.json", "no part of the app")
    upstream.write("app/node_modules/express/index.js", "installed")
    assert find_revisions(upstream.root, "HEAD", app).is_control
    upstream.write("app/config.local.json", "{}")
    assert find_revisions(upstream.root, "HEAD").is_control
    assert find_revisions(upstream.root, "HEAD", app, [app / "config.local.json"]).is_control
    found = find_revisions(upstream.root, "HEAD", app)
    assert (found.changed, found.ignored) == ((), ("app/config.local.json",))
    assert not found.is_control
    assert found.head_text.endswith(", with changes")
    assert "nothing to compare" in refused(upstream.root)


def test_a_change_inside_a_submodule_is_a_change(upstream, tmp_path):
    lib = repo(tmp_path / "lib").root.as_uri()
    upstream.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", lib, "app/lib")
    upstream.git("config", "--file", ".gitmodules", "submodule.app/lib.ignore", "all")
    upstream.commit("with lib")
    assert find_revisions(upstream.root, "HEAD").is_control
    upstream.write("app/lib/app/server.js", "changed")
    assert find_revisions(upstream.root, "HEAD").changed == ("app/lib",)


@pytest.mark.parametrize("name", ["v1", "HEAD~1", "v1~0", ":/first"])
def test_a_base_may_be_named_in_every_way_that_git_knows(upstream, name):
    upstream.git("tag", "--annotate", "--message", "v1", "v1", "HEAD~1")
    found = find_revisions(upstream.root, name)
    assert found.base == upstream.git("rev-parse", "HEAD~1")
    assert found.base_text == f"{found.base[:7]} ({name})"
    assert not found.is_control


@pytest.mark.parametrize("name", ["featur", "--all", "HEAD:app", "f00f00f", ""])
def test_a_base_that_git_does_not_know_is_refused_with_what_to_do(clone, name):
    said = refused(clone.root, name)
    assert said.startswith(f"BASE is {name!r}, and git knows no such commit in {clone.root}: `git")


def test_a_branch_that_the_remote_alone_has_is_named_as_git_knows_it(clone):
    clone.git("branch", "--delete", "--force", "main")
    assert refused(clone.root, "main").endswith(f"in {clone.root}: did you mean 'origin/main'?")


def test_a_shallow_clone_without_the_merge_base_says_how_to_get_it(clone, tmp_path):
    shallow = clone.clone(tmp_path / "shallow", "--depth=1", "--no-single-branch")
    shallow.git("update-ref", "refs/remotes/origin/HEAD", "origin/main")
    shallow.git("switch", "--quiet", "--orphan", "unrelated")
    shallow.commit("unrelated")
    for wanted in (None, "v0"):
        said = refused(shallow.root, wanted)
        assert "git fetch --unshallow" in said
        assert "fetch-depth: 0" in said
    single = clone.clone(tmp_path / "single", "--depth=1", "--branch=feature", "--single-branch")
    single.git("remote", "set-head", "origin", "--delete")
    said = refused(single.root)
    assert said.startswith("no main branch is known here (there is no origin/main, origin/master,")
    assert "set BASE, or `git fetch --unshallow`" in said


def test_what_has_no_history_to_find_a_base_in_is_refused(upstream, tmp_path, monkeypatch):
    upstream.git("switch", "--quiet", "--orphan", "unrelated")
    upstream.commit("unrelated")
    assert "HEAD and main have no commit in common; or set BASE" in refused(upstream.root)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "not a git repository" in refused(tmp_path)
    Repo(tmp_path).git("init", "--quiet")
    assert "has no commit yet" in refused(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git is not on PATH" in refused(tmp_path)


def test_git_looks_at_the_checkout_also_from_a_hook_and_changes_nothing(
    clone, upstream, monkeypatch
):
    clone.write("app/new.js", "new")
    before, expected = clone.state(), find_revisions(clone.root, None)
    find_revisions(clone.root, "HEAD")
    assert clone.state() == before
    monkeypatch.setenv("GIT_DIR", str(upstream.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(upstream.root / ".git" / "index"))
    assert find_revisions(clone.root, None) == expected


def test_what_git_gives_as_the_reason_is_one_line():
    text = "warning: a\nfatal: detected dubious ownership\nTo add an exception:\n"
    assert git.said(text) == "fatal: detected dubious ownership"
    assert git.said("\n") == "it gave no reason"
