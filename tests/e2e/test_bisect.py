"""`tollgate bisect` by the real bzt, PM2, JMeter and git."""

import json
import re
import signal

import pytest

import support
from e2e.bisecting import QUICK, WHOLE_S, assert_nothing_kept, git_of
from e2e.comparing import CHEAP_SUMS
from support.git_repos import Repo
from support.project_copy import copy_project

pytestmark = [pytest.mark.long, pytest.mark.alone]

AURORA = "app/targets/search/carriers/aurora.js"
#: Computation in each search, in a function with a name: so much that each step is short.
SLOWER = """function rankAgain() {
  const end = performance.now() + 40;
  while (performance.now() < end);
}

function toTickets(raw) {
  rankAgain();
"""
COMMENTED = "/** From the carrier's answer to tickets of ours. */\nfunction toTickets(raw) {"
COMMITS, COMMENT_AT, SLOW_AT = 4, 2, 3
OPTIONS = (*CHEAP_SUMS, *QUICK, "modules.compare.typical-effect=40%")


@pytest.fixture
def history(tmp_path):
    """The project with four commits on main: one is slower, and the one before it looks like it.
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


def test_the_commit_and_its_function_are_found_also_after_an_interruption(
    history, begin_bisect, tmp_path
):
    made, shas = history
    before = git_of(made)
    # Packages are no matter of this test, and take a minute to install.
    install = f"ln -s {support.ROOT / 'node_modules'} node_modules"
    options = (*OPTIONS, f"scenarios.compare.install={install}")
    process, log = begin_bisect(made.root, shas[0], "main", options=options)
    second = "(4 commits left, 3 comparisons at most"
    support.wait_until(lambda: process.poll() is not None or second in log.read_text(), "BAD fails")
    rehearses = lambda: "Rehearsing" in log.read_text().partition(second)[2]  # noqa: E731
    support.wait_while_it_lives(process, log, rehearses, "the next comparison is on")
    process.send_signal(signal.SIGINT)
    assert process.wait(support.PATIENCE) == 2, log.read_text()
    assert support.ours() == []
    assert git_of(made) == before
    process, log = begin_bisect(made.root, shas[0], "main", options=options)
    code, out = process.wait(WHOLE_S), log.read_text()
    assert code == 0, out
    assert "it goes on: 3 comparisons at most" in out
    assert f"\n{shas[SLOW_AT][:7]} " in out
    assert f"{shas[SLOW_AT][:7]} against {shas[SLOW_AT - 1][:7]}: FAIL, bad: typical of " in out
    assert re.search(r"^Head computes more, most of all in rankAgain \(app/targets/", out, re.M)
    assert git_of(made) == before
    assert_nothing_kept(made.root, tmp_path)
    runs = sorted((made.root / "reports").glob("*-bisect-*"))
    known = json.loads((runs[-1] / "compare.json").read_text())
    assert known["head"]["revision"] == shas[SLOW_AT]
    assert known["base"]["revision"] == shas[SLOW_AT - 1]
