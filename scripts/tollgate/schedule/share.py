"""Which part of a load one engine of several has. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from tollgate.base.text import UserError

_FORM = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")
#: java.util.Random takes 48 bits of a seed; JMeter takes one whose lowest 32 are zero for none.
_SEEDS = 2**31 - 1


class ShareError(UserError, ValueError):
    """One line: of what no share can be made, and what to do."""


@dataclass(frozen=True)
class Share:
    """Engine `number`, from 1, of `of`."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, total: int) -> int:
        """This engine's part of a whole number. The parts of all engines add up to it, and by the
        method of the largest remainder, of which equal parts have equal ones, the first engines
        have one more than the others."""
        return total // self.of + (self.number <= total % self.of)

    def dealt(self, first: int, count: int) -> int:
        """How many of `count` arrivals this engine sends, the first of which has the number
        `first`, from 0, where they are dealt out in turn: 0 to engine 1, 1 to engine 2, and so on.
        """
        return self.part(first + count) - self.part(first)

    def seed(self, seed: int) -> int:
        """A seed of this engine's own, a hash of the whole's: neighbouring seeds of
        java.util.Random begin alike. A single engine has the seed of the whole."""
        if self.of == 1:
            return seed
        found = hashlib.sha256(f"{seed} {self}".encode()).digest()
        return 1 + int.from_bytes(found[:8], "big") % _SEEDS


def parse_share(text: str) -> Share:
    """`2/3`. Raises ShareError."""
    found = _FORM.fullmatch(text.strip())
    share = Share(int(found[1]), int(found[2])) if found else None
    if share is None or share.number > share.of:
        raise ShareError(
            f"ENGINE is {text!r}: write its number, from 1, and how many there are, such as 2/3"
        )
    return share
