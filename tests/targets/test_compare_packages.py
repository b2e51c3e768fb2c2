"""The Node packages of a base: head's where they are the same, else by the real npm."""

import json
import os
import shutil
import subprocess

import pytest

from tollgate.targets import lock, packages
from tollgate.targets.packages import PackagesError, check_head_packages, provide_packages


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """Where processes are written down, and no settings of npm's but these."""
    monkeypatch.setattr(lock, "STARTED", tmp_path / "started.json")
    monkeypatch.setenv("npm_config_offline", "true")
    monkeypatch.setenv("npm_config_userconfig", os.devnull)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))


def npm(folder, *arguments):
    subprocess.run(["npm", *arguments], cwd=folder, check=True, capture_output=True)


def project(folder, version, dependency="file:says.tgz"):
    """A service that needs a package which says what another one says: its version."""
    code = {"tool": "require('says')", "says": f"'{version}'"}
    for name, exported in code.items():
        lib = folder / f"lib-{name}"
        lib.mkdir(parents=True)
        (lib / "package.json").write_text(json.dumps({"name": name, "version": version}))
        (lib / "index.js").write_text(f"module.exports = {exported};")
        npm(folder, "pack", f"./lib-{name}", "--silent")
        (folder / f"{name}-{version}.tgz").rename(folder / f"{name}.tgz")
    needs = {"name": "service", "dependencies": {"tool": "file:tool.tgz", "says": dependency}}
    (folder / "package.json").write_text(json.dumps(needs))
    npm(folder, "install", "--package-lock-only")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two versions of the service, the first one with its packages installed."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("npm_config_offline", "true")
        patch.setenv("npm_config_userconfig", os.devnull)
        for version in ("1.0.0", "2.0.0"):
            project(folder / version, version)
        npm(folder / "1.0.0", "ci")
    return folder


@pytest.fixture
def root(made, tmp_path):
    """Head, with its packages."""
    return shutil.copytree(made / "1.0.0", tmp_path / "root", symlinks=True)


@pytest.fixture
def base(made, tmp_path):
    """Makes check-outs of a version, each in a folder of its own outside of the project."""

    def check_out(version="2.0.0", name="base"):
        ignored = shutil.ignore_patterns("node_modules")
        return shutil.copytree(made / version, tmp_path / "place" / name, ignore=ignored)

    return check_out


@pytest.fixture
def given(root, tmp_path):
    """Gives a check-out its packages, and returns what that said."""
    return lambda folder: provide_packages(root, (folder, root), tmp_path / "npm.log")


def version_in(folder):
    """What Node finds there."""
    asked = ["node", "-p", "require('tool')"]
    return subprocess.run(asked, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("of", ["package.json", "pnpm-workspace.yaml"])
def test_packages_of_a_workspace_are_always_installed(base, given, root, of):
    folder = base("1.0.0")
    for place in (folder, root):
        if of == "package.json":
            described = json.loads((place / of).read_text())
            (place / of).write_text(json.dumps(described | {"workspaces": ["packages/*"]}))
        else:
            (place / of).write_text("packages: ['packages/*']\n")
    assert given(folder) == "installed"
    assert not (folder / "node_modules").is_symlink()


def test_a_base_that_asks_for_the_same_shares_the_packages_of_head(base, given, root):
    folder = base("1.0.0")
    assert given(folder) == "the same as head's"
    assert (folder / "node_modules").readlink() == root / "node_modules"
    assert version_in(folder) == "1.0.0\n"
    shutil.rmtree(folder)  # which leaves the packages whole
    assert version_in(root) == "1.0.0\n"


def test_a_base_with_another_lock_file_gets_its_own_packages(base, given, root):
    folder = base()
    assert given(folder) == "installed"
    assert version_in(folder) == "2.0.0\n"
    assert version_in(root) == "1.0.0\n"


@pytest.mark.parametrize("file", ["package.json", ".npmrc"])
def test_what_npm_installs_by_is_part_of_what_is_asked_for(base, given, monkeypatch, file):
    monkeypatch.setitem(packages.INSTALLERS, "package-lock.json", ("mkdir", "node_modules"))
    folder = base("1.0.0")
    with (folder / file).open("a") as text:
        text.write("\n")
    assert given(folder) == "installed"


@pytest.mark.parametrize(
    ("scripts", "said"),
    [
        ({"postinstall": "patch-package"}, "installed"),
        ({"prepare": "husky && node make.js"}, "installed"),
        ({"prepare": "husky || true", "test": "node --test"}, "the same as head's"),
    ],
)
def test_packages_that_a_script_of_the_service_may_change_are_not_shared(
    base, given, root, monkeypatch, scripts, said
):
    monkeypatch.setitem(packages.INSTALLERS, "package-lock.json", ("mkdir", "node_modules"))
    folder = base("1.0.0")
    for place in (folder, root):
        described = json.loads((place / "package.json").read_text())
        (place / "package.json").write_text(json.dumps(described | {"scripts": scripts}))
    assert given(folder) == said


def test_what_installs_git_s_hooks_is_told_to_install_none(base, given, monkeypatch):
    command = ("/bin/sh", "-c", "env > seen")
    monkeypatch.setitem(packages.INSTALLERS, "package-lock.json", command)
    folder = base()
    assert given(folder) == "installed"
    seen = {*(folder / "seen").read_text().splitlines()}
    assert {"HUSKY=0", "HUSKY_SKIP_INSTALL=1", "SKIP_INSTALL_SIMPLE_GIT_HOOKS=1"} <= seen


@pytest.mark.parametrize("who", ["base", "both"])
def test_packages_that_are_part_of_the_checkout_are_not_shared(tmp_path, given, root, who):
    linked = project(tmp_path / "linked", "3.0.0", dependency="file:./lib-says")
    if who == "both":
        shutil.rmtree(root)
        shutil.copytree(linked, root)
        npm(root, "ci")
        (root / "lib-says" / "index.js").write_text("module.exports = 'changed';")
    assert given(linked) == "installed"
    assert version_in(linked) == "3.0.0\n"


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("package-lock.json", "{", "can only install with an existing package-lock.json"),
        ("tool.tgz", "no archive", "sha512"),
    ],
)
def test_packages_that_can_t_be_installed_are_told_in_one_line(
    base, given, tmp_path, file, content, why
):
    folder = base()
    (folder / file).write_text(content)
    with pytest.raises(PackagesError) as refused:
        given(folder)
    said = str(refused.value)
    assert said.startswith("`npm ci` failed for base: ")
    assert why in said
    assert said.endswith(f"(all of it: {tmp_path / 'npm.log'})")
    assert "\n" not in said
    assert (tmp_path / "npm.log").read_text()


