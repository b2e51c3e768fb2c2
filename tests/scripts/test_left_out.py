"""A test that can't run here is never dropped in silence."""

import shutil
import sys
from pathlib import Path

import pytest

import support

GUI_TEST = "tests/e2e/test_gui.py::test_nothing_goes_wrong_behind_the_window"


def pytest_without_a_screen(**settings):
    return support.run(
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", GUI_TEST),
        cwd=support.ROOT,
        env=support.environment(PATH="/nowhere", **settings),
    )


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_a_test_that_is_left_out_is_named_with_what_it_needs_and_fails_ci(ci, code):
    done = pytest_without_a_screen(CI=ci)
    assert done.returncode == code
    assert f"LEFT OUT {GUI_TEST}: Skipped: needs a screen" in done.stdout


TWO = """import ctypes
import os
import bzt.utils
import duckdb

#: Of which DuckDB's binding says that it leaks.
KEPT = ctypes.py_object(duckdb.connect())
ctypes.pythonapi.Py_IncRef(KEPT)

def test_fails(): assert 'TOLLGATE_FAILED_TESTS' in os.environ
def test_passes(): pass
"""
ONE = """const { test } = require('node:test');
test('whole', async (t) => { await t.test('part', () => { throw new Error(); }); });
test('good', () => {});
"""


def test_the_tests_that_failed_are_left_where_scripts_test_asks_for_them(tmp_path):
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_two.py").write_text(TWO)
    (tests / "conftest.py").symlink_to(support.ROOT / "tests" / "conftest.py")
    (tests / "one.test.js").write_text(ONE)
    python, node = tmp_path / "python", tmp_path / "node"
    arguments = ("-p", "no:cacheprovider", "-c", support.ROOT / "pyproject.toml", tests)
    done = support.run(
        *(sys.executable, "-m", "pytest", *arguments, "--rootdir", tmp_path),
        env=support.environment(TOLLGATE_FAILED_TESTS=str(python)),
    )
    assert (done.returncode, python.read_text()) == (1, "tests/test_two.py::test_fails\n")
    assert "Warning" not in done.stdout
    assert done.stderr == ""
    reporter = support.ROOT / "tests" / "support" / "failed-tests.mjs"
    done = support.run(
        *("node", "--test", f"--test-reporter={reporter}", f"--test-reporter-destination={node}"),
        "tests/one.test.js",
        cwd=tmp_path,
        env=support.environment(),
    )
    assert (done.returncode, node.read_text()) == (1, "tests/one.test.js: part\n")


NOT_INSTALLED = ("system-packages:", "not", "installed:")
#: What gives a test hosts of its own, which only Linux has.
OF_HOSTS = "iproute2 faketime" if Path("/proc/self/ns/net").exists() else ""


def said_without_packages(folder, **settings):
    """What scripts/system-packages says where nothing is installed but for what is in `folder`."""
    support.script(folder / "id", "echo 1000")
    for name in ("sed", "paste"):
        (folder / name).symlink_to(shutil.which(name))
    done = support.run(
        *(shutil.which("sh"), support.ROOT / "scripts" / "system-packages"),
        env={"PATH": str(folder), **settings},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def write_java(folder, version):
    properties = ("    java.home = /nowhere", f"    java.specification.version = {version}")
    support.script(folder / "java", *(f"echo '{each}'" for each in properties))


def test_packages_are_named_where_they_cannot_be_installed(tmp_path):
    write_java(tmp_path / "bin", "21")
    wanted = f"chromium xvfb {OF_HOSTS} openjdk-21-jre".split()
    assert said_without_packages(tmp_path / "bin").split() == [*NOT_INSTALLED, *wanted]


def test_java_may_be_named_by_its_home_alone(tmp_path):
    write_java(tmp_path / "my jdk" / "bin", "17")
    said = said_without_packages(tmp_path / "bin", JAVA_HOME=str(tmp_path / "my jdk"))
    assert said.endswith(" openjdk-17-jre\n")


def test_without_a_java_no_package_of_no_version_is_asked_for(tmp_path):
    wanted = f"chromium xvfb {OF_HOSTS}".split()
    assert said_without_packages(tmp_path / "bin").split() == [*NOT_INSTALLED, *wanted]


@pytest.mark.needs(*support.NEEDS)
def test_nothing_is_said_where_everything_is_installed():
    done = support.run(support.ROOT / "scripts" / "system-packages")
    assert (done.returncode, done.stdout) == (0, "")
