"""`tollgate bisect` by the real bzt, PM2, JMeter and git, over 16 commits of the project."""

import json
import re
import signal

import pytest

import support
from e2e.bzt_run import APPS
from e2e.comparing import CHEAP_SUMS, LIGHT, cache_of
from support.git_repos import Repo
from support.project_copy import copy_project

pytestmark = [pytest.mark.long, pytest.mark.alone]

AURORA = "app/targets/search/carriers/aurora.js"
#: 2.6 ms of computation in each search, in a function with a name.
SLOWER = """function rankAgain() {
  const end = performance.now() + 2.6;
  while (performance.now() < end);
}

function toTickets(raw) {
  rankAgain();
"""
COMMENTED = "/** From the carrier's answer to tickets of ours. */\nfunction toTickets(raw) {"
COMMITS, COMMENT_AT, SLOW_AT = 16, 10, 11
#: Seconds that 6 comparisons may take on a slow machine, and builds.
WHOLE_S = 7200
OPTIONS = (*CHEAP_SUMS, *LIGHT, "modules.compare.gates=typical")


@pytest.fixture
def history(tmp_path):
    """The project with 16 commits on main: one of them is slower, the one before it looks like it.
    Returns the repository and the SHAs, GOOD first."""
    made = Repo(copy_project(tmp_path / "tollgate"))
    made.git("init", "--quiet", "--initial-branch=main")
    made.git("add", "--all")
    made.git("commit", "--quiet", "--message", "all of it")
    shas = [made.git("rev-parse", "HEAD")]
    for number in range(1, COMMITS + 1):
        text = (made.root / AURORA).read_text()
        if number == COMMENT_AT:
            shas.append(made.commit(text.replace("function toTickets(raw) {", COMMENTED), AURORA))
        elif number == SLOW_AT:
            shas.append(made.commit(text.replace("function toTickets(raw) {\n", SLOWER), AURORA))
        else:
            shas.append(made.commit(f"{number}\n", "notes.txt"))
    return made, shas


@pytest.fixture
def begin(history, tmp_path):
    """Begins the command; its output goes to a file, to which a later one is written behind it."""
    made, shas = history
    ports = {f"PORT_{it.upper().replace('-', '_')}": str(support.free_port()) for it in APPS}
    # Packages are no matter of this test, and take a minute to install.
    install = f"ln -s {support.ROOT / 'node_modules'} node_modules"
    settings = (*OPTIONS, f"scenarios.compare.install={install}")
    words = [word for it in settings for word in ("-o", it)]
    env = support.environment(**ports, XDG_CACHE_HOME=str(cache_of(made)))
    started = []

    def call(number):
        log = tmp_path / f"bisect-{number}.out"
        command = made.root / ".venv" / "bin" / "tollgate"
        whole = (command, "bisect", shas[0], "main", *words)
        started.append(support.start(*whole, output=log, cwd=made.root, env=env))
        return started[-1], log

    yield call
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(support.PATIENCE)


def test_the_commit_and_its_function_are_found_also_after_an_interruption(history, begin):
    made, shas = history
    before = git_of(made)
    process, log = begin(1)
    second = "(16 commits left, 5 comparisons at most"
    support.wait_while_it_lives(process, log, lambda: second in log.read_text(), "BAD is known")
    rehearses = lambda: "Rehearsing" in log.read_text().partition(second)[2]  # noqa: E731
    support.wait_while_it_lives(process, log, rehearses, "the next comparison is on")
    process.send_signal(signal.SIGINT)
    assert process.wait(support.PATIENCE) == 2, log.read_text()
    assert support.ours() == []
    assert git_of(made) == before
    process, log = begin(2)
    code, out = process.wait(WHOLE_S), log.read_text()
    assert code == 0, out
    assert "it goes on: 5 comparisons at most" in out
    assert f"\n{shas[SLOW_AT][:7]} " in out
    assert f"{shas[SLOW_AT][:7]} against {shas[SLOW_AT - 1][:7]}: FAIL, bad: typical of " in out
    assert re.search(r"^Head computes more, most of all in rankAgain \(app/targets/", out, re.M)
    assert git_of(made) == before
    assert list(cache_of(made).glob("tollgate/*")) == []
    assert not (made.root / ".tollgate" / "bisect").exists()
    runs = sorted((made.root / "reports").glob("*-bisect-*"))
    known = json.loads((runs[-1] / "compare.json").read_text())
    assert known["head"]["revision"] == shas[SLOW_AT]
    assert known["base"]["revision"] == shas[SLOW_AT - 1]


def git_of(made):
    """Whatever of git a bisect must leave as it was; runs add to what is ignored."""
    asked = (
        ("for-each-ref",),
        ("symbolic-ref", "HEAD"),
        ("status", "--porcelain"),
        ("worktree", "list"),
        ("ls-files", "--stage", "--debug"),
    )
    return [made.git(*each) for each in asked], sorted((made.root / ".git").rglob("*"))
