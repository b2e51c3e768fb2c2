"""Comparisons of apps that are not ours, each in a repository of its own."""

import json

import pytest

import support
from e2e.bzt_run import LENIENT, Run
from e2e.comparing import SHORT
from support.git_repos import Repo
from support.service_suite import PYTHON_APP, ServiceSuite

#: Two processes a side, and one look.
QUICK = (*SHORT, "modules.compare.processes=2", "modules.compare.budget=10")


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return ServiceSuite(tmp_path_factory.mktemp("apps"))


@pytest.fixture
def compare(suite, tmp_path):
    """Compares a service of the suite, with its base in a cache of the test's own."""

    def run(name, *options, **env):
        config = {"scenarios": suite.scenarios, "modules": {"verdict": LENIENT}}
        given = {"XDG_CACHE_HOME": str(tmp_path / "cache"), **env}
        alias = f"compare {name}"
        made = Run(tmp_path, *options, config=config, alias=alias, root=suite.suite, **given)
        return made.end_cleanly()

    return run


@pytest.fixture(scope="module")
def fibonacci(suite):
    """A service in Python with two commits, which writes where it is told to."""
    suite.fibonacci(install="touch installed", link=["secret"])
    repo = suite.repo
    repo.commit("secret\ninstalled\n", ".gitignore")
    repo.write("secret", "of head")
    repo.commit(PYTHON_APP.replace('"n": wanted', '"n": wanted, "is_new": True'), "app.py")
    return repo


@pytest.mark.long
def test_a_service_in_python_is_compared_in_its_own_repository(compare, fibonacci):
    before = fibonacci.state()
    ran = compare("fibonacci", *QUICK, "modules.compare.profile=true", BASE="HEAD~1")
    assert ran.all_answered_right
    told = ran.json("compare.json")
    assert told["base"]["revision"] == fibonacci.git("rev-parse", "HEAD~1")
    assert told["head"]["revision"] == fibonacci.git("rev-parse", "HEAD")
    assert (told["mode"], told["processes"]) == ("fork", 2)
    [execution] = ran.json("run.json")["executions"]
    assert [it["name"] for it in execution["targets"]] == ["base", "base-2", "head", "head-2"]
    assert "run by python3, and the profiler is Node's" in ran.json("why.json")["problem"]
    assert fibonacci.state() == before
    # Nothing of what is sealed was written after that, such as by the profile.
    assert {*ran.json("run.json")["watched_sha256"]} == {"workers.jsonl", "workers-cpu.jsonl"}
    assert ran.judged_again().returncode == ran.code


@pytest.mark.parametrize(
    ("app", "env", "said"),
    [
        ({}, {"MODE": "cluster"}, "cluster mode for Node alone"),
        ({"args": "--listen {port}"}, {"BASE": "HEAD"}, "write ${PORT} there"),
        ({"interpreter": "{cwd}/no/python"}, {"BASE": "HEAD"}, "no/python"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_any_process_starts(
    suite, compare, fibonacci, app, env, said
):
    file = suite.suite / "ecosystem.config.js"
    before = file.read_text()
    [declared] = [it for it in suite.apps if it["name"] == "fibonacci"]
    port, cwd = declared["env"]["PORT"], fibonacci.root
    given = {key: it.format(port=port, cwd=cwd) for key, it in app.items()}
    file.write_text(f"module.exports = {{ apps: [{json.dumps(declared | given)}] }};")
    try:
        ran = compare("fibonacci", **env)
    finally:
        file.write_text(before)
    assert ran.code == 1
    assert said in ran.error()
    assert "under PM2..." not in ran.output


@pytest.mark.long
def test_a_package_of_a_workspace_is_compared_with_its_own_siblings(suite, compare, tmp_path):
    repo = Repo(tmp_path / "mono")
    repo.root.mkdir()
    repo.git("init", "--quiet", "--initial-branch=main")
    packages = {
        "": {"name": "mono", "private": True, "workspaces": ["packages/*"]},
        "packages/says": {"name": "says", "version": "1.0.0", "main": "index.js"},
        "packages/web": {"name": "web", "version": "1.0.0", "dependencies": {"says": "1.0.0"}},
    }
    for folder, package in packages.items():
        repo.write(f"{folder or '.'}/package.json", json.dumps(package))
    repo.write(".gitignore", "node_modules\n")
    repo.write(
        "packages/web/web.js",
        "const http = require('node:http');\n"
        "const answer = require('says');\n"
        "http.createServer((_, res) => res.end(answer)).listen(process.env.PORT, '127.0.0.1');\n",
    )
    npm = ("npm", "install", "--offline", "--no-audit", "--no-fund", "--silent")
    assert support.run(*npm, cwd=repo.root).returncode == 0
    repo.commit("module.exports = 'says: old';", "packages/says/index.js")
    repo.commit("module.exports = 'says: new';", "packages/says/index.js")
    suite._app("web", repo, cwd=str(repo.root / "packages" / "web"), script="web.js")
    said = [{"label": "old", "url": "/", "assert": ["says: old"]}]
    suite.scenarios["web"] = {"app": "web", "requests": said, "criteria": ["fail>90%"]}
    ran = compare("web", *QUICK, BASE="HEAD~1")
    # Base answers what its own sibling says, and head does not any more.
    wrong = {(int(it["coin"]) % 2, it["success"]) for it in ran.samples if it["label"] == "old"}
    assert wrong == {(0, "true"), (1, "false")}
