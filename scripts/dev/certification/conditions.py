"""What is done to a candidate, and under which noise: the conditions of the certification. Pure.

A condition is written `aa` (nothing is done: base and head are the same code), `work-5` (head does
5 % more work), `delay-3` (head waits 3 ms more), each also as `aa+noise` (beside a neighbour that
burns a core now and then). `aa*3` takes part three times as often as the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

#: A false-positive rate of 1 % wants the most runs. Four rounds are what CONTRIBUTING.md promises.
DEFAULT = (
    *("aa*5", "work-2*2", "work-5*2", "work-10"),
    *("aa+noise*3", "work-5+noise", "work-10+noise"),
)
#: By what a server is slowed, in its environment.
VARIABLES = {"work": "INJECT_WORK_PERCENT", "delay": "INJECT_DELAY_MS"}
NOISE = "+noise"
_TOKEN = re.compile(r"(?:aa|(work|delay)-([1-9]\d{0,3}))(\+noise)?(?:\*([1-9]\d?))?")


class ConditionError(Exception):
    """One line: what was given, and what can be."""


@dataclass(frozen=True, order=True)
class Condition:
    """kind: `aa`, `work` or `delay`. amount: per cent or milliseconds, 0 of `aa`. noisy: whether
    a neighbour takes part."""

    kind: str
    amount: int = 0
    noisy: bool = False

    @property
    def key(self) -> str:
        """As it is written."""
        name = f"{self.kind}-{self.amount}" if self.amount else self.kind
        return name + NOISE * self.noisy

    @property
    def text(self) -> str:
        """What head has more than base, for people."""
        if self.is_aa:
            return "nothing (A/A)"
        return f"{self.amount} % work" if self.kind == "work" else f"a wait of {self.amount} ms"

    @property
    def is_aa(self) -> bool:
        return self.kind == "aa"

    def environment(self) -> dict[str, str]:
        """What `bzt taurus.yml -compare` needs in its environment for this."""
        return {"BASE": "HEAD"} | {f"HEAD_{name}": it for name, it in self.injection().items()}

    def injection(self) -> dict[str, str]:
        """The same for a server by itself."""
        return {} if self.is_aa else {VARIABLES[self.kind]: str(self.amount)}


def parse(tokens: Sequence[str]) -> dict[Condition, int]:
    """How many runs of each condition a round has. Raises ConditionError."""
    found: dict[Condition, int] = {}
    for token in tokens:
        match = _TOKEN.fullmatch(token.strip())
        if not match:
            raise ConditionError(
                f"{token!r} is no condition: write aa, work-5 (per cent) or delay-3 (ms), with "
                "+noise behind it for a noisy neighbour and *3 for three times as many runs"
            )
        kind, amount, noise, times = match.groups()
        condition = Condition(kind or "aa", int(amount or 0), bool(noise))
        if condition in found:
            raise ConditionError(f"{condition.key} is there twice: write {condition.key}*2")
        found[condition] = int(times or 1)
    if not found:
        raise ConditionError("name at least one condition, such as aa")
    return found


def next_run(
    weights: Mapping[Condition, int], done: Mapping[Condition, int], seed: int
) -> Condition:
    """Which condition is next, given how many runs of each are done.

    Runs come in rounds, in each of which every condition stands as often as its weight says, in an
    order drawn anew (randomised complete blocks: Fisher 1935, "The Design of Experiments"): so the
    conditions are in balance wherever it stops, and a machine that drifts hits all alike. It goes
    by what is done alone, so that a run which was lost is simply made up for.
    """
    number = min(done.get(it, 0) // weight for it, weight in weights.items())
    due: list[Condition] = []
    for condition, weight in sorted(weights.items()):
        # An earlier call may have had other conditions: only what this round still lacks is due.
        due += [condition] * ((number + 1) * weight - done.get(condition, 0))
    whole = sum(weights.values())
    return due[int(np.random.default_rng((seed, number, whole - len(due))).integers(len(due)))]
