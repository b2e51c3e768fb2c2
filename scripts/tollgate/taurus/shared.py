"""Settings and properties as numbers, and names of settings that somebody reads."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from bzt import TaurusConfigError

# JMeter's functions read no exponents, and YAML 1.1 takes 1e3 for a string.
_PLAIN = re.compile(r"[0-9]+(\.[0-9]+)?")


def nearest(wanted: str, known: Iterable[str]) -> str:
    """The next step for a name that nobody knows."""
    names = [*known]
    near = difflib.get_close_matches(wanted, names, 1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names) or 'none'}"


def refuse_unknown(module: str, settings: Mapping[str, object], known: Iterable[str]) -> None:
    """Raises TaurusConfigError, one line, for a setting that nobody reads."""
    names = [*known]
    for name in settings:
        if name not in (*names, "class"):
            raise TaurusConfigError(
                f"{module}: modules.{module} has the setting {name!r}, which nobody reads: "
                f"{nearest(str(name), names)}"
            )


def number(value: object) -> float:
    """`2`, `0.5`, `1e3` or `1/3`, as a number or as text. Raises ValueError for anything else."""
    text = str(value)
    try:
        found = float(Fraction(text)) if "/" in text else float(text)
    except (ValueError, ZeroDivisionError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{text!r} is not a number such as 2 or 1/3")
    return found


def property_of(properties: Mapping[str, object], name: str, default: float, where: str) -> float:
    """A JMeter property such as warmup and measured, in its own unit, as the plan reads it.

    where: whose it is, e.g. `load: execution 'fork'`. Raises TaurusConfigError.
    """
    value = properties.get(name, default)
    if not _PLAIN.fullmatch(str(value)):
        raise TaurusConfigError(
            f"{where}: the property {name} is {value!r}: write plain digits without a unit, "
            f"such as {default or 60:g}"
        )
    return float(str(value))
