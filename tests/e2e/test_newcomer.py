"""The first hour of a team: an Express app in git, the wheel, `tollgate init`, a check, and a
comparison that finds the function that made it slow. No file is edited; the checkout is away, and
after the installation the network is too."""

import json
import shutil
import time
from pathlib import Path

import pytest

from e2e.installed import call, installed_in
from support import hosts
from support.git_repos import Repo

pytestmark = [pytest.mark.package, pytest.mark.needs("mounts", "network namespaces")]

APP = Path(__file__).with_name("newcomer.js")
NAME = "greetings"
#: Some milliseconds, which every machine can tell from none.
SLOW = """
function countSlowly(limit) {
  let count = 0;
  for (let n = 0; n < limit; n += 1) count += Math.sqrt(n) % 2;
  return count;
}
"""
ANSWER, SLOWER = "{ greeting: 'hello' }", "{ greeting: 'hello', count: countSlowly(2e6) }"


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory):
    with installed_in(tmp_path_factory.mktemp("a place"), NAME) as made:
        make_app(made.suite)
        began = time.monotonic()
        code, said = made.run("install")
        assert code == 0, said
        print(f"the installation: {time.monotonic() - began:.0f} s")
        yield made


@pytest.fixture
def alone():
    """A host without any network but loopback, and so with each port free."""
    with hosts.hosts(0) as host:
        yield {"inside": host.inside(0)}


def make_app(folder):
    """An app with its packages, committed."""
    folder.mkdir()
    shutil.copy(APP, folder / "server.js")
    package = {"name": NAME, "private": True, "scripts": {"start": "node server.js"}}
    (folder / "package.json").write_text(json.dumps(package))
    (folder / ".gitignore").write_text("node_modules\n")
    call("npm", "install", "--no-audit", "--no-fund", "express@5", cwd=folder)
    repo = Repo(folder)
    repo.git("init", "--quiet", "--initial-branch=main")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message", "an app")


def changes(folder):
    """What git sees, file by file."""
    said = Repo(folder).git("status", "--porcelain", "--untracked-files=all")
    return {*map(str.strip, said.splitlines())}


def test_after_init_a_check_passes_with_no_file_edited(newcomer, alone):
    began = time.monotonic()
    code, said = newcomer.run("init")
    assert code == 0, said
    made = changes(newcomer.suite)
    assert {"?? taurus.yml", "?? ecosystem.config.js", "M .gitignore"} <= made
    code, said = newcomer.run("run", f"-{NAME}", **alone)
    print(f"from nothing to a verdict: {time.monotonic() - began:.0f} s")
    verdict = newcomer.verdict()
    assert (code, verdict["verdict"], verdict["kind"]) == (0, "PASS", "check"), said
    labels = {it["label"] for each in verdict["executions"] for it in each["criteria"]}
    assert "home" in labels
    assert changes(newcomer.suite) == made, "a run leaves nothing that git does not ignore"


def test_a_function_that_makes_it_slow_fails_the_comparison_and_is_named(newcomer, alone):
    repo, server = Repo(newcomer.suite), newcomer.suite / "server.js"
    shutil.copy(APP, server)  # in a second go, the first one's change is undone
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--allow-empty", "--message", "what init wrote")
    server.write_text(server.read_text().replace(ANSWER, SLOWER) + SLOW)
    repo.git("commit", "--quiet", "--all", "--message", "count")
    code, said = newcomer.run("run", f"-{NAME}", "-compare", BASE="HEAD~1", **alone)
    verdict = newcomer.verdict()
    assert (code, verdict["verdict"], verdict["kind"]) == (3, "FAIL", "compare"), said
    why = json.loads((newcomer.suite / "reports" / "latest" / "why.json").read_text())
    assert "countSlowly" in json.dumps(why)
    assert repo.git("status", "--porcelain") == ""
