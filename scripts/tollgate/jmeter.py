"""Taurus executor `jmeter`, without a JVM started for each execution to see whether one starts."""

from __future__ import annotations

from collections.abc import Iterator

from bzt.modules.jmeter import JMeter, JMeterExecutor
from bzt.utils import FileReader

from tollgate.jtl_check import RECORD_BYTES


class InstalledJMeter(JMeterExecutor):
    """Runs the JMeter that scripts/bootstrap has installed, or the user's own that it has checked.

    Where it is missing, `targets` has said so before: Taurus would try to download one instead.
    """

    def install_required_tools(self) -> None:
        """Take the tool as it is."""
        self.tool = self._get_tool(JMeter, config=self.settings, props=self.properties)

    def prepare(self) -> None:
        """Let bzt follow the samples record by record."""
        super().prepare()
        if not str(self.modified_jmx).isascii():
            # In the locale `C`, which many a CI job has, Java finds no file of such a name.
            self.env.set({"LC_ALL": "C.UTF-8"})
        csv = getattr(self.reader, "csvreader", None)
        if csv is not None:
            csv.file = WholeRecords(csv.file)

    def _JMeterExecutor__force_hc4_cookie_handler(self, jmx: object) -> None:  # noqa: N802
        """Leave cookie managers as the plan has them; bzt would write its own choice over theirs,
        which JMeter has made its default since."""


class WholeRecords:
    """bzt's reader of a growing JTL, but for messages that hold line breaks.

    bzt takes lines for records: with half of a quoted message at hand it reads half a record and
    ends the run with a TypeError. A quote that is never closed holds back no more than a record may
    be long; what it is of, jtl_check says when the run has ended.
    """

    def __init__(self, file: FileReader) -> None:
        self._file = file
        self._held: list[str] = []
        self._length = 0
        self._is_quoted = False

    def get_lines(self, size: int = -1, last_pass: bool = False) -> Iterator[str]:
        """Whole records; what is not finished yet comes first the next time."""
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
