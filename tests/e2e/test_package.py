"""The wheel as a stranger gets it: installed into an environment of its own, with the demonstration
copied elsewhere, the checkout out of sight and the package read-only."""

import json
import re
import shutil
import signal
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest

import support
from e2e.bzt_run import LENIENT, WARMUP_S, mostly_right, only
from e2e.comparing import CHEAP_SUMS, LIGHT, SHORT
from e2e.installed import PATIENCE, call, installed_in
from support import hosts
from support.git_repos import Repo
from support.http_server import Handler, serving
from support.project_copy import LEFT_OUT

pytestmark = [pytest.mark.package, pytest.mark.needs("mounts", "network namespaces")]

#: Seconds until two shares begin, when both are ready also on a busy machine.
READY_S = 60
#: What a user's Python packages may take, without byte code, and with PM2 besides: bytes.
PYTHON_LIMIT, TOGETHER_LIMIT = 340e6, 420e6
#: What a suite is: all else of the checkout belongs to the product.
SUITE = ("app", "data", "plans", "ecosystem.config.js", "package.json", "package-lock.json")
NO_DASHBOARDS = "modules.report.dashboards=false"
#: Arrivals per second of each label, which a busy machine sends as well.
RATES = {"calculate": 4, "sum": 4, "search": 4, "kittens": 0.5, "pi": 0.2}
FILES = {
    "tiny.yml": only(
        "cluster",
        mostly_right("sum", "search"),
        {"verdict": LENIENT},
        warmup=WARMUP_S,
        measured=6,
        **{f"{label}_rate": rate for label, rate in RATES.items()},
    ),
    "shop.yml": {
        **only("shop", mostly_right("item"), {"verdict": LENIENT}, warmup=WARMUP_S, measured=20),
        "scenarios": {"shop": {"script": "plans/shared.jmx"}},
    },
}


def options(*texts):
    return [word for text in texts for word in ("-o", text)]


def make_suite(folder):
    """The demonstration, with its packages and two commits."""
    folder.mkdir()
    for name in SUITE:
        source, copied = support.ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, copied, ignore=shutil.ignore_patterns(*LEFT_OUT))
        else:
            shutil.copy(source, copied)
    shutil.copy(support.ROOT / "taurus.yml", folder)
    shutil.copy(Path(__file__).with_name("shared.jmx"), folder / "plans")
    (folder / "plans" / "items.csv").write_text("id\n1\n2\n")
    for name, config in FILES.items():
        (folder / name).write_text(json.dumps(config))
    (folder / ".gitignore").write_text("/node_modules\n/reports\n/.tollgate\n")
    call("npm", "ci", "--omit=dev", "--no-audit", "--no-fund", cwd=folder)
    repo = Repo(folder)
    repo.git("init", "--quiet", "--initial-branch=main")
    for message in ("one", "two"):
        repo.commit(message, "NOTE")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    with installed_in(tmp_path_factory.mktemp("a place"), "Suite für mich") as made:
        make_suite(made.suite)
        yield made


def test_a_first_start_that_is_killed_is_begun_again_and_shared_by_two(installed):
    first = installed.start("install")
    tools = installed.cache / "tools"
    support.wait_until(lambda: list(tools.glob("*.growing/*")), "it installs")
    first.kill()
    first.communicate()
    assert list(tools.glob("*.growing"))
    two = [installed.start("install") for _ in range(2)]
    said = [each.communicate(timeout=PATIENCE)[0] for each in two]
    assert [each.returncode for each in two] == [0, 0], said
    names = {re.sub("-.*", "", it.name) for it in tools.iterdir()}
    assert names == {"jmeter", "pm2", "lock"}
    assert sum("waiting for it" in it for it in said) >= 1, said


def size(folder):
    """Bytes of the files in a folder, without byte code."""
    files = (it for it in folder.rglob("*") if it.suffix != ".pyc" and not it.is_symlink())
    return sum(it.stat().st_size for it in files if it.is_file())


def test_what_is_installed_is_small(installed):
    python = size(installed.code) - size(installed.code / "pip")
    [pm2] = installed.cache.glob("tools/pm2-*")
    print(f"Python packages {python / 1e6:.0f} MB, PM2 {size(pm2) / 1e6:.0f} MB")
    assert python <= PYTHON_LIMIT
    assert python + size(pm2) <= TOGETHER_LIMIT


def test_version_names_all_parts_and_their_places(installed):
    code, said = installed.run("--version")
    assert code == 0, said
    found = {name: (version, place) for name, version, place in map(parts_of, said.splitlines())}
    assert list(found) == ["tollgate", "jmeter", "taurus", "pm2", "node", "java"]
    for part, place in {
        "tollgate": installed.code,
        "taurus": installed.code,
        "jmeter": installed.cache,
        "pm2": installed.cache,
    }.items():
        assert found[part][1].startswith(f"{place}/")


