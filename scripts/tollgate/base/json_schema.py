"""Whether an answer is what a JSON Schema says."""

from __future__ import annotations

import json
from typing import Any

from tollgate.base.text import one_line
from tollgate.base.time_limit import within

_LONGEST = 160
#: Seconds of CPU: a pattern of the schema, or what is in it, may take any time.
_CHECKED_S = 2


def mismatch(schema: Any, body: str) -> str:
    """Where and how a text differs from a schema, in one line; empty where it matches."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return "it is no JSON"
    return problem_of(schema, value)


def problem_of(schema: Any, value: Any, seconds: float = _CHECKED_S, is_sent: bool = False) -> str:
    """The same of a value of JSON. is_sent: `format` counts as well, as it does for many a service.
    An answer's is what the service makes it."""
    import jsonschema  # takes half a second, and most runs validate nothing
    from referencing import Registry

    try:
        # A registry of its own, for jsonschema's fetches what a schema refers to.
        rules = jsonschema.Draft202012Validator
        formats = rules.FORMAT_CHECKER if is_sent else None
        validator = rules(schema, registry=Registry(), format_checker=formats)
        with within(seconds):
            errors = sorted(
                validator.iter_errors(value), key=lambda error: len(error.absolute_path)
            )
    except Exception as problem:  # of a schema that is none
        return f"the schema can't be used: {one_line(str(problem))[:_LONGEST]}"
    if not errors:
        return ""
    where = ".".join(map(str, errors[0].absolute_path))
    return one_line(f"{where + ': ' if where else ''}{errors[0].message}")[:_LONGEST]
