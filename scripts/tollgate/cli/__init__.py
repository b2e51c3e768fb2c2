"""What a person calls: bzt, tollgate and its subcommands.

In: arguments and environment. Out: exit codes.
"""

from __future__ import annotations

import argparse
from typing import NoReturn

from tollgate.base.exit_codes import ExitCode
from tollgate.base.text import did_you_mean


class Parser(argparse.ArgumentParser):
    """Ends with ERROR where argparse ends with 2, which means that a run was interrupted, and names
    what was perhaps meant."""

    def error(self, message: str) -> NoReturn:
        """Print one line that begins with the command's name, and exit."""
        command = self.prog.partition(" ")[0]  # a subcommand's prog names both
        self.exit(ExitCode.ERROR, f"{command}: {message}\n")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            what = str(action.metavar or action.dest).lower()
            step = did_you_mean(str(value), action.choices)
            raise argparse.ArgumentError(None, f"{value!r} is no {what}: {step}")
