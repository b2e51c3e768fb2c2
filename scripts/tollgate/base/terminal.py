"""What this process prints: no text of another's can move the cursor, hide or reorder a line, or
command the CI system that reads along."""

from __future__ import annotations

import re
import sys
from typing import Any, TextIO

from tollgate.base.text import printable

#: The colours of verdicts and of Taurus's log, and their end.
_COLOUR = re.compile(r"(\x1b\[(?:0|3[1-35]|0?1;31)m)")
#: What a CI system takes for a command: a line that begins with `::` and, anywhere, `##[`, `##vso[`
#: and `##teamcity[`. Source: GitHub's actions/runner, ActionCommand.cs; Azure's and TeamCity's
#: documentation.
_COMMAND = re.compile(r"^([ \n]*:)(?=:)|(##)(?=\w*\[)", re.MULTILINE)


class Terminal:
    """A stream that writes printable text alone, and colours where it is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        parts = _COLOUR.split(text) if self._stream.isatty() else [text]
        parts[::2] = (_COMMAND.sub(r"\1\2 ", printable(part)) for part in parts[::2])
        self._stream.write("".join(parts))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def guard() -> None:
    """Let standard output and error of this process be such streams from now on."""
    sys.stdout = sys.stdout and Terminal(sys.stdout)
    sys.stderr = sys.stderr and Terminal(sys.stderr)
