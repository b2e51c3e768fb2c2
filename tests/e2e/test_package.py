"""The wheel as a stranger gets it: installed into an environment of its own, with the demonstration
copied elsewhere, the checkout out of sight and the package read-only."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import psutil
import pytest

import support
from e2e.bzt_run import APPS, LENIENT, mostly_right, seconds
from support.git_repos import Repo
from support.project_copy import LEFT_OUT

pytestmark = [pytest.mark.package, pytest.mark.needs("mounts", "network namespaces")]

#: Seconds for an installation or a run, on a slow machine.
PATIENCE = 900
#: What a suite is: all else of the checkout belongs to the product.
SUITE = ("app", "data", "plans", "ecosystem.config.js", "package.json", "package-lock.json")
#: Hides the checkout and the folder of installed code from writing; then becomes the command.
AWAY = """
mount -t tmpfs none "$0" && mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 99
shift && exec "$@"
"""
TINY = [
    *seconds(warmup=1, measured=4),
    "modules.report.dashboards=false",
    f"modules.verdict.missing-share={LENIENT['missing-share']}",
]
CRITERIA = {
    "~reporting": [
        {"module": "verdict"},
        {"module": "passfail", "criteria": mostly_right("sum", "search")},
    ]
}


class Installed:
    """The command `tollgate` of an environment that has the wheel, and a suite to run it in."""

    def __init__(self, place, wheel):
        self.environment = place / "environment"
        self.home = place / "cache"
        self.suite = place / "Suite für mich"
        python = self.environment / "bin" / "python"
        call(sys.executable, "-m", "venv", self.environment)
        pinned = place / "versions.txt"
        pinned.write_text(versions(support.ROOT / "requirements.lock"))
        call(python, "-m", "pip", "install", "--quiet", "--constraint", pinned, wheel)
        self.suite.mkdir()
        for name in SUITE:
            copied = self.suite / name
            source = support.ROOT / name
            if source.is_dir():
                shutil.copytree(source, copied, ignore=shutil.ignore_patterns(*LEFT_OUT))
            else:
                shutil.copy(source, copied)
        (self.suite / ".gitignore").write_text("/node_modules\n/reports\n/.tollgate\n")
        shutil.copy(support.ROOT / "taurus.yml", self.suite)
        call("npm", "ci", "--omit=dev", "--no-audit", "--no-fund", cwd=self.suite)
        self.repo = Repo(self.suite)
        self.repo.git("init", "--quiet", "--initial-branch=main")
        for message in ("one", "two"):
            (self.suite / "NOTE").write_text(message)
            self.repo.git("add", "--all")
            self.repo.git("commit", "--quiet", "--message", message)

    def command(self, *arguments):
        code = next(self.environment.glob("lib/python*/site-packages"))
        tollgate = self.environment / "bin" / "tollgate"
        away = ("unshare", "--mount", "sh", "-c", AWAY, support.ROOT, code)
        return [str(word) for word in (*away, tollgate, *arguments)]

    def env(self, **more):
        ports = {f"PORT_{it.upper().replace('-', '_')}": str(support.free_port()) for it in APPS}
        path = os.pathsep.join(
            it for it in os.environ["PATH"].split(os.pathsep) if ".venv" not in it
        )
        return support.environment(**ports) | {"PATH": path, "TOLLGATE_HOME": str(self.home)} | more

    def start(self, *arguments, cwd=None, inside=(), **env):
        return subprocess.Popen(
            [*inside, *self.command(*arguments)],
            cwd=cwd or self.suite,
            env=self.env(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments, **how):
        process = self.start(*arguments, **how)
        output = process.communicate(timeout=PATIENCE)[0]
        return process.returncode, output

    def verdict(self, folder="reports/latest"):
        return json.loads((self.suite / folder / "verdict.json").read_text())


def call(*command, **options):
    done = subprocess.run(
        [str(it) for it in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def versions(lock):
    """The lines of a lock file without their hashes: pip takes no others for constraints."""
    lines = re.findall(r"^[\w.-]+==[^\\\n]+", lock.read_text(), re.M)
    return "\n".join(line.strip() for line in lines) + "\n"


def options(*texts):
    return [word for text in texts for word in ("-o", text)]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """What git holds of the checkout."""
    folder = tmp_path_factory.mktemp("source") / "tollgate"
    shutil.copytree(support.ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT, "*.egg-info"))
    return folder


@pytest.fixture(scope="module")
def built(source):
    """The folder with the sdist, and the wheel that is made from it."""
    call(sys.executable, "-m", "build", "--no-isolation", source)
    return source / "dist"


@pytest.fixture(scope="module")
def wheel(built):
    [found] = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("a place")


@pytest.fixture(scope="module")
def installed(place, wheel):
    made = Installed(place, wheel)
    (made.suite / "tiny.yml").write_text(json.dumps(CRITERIA))
    yield made
    shutil.rmtree(made.home, ignore_errors=True)


def members(wheel):
    with zipfile.ZipFile(wheel) as opened:
        return {
            it.filename: opened.read(it) for it in opened.infolist() if "RECORD" not in it.filename
        }


def test_the_sdist_builds_the_same_wheel_as_the_checkout(source, wheel, tmp_path):
    call(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, source)
    [direct] = tmp_path.glob("*.whl")
    assert members(direct) == members(wheel)


def test_the_package_passes_the_checks_of_its_index(built):
    tools = Path(sys.executable).parent
    call(tools / "check-wheel-contents", *built.glob("*.whl"))
    call(tools / "twine", "check", "--strict", *built.iterdir())


def test_a_first_start_that_is_killed_is_begun_again_and_shared_by_two(installed):
    first = installed.start("install")
    growing = installed.home / "tools"
    support.wait_until(lambda: list(growing.glob("*.growing/*")), "it installs")
    for process in psutil.Process(first.pid).children(recursive=True):
        if "tollgate" in " ".join(process.cmdline()):
            process.kill()
    first.kill()
    first.communicate()
    two = [installed.start("install") for _ in range(2)]
    said = [each.communicate(timeout=PATIENCE)[0] for each in two]
    assert [each.returncode for each in two] == [0, 0], said
    assert sorted(re.sub("-.*", "", it.name) for it in growing.iterdir() if it.is_dir()) == [
        "jmeter",
        "pm2",
    ]
    assert sum("waiting for it" in it for it in said) >= 1, said


def test_version_names_all_parts_and_their_places(installed):
    code, said = installed.run("--version")
    assert code == 0, said
    found = dict(line.split(maxsplit=1) for line in said.splitlines())
    assert list(found) == ["tollgate", "jmeter", "taurus", "pm2", "node", "java"]
    assert found["tollgate"].startswith("0.2.0")
    for part in ("jmeter", "pm2"):
        assert str(installed.home) in found[part]


def test_a_run_from_a_folder_below_the_suite_passes_offline(installed):
    """Its host has no network but loopback, so what it needs is in the cache."""
    name = f"tollgate-{os.getpid()}-offline"
    call("ip", "netns", "add", name)
    try:
        call("ip", "-n", name, "link", "set", "lo", "up")
        code, said = installed.run(
            *("run", "../tiny.yml", *options(*TINY)),
            cwd=installed.suite / "plans",
            inside=("nsenter", f"--net=/run/netns/{name}", "--"),
        )
    finally:
        call("ip", "netns", "del", name)
    assert code == 0, said
    verdict = installed.verdict()
    assert (verdict["verdict"], verdict["exit_code"]) == ("PASS", 0)
    assert verdict["environment"]["versions"]["tollgate"] == "0.2.0"
    assert "graceful shutdown" not in said


def test_judge_and_merge_give_the_verdict_of_a_run_and_its_code(installed):
    code, said = installed.run("judge", "reports/latest")
    assert (code, "PASS" in said) == (0, True), said
    code, said = installed.run("judge", "reports/latest", "--criterion", "p50 of sum>0ms")
    assert (code, "FAIL" in said) == (3, True), said
    code, said = installed.run("merge", "reports/latest", "--to", "merged")
    assert (code, "tollgate: " in said) == (1, True), said


def test_stress_runs_with_its_time_compressed(installed):
    code, said = installed.run(
        *(
            "run",
            "-stress",
            *options("modules.report.dashboards=false", "modules.verdict.forecast-tolerance=0.9"),
        ),
        SCALE="7200",
        MODE="cluster",
    )
    assert installed.verdict()["kind"] == "stress", said
    assert code == installed.verdict()["exit_code"], said


def test_two_commits_of_the_suite_are_compared(installed):
    at = "modules.compare"
    wide = (
        f"{at}.effect=90%",
        f"{at}.typical-effect=90%",
        f"{at}.error-effect=20%",
        f"{at}.gates=typical",
    )
    short = (f"{at}.budget=60", f"{at}.first=10", f"{at}.every=10", f"{at}.labels=search")
    code, said = installed.run(
        *("run", "-compare", *options(*wide, *short, "modules.jmeter.properties.warmup=2")),
        BASE="HEAD~1",
    )
    verdict = installed.verdict()
    assert (verdict["kind"], verdict["exit_code"]) == ("compare", code), said
    assert (
        verdict["comparison"]["base"]["commit"] == installed.repo.git("rev-parse", "HEAD~1").strip()
    )


def test_an_engine_makes_its_key_in_the_suite(installed):
    code, said = installed.run("engine", "keystore")
    assert code == 0, said
    assert (installed.suite / ".tollgate" / "engines.keystore").is_file()


def test_uninstalling_leaves_the_cache_and_the_suite_and_nothing_else(installed):
    python = installed.environment / "bin" / "python"
    before = {it.name for it in installed.suite.iterdir()}
    call(python, "-m", "pip", "uninstall", "--yes", "--quiet", "tollgate")
    left = [it for it in installed.environment.rglob("*tollgate*") if "__pycache__" not in it.parts]
    assert left == []
    assert {it.name for it in installed.suite.iterdir()} == before
    assert (installed.home / "tools").is_dir()
