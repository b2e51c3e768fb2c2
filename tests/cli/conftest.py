"""Runs `tollgate` in the process of the test."""

import sys

import pytest

from tollgate.cli import cli


@pytest.fixture
def tollgate(monkeypatch, capsys):
    """Gives exit code, standard output and standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tollgate", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        return caught.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def refusal(tollgate):
    """Gives the one line with which the command refuses."""

    def run(*words):
        code, out, err = tollgate(*words)
        assert (code, out) == (1, "")
        assert err.startswith("tollgate: ")
        assert err.count("\n") == 1
        return err

    return run
