"""How many runs at most decide together. Pure.

Where a job repeats a run that is INCONCLUSIVE, the last run decides, and each of them may err. So
each has its part of the errors: a false FAIL, or a false PASS, of any is then no more frequent than
of a single run (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.base.settings import SettingError

VARIABLE = "TOLLGATE_ATTEMPTS"
_MOST = 10


def attempts(environment: Mapping[str, str]) -> int:
    """1 where the variable is not set. Raises SettingError."""
    text = environment.get(VARIABLE) or "1"
    if text.isascii() and text.isdecimal() and 1 <= int(text) <= _MOST:
        return int(text)
    raise SettingError(f"{VARIABLE} is {text!r}: write how many runs a job makes, 1 to {_MOST}")
