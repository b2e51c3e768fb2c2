"""What a thread group does once, an iteration: what it sends, and how long that takes at most. Pure
but for the plan's file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tollgate.plan.jmx import PlanError
from tollgate.plan.model import FLOW_CONTROL, Sampler
from tollgate.plan.read import read_plan
from tollgate.plan.threads import LOOP, is_endless

#: What a request without a timeout of its own may take, in ms.
_PATIENCE_MS = 7000.0


@dataclass(frozen=True)
class Iteration:
    """name: that an arrival has for it, empty for one of several names. requests: that it sends.
    pause_s, longest_s: of its pauses, and of it as a whole where the service hangs, at most."""

    name: str
    requests: int
    pause_s: float
    longest_s: float

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,) if self.name else ()


def longest_of(plan: Path, names: Iterable[str], properties: Mapping[str, str]) -> Iteration:
    """An iteration of a plan, whichever of these its parent sample is called, at its longest."""
    each = [read_iteration(plan, plan, it, properties) for it in names]
    requests = max(it.requests for it in each)
    pause_s, longest_s = max(it.pause_s for it in each), max(it.longest_s for it in each)
    return Iteration("", requests, pause_s, longest_s)


def read_iteration(plan: Path, copy: Path, name: str, properties: Mapping[str, str]) -> Iteration:
    """What an iteration is, by what the copy says of it."""
    every = [it for group in read_plan(copy, properties).groups for it in group.samplers]
    samplers = [it for it in every if it.hidden_by == name]
    sent = [it for it in samplers if it.kind != FLOW_CONTROL]
    if not sent:
        raise PlanError(f"{plan}: {name!r} has no sampler that is switched on: enable one")
    pause_ms = longest_ms = 0.0
    for sampler in samplers:
        endless = next((each for each in sampler.controllers if is_endless(each)), None)
        if endless:
            raise PlanError(
                f"{plan}: {endless.name!r} loops without an end that is known, and so does one "
                "arrival: write how often"
            )
        turns = math.prod(each.loops or 1 for each in sampler.controllers if each.kind == LOOP)
        pause_ms += turns * _pause_ms(plan, sampler)
        longest_ms += turns * (sampler.timeout_ms or _PATIENCE_MS)
    return Iteration(name, len(sent), pause_ms / 1000, (pause_ms + longest_ms) / 1000)


def _pause_ms(plan: Path, sampler: Sampler) -> float:
    """At most, before a sampler and in it."""
    for timer in sampler.timers:
        if timer.pause_ms is None or "Throughput" in timer.kind:
            raise PlanError(
                f"{plan}: how long the timer {timer.name!r} holds back {sampler.label.text!r} is "
                "not known: disable it, or write a Constant or Uniform Random Timer"
            )
    if sampler.all_pauses_ms is None:
        raise PlanError(f"{plan}: how long {sampler.label.text!r} pauses is not known: write it")
    return sampler.all_pauses_ms
