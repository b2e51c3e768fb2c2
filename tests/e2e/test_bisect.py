"""`tollgate bisect` by the real bzt, PM2, JMeter and git."""

import json
import re
import signal

import pytest
import yaml

import support
from e2e.bzt_run import APPS
from e2e.comparing import CHEAP_SUMS, LIGHT, SHORT
from support.git_repos import Repo
from support.project_copy import copy_project
from support.service_suite import PYTHON_APP, ServiceSuite

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
#: Seconds that four comparisons may take on a slow machine, and builds.
WHOLE_S = 7200
#: Each answer takes many times as long.
SLOW_APP = PYTHON_APP.replace("body = json", "sum(range(500_000))\n        body = json")
#: Each comparison is decided at its first looks, at a pace that a busy machine keeps.
QUICK = (
    *(*SHORT, *LIGHT, "modules.compare.processes=2", "modules.verdict.missing-share=0.5"),
    "modules.compare.gates=typical",
)
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


@pytest.fixture
def begin(tmp_path):
    """Begins the command in a suite; its output goes to a file of its own each time."""
    ports = {f"PORT_{it.upper().replace('-', '_')}": str(support.free_port()) for it in APPS}
    env = support.environment(**ports, XDG_CACHE_HOME=str(tmp_path / "cache"))
    started = []

    def call(suite, *words, options=()):
        log = tmp_path / f"bisect-{len(started)}.out"
        given = [word for it in options for word in ("-o", it)]
        command = suite / ".venv" / "bin" / "tollgate", "bisect", *words, *given
        started.append(support.start(*command, output=log, cwd=suite, env=env))
        return started[-1], log

    yield call
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(support.PATIENCE)


def assert_nothing_kept(suite, tmp_path):
    """No process, no build and no word of a bisect is left."""
    assert support.ours() == []
    assert list((tmp_path / "cache").glob("tollgate/*")) == []
    assert not (suite / ".tollgate" / "bisect").exists()


def test_in_a_suite_beside_the_app_s_repository_the_commit_is_found(tmp_path, begin):
    made = ServiceSuite(tmp_path)
    made.fibonacci()
    file = made.suite / "taurus.yml"
    settings = yaml.safe_load(file.read_text())
    settings["scenarios"] |= made.scenarios
    file.write_text(yaml.safe_dump(settings))
    texts = PYTHON_APP + "# one\n", SLOW_APP, SLOW_APP + "# two\n", SLOW_APP + "# three\n"
    shas = [made.repo.commit(text, "app.py") for text in texts]
    before = git_of(made.repo)
    process, log = begin(made.suite, "main~4", "main", "-fibonacci", options=QUICK)
    code, out = process.wait(WHOLE_S), log.read_text()
    assert code == 0, out
    assert "Bisect: 4 comparisons, first of BAD, at most" in out
    assert f"\n{shas[1][:7]} " in out
    assert f"{shas[1][:7]} against {shas[0][:7]}: FAIL, bad: " in out
    assert "run by python3, and the profiler is Node's" in out
    assert git_of(made.repo) == before
    assert_nothing_kept(made.suite, tmp_path)


def test_the_commit_and_its_function_are_found_also_after_an_interruption(history, begin, tmp_path):
    made, shas = history
    before = git_of(made)
    # Packages are no matter of this test, and take a minute to install.
    install = f"ln -s {support.ROOT / 'node_modules'} node_modules"
    options = (*OPTIONS, f"scenarios.compare.install={install}")
    process, log = begin(made.root, shas[0], "main", options=options)
    second = "(4 commits left, 3 comparisons at most"
    support.wait_until(lambda: process.poll() is not None or second in log.read_text(), "BAD fails")
    rehearses = lambda: "Rehearsing" in log.read_text().partition(second)[2]  # noqa: E731
    support.wait_while_it_lives(process, log, rehearses, "the next comparison is on")
    process.send_signal(signal.SIGINT)
    assert process.wait(support.PATIENCE) == 2, log.read_text()
    assert support.ours() == []
    assert git_of(made) == before
    process, log = begin(made.root, shas[0], "main", options=options)
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
