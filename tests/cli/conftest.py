"""Runs `tollgate` in the process of the test."""

import pytest

from support import command


@pytest.fixture
def tollgate():
    """Gives exit code, standard output and standard error."""
    return command.tollgate


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
