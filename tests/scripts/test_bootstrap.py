"""scripts/bootstrap for real, in a copy of the project: interrupted, mended, and then idle.

The copy lies in a folder whose path tools like to stumble over, and is set up in the locale `C`.
"""

import hashlib
import os
import shutil
import signal

import psutil
import pytest

import support
from tollgate.install.tools import assembled_jmeter, node_folder

pytestmark = pytest.mark.long

INSTALLED = (".git", "node_modules", ".venv", ".tollgate", "reports", "modified_*.jmx")
CACHES = ("__pycache__", ".pytest_cache", ".ruff_cache", ".mypy_cache", ".hypothesis", "*.egg-info")
JMETER = f".tollgate/tools/{assembled_jmeter().name}"
NODE = f".tollgate/tools/{node_folder().name}/node_modules"
STAMPS = ("node_modules/.tollgate", ".venv/.tollgate", f"{JMETER}/bin/jmeter", NODE)
#: What is there soon after two of the three parts have begun; npm works out of sight at first.
UNDER_WAY = (".venv", f"{JMETER}.growing")
#: The Plugins Manager asks the list in the folder where it is called, and nobody else.
OFFLINE = "-Djpgc.repo.address=./plugins.json -Djpgc.repo.sendstats=false"

#: Seconds that a process which has been ended may take to be gone; an installer takes longer.
GRACE = 2


def bootstrap(project, *arguments, **settings):
    env = support.environment(LC_ALL="C", **settings)
    return support.run(project / "scripts" / "bootstrap", *arguments, env=env)


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """A copy of the project whose bootstrap had Ctrl-C, and what still ran after that."""
    copy = tmp_path_factory.mktemp("a copy") / "ö" / "tollgate"
    shutil.copytree(support.ROOT, copy, ignore=shutil.ignore_patterns(*INSTALLED, *CACHES))
    installing = support.start(
        copy / "scripts" / "bootstrap",
        output=copy.parent / "out",
        env=support.environment(JMETER_HOME=""),
        start_new_session=True,
    )
    support.wait_until(lambda: all((copy / it).exists() for it in UNDER_WAY), "it is under way")
    os.killpg(installing.pid, signal.SIGINT)  # what Ctrl-C in a terminal does
    assert installing.wait() == 130
    running = psutil.wait_procs(support.ours(), timeout=GRACE)[1]
    told = [" ".join(process.cmdline()) for process in running]
    for process in running:
        process.kill()
    psutil.wait_procs(running)
    (copy / "node_modules" / "express").mkdir(parents=True, exist_ok=True)  # npm's half-done work
    return copy, told


@pytest.fixture(scope="module")
def installed(interrupted):
    """The same copy after a second call has mended it."""
    project = interrupted[0]
    assert [stamp for stamp in STAMPS if (project / stamp).exists()] == []
    mended = bootstrap(project, JMETER_HOME="")
    assert mended.returncode == 0, mended.stderr
    return project


@pytest.fixture
def own_home(installed, tmp_path_factory):
    """A JMeter of the user's own: the right version, without the plugins."""
    home = tmp_path_factory.mktemp("my own") / "apache-jmeter"
    shutil.copytree(installed / JMETER, home)
    for plugin in ("casutg", "tst"):
        for jar in home.glob(f"lib/ext/jmeter-plugins-{plugin}-*.jar"):
            jar.unlink()
    return home


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(it): hashlib.sha256(it.read_bytes()).hexdigest() for it in files}


def test_ctrl_c_leaves_no_installer_running(interrupted):
    assert interrupted[1] == []


def test_an_interrupted_installation_is_mended_by_the_next_call(installed, tmp_path):
    pm2_home = str(tmp_path)
    assert [stamp for stamp in STAMPS if not (installed / stamp).exists()] == []
    for command in (
        ("node", "-e", "require('express')"),
        ("node", "-e", f"require('./{NODE}/pm2')"),  # its command would start a daemon
        (".venv/bin/python", "-c", "import bzt, duckdb; from tollgate import targets"),
        (f"{JMETER}/bin/jmeter", "--version", "-j", "/dev/null"),
    ):
        done = support.run(*command, cwd=installed, env=support.environment(PM2_HOME=pm2_home))
        assert done.returncode == 0, done.stderr


def test_installing_adds_nothing_to_the_project_that_git_would_show(installed):
    ours = {entry.name for entry in support.ROOT.iterdir()} - {"jmeter.log"}
    assert {entry.name for entry in installed.iterdir()} - ours == set()


def test_a_further_call_does_nothing_and_says_nothing(installed):
    before = [(installed / stamp).stat().st_mtime_ns for stamp in STAMPS]
    done = bootstrap(installed, JMETER_HOME="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [(installed / stamp).stat().st_mtime_ns for stamp in STAMPS] == before


def test_what_developers_need_is_installed_for_them_alone_and_once(installed):
    def has_pytest():
        return support.run(installed / ".venv/bin/python", "-c", "import pytest").returncode == 0

    assert not has_pytest()
    added = bootstrap(installed, "dev", JMETER_HOME="")
    assert added.returncode == 0, added.stderr
    assert has_pytest()
    for arguments in (["dev"], []):
        again = bootstrap(installed, *arguments, JMETER_HOME="")
        assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert has_pytest()


def test_the_plugins_manager_says_that_the_plugins_are_installed(installed):
    home = installed / JMETER
    command, env = home / "bin" / "PluginsManagerCMD.sh", {"JVM_ARGS": OFFLINE, "LC_ALL": "C"}
    env = support.environment(**env)
    done = support.run(command, "status", cwd=home / "repository", env=env)
    assert "jpgc-casutg=2.10" in done.stdout
    assert "jpgc-tst=2.5" in done.stdout


def test_a_jmeter_home_without_plugins_is_left_alone_and_the_command_that_is_told_adds_them(
    installed, own_home
):
    before = contents(own_home)
    done = bootstrap(installed, JMETER_HOME=str(own_home))
    assert done.returncode == 0, done.stderr
    lacking, told = done.stderr.splitlines()
    assert lacking.endswith(" lacks the plugins jpgc-casutg,jpgc-tst.")
    command = f"'{own_home}/bin/PluginsManagerCMD.sh' install jpgc-casutg,jpgc-tst"
    assert told == f"  Add them with: {command}"
    assert contents(own_home) == before
    env = support.environment(JVM_ARGS=OFFLINE)
    added = support.run("sh", "-c", command, cwd=own_home / "repository", env=env)
    assert added.returncode == 0, added.stderr
    again = bootstrap(installed, JMETER_HOME=str(own_home))
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_a_jmeter_home_of_another_version_is_refused_with_both_versions(installed, tmp_path):
    banner = "/_/   \\_\\_|   /_/   \\_\\____|_| |_|_____|  \\____| 5.5"
    support.script(tmp_path / "bin" / "jmeter", f"echo '{banner}'")
    done = bootstrap(installed, JMETER_HOME=str(tmp_path))
    assert done.returncode == 1
    said = f"tollgate: JMETER_HOME={tmp_path} is JMeter 5.5, but the plans need 5.6.3; "
    assert done.stderr == f"{said}unset JMETER_HOME to use Tollgate's own JMeter\n"


def test_a_jmeter_home_that_is_none_is_refused(installed, tmp_path):
    for home, said in (
        (tmp_path / "nowhere", "is not a folder; unset JMETER_HOME"),
        (tmp_path, "has no bin/jmeter that can be run"),
    ):
        done = bootstrap(installed, JMETER_HOME=str(home))
        assert done.returncode == 1
        assert said in done.stderr
