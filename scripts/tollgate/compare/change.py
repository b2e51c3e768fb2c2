"""What is asked of an estimate of how much head differs from base, of whichever metric. Pure.

A *change* is how much more head takes or fails than base: of a response time the logarithm of the
ratio head / base, of the error rate the difference.
"""

from __future__ import annotations

from typing import Protocol


class Change(Protocol):
    """How much head differs from base, as far as the samples tell.

    base, head: the two values, ms or shares. value: the change. note: why there is none, or "".
    coarse: by how much whole milliseconds may falsify the value, either way and however many
    samples there are; both ends of the interval allow for it. among: between which of them the
    values lie, for people. low, high: the end of a one-sided interval that misses the truth with
    probability `level`.
    """

    metric: str
    base: float
    head: float
    value: float
    note: str
    coarse: float
    among: str

    def low(self, level: float) -> float: ...

    def high(self, level: float) -> float: ...
