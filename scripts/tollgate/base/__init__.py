"""What every room needs: words for numbers, whole files, paths, signals, disk, clock.

In: nothing of Tollgate. Out: helpers that know nothing of runs, plans or samples.
"""

from __future__ import annotations

from tollgate.base import atomic, disk, paths, records, terminal
from tollgate.base.clock import ClockWatch
from tollgate.base.paths import (
    BASE,
    ECOSYSTEM,
    PM2_HOME,
    REPORTS,
    ROOT,
    STATE,
    java_finds,
    jmeter_home,
)
from tollgate.base.processes import (
    SIGNALS,
    TooLongError,
    end_by,
    reap,
    run_to_end,
    uninterrupted,
)
from tollgate.base.response_codes import NAMES, PREFIX, class_of, nearest, short_code
from tollgate.base.text import (
    FileError,
    closest,
    code,
    did_you_mean,
    duration,
    duration_text,
    escaped,
    figure,
    lasting,
    one_line,
    printable,
    row,
    short,
    spanned,
)
from tollgate.base.urls import Url, read_url, shown

__all__ = [
    "BASE",
    "ECOSYSTEM",
    "NAMES",
    "PM2_HOME",
    "PREFIX",
    "REPORTS",
    "ROOT",
    "SIGNALS",
    "STATE",
    "ClockWatch",
    "FileError",
    "TooLongError",
    "Url",
    "atomic",
    "class_of",
    "closest",
    "code",
    "did_you_mean",
    "disk",
    "duration",
    "duration_text",
    "end_by",
    "escaped",
    "figure",
    "java_finds",
    "jmeter_home",
    "lasting",
    "nearest",
    "one_line",
    "paths",
    "printable",
    "read_url",
    "reap",
    "records",
    "row",
    "run_to_end",
    "short",
    "short_code",
    "shown",
    "spanned",
    "terminal",
    "uninterrupted",
]
