"""A release has one version and one repository, which pyproject.toml alone states, and a file for
each part of it."""

import json
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

import pytest

import support
from support import ROOT

VERSION = metadata.version("tollgate")
PROJECT = (ROOT / "pyproject.toml").read_text()
REPOSITORY = re.search(r'^Repository = "https://github\.com/(.*)"$', PROJECT, re.MULTILINE)[1]
RELEASE, FILES = (ROOT / "scripts" / "dev" / name for name in ("release", "release-files"))
COPIED = (
    *(
        "pyproject.toml",
        "CHANGELOG.md",
        "README.md",
        "docs",
        "changelog.d",
        ".github/ISSUE_TEMPLATE",
    ),
    "scripts/dev/release",
)
#: A version right behind the name, as in a file's name, a link or a requirement, but for one with
#: which a page's figures were measured.
STATED = re.compile(r"(?<!Versions: )\btollgate[\W_]{1,4}v?\d+\.\d+\.\d+", re.IGNORECASE)
#: Files that have the version in a link, which `scripts/dev/release check` compares.
LINKS = ("README.md", "docs/getting-started.md")


class Project:
    """A copy of what the script reads and writes, with the command towncrier."""

    def __init__(self, root):
        self.root = root
        for name in COPIED:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, root / name)
        for change in root.glob("changelog.d/*.*.md"):  # of this checkout, since its last release
            change.unlink()
        (root / ".venv" / "bin").mkdir(parents=True)
        towncrier = Path(sys.executable).with_name("towncrier")
        (root / ".venv" / "bin" / "towncrier").symlink_to(towncrier)
        support.run("git", "init", "--quiet", cwd=root)

    def release(self, *arguments):
        return support.run(self.root / "scripts" / "dev" / "release", *arguments, cwd=self.root)

    def refusal(self, *arguments):
        """The one line with which the script refuses."""
        done = self.release(*arguments)
        assert (done.returncode, done.stdout) == (1, "")
        [line] = done.stderr.splitlines()
        return line

    def change(self, path, old, new):
        text = (self.root / path).read_text()
        assert old in text
        (self.root / path).write_text(text.replace(old, new))


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_the_repository_keeps_to_what_pyproject_states():
    done = support.run(RELEASE, "check")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_tag_that_differs_from_the_version_is_refused_in_one_line(project):
    assert project.release("check", f"v{VERSION}", REPOSITORY).returncode == 0
    for tag in (VERSION, f"v{VERSION}rc1", "v0.0.1"):
        line = project.refusal("check", tag, REPOSITORY)
        assert line.startswith(
            f"release: the tag {tag} is not v{VERSION}, the version of pyproject"
        )


def test_a_repository_of_another_name_is_refused_until_pyproject_and_the_pages_have_it(project):
    assert f"names {REPOSITORY}, and this is acme/gate" in project.refusal(
        "check", f"v{VERSION}", "acme/gate"
    )
    project.change("pyproject.toml", f"github.com/{REPOSITORY}", "github.com/acme/gate")
    assert "README.md names another release" in project.refusal("check")
    assert project.release("fill").returncode == 0
    assert project.release("check", f"v{VERSION}", "acme/gate").returncode == 0
    texts = [path.read_text() for path in project.root.rglob("*") if path.suffix in (".md", ".yml")]
    assert not [text for text in texts if f"{REPOSITORY}/" in text]


@pytest.mark.parametrize("path", LINKS)
def test_a_link_to_another_release_is_refused(path, project):
    project.change(path, f"/v{VERSION}/tollgate-{VERSION}", f"/v{VERSION}/tollgate-0.0.1")
    assert f"{path} names another release" in project.refusal("check")


