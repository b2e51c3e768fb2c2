"""The command as it is called: what it refuses, and how it ends."""

import os
import signal
import subprocess
import sys

import pytest

from certification import command
from certification.store import Store
from support import wait_until
from support.certified import PATHS, finished
from tollgate.base.paths import SUITE

# The command with the stub in bzt's place.
STUBBED = f"""
import functools, sys
from certification import command, live
stub = (sys.executable, "{SUITE / "tests" / "support" / "stub_bzt.py"}")
command.Live = functools.partial(live.Live, command=stub)
command.check_like = lambda: None
command.main()
"""


@pytest.fixture
def called(tmp_path, monkeypatch, capsys):
    """Calls it; returns its exit code and what it said."""
    monkeypatch.setattr(command, "Store", lambda folder: Store(folder, tmp_path / "kept"))

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["certify", *arguments, "--folder", str(tmp_path)])
        code = 0
        try:
            command.main()
        except SystemExit as ended:
            code = ended.code
        return code, "".join(capsys.readouterr())

    return call


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "certify: say for how long: --minutes 40 or --runs 2\n"),
        (["run", "--runs", "1", "--conditions", "lunch"], "certify: 'lunch' is no condition: "),
        (["run", "--minutes", "long"], "argument --minutes: invalid float value: 'long'"),
        (["table", "--sequences", "many"], "argument --sequences: invalid int value: 'many'"),
        (["table"], "has a verdict: `certify run`\n"),
        (["lunch"], "certify: 'lunch' is no command: "),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_line_with_exit_code_1(called, arguments, said):
    code, text = called(*arguments)
    assert code == 1
    assert said in text
    assert text.count("\n") == 1


def test_the_status_lists_every_run_and_counts_conditions(called, tmp_path):
    for number, condition in enumerate(["aa", "work-5", "aa"], 1):
        Store(tmp_path).add(finished(number, condition))
    code, text = called("status")
    assert code == 0
    first, *_, last = text.splitlines()
    assert first.startswith("2026-11-21T10:00:00+00:00 aa ")
    assert first.endswith(" PASS after 60 s of measuring, 90 s in all")
    assert last == "3 runs: 2 aa, 1 work-5"


def test_new_runs_are_moved_to_those_that_are_committed(called, tmp_path):
    Store(tmp_path).add(run := finished(1))
    code, text = called("keep")
    assert (code, text) == (0, f"{tmp_path / 'kept' / run.name}.npz\n")
    assert not [*tmp_path.glob("*.npz")]
    assert called("status")[1].endswith("1 runs: 1 aa\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_under_way_in_good_order_and_nothing_is_left(tmp_path, number):
    said = tmp_path / "said"
    folder = tmp_path / "certify"
    options = ["--runs", "3", "--conditions", "aa+noise", "--folder", str(folder)]
    process = subprocess.Popen(
        [sys.executable, "-c", STUBBED, "run", *options],
        env={**os.environ, "PYTHONPATH": PATHS, "FAILING": f"never ends {said}"},
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: said.exists() and "began" in said.read_text(), "the run is under way")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err.endswith("certify: stopped; every finished run is kept\n")
    assert said.read_text() == "began, and ended in good order"
    # It says whose folder it is.
    assert [file.name for file in folder.iterdir()] == ["lock"]
