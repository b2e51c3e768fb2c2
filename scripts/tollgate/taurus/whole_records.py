"""What bzt reads of a growing JTL for reporters of its own, record by record."""

from __future__ import annotations

from collections.abc import Iterator

from bzt.utils import FileReader

from tollgate.samples.layout import RECORD_BYTES


class WholeRecords:
    """bzt's reader of a growing JTL, but for messages that hold line breaks.

    bzt takes lines for records: with half of a quoted message at hand it reads half a record and
    ends the run with a TypeError. A quote that is never closed holds back no more than a record may
    be long; what it is of, jtl_check says when the run has ended. is_over: nothing more is read.
    """

    def __init__(self, file: FileReader) -> None:
        self._file = file
        self._held: list[str] = []
        self._length = 0
        self._is_quoted = False
        self.is_over = False

    def get_lines(self, size: int = -1, last_pass: bool = False) -> Iterator[str]:
        """Whole records; what is not finished yet comes first the next time."""
        if self.is_over:
            return
        for line in self._file.get_lines(size=size, last_pass=last_pass):
            self._held.append(line)
            self._length += len(line)
            self._is_quoted ^= line.count('"') % 2 == 1
            is_whole = line.endswith("\n") and not self._is_quoted
            if is_whole or self._length > RECORD_BYTES:
                record = "".join(self._held)
                self._held, self._length, self._is_quoted = [], 0, False
                yield record

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)
