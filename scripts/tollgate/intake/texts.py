"""Texts that a schema allows: by format, by pattern, by length. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import chain
from random import Random
from typing import Any
from uuid import UUID

import rstr

from tollgate.base.time_limit import within

#: Seconds of CPU for a pattern.
MATCHED_S = 0.2
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: Texts that are made of a pattern, longer and longer, until one has the length that is asked.
_TRIES = 32
_Written = Callable[[int, Random], str]
_number: _Written = lambda n, _: str(n)  # noqa: E731
_WHOLE = ("int32", "int64", "uint32", "uint64", "integer", "decimal", "number")
#: By format, of the n-th value from 1. Bytes are those of text.
_FORMATS: Mapping[str, _Written] = {
    **dict.fromkeys(_WHOLE, _number),
    "date": lambda n, _: f"2026-01-{n % 28 + 1:02}",
    "date-time": lambda n, _: f"2026-01-{n % 28 + 1:02}T12:00:00Z",
    "time": lambda n, _: f"12:{n % 60:02}:00Z",
    "duration": lambda n, _: f"PT{n}M",
    "uuid": lambda _, draws: str(UUID(int=draws.getrandbits(128), version=4)),
    "email": lambda n, _: f"user{n}@example.com",
    "hostname": lambda n, _: f"host{n}.example.com",
    "ipv4": lambda n, _: f"192.0.2.{n % 254 + 1}",
    "ipv6": lambda n, _: f"2001:db8::{n:x}",
    "uri": lambda n, _: f"https://example.com/{n}",
    "url": lambda n, _: f"https://example.com/{n}",
    "byte": lambda _n, _draws: "dGV4dA==",
    "regex": lambda n, _: f"text-{n}",
}


class _Plain(Random):
    """Prefers letters and digits, and few of them, where a pattern leaves it open. Sorted, for
    rstr draws from sets, which no two processes have in one order."""

    most_more = 0

    def choice(self, population: Any) -> Any:
        if not all(isinstance(it, str) for it in population):
            return super().choice(population)
        plain = sorted(it for it in population if it.isascii() and it.isalnum())
        return super().choice(plain or sorted(population))

    def randint(self, a: int, b: int) -> int:
        return super().randint(a, min(b, a + self.most_more))


def text(
    schema: Mapping[str, Any], draws: Random, n: int, name: str, lengths: tuple[int, float]
) -> str:
    """The n-th from 1; one that breaks the pattern where none that keeps it is found in time.
    lengths: the least and the most characters."""
    least, most = lengths
    write = _FORMATS.get(str(schema.get("format")))
    usual = write(n, draws) if write else f"{name}-{n}"
    if len(usual) > most:
        usual = "".join(draws.choice(_LETTERS) for _ in range(max(least, min(int(most), 8))))
    usual += "x" * (least - len(usual))
    if not schema.get("pattern"):
        return usual
    pattern = str(schema["pattern"])
    try:
        with within(MATCHED_S):
            fits = re.compile(pattern).search
            candidates = chain((usual, str(n)), _of_pattern(pattern, draws.getrandbits(32)))
            fitting = (it for it in candidates if least <= len(it) <= most and fits(it))
            return next(fitting, usual)
    except Exception:  # it takes too long, or is of another dialect, or rstr does not know it
        return usual


def _of_pattern(pattern: str, seed: int) -> Any:
    plain = _Plain(seed)
    for at in range(_TRIES):
        plain.most_more = 2 ** (at // 4)
        yield rstr.Rstr(plain).xeger(pattern)
