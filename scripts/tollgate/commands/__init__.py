"""What a person calls: bzt, tollgate and its subcommands.

In: arguments and environment. Out: exit codes.
"""

from __future__ import annotations

from tollgate.commands.arguments import ERROR, Parser

__all__ = ["ERROR", "Parser"]
