import errno
import os
import sys
from pathlib import Path

import pytest

import support
from support.archived import unpacked
from tollgate.base import disk

#: By errno, what its line says and no other does.
SAID = {errno.ENOSPC: "is full (", errno.EDQUOT: "quota", errno.EFBIG: "ulimit -f"}


@pytest.mark.parametrize("code", SAID)
def test_a_run_says_which_limit_kept_it_from_writing(tmp_path, code):
    problem = OSError(code, os.strerror(code))
    said = disk.explained(problem, str(tmp_path))
    assert disk.is_full(problem)
    assert str(tmp_path) in said
    assert [it for it, text in SAID.items() if text in said] == [code]


def test_any_other_problem_is_told_as_it_is(tmp_path):
    assert disk.explained(OSError(errno.EACCES, "Permission denied"), str(tmp_path)) is None


def test_judge_under_a_limit_of_file_sizes_names_the_limit(tmp_path):
    run = unpacked("check-pass", tmp_path)
    command = f"{Path(sys.executable).with_name('tollgate')} judge {run}"
    compiled = support.environment(PYTHONPYCACHEPREFIX=str(tmp_path / "compiled"))
    # Python's own modules are compiled where it was installed.
    support.run(sys.executable, "-c", "import re, tollgate.cli.start", env=compiled)
    done = support.run("bash", "-c", f"ulimit -f 16; exec {command}", env=compiled)
    assert "ulimit -f" in done.stdout
    assert "MiB that are free" not in done.stdout
    # Python truncates the modules that it compiles then, and no command could start again.
    assert "PASS: 28 of 28" in support.run("bash", "-c", f"exec {command}", env=compiled).stdout
