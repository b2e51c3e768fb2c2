"""Commits that are built once, beside a repository that nothing happens to."""

import json
import os
import re
import shutil
import sys

import pytest

import support
from support.git_repos import SERVER, repo
from tollgate.base.text import UserError
from tollgate.targets import builds as module
from tollgate.targets import leftovers, lock, packages, pm2
from tollgate.targets.builds import Builds, NotBuiltError
from tollgate.targets.packages import Provision
from tollgate.targets.sides import Source

#: Says in a file how often it ran, by a line each time.
INSTALL = "echo installed >> '{}' && mkdir -p node_modules && cp package.json node_modules/it"


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """Where processes are written down, apart from any run's."""
    folder = tmp_path / "state"
    folder.mkdir()
    for name, path in {"STATE": folder, "LOCK": "run.lock", "STARTED": "started.json"}.items():
        monkeypatch.setattr(lock, name, folder / path)
    monkeypatch.setattr(leftovers, "BASE", folder / "base")
    monkeypatch.setattr(pm2, "PM2_HOME", folder / "pm2")
    monkeypatch.setattr(pm2, "started_from", lambda: str(tmp_path))
    monkeypatch.setenv("TOLLGATE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A repository in which three commits ask for the same packages, and one for others."""
    found = repo(tmp_path / "repo")
    monkeypatch.setattr(module, "SUITE", found.root)
    found.write(".gitignore", "node_modules\n.env\nbuilt\n")
    found.write("package-lock.json", "{}")
    found.write("package.json", json.dumps({"name": "first"}))
    found.commit("first")
    return found


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The file to which npm adds a line each time that it installs."""
    tools, told = tmp_path / "tools", tmp_path / "installed"
    support.script(tools / "npm", INSTALL.format(told))
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    return told


@pytest.fixture
def builds(made, state):
    """Makes builds of the repository's app."""

    def of(**provision):
        root = str(made.root)
        app = pm2.App("web", 4000, "fork", 1, script=f"{root}/{SERVER}", cwd=root)
        source = Source(made.root, made.root, made.root / "app")
        return Builds(source, app, Provision(**provision), state)

    return of


def lines(path):
    return path.read_text().count("\n") if path.exists() else 0


def test_a_commit_is_built_once_and_packages_are_shared_where_it_asks_for_the_same(
    made, builds, installed
):
    good, second = made.git("rev-parse", "HEAD"), made.commit("second")
    third = made.commit(json.dumps({"name": "others"}), "package.json")
    before, files = made.state(), sorted((made.root / ".git").rglob("*"))
    its = builds()
    for _ in range(2):
        folders = [its.provide(commit, good) for commit in (good, second, third)]
        assert [(it / SERVER).read_text() for it in folders] == ["first", "second", "second"]
        assert lines(installed) == 2
    assert (folders[1] / "node_modules").readlink() == folders[0] / "node_modules"
    assert "others" in (folders[2] / "node_modules" / "it").read_text()
    # They are no check-outs, and none of them is in the repository or knows its packages.
    assert not any((it / ".git").exists() for it in folders)
    assert not any(it.is_relative_to(made.root) for it in folders)
    assert made.state() == before
    assert sorted((made.root / ".git").rglob("*")) == files


def test_what_git_ignores_is_linked_and_the_build_runs_in_each_commit(made, builds, installed):
    made.write(".env", "SECRET=1")
    good, second = made.git("rev-parse", "HEAD"), made.commit("second")
    its = builds(install="true", build=f"cp {SERVER} built", link=(".env",))
    folders = [its.provide(commit, good) for commit in (good, second)]
    assert [(it / "built").read_text() for it in folders] == ["first", "second"]
    assert {(it / ".env").readlink() for it in folders} == {made.root / ".env"}
    assert not (made.root / "built").exists()
    assert lines(installed) == 0


def test_what_the_app_has_written_is_gone_before_the_next_comparison(made, builds, tmp_path):
    good = made.git("rev-parse", "HEAD")
    its = builds(install=f"echo >> '{tmp_path}/times'")
    folder = its.provide(good, good)
    late = (folder / SERVER).stat().st_mtime + 10
    for path, times in (("node_modules/cache", 1), ("data/shop.db", 2), (SERVER, 3)):
        written = folder / path
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text("by the app")
        os.utime(written, (late, late))
        assert its.provide(good, good) == folder
        assert lines(tmp_path / "times") == times
    assert not (folder / "data").exists()
    assert (folder / SERVER).read_text() == "first"


def test_another_way_to_build_is_another_build(made, builds, tmp_path):
    good = made.git("rev-parse", "HEAD")
    for times in (1, 2):
        builds(install=f"echo {times} >> '{tmp_path}/times'").provide(good, good)
        assert lines(tmp_path / "times") == times


@pytest.mark.parametrize(
    ("provision", "said"),
    [
        ({"install": "echo no such thing; false"}, r"failed for {}: no such thing \(all of it: /"),
        ({"install": "true", "build": "false"}, r"`false` failed for {}: it said nothing"),
        ({"install": "rm app/server.js"}, r"^{} has no app/server\.js$"),
        # It is npm that can't resolve it, and not the machine.
        ({"install": "echo Could not resolve dependency; false"}, "not resolve dependency"),
    ],
)
def test_a_commit_that_can_t_be_built_is_told_and_leaves_nothing(made, builds, provision, said):
    before, commit = made.state(), made.git("rev-parse", "HEAD")
    its = builds(**provision)
    with pytest.raises(NotBuiltError, match=said.format(commit[:7])):
        its.provide(commit, commit)
    assert made.state() == before
    assert list(its.place.iterdir()) == []


@pytest.mark.parametrize(
    "said",
    [
        "ENOSPC: no space left on device, write",
        "getaddrinfo EAI_AGAIN packages.example.org",
        "curl: (6) Could not resolve host: example.org",
        "Temporary failure in name resolution",
        "dial tcp: lookup example.org: no such host",
    ],
)
def test_what_the_machine_is_to_blame_for_is_not_put_on_the_commit(made, builds, said):
    commit, its = made.git("rev-parse", "HEAD"), builds(install=f"echo '{said}'; echo no; false")
    told = rf" failed for {commit[:7]}: no \(.*\); with that mended, the same command goes on$"
    with pytest.raises(UserError, match=told):
        its.provide(commit, commit)
    assert list(its.place.iterdir()) == []


def test_a_build_that_a_service_of_its_own_does_not_answer_can_t_be_made(made, builds):
    commit, its = made.git("rev-parse", "HEAD"), builds(build="echo ECONNREFUSED; false")
    with pytest.raises(NotBuiltError, match=f"failed for {commit[:7]}: ECONNREFUSED"):
        its.provide(commit, commit)


def test_neither_are_a_missing_program_and_a_full_disk(made, builds, monkeypatch):
    commit = made.git("rev-parse", "HEAD")
    monkeypatch.setitem(packages.INSTALLERS, "package-lock.json", ("no-such-npm", "ci"))
    said = rf"^no-such-npm is not on PATH: install it for {commit[:7]}; with that mended, the same"
    with pytest.raises(UserError, match=said):
        builds().provide(commit, commit)
    monkeypatch.setattr(module.room, "free", lambda _: 0)
    full = re.escape(module.room.full(builds().place))
    with pytest.raises(UserError, match=rf"^{full}: .*; with that mended, the same command goes"):
        builds(install="false").provide(commit, commit)


def test_half_of_a_build_is_none(made, builds, tmp_path, monkeypatch):
    def cut_off(*_):
        raise KeyboardInterrupt

    commit = made.git("rev-parse", "HEAD")
    its = builds(install=f"echo >> '{tmp_path}/times'")
    shutil.rmtree(its.provide(commit, commit))
    assert not its.has(commit)
    its.provide(commit, commit)
    assert its.has(commit)
    assert lines(tmp_path / "times") == 2
    monkeypatch.setattr(module.checkout, "remove", cut_off)
    with pytest.raises(KeyboardInterrupt):
        its.keep(())
    assert its.folder(commit).exists()
    assert not its.has(commit)


def test_a_commit_without_the_app_s_folder_says_so(made, state):
    first = made.git("rev-parse", "HEAD")
    made.commit("http", "services/web/web.js")
    folder = made.root / "services" / "web"
    app = pm2.App("web", 4000, "fork", 1, script=f"{folder}/web.js", cwd=str(folder))
    its = Builds(Source(made.root, folder, folder), app, Provision(install="true"), state)
    with pytest.raises(NotBuiltError, match=rf"^{first[:7]} has no services/web: take a later"):
        its.provide(first, first)


def test_a_good_without_a_lock_file_is_refused_where_packages_are_needed(made, builds):
    made.git("rm", "--quiet", "package-lock.json")
    commit = made.commit("no lock file")
    assert builds().provide(commit, commit).exists()
    made.write("node_modules/it/index.js", "")
    builds().clear()
    said = rf"^{commit[:7]} has no lock file in \., by which .* name an `install` command"
    with pytest.raises(NotBuiltError, match=said):
        builds().provide(commit, commit)


def test_a_commit_with_a_submodule_can_t_be_built(made, builds, tmp_path):
    lib = repo(tmp_path / "lib").root.as_uri()
    made.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", lib, "app/lib")
    commit = made.commit("with lib")
    with pytest.raises(NotBuiltError, match="app/lib is a submodule in"):
        builds().provide(commit, commit)


def test_those_that_are_not_needed_are_removed_and_at_the_end_all(made, builds):
    good, second = made.git("rev-parse", "HEAD"), made.commit("second")
    its = builds(install="true")
    folders = [its.provide(commit, good) for commit in (good, second)]
    its.keep({good})
    assert [it.exists() for it in folders] == [True, False]
    assert its.provide(second, good) == folders[1]
    its.clear()
    assert not its.place.exists()
    assert made.git("worktree", "list").count("\n") == 0


def test_while_a_run_is_under_way_nothing_is_built(made, builds):
    commit, its = made.git("rev-parse", "HEAD"), builds(install="true")
    with lock.take_lock(), pytest.raises(UserError, match="another run is under way"):
        its.provide(commit, commit)
    its.provide(commit, commit)


#: Builds a commit whose build sends SIGINT to this process, and goes on for a minute.
INTERRUPTED = """
import sys
from pathlib import Path
from tollgate.targets import builds, leftovers, lock, pm2
from tollgate.targets.packages import Provision
from tollgate.targets.sides import Source
root, state, commit = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
builds.SUITE = root
lock.STATE, lock.LOCK, lock.STARTED = state, state / "run.lock", state / "started.json"
leftovers.BASE, pm2.PM2_HOME = state / "base", state / "pm2"
pm2.started_from = lambda: str(state)
app = pm2.App("web", 4000, "fork", 1, script=str(root / "app" / "server.js"), cwd=str(root))
source = Source(root, root, root / "app")
slow = Provision(install="kill -INT $PPID; sleep 60")
builds.Builds(source, app, slow, state).provide(commit, commit)
"""


def test_an_interrupted_build_leaves_nothing(made, state, tmp_path):
    before, commit = made.state(), made.git("rev-parse", "HEAD")
    files = sorted((made.root / ".git").rglob("*"))
    done = support.run(
        *(sys.executable, "-c", INTERRUPTED, made.root, state, commit),
        env=support.environment(PYTHONPATH=os.pathsep.join(sys.path)),
    )
    assert "KeyboardInterrupt" in done.stderr
    assert made.state() == before
    assert sorted((made.root / ".git").rglob("*")) == files
    [place] = (tmp_path / "cache").iterdir()
    assert list(place.iterdir()) == []
    assert not (state / "started.json").exists()