def test_a_changelog_of_another_version_and_changes_without_one_are_refused(project):
    (project.root / "changelog.d" / "+dark.added.md").write_text("The page has a dark theme.\n")
    assert project.release("check").returncode == 0
    line = project.refusal("check", f"v{VERSION}", REPOSITORY)
    assert line == "release: changelog.d still has +dark.added.md"
    project.change("CHANGELOG.md", f"## [{VERSION}]", "## [0.0.1]")
    assert "CHANGELOG.md ends with 0.0.1" in project.refusal("check")


def test_a_new_version_takes_the_changes_and_stands_everywhere(project):
    for name, text in {
        "+dark.added": "The page has a dark theme.",
        "12.fixed": "Nothing leaks.",
    }.items():
        (project.root / "changelog.d" / f"{name}.md").write_text(f"{text}\n")
    done = project.release("new", "7.0.0")
    assert done.returncode == 0, done.stderr
    assert project.release("check", "v7.0.0", REPOSITORY).returncode == 0
    notes = project.release("notes").stdout
    assert notes == (
        "### Added\n\n- The page has a dark theme.\n\n### Fixed\n\n- Nothing leaks. (#12)\n"
    )
    assert f"\n## [{VERSION}] - " in (project.root / "CHANGELOG.md").read_text()
    assert "/v7.0.0/tollgate-7.0.0-py3-none-any.whl" in (project.root / "README.md").read_text()
    assert "has 7.0.0 already" in project.refusal("new", "7.0.0")
    assert "is no version" in project.refusal("new", "seven")


def test_nothing_else_states_the_version():
    listed = support.run("git", "ls-files", cwd=ROOT).stdout.splitlines()
    apart = ("tests/", "scripts/dev/certification/data/")
    files = [path for path in listed if not path.startswith(apart)]
    assert "pyproject.toml" in files
    texts = {path: (ROOT / path).read_bytes().decode(errors="ignore") for path in files}
    stating = {path for path, text in texts.items() if STATED.search(text)}
    assert stating == {*LINKS, "CHANGELOG.md"}
    for name in ("package.json", "package-lock.json"):
        assert "version" not in json.loads((ROOT / name).read_text())


def test_each_change_is_a_file_of_one_line():
    files = [path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    lines = {path.name: path.read_text().splitlines() for path in files}
    assert not [name for name, text in lines.items() if len(text) != 1 or len(text[0]) > 250]


BUILDS = 'for end in -py3-none-any.whl .tar.gz; do echo built >"$1/tollgate-7.0.0$end"; done'


def test_the_files_of_a_release_are_built_in_one_folder_with_their_checksums(tmp_path):
    root, scripts = tmp_path / "project", tmp_path / "project" / "scripts" / "dev"
    scripts.mkdir(parents=True)
    shutil.copy(FILES, scripts)
    support.script(scripts / "build", BUILDS)
    support.script(scripts / "jmeter-archive", 'echo jmeter >"$1/tollgate-jmeter.tar.gz"')
    support.script(scripts / "image", f'echo "$*" >{tmp_path}/image')
    site = 'for folder; do :; done; mkdir -p "$folder"; echo page >"$folder/index.html"'
    support.script(root / ".venv" / "bin" / "mkdocs", site)
    support.script(tmp_path / "bin" / "buildah", 'place=${4#*:}; echo image >"${place%%:*}"')
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    done = support.run(
        *(scripts / "release-files", "dist", "--isolation", "chroot"),
        cwd=root,
        env=support.environment(PATH=path),
    )
    assert done.returncode == 0, done.stderr
    sums = (root / "dist" / "SHA256SUMS").read_text()
    assert [line.split()[1] for line in sums.splitlines()] == [
        "tollgate-7.0.0-image.tar",
        "tollgate-7.0.0-py3-none-any.whl",
        "tollgate-7.0.0-site.tar.gz",
        "tollgate-7.0.0.tar.gz",
        "tollgate-jmeter.tar.gz",
    ]
    checked = support.run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=root / "dist")
    assert checked.returncode == 0
    assert (tmp_path / "image").read_text() == "localhost/tollgate:7.0.0 --isolation chroot\n"
