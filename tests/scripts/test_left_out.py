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


def test_packages_are_named_where_they_cannot_be_installed(tmp_path: Path) -> None:
    for name, says in {"id": "1000", "java": "    java.home = /nowhere"}.items():
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\necho '{says}'\n")
        script.chmod(0o755)
    for name in ("sed", "paste"):
        (tmp_path / name).symlink_to(shutil.which(name))
    done = support.run(
        *(shutil.which("sh"), support.ROOT / "scripts" / "system-packages"),
        env={"PATH": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    wanted = "chromium xvfb apache2-utils openjdk--jre"
    assert done.stdout == f"system-packages: not installed: {wanted}\n"


@pytest.mark.needs(*support.NEEDS)
def test_nothing_is_said_where_everything_is_installed() -> None:
    done = support.run(support.ROOT / "scripts" / "system-packages")
    assert (done.returncode, done.stdout) == (0, "")
