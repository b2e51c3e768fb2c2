"""JSON that anybody may have written: what of it has the shape that is wanted."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

#: Bytes; the largest that a run writes, with a forecast's whole timeline, has some 300,000.
_LARGEST = 20_000_000


class UnreadableError(Exception):
    """One line: which file, and why it can't be read."""


def read_object(path: Path) -> dict[str, Any]:
    """The object in a file of JSON. Raises UnreadableError."""
    try:
        # Anything but a file might never come to an end.
        if not path.is_file():
            raise UnreadableError(f"{path.name} is not a file")
        if path.stat().st_size > _LARGEST:
            raise UnreadableError(f"{path.name} is larger than any that a run writes")
        raw = json.loads(path.read_bytes())
    except OSError as error:
        raise UnreadableError(f"{path.name} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{path.name} is not JSON: {_short(error)}") from None
    if not isinstance(raw, dict):
        raise UnreadableError(f"{path.name} holds no object but {_short(raw)}")
    return raw


def text(raw: dict[str, Any], key: str, default: str = "") -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else default


def number(raw: dict[str, Any], key: str) -> float | None:
    """A finite number, or None."""
    return finite(raw.get(key))


def finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # An integer of any length is JSON, and need not fit into a float.
    return float(value) if abs(value) < 1e300 and math.isfinite(value) else None


def objects(raw: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of a list."""
    value = raw.get(key)
    return [it for it in value if isinstance(it, dict)] if isinstance(value, list) else []


def mapping(raw: dict[str, Any], key: str) -> dict[str, Any]:
    value = raw.get(key)
    return value if isinstance(value, dict) else {}


def _short(value: object) -> str:
    told = " ".join(str(value).split())
    return told if len(told) <= 80 else f"{told[:80]}..."
