"""A command line whose errors are one line and an exit code that means an error here."""

from __future__ import annotations

import argparse
from typing import NoReturn

ERROR = 1


class Parser(argparse.ArgumentParser):
    """Ends with ERROR where argparse ends with 2, which means that a run was interrupted."""

    def error(self, message: str) -> NoReturn:
        """Print one line that begins with the command's name, and exit."""
        command = self.prog.partition(" ")[0]  # a subcommand's prog names both
        self.exit(ERROR, f"{command}: {message}\n")
