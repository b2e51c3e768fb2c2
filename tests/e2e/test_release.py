"""What scripts/dev/build makes: a wheel, an sdist, and SBOMs of what a user gets at run time."""

import json
import re
import sys
import tarfile

import pytest

import support

pytestmark = pytest.mark.package

INSTALL = support.ROOT / "scripts" / "tollgate" / "install"
SBOMS = ("python", "node", "jmeter")


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The folder with all of it."""
    folder = tmp_path_factory.mktemp("release")
    done = support.run(support.ROOT / "scripts" / "dev" / "build", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def sbom(release):
    """Gives an SBOM by its name."""

    def read(name):
        [file] = release.glob(f"*-{name}.cdx.json")
        return json.loads(file.read_text())

    return read


def names_and_versions(sbom):
    return {(it["name"], it["version"]) for it in sbom["components"]}


def git(*arguments):
    done = support.run("git", *arguments, cwd=support.ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_release_is_a_wheel_an_sdist_and_three_sboms_of_one_version(release):
    names = {it.name for it in release.iterdir()}
    [version] = {re.match(r"tollgate-(\d+\.\d+\.\d+)", it)[1] for it in names}
    ends = ("-py3-none-any.whl", ".tar.gz", *(f"-{it}.cdx.json" for it in SBOMS))
    assert names == {f"tollgate-{version}{end}" for end in ends}
    link = f"/releases/download/v{version}/tollgate-{version}{ends[0]}\n"
    assert link in (support.ROOT / "README.md").read_text()


def test_the_wheel_made_from_the_sdist_is_the_one_made_from_what_git_holds(release, tmp_path):
    source, direct = tmp_path / "source", tmp_path / "direct"
    revision = git("stash", "create") or "HEAD"
    git("-c", "tar.umask=0022", "archive", "--output", tmp_path / "source.tar", revision)
    with tarfile.open(tmp_path / "source.tar") as opened:
        opened.extractall(source, filter="data")
    done = support.run(
        *(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", direct, source),
        env=support.environment(SOURCE_DATE_EPOCH=git("log", "-1", "--format=%ct")),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [made], [released] = direct.iterdir(), release.glob("*.whl")
    assert (made.name, made.read_bytes()) == (released.name, released.read_bytes())


def test_the_sdist_has_no_more_than_the_package_and_what_tells_of_it(release):
    [sdist] = release.glob("*.tar.gz")
    with tarfile.open(sdist) as opened:
        paths = [it.name.split("/", 1)[1] for it in opened.getmembers() if it.isfile()]
    package = {it for it in paths if it.startswith("scripts/tollgate/")}
    assert package == set(git("ls-files", "scripts/tollgate").splitlines())
    others = {
        it for it in paths if not it.startswith(("scripts/tollgate/", "scripts/tollgate.egg"))
    }
    told = {"CHANGELOG.md", "LICENSE", "NOTICE", "README.md", "requirements.lock"}
    assert others == told | {"MANIFEST.in", "PKG-INFO", "pyproject.toml", "setup.cfg"}


def test_the_sbom_of_python_packages_holds_those_of_the_users_lock(sbom):
    lock = (support.ROOT / "requirements.lock").read_text()
    assert names_and_versions(sbom("python")) == set(re.findall(r"^([\w.-]+)==(\S+)", lock, re.M))


def test_the_sbom_of_node_packages_holds_those_of_their_lock(sbom):
    lock = json.loads((INSTALL / "node" / "package-lock.json").read_text())["packages"]
    locked = {(path.split("node_modules/")[-1], it["version"]) for path, it in lock.items() if path}
    assert names_and_versions(sbom("node")) == locked


def test_the_sbom_of_jmeter_holds_the_jars_by_their_checksums(sbom):
    """But for the one that is unpacked into bin/."""
    pinned = {it.split()[0] for it in (INSTALL / "jmeter" / "jars.sha256").read_text().splitlines()}
    listed = {
        each["content"]
        for component in sbom("jmeter")["components"]
        for each in component["hashes"]
        if each["alg"] == "SHA-256" and component["name"] != "ApacheJMeter_config"
    }
    assert listed == pinned


def test_each_sbom_names_the_version_that_it_is_of(sbom):
    pyproject = (support.ROOT / "pyproject.toml").read_text()
    [version] = re.findall(r'^version = "(.*)"', pyproject, re.M)
    assert {sbom(it)["metadata"]["component"]["version"] for it in ("python", "node")} == {version}
