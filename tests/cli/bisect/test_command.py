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


@pytest.mark.long
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
    for wrong in ("=5", "modules.compare.=5", "services.x=1"):
        said = refused(bisect("HEAD~1", "HEAD", "-o", wrong))
        assert said.startswith(f"-o {wrong}: write PATH=VALUE by a path of taurus.yml")
    said = refused(bisect("HEAD~1", "HEAD", "-o", "modules.compare=5m"))
    assert said.startswith("modules.compare is '5m': name one of its settings")
    keys = ("modules.compare.base-url", "modules.compare.head-url")
    words = [word for it in keys for word in ("-o", f"{it}=http://127.0.0.1:1")]
    said = refused(bisect("HEAD~1", "HEAD", *words))
    assert said.startswith(f"{' and '.join(keys)} are set, and a service by URL has no commits")
    said = refused(bisect("HEAD~1", "HEAD", "-shpo"))
    assert said == "unrecognized arguments: -shpo: did you mean '-shop'?"
    (tmp_path / "elsewhere").mkdir()
    done = support.tollgate("-C", tmp_path / "elsewhere", "bisect", "HEAD~1", "HEAD")
    assert refused(done).startswith("there is no taurus.yml in ")


def test_a_folder_of_runs_of_which_taurus_would_replace_a_part_is_refused(suite, made, tmp_path):
    bisect = suite(tmp_path / "beside")
    made.commit("second")
    said = refused(bisect("HEAD~1", "HEAD", "-o", "settings.artifacts-dir=reports/%Y/run"))
    assert said == (
        "settings.artifacts-dir is 'reports/%Y/run': a bisect needs a folder without '%', such as "
        "-o settings.artifacts-dir=reports/run"
    )
