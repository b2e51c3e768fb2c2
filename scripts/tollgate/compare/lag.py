"""How long what is under way may take: nothing is judged from which the slowest are missing. Pure.

Whoever looks at samples waits so long after the last moment that counts, or, of a run that was cut
short, leaves out so much before its end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

#: What plans/compare.jmx waits for, in ms, where no property says so.
TIMEOUTS_MS = {"connect_timeout": 2000, "response_timeout": 5000}
#: Seconds beyond the timeouts in which JMeter writes down what it has given up.
WRITING_S = 1.0


class LagError(ValueError):
    """One line: which timeout never comes, and what to write."""


def lag_s(properties: Mapping[str, object]) -> float:
    """Seconds after which whatever was sent has been answered or given up, and is in the file.

    properties: of the plan. Raises LagError for timeouts that never come: then what is slow might
    be missing for good.
    """
    total_ms = 0.0
    for name, usual_ms in TIMEOUTS_MS.items():
        text = str(properties.get(name, usual_ms))
        if not re.fullmatch(r"\d+", text) or not int(text):
            raise LagError(
                f"the property {name} is {text!r}: write whole milliseconds above 0, for the "
                "samples are only judged once everything sent before has been answered or given up"
            )
        total_ms += int(text)
    return total_ms / 1000 + WRITING_S
