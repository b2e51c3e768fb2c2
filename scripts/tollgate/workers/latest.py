"""The last look at each worker, of a workers.jsonl that is still written."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tollgate.workers.lines import Line

#: In the folder of a run.
FILE = "workers.jsonl"
#: A line each, by the app and the worker's number.
Looks = Mapping[tuple[str, Any], Line]


class LatestLooks:
    """of: the last line of each worker, by its app and its number. Lines about events, and what
    can't be read, are left to the verdict."""

    def __init__(self, path: Path) -> None:
        self.of: dict[tuple[str, Any], Line] = {}
        self._path, self._read, self._half = path, 0, b""

    def advance(self) -> None:
        """Take in what is new; a file that is not there yet has nothing."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
        except OSError:
            return
        self._read += len(new)
        *lines, self._half = (self._half + new).split(b"\n")
        for line in lines:
            self.take(line)

    def take(self, text: bytes | str, until_ms: float = math.inf) -> bool:
        """Take in a line, unless it is of a later time (epoch ms); whether it is not."""
        with suppress(ValueError, TypeError, LookupError, RecursionError):
            line = json.loads(text)
            if line["time"] > until_ms:
                return False
            if "event" not in line:
                self.of[line["app"], line["worker"]] = line
        return True
