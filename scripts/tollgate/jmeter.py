"""Taurus executor `jmeter`, without a JVM started for each execution to see whether one starts."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from bzt.modules.jmeter import JMeter, JMeterExecutor
from bzt.utils import FileReader

from tollgate.jtl_check import RECORD_BYTES

#: JMeter's property for the variables that it writes beside each sample, and the one that holds
#: when the test started.
VARIABLES, TEST_START = "sample_variables", "TESTSTART.MS"


class InstalledJMeter(JMeterExecutor):
    """Runs the JMeter that scripts/bootstrap has installed, or the user's own that it has checked.

    Where it is missing, `targets` has said so before: Taurus would try to download one instead.
    """

    def install_required_tools(self) -> None:
        """Take the tool as it is."""
        self.tool = self._get_tool(JMeter, config=self.settings, props=self.properties)

    def prepare(self) -> None:
        """Let JMeter tell when it started, and bzt follow the samples record by record."""
        self._ask_for_test_start()
        super().prepare()
        if not str(self.modified_jmx).isascii():
            # In the locale `C`, which many a CI job has, Java finds no file of such a name.
            self.env.set({"LC_ALL": "C.UTF-8"})
        csv = getattr(self.reader, "csvreader", None)
        if csv is not None:
            csv.file = WholeRecords(csv.file)

    def _execute(self, args: Sequence[str], **kwargs: object) -> subprocess.Popen:
        """Start JMeter in the plan's own folder.

        JMeter looks for CSV files and includes beside the plan only where its working directory has
        none of that name (FileServer, IncludeController), and for the script files of JSR223
        elements in its working directory alone (JSR223TestElement): in the project's folder,
        somebody's own plan would read the project's files and none of its scripts.
        """
        folder = Path(self.original_jmx).absolute().parent
        return super()._execute(args, cwd=str(folder), **kwargs)

    def _ask_for_test_start(self) -> None:
        """Add TESTSTART.MS to whatever variables the samples are to tell: it is the zero of every
        schedule, and without it nobody could say how late all of the samples were."""
        scenario = self.get_scenario()
        own = scenario.get("properties")
        given = own.get(VARIABLES, self.settings.get("properties").get(VARIABLES, ""))
        own[VARIABLES] = with_test_start(str(given or ""))
        scenario["properties"] = own

    def _JMeterExecutor__force_hc4_cookie_handler(self, jmx: object) -> None:  # noqa: N802
        """Leave cookie managers as the plan has them; bzt would write its own choice over theirs,
        which JMeter has made its default since."""


def with_test_start(variables: str) -> str:
    """JMeter's `sample_variables` with TESTSTART.MS among them; JMeter takes no blanks off."""
    names = [name for name in variables.split(",") if name]
    return ",".join(names if TEST_START in names else [*names, TEST_START])


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
