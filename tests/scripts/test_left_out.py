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


def test_a_test_that_is_left_out_is_named_with_what_it_needs():
    done = pytest_without_a_screen(CI="")
    assert done.returncode == 0
    assert f"LEFT OUT {GUI_TEST}: Skipped: needs a screen" in done.stdout


def test_leaving_a_test_out_is_a_failure_where_ci_is_true():
    done = pytest_without_a_screen(CI="true")
    assert done.returncode == 1
    assert f"LEFT OUT {GUI_TEST}" in done.stdout


def tool(folder, name, says):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\nprintf '%s\\n' '{says}'\n")
    (folder / name).chmod(0o755)


def test_the_tests_that_failed_are_left_where_scripts_test_asks_for_them(tmp_path):
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_two.py").write_text(
        "import os\nimport bzt.utils\n\n"
        "def test_fails(): assert 'TOLLGATE_FAILED_TESTS' in os.environ\n\n"
        "def test_passes(): pass\n"
    )
    (tests / "conftest.py").symlink_to(support.ROOT / "tests" / "conftest.py")
    (tests / "one.test.js").write_text(
        "const { test } = require('node:test');\n"
        "test('whole', async (t) => { await t.test('part', () => { throw new Error(); }); });\n"
        "test('good', () => {});\n"
    )
    python, node = tmp_path / "python", tmp_path / "node"
    arguments = ("-p", "no:cacheprovider", "-c", support.ROOT / "pyproject.toml", tests)
    done = support.run(
        *(sys.executable, "-m", "pytest", *arguments, "--rootdir", tmp_path),
        env=support.environment(TOLLGATE_FAILED_TESTS=str(python)),
    )
    assert (done.returncode, python.read_text()) == (1, "tests/test_two.py::test_fails\n")
    assert "Warning" not in done.stdout
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
    tool(folder, "id", "1000")
    for name in ("sed", "paste"):
        (folder / name).symlink_to(shutil.which(name))
    done = support.run(
        *(shutil.which("sh"), support.ROOT / "scripts" / "system-packages"),
        env={"PATH": str(folder), **settings},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def java(version):
    return f"    java.home = /nowhere\n    java.specification.version = {version}"


def test_packages_are_named_where_they_cannot_be_installed(tmp_path):
    tool(tmp_path / "bin", "java", java("21"))
    wanted = f"chromium xvfb {OF_HOSTS} openjdk-21-jre".split()
    assert said_without_packages(tmp_path / "bin").split() == [*NOT_INSTALLED, *wanted]


def test_java_may_be_named_by_its_home_alone(tmp_path):
    home = tmp_path / "my jdk"
    home.mkdir()
    tool(home / "bin", "java", java("17"))
    said = said_without_packages(tmp_path / "bin", JAVA_HOME=str(home))
    assert said.endswith(" openjdk-17-jre\n")


def test_without_a_java_no_package_of_no_version_is_asked_for(tmp_path):
    wanted = f"chromium xvfb {OF_HOSTS}".split()
    assert said_without_packages(tmp_path / "bin").split() == [*NOT_INSTALLED, *wanted]


@pytest.mark.needs(*support.NEEDS)
def test_nothing_is_said_where_everything_is_installed():
    done = support.run(support.ROOT / "scripts" / "system-packages")
    assert (done.returncode, done.stdout) == (0, "")