def test_without_a_lock_file_or_without_npm_a_base_is_refused(base, given, monkeypatch):
    folder = base()
    (folder / "package-lock.json").unlink()
    with pytest.raises(PackagesError, match=r"base has no package-lock\.json"):
        given(folder)
    monkeypatch.setitem(packages.INSTALLERS, "package-lock.json", ("no-such-npm", "ci"))
    with pytest.raises(PackagesError, match="no-such-npm is not on PATH"):
        given(base(name="other"))


def test_packages_in_the_repository_stay_what_they_are(base, given):
    folder = base()
    (folder / "node_modules" / "tool").mkdir(parents=True)
    (folder / "node_modules" / "tool" / "index.js").write_text("module.exports = 'committed';")
    assert given(folder) == "as committed"
    assert version_in(folder) == "committed\n"


def test_head_must_have_what_its_lock_file_asks_for(made, root):
    check_head_packages(root)
    found = json.loads((root / "package-lock.json").read_text())
    for kind in ("dev", "optional", "devOptional"):  # they need not be installed
        found["packages"][f"node_modules/{kind}"] = {"version": "1.0.0", kind: True}
    (root / "package-lock.json").write_text(json.dumps(found))
    check_head_packages(root)
    shutil.copyfile(made / "2.0.0" / "package-lock.json", root / "package-lock.json")
    said = "asks for node_modules/says 2.0.0, and 1.0.0 is installed, .*: run `npm ci`"
    with pytest.raises(PackagesError, match=said):
        check_head_packages(root)
    shutil.rmtree(root / "node_modules")
    with pytest.raises(PackagesError, match=r"the packages of head are unknown: .*\.package-lock"):
        check_head_packages(root)


ONE, OTHER = {"integrity": "sha512-a"}, {"integrity": "sha512-b"}
FIRST, SECOND = ({"resolved": f"git+ssh://host/it.git#{number}"} for number in (1, 2))


@pytest.mark.parametrize(
    ("asked", "found", "same"),
    [
        *((ONE, OTHER, False), ({"integrity": "sha1-c sha512-a"}, ONE, True)),
        *((FIRST, SECOND, False), (FIRST, OTHER, True)),
        # From a mirror, which has the same under another address.
        (*(ONE | {"resolved": f"https://{name}.example/it.tgz"} for name in ("one", "two")), True),
    ],
)
def test_a_version_alone_does_not_make_a_package_the_same(tmp_path, asked, found, same):
    (tmp_path / "node_modules").mkdir()
    for name, told in (("package-lock.json", asked), ("node_modules/.package-lock.json", found)):
        packages = {"node_modules/it": {"version": "1.0.0", **told}}
        (tmp_path / name).write_text(json.dumps({"packages": packages}))
    if same:
        check_head_packages(tmp_path)
        return
    said = "asks for node_modules/it 1.0.0, and another one of that version is installed, so"
    with pytest.raises(PackagesError, match=said):
        check_head_packages(tmp_path)
