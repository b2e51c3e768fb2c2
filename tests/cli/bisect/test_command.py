"""`tollgate bisect`, the real command, as far as it gets without a run."""

import json

import pytest

import support
from support.git_repos import SERVER, repo

SUITE = """
scenarios:
  shop:
    app: shop
    requests:
    - {label: list, url: /items}
"""


@pytest.fixture
def made(tmp_path):
    return repo(tmp_path / "repo")


@pytest.fixture
def suite(made):
    """Makes a suite for the app of that repository; returns what calls the command in it."""

    def make(folder):
        folder.mkdir()
        (folder / "taurus.yml").write_text(SUITE)
        app = {"name": "shop", "script": SERVER, "cwd": str(made.root), "env": {"PORT": "4000"}}
        apps = json.dumps({"apps": [app]})
        (folder / "ecosystem.config.js").write_text(f"module.exports = {apps};")

        def bisect(*words, **env):
            return support.tollgate("-C", folder, "bisect", *words, env=support.environment(**env))

        return bisect

    return make


def refused(done):
    """The one line of a call that was refused."""
    [line] = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1, "")
    return line.removeprefix("tollgate: ")


@pytest.mark.parametrize(("where", "words"), [("repo/perf", ()), ("beside", ("-shop",))])
def test_the_commits_are_those_of_the_app_s_repository(suite, made, tmp_path, where, words):
    bisect = suite(tmp_path / where)
    first, second = made.git("rev-parse", "HEAD"), made.commit("second")
    said = refused(bisect(second, first, *words))
    assert said == f"BAD '{first}' is older than GOOD '{second}': name the older one first"
    assert f"git knows no such commit in {made.root}: " in refused(bisect("none", "main", *words))


def test_what_can_t_be_bisected_is_refused_in_a_line(suite, tmp_path):
    bisect = suite(tmp_path / "beside")
    urls = {"BASE_URL": "http://127.0.0.1:1", "HEAD_URL": "http://127.0.0.1:2"}
    said = "BASE_URL and HEAD_URL are set, and a service by URL has no commits: unset them"
    assert refused(bisect("HEAD~1", "HEAD", **urls)) == said
    said = refused(bisect("HEAD~1", "HEAD", HEAD_INJECT_DELAY_MS="5"))
    assert said == "HEAD_INJECT_* is set, and slows every commit alike: unset it"
    said = refused(bisect("HEAD~1", "HEAD", "-o", "modules.compare.budget=soon"))
    assert said.startswith("modules.compare.budget is 'soon': write whole seconds")
    said = refused(bisect("HEAD~1", "HEAD", "-o", "modules.compare.budget"))
    assert said.startswith("-o modules.compare.budget: write PATH=VALUE")
    said = refused(bisect("HEAD~1", "HEAD", "-shpo"))
    assert said == "unrecognized arguments: -shpo: did you mean '-shop'?"
    (tmp_path / "elsewhere").mkdir()
    done = support.tollgate("-C", tmp_path / "elsewhere", "bisect", "HEAD~1", "HEAD")
    assert refused(done).startswith("there is no taurus.yml in ")
