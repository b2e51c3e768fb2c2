"""A plan that several of JMeter's remote engines send a part of: each reads its own properties.

JMeter hands one plan and the same properties to all engines. So where the engines' values differ,
the plan that they get asks for the property of the engine's number instead: `${__P(rate,5)}`
becomes `${__P(engine-${__P(engine)}.rate,5)}`, and only an engine knows its `engine`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping


def own_name(name: str, number: int | str) -> str:
    """What a property of one engine is called."""
    return f"engine-{number}.{name}"


def for_engines(text: str, names: Iterable[str], files: Mapping[str, str]) -> str:
    """The text of a plan in which each engine reads its own value of these properties, and in place
    of a property that names a data file has the path given for it. Raises ValueError, with the
    name, for one that the text does not read."""
    for name, path in files.items():
        text = _replaced(rf"\$\{{__P\(\s*{re.escape(name)}\s*(,[^)]*)?\)\}}", path, name, text)
    for name in names:
        pattern = rf"(?<=__P\()\s*{re.escape(name)}\s*(?=[,)])"
        text = _replaced(pattern, own_name(name, "${__P(engine)}"), name, text)
    return text


def _replaced(pattern: str, by: str, name: str, text: str) -> str:
    found, count = re.subn(pattern, lambda _: by, text)
    if not count:
        raise ValueError(name)
    return found
