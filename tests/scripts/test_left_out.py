"""A test that can't run here is never dropped in silence."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import support

GUI_TEST = "tests/e2e/test_gui.py::test_nothing_goes_wrong_behind_the_window"


def pytest_without_a_screen(**settings: str) -> subprocess.CompletedProcess[str]:
    return support.run(
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", GUI_TEST),
        cwd=support.ROOT,
        env=support.environment(PATH="/nowhere", **settings),
    )


def test_a_test_that_is_left_out_is_named_with_what_it_needs() -> None:
    done = pytest_without_a_screen(CI="")
    assert done.returncode == 0
    assert f"LEFT OUT {GUI_TEST}: Skipped: needs a screen" in done.stdout


def test_leaving_a_test_out_is_a_failure_where_ci_is_true() -> None:
    done = pytest_without_a_screen(CI="true")
    assert done.returncode == 1
    assert f"LEFT OUT {GUI_TEST}" in done.stdout


def tool(folder: Path, name: str, says: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\nprintf '%s\\n' '{says}'\n")
    (folder / name).chmod(0o755)


NOT_INSTALLED = ("system-packages:", "not", "installed:")
#: What gives a test hosts of its own, which only Linux has.
OF_HOSTS = "iproute2 faketime" if Path("/proc/self/ns/net").exists() else ""


def said_without_packages(folder: Path, **settings: str) -> str:
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


def java(version: str) -> str:
    return f"    java.home = /nowhere\n    java.specification.version = {version}"


def test_packages_are_named_where_they_cannot_be_installed(tmp_path: Path) -> None:
    tool(tmp_path / "bin", "java", java("21"))
    wanted = f"chromium xvfb {OF_HOSTS} openjdk-21-jre".split()
    assert said_without_packages(tmp_path / "bin").split() == [*NOT_INSTALLED, *wanted]


def test_java_may_be_named_by_its_home_alone(tmp_path: Path) -> None:
    home = tmp_path / "my jdk"
    home.mkdir()
    tool(home / "bin", "java", java("17"))
    said = said_without_packages(tmp_path / "bin", JAVA_HOME=str(home))
    assert said.endswith(" openjdk-17-jre\n")


def test_without_a_java_no_package_of_no_version_is_asked_for(tmp_path: Path) -> None:
    wanted = f"chromium xvfb {OF_HOSTS}".split()
    assert said_without_packages(tmp_path / "bin").split() == [*NOT_INSTALLED, *wanted]


@pytest.mark.needs(*support.NEEDS)
def test_nothing_is_said_where_everything_is_installed() -> None:
    done = support.run(support.ROOT / "scripts" / "system-packages")
    assert (done.returncode, done.stdout) == (0, "")
