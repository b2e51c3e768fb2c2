"""The console scripts before their commands are imported."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import support

#: Calls a command with modules of this folder before those that are installed.
CALLS = """
import sys
sys.path.insert(0, sys.argv[1])
from tollgate.commands import start
getattr(start, sys.argv[2])()
"""
WAITS = "import sys\nprint('imports', flush=True)\nsys.stdin.read()\n"


@pytest.mark.parametrize("name", ["bzt", "tollgate"])
def test_a_command_that_is_interrupted_while_it_imports_says_so_in_a_line(tmp_path: Path, name):
    (tmp_path / "numpy.py").write_text(WAITS)
    with subprocess.Popen(
        [sys.executable, "-c", CALLS, str(tmp_path), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "imports\n"
        process.send_signal(signal.SIGINT)
        out, said = process.communicate()
    assert (process.returncode, out, said) == (2, "", f"{name}: interrupted\n")


@pytest.mark.parametrize("name", ["bzt", "tollgate"])
def test_what_the_shell_tells_its_own_python_is_none_of_the_commands_business(tmp_path: Path, name):
    (tmp_path / "numpy.py").write_text("raise RuntimeError('another numpy')\n")
    env = support.environment(PYTHONPATH=str(tmp_path), PYTHONWARNINGS="error")
    done = support.run(Path(sys.executable).with_name(name), "--help", env=env)
    assert (done.returncode, done.stderr) == (0, "")
