"""Where the code of an app lies, and what both sides get that git does not have."""

import json
import os

import pytest

from support.git_repos import repo
from tollgate.base.settings import SettingError
from tollgate.targets import checkout, lock, packages, pm2, sides
from tollgate.targets.git import GitError
from tollgate.targets.packages import PackagesError, Provision
from tollgate.targets.sides import Source


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "STARTED", tmp_path / "started.json")


@pytest.fixture
def made(tmp_path):
    """A repository with a service in a part of it."""
    found = repo(tmp_path / "repo")
    found.commit("http", "services/web/src/web.js")
    return found


def app(root, script="services/web/src/web.js", cwd="services/web", **more):
    return pm2.App("web", 4000, "fork", 1, script=str(root / script), cwd=str(root / cwd), **more)


def test_the_repository_is_that_of_the_script_and_the_folder_that_of_the_app(made):
    found = Source.of(app(made.root))
    assert (found.root, found.folder) == (made.root, made.root / "services" / "web")
    assert found.code == made.root / "services" / "web" / "src"


def test_of_a_command_on_path_and_of_a_package_the_code_is_where_the_app_runs(made, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin")
    folder = made.root / "services" / "web"
    for script in ("/usr/bin/npm", "services/web/node_modules/served/bin/served"):
        found = Source.of(app(made.root, script))
        assert (found.root, found.folder, found.code) == (made.root, folder, folder)


def test_a_script_in_no_repository_and_one_behind_a_link_are_refused(made, tmp_path):
    with pytest.raises(SettingError, match=r"lies in no git repository, .* BASE_URL and"):
        Source.of(app(tmp_path))
    (tmp_path / "link").symlink_to(made.root)
    with pytest.raises(SettingError, match="through a link: name it by its path in /"):
        Source.of(app(tmp_path / "link"))


def test_a_repository_that_git_does_not_trust_is_refused_with_how_to_trust_it(made, monkeypatch):
    for name in ("GLOBAL", "SYSTEM"):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", os.devnull)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    said = rf"^fatal: .*: call `git config --global --add safe\.directory {made.root}\S*`$"
    with pytest.raises(GitError, match=said):
        Source.of(app(made.root))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("../../../other", "write a path in the repository"),
        ("/etc/hosts", "write a path in the repository"),
        (".env", "make it or leave it out"),
    ],
)
def test_what_can_t_be_linked_is_refused(made, given, said):
    with pytest.raises(SettingError, match=said):
        packages.linked(Provision(link=(given,)), made.root / "services" / "web", made.root)


def test_what_base_has_committed_is_not_linked(made, tmp_path):
    checkout.check_out(made.root, "HEAD", tmp_path / "base")
    roots = tmp_path / "base", made.root
    with pytest.raises(PackagesError, match=r"web\.js, which base has committed: leave it out"):
        packages.provide(
            Provision(link=("web.js",)), made.root / "services/web/src", roots, tmp_path
        )


@pytest.mark.parametrize("step", ["install", "build"])
def test_a_command_that_fails_is_told_with_its_last_line(made, tmp_path, step):
    checkout.check_out(made.root, "HEAD", tmp_path / "base")
    roots, folder = (tmp_path / "base", made.root), made.root / "services" / "web"
    with pytest.raises(PackagesError) as refused:
        packages.provide(Provision(**{step: "echo no such thing; false"}), folder, roots, tmp_path)
    assert str(refused.value) == (
        "`echo no such thing; false` failed for base: no such thing (all of it: "
        f"{tmp_path / f'{step}-base.log'})"
    )


@pytest.mark.parametrize(
    ("files", "command"),
    [
        (["pnpm-lock.yaml"], "pnpm"),
        (["yarn.lock"], "yarn --frozen-lockfile"),
        (["yarn.lock", ".yarnrc.yml"], "yarn --immutable"),
        (["npm-shrinkwrap.json"], "npm"),
    ],
)
def test_packages_are_installed_by_whatever_wrote_the_lock_file(
    made, tmp_path, monkeypatch, files, command
):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("npm", "pnpm", "yarn"):
        (tools / name).write_text(f'#!/bin/sh\necho {name} "$@" > installed\n')
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    for name in files:
        made.write(f"services/web/{name}", "{}")
    made.commit(json.dumps({"name": "web"}), "services/web/package.json")
    checkout.check_out(made.root, "HEAD", tmp_path / "base")
    folder, roots = made.root / "services" / "web", (tmp_path / "base", made.root)
    assert packages.provide(Provision(), folder, roots, tmp_path) == "installed"
    said = (tmp_path / "base" / "services" / "web" / "installed").read_text()
    assert said.startswith(command.split()[0])
    assert set(command.split()) <= set(said.split())
    assert packages.locked_folders(folder, made.root) == [folder]


def test_an_app_without_packages_needs_none(made, tmp_path):
    checkout.check_out(made.root, "HEAD", tmp_path / "base")
    folder, roots = made.root / "services" / "web", (tmp_path / "base", made.root)
    assert packages.provide(Provision(), folder, roots, tmp_path) == "none are needed"


@pytest.mark.parametrize(
    ("value", "shared"),
    [
        ("postgres://me:secret@db/shop", "postgres://...@db/shop"),
        ("--data={folder}/store", "{folder}/store"),
        ("{folder}/shop.sqlite", "{folder}/shop.sqlite"),
        ("{folder}/config.json", None),
        ("http://127.0.0.1:9000/store", None),
    ],
)
def test_a_store_that_both_sides_have_is_told(tmp_path, value, shared):
    (tmp_path / "store").mkdir()
    env = {"PORT": "4000", "WHERE": value.format(folder=tmp_path)}
    both = [[pm2.App(it, 4000, "fork", 1, cwd="/", env=env)] for it in ("base", "head")]
    told = sides.shared_stores(both)
    expected = [f"base, head share {shared.format(folder=tmp_path)}: give"] if shared else []
    assert [it[: len(said)] for it, said in zip(told, expected, strict=True)] == expected
