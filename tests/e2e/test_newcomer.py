"""The first hour of a team: the commands of docs/getting-started.md, from an app to a PASS and a
FAIL, and a comparison that finds the function that made it slow. The checkout is away, and after
the installation the network is too."""

import json
import re
import shlex
import time

import pytest

import support
from e2e.installed import call, installed_in
from support import hosts
from support.git_repos import Repo

pytestmark = [pytest.mark.package, pytest.mark.needs("mounts", "network namespaces")]

PAGE = support.ROOT / "docs" / "getting-started.md"
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
ELIDED = "..."
NUMBER = re.compile(r"\d[\d.,]*")


def steps():
    """The steps of the page: of each, its blocks as (language, what stands behind it, text)."""
    parts = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    return [re.findall(r"^```(\w+) *(.*)\n((?:.*\n)*?)```$", it, re.MULTILINE) for it in parts]


INSTALL, MAKE_APP, MAKE_SUITE, PASSING, FAILING, _ = steps()


def the_app():
    """The file of the page's app, and its text."""
    [(_, name, text)] = [block for block in MAKE_APP if block[0] == "js"]
    return name, text


class Reader:
    """Types what the page says, in the suite of what is installed."""

    def __init__(self, installed):
        self.installed = installed
        self.codes, self.printed = [], ""

    def follow(self, step, **how):
        """Do each block of a step; what the page shows has to be printed, numbers apart."""
        for language, name, text in step:
            if language == "sh":
                self._type(text, **how)
            elif language == "js":
                (self.installed.suite / name).write_text(text)
            elif language == "console":
                assert_shown(text, self.printed)
            elif language == "yaml":
                assert text in (self.installed.suite / "taurus.yml").read_text()
        return self.codes

    def _type(self, text, **how):
        for line in text.splitlines():
            command = shlex.split(line, comments=True)
            if command[0] == "pipx":
                continue  # as installed_in has done
            if command[0] == "tollgate":
                code, self.printed = self.installed.run(*command[1:], **how)
                self.codes.append(code)
            elif command[0] == "mkdir":
                self.installed.suite.mkdir()
            else:
                call("sh", "-ec", line, cwd=self.installed.suite)


def assert_shown(block, printed):
    """Whether what was printed has the lines of a block one below the other, numbers apart."""
    shown = [re.escape(NUMBER.sub("0", line)) for line in block.splitlines()]
    pattern = "\n".join(line.replace(re.escape(ELIDED), ".*") for line in shown)
    assert re.search(f"^{pattern}", NUMBER.sub("0", printed), re.MULTILINE), printed


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory):
    with installed_in(tmp_path_factory.mktemp("a place"), NAME) as installed:
        reader = Reader(installed)
        reader.follow(MAKE_APP)
        began = time.monotonic()
        assert reader.follow(INSTALL) == [0], reader.printed
        print(f"the installation: {time.monotonic() - began:.0f} s")
        repo = Repo(installed.suite)
        repo.git("add", "--all")
        repo.git("commit", "--quiet", "--message", "an app")
        yield installed


@pytest.fixture
def alone():
    """A host without any network but loopback, and so with each port free."""
    with hosts.hosts(0) as host:
        yield {"inside": host.inside(0)}


def changes(folder):
    """What git sees, file by file."""
    status = Repo(folder).git("status", "--porcelain", "--untracked-files=all")
    return {*map(str.strip, status.splitlines())}


def test_the_page_leads_to_a_pass_with_no_file_edited(newcomer, alone):
    began, reader = time.monotonic(), Reader(newcomer)
    assert reader.follow(MAKE_SUITE) == [0], reader.printed
    written = changes(newcomer.suite)
    assert {"?? taurus.yml", "?? ecosystem.config.js", "M .gitignore"} <= written
    codes = reader.follow(PASSING, **alone)
    print(f"from nothing to a verdict: {time.monotonic() - began:.0f} s")
    verdict = newcomer.verdict()
    assert (codes, verdict["verdict"], verdict["kind"]) == ([0, 0], "PASS", "check"), reader.printed
    labels = {it["label"] for each in verdict["executions"] for it in each["criteria"]}
    assert "home" in labels
    assert changes(newcomer.suite) == written, "a run leaves nothing that git does not ignore"


def test_the_page_leads_to_a_fail_and_back(newcomer, alone):
    began, reader = time.monotonic(), Reader(newcomer)
    name, app = the_app()
    (newcomer.suite / name).write_text(app)  # in a second go, the first one's change is undone
    assert reader.follow(FAILING, **alone) == [3, 0], reader.printed
    print(f"to a FAIL and back: {time.monotonic() - began:.0f} s")
    assert (newcomer.suite / name).read_text() == app


def test_a_function_that_makes_it_slow_fails_the_comparison_and_is_named(newcomer, alone):
    repo, (name, app) = Repo(newcomer.suite), the_app()
    server = newcomer.suite / name
    server.write_text(app)
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--allow-empty", "--message", "what init wrote")
    assert ANSWER in app
    server.write_text(app.replace(ANSWER, SLOWER) + SLOW)
    repo.git("commit", "--quiet", "--all", "--message", "count")
    code, printed = newcomer.run("run", f"-{NAME}", "-compare", BASE="HEAD~1", **alone)
    verdict = newcomer.verdict()
    assert (code, verdict["verdict"], verdict["kind"]) == (3, "FAIL", "compare"), printed
    why = json.loads((newcomer.suite / "reports" / "latest" / "why.json").read_text())
    assert "countSlowly" in json.dumps(why)
    assert repo.git("status", "--porcelain") == ""
