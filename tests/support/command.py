"""The command `tollgate` in this process, without a start of Python each time."""

import contextlib
import io
import sys
from unittest import mock

import pytest

from tollgate.cli import cli


def tollgate(*words):
    """Its exit code, standard output and standard error."""
    out, err, argv = io.StringIO(), io.StringIO(), ["tollgate", *map(str, words)]
    said = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with said[0], said[1], mock.patch.object(sys, "argv", argv), pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code, out.getvalue(), err.getvalue()
