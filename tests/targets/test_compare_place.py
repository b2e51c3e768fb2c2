"""Where a base stands: nothing there of head's, of somebody else's, or left afterwards."""

import os
import subprocess
from types import SimpleNamespace

import pytest

from support.git_repos import repo
from tollgate.targets import checkout
from tollgate.targets.checkout import PlaceError


@pytest.fixture
def root(tmp_path):
    """A project with a package that no lock file of base's asks for."""
    folder = tmp_path / "project"
    package(folder, "accelerator")
    (folder / ".tollgate").mkdir()
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Where the tools are, apart from the user's own cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TOLLGATE_HOME", str(folder))
    monkeypatch.setattr(checkout.paths, "user_cache", lambda: tmp_path / "user")
    return folder


def package(folder, name):
    made = folder / "node_modules" / name
    made.mkdir(parents=True)
    (made / "index.js").write_text("module.exports = 'found';")


def finds(folder, name):
    """Whether Node finds a package there."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = ["node", "-e", f"require('{name}')"]
    return subprocess.run(asked, cwd=folder, capture_output=True, check=False).returncode == 0


def test_what_a_base_lacks_is_not_found_among_head_s_packages(root, cache, tmp_path):
    assert finds(root / ".tollgate" / "base", "accelerator")
    folder = checkout.provide_folder(root, root)
    assert folder.is_relative_to(cache)
    assert not finds(folder / checkout.CHECKOUT, "accelerator")
    package(tmp_path, "accelerator")  # which head sees as well
    assert checkout.provide_folder(root, root).is_relative_to(cache)


def test_it_is_the_user_s_alone_and_the_same_in_the_next_run(root):
    folder = checkout.provide_folder(root, root)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert checkout.provide_folder(root, root) == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def test_two_suites_that_are_compared_at_once_have_two_places(root, tmp_path):
    folder = checkout.provide_folder(root, root)
    (tmp_path / "another").mkdir()
    assert checkout.provide_folder(tmp_path / "another", root) != folder
    root.rename(tmp_path / "moved")  # as another container has one of the same path
    root.mkdir()
    assert checkout.provide_folder(root, root) != folder


def test_a_place_below_packages_that_head_does_not_see_is_passed_over(root, tmp_path):
    package(tmp_path / "cache", "accelerator")
    folder = checkout.provide_folder(root, root)
    assert folder.parent == tmp_path / "user"
    assert not finds(folder, "accelerator")


def test_a_cache_inside_the_repository_gives_way_to_the_user_s(tmp_path, monkeypatch):
    made = repo(tmp_path / "repo")
    suite = made.root / "perf"
    suite.mkdir()
    (tmp_path / "link").symlink_to(made.root)
    for inside in (suite / ".tollgate", made.root / "cache", tmp_path / "link" / "cache"):
        monkeypatch.setenv("TOLLGATE_HOME", str(inside))
        assert checkout.provide_folder(suite, made.root).parent == tmp_path / "user"
        assert not inside.exists()


def test_without_a_place_one_line_names_each_and_the_next_step(root, cache, monkeypatch):
    cache.write_text("no folder")
    monkeypatch.setattr(checkout.paths, "user_cache", lambda: root / "user")
    with pytest.raises(PlaceError) as refused:
        checkout.provide_folder(root, root)
    said = str(refused.value)
    assert said.startswith(f"base must stand outside of {root}, and there is no place for it: ")
    assert f"{cache}/base-" in said
    assert "can't be had (Not a directory); " in said
    assert "lies inside the repository; " in said
    assert said.endswith("set TOLLGATE_HOME to a folder of your own outside of it")


def test_a_folder_of_that_name_that_is_not_ours_is_passed_over(root, cache, tmp_path, monkeypatch):
    folder = checkout.provide_folder(root, root)
    folder.rmdir()
    (tmp_path / "theirs").mkdir()
    folder.symlink_to(tmp_path / "theirs")
    assert checkout.provide_folder(root, root).parent != tmp_path / "theirs"
    folder.unlink()
    assert checkout.provide_folder(root, root) == folder
    somebody_else = os.getuid() + 1
    monkeypatch.setattr(checkout.paths, "user_cache", lambda: cache)
    monkeypatch.setattr(os, "getuid", lambda: somebody_else)
    with pytest.raises(PlaceError, match="belongs to another user"):
        checkout.provide_folder(root, root)


def test_where_compiled_packages_would_not_load_is_no_place(root, cache, tmp_path, monkeypatch):
    def flags(path):
        return SimpleNamespace(f_flag=8 if os.fspath(path).startswith(str(cache)) else 0)

    monkeypatch.setattr(checkout, "_NOEXEC", 8)
    monkeypatch.setattr(os, "statvfs", flags)
    assert checkout.provide_folder(root, root).parent == tmp_path / "user"


def test_a_check_out_is_found_by_its_link_and_leaves_nothing(root, monkeypatch):
    link = root / ".tollgate" / "base"
    assert not checkout.clear(link, root)
    folder = checkout.provide_folder(root, root)
    checkout.note(folder, link)
    (folder / checkout.CHECKOUT / "tree").mkdir(parents=True)
    assert (link / "tree").exists()
    with monkeypatch.context() as patch:
        patch.setattr(checkout.shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(PlaceError, match=r"/base can't be removed: remove it by hand"):
            checkout.clear(link, root)
    assert link.is_symlink()
    assert checkout.clear(link, root)
    assert not link.is_symlink()
    assert not folder.exists()


def test_a_link_that_leads_elsewhere_removes_nothing(root, tmp_path):
    link = root / ".tollgate" / "base"
    (tmp_path / "precious" / "base").mkdir(parents=True)
    link.symlink_to(tmp_path / "precious" / "base")
    assert not checkout.clear(link, root)
    assert (tmp_path / "precious" / "base").exists()
