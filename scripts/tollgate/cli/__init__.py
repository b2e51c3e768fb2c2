"""What a person calls: bzt, tollgate and its subcommands.

In: arguments and environment. Out: exit codes.
"""

from __future__ import annotations

import argparse
from typing import NoReturn

from tollgate.base.exit_codes import ExitCode

__all__ = ["Parser"]


class Parser(argparse.ArgumentParser):
    """Ends with ERROR where argparse ends with 2, which means that a run was interrupted."""

    def error(self, message: str) -> NoReturn:
        """Print one line that begins with the command's name, and exit."""
        command = self.prog.partition(" ")[0]  # a subcommand's prog names both
        self.exit(ExitCode.ERROR, f"{command}: {message}\n")
