"""The console scripts before their commands are imported."""

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
from tollgate.cli import start
getattr(start, sys.argv[2])()
"""
WAITS = "import sys\nprint('imports', flush=True)\nsys.stdin.read()\n"


def command(name, *arguments, **options):
    """Runs a command as it is installed, where the project is."""
    where = Path(sys.executable).with_name(name)
    return support.run(where, *arguments, cwd=support.ROOT, **options)


@pytest.mark.parametrize("name", ["bzt", "tollgate"])
def test_a_command_that_is_interrupted_while_it_imports_says_so_in_a_line(tmp_path, name):
    (tmp_path / "numpy.py").write_text(WAITS)
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    words = [sys.executable, "-c", CALLS, str(tmp_path), name]
    with subprocess.Popen(words, text=True, **pipes) as process:
        assert process.stdout.readline() == "imports\n"
        process.send_signal(signal.SIGINT)
        out, said = process.communicate()
    assert (process.returncode, out, said) == (2, "", f"{name}: interrupted\n")


@pytest.mark.parametrize("name", ["bzt", "tollgate"])
def test_what_the_shell_tells_its_own_python_is_none_of_the_commands_business(tmp_path, name):
    (tmp_path / "numpy.py").write_text("raise RuntimeError('another numpy')\n")
    env = support.environment(PYTHONPATH=str(tmp_path), PYTHONWARNINGS="error")
    done = command(name, "--help", env=env)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("level", ["1", "2"])
@pytest.mark.parametrize(
    "words",
    [
        *("bzt --help", "tollgate --help", "tollgate judge tests/archive/check-pass"),
        *("tollgate forecast data/forecast.csv", "tollgate new target --help"),
    ],
)
def test_a_command_says_the_same_to_a_shell_whose_python_optimizes(words, level):
    plain = command(*words.split())
    done = command(*words.split(), env=support.environment(PYTHONOPTIMIZE=level))
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)


@pytest.mark.parametrize(
    "words",
    [
        *(("bzt", "{}.yml"), ("tollgate", "judge", "{}")),
        *(("tollgate", "{}"), ("tollgate", "forecast", "{}")),
        ("tollgate", "judge", "tests/archive/check-pass", "--criterion", "p95 of {}>1ms"),
        ("tollgate", "judge", "tests/archive/check-pass", "--criterion", "{}"),
    ],
)
def test_no_escape_sequence_of_an_argument_reaches_the_terminal(words):
    hostile = "x\x1b]0;title\x07\x1b[2J\x9b31m\u202ey"
    done = command(*(each.format(hostile) for each in words))
    said = done.stdout + done.stderr
    assert done.returncode
    assert said.strip()
    assert [it for it in said if not (it.isprintable() or it == "\n")] == []


def test_a_start_waits_for_no_import_that_it_does_without():
    """`scipy.stats` alone takes as long as most of the rest, at each start."""
    code = "import sys, tollgate.cli.bzt, tollgate.cli.cli; print(*sys.modules)"
    done = support.run(sys.executable, "-c", code)
    assert "bzt.engine" in done.stdout.split()
    assert not {"scipy.stats", "scipy.signal", "pandas", "matplotlib"} & {*done.stdout.split()}