def parts_of(line):
    """Name, version and place of a line of `tollgate --version`; the place may hold spaces."""
    return line.split(maxsplit=2)


def test_a_run_from_a_folder_below_the_suite_passes_offline(installed):
    """Its host has no network but loopback, so what it needs is in the cache."""
    with hosts.hosts(0) as host:
        code, said = installed.run(
            *("run", "../tiny.yml", *options(NO_DASHBOARDS)),
            cwd=installed.suite / "plans",
            inside=host.inside(0),
        )
    assert code == 0, said
    verdict = installed.verdict()
    assert (verdict["verdict"], verdict["exit_code"]) == ("PASS", 0)
    assert "graceful shutdown" not in said


def test_judge_gives_the_verdict_of_a_run_and_its_code(installed):
    code, said = installed.run("judge", "reports/latest")
    assert (code, "PASS" in said) == (0, True), said
    code, said = installed.run("judge", "reports/latest", "--criterion", "hits of sum>0")
    assert (code, "FAIL" in said) == (3, True), said


def test_stress_runs_with_its_time_compressed(installed):
    code, said = installed.run("run", "-stress", *options(NO_DASHBOARDS), SCALE="7200", MODE="fork")
    verdict = installed.verdict()
    assert (verdict["kind"], verdict["exit_code"]) == ("stress", code), said
    [execution] = verdict["executions"]
    assert execution["forecast"], said


def test_two_commits_of_the_suite_are_compared(installed):
    code, said = installed.run(
        *("run", "-compare", *options(*SHORT, *CHEAP_SUMS, *LIGHT, NO_DASHBOARDS)), BASE="HEAD~1"
    )
    verdict = installed.verdict()
    assert (verdict["kind"], verdict["exit_code"]) == ("compare", code), said
    [execution] = verdict["executions"]
    repo = Repo(installed.suite)
    assert execution["comparison"]["base"]["revision"] == repo.git("rev-parse", "HEAD~1")
    assert [it.name for it in installed.cache.iterdir()] == ["tools"]
    assert repo.git("status", "--porcelain") == ""


class Answers(Handler):
    def respond(self):
        self.answer(body="{}")


def test_two_suites_send_one_load_whose_shares_merge_into_one_verdict(installed, tmp_path):
    begins = datetime.fromtimestamp(time.time() + READY_S, timezone.utc)
    env = {"START_AT": f"{begins:%Y-%m-%dT%H:%M:%SZ}"}
    suites = [installed.suite, shutil.copytree(installed.suite, tmp_path / "other", symlinks=True)]
    with serving(Answers) as server:
        url = f"scenarios.shop.url=http://127.0.0.1:{server.server_port}"
        command = ("run", "shop.yml", *options(url, NO_DASHBOARDS))
        runs = [
            installed.start("-C", suite, *command, cwd=tmp_path, ENGINE=f"{k}/2", **env)
            for k, suite in enumerate(suites, start=1)
        ]
        said = [each.communicate(timeout=PATIENCE)[0] for each in runs]
    assert [each.returncode for each in runs] == [0, 0], said
    shares = [suite / "reports" / "latest" for suite in suites]
    code, said = installed.run("merge", *shares, "--to", tmp_path / "merged")
    assert (code, installed.verdict(tmp_path / "merged")["verdict"]) == (0, "PASS"), said


def test_an_engine_has_its_key_in_the_suite_and_listens_until_a_signal(installed):
    code, said = installed.run("engine", "keystore")
    assert code == 0, said
    assert (installed.suite / ".tollgate" / "engines.keystore").is_file()
    port = next(it for it in iter(support.free_port, None) if not support.listens(it + 1))
    engine = installed.start("engine", "1/2", "--port", port)
    support.wait_until(lambda: support.listens(port) or engine.poll() is not None, "it listens")
    engine.send_signal(signal.SIGTERM)
    said = engine.communicate(timeout=PATIENCE)[0]
    assert engine.returncode == 143, said


def test_uninstalling_leaves_the_cache_and_the_suite_and_nothing_else(installed):
    before = {it.name for it in installed.suite.iterdir()}
    python = installed.environment / "bin" / "python"
    call(python, "-m", "pip", "uninstall", "--yes", "--quiet", "tollgate")
    assert list(installed.environment.rglob("*tollgate*")) == []
    assert list(installed.home.iterdir()) == []
    assert {it.name for it in installed.suite.iterdir()} == before
    assert (installed.cache / "tools").is_dir()
