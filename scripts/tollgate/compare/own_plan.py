"""The plan of a comparison: one that Tollgate makes, or a user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tollgate.base.settings import SettingError, plain_property
from tollgate.base.urls import Url
from tollgate.compare import pace
from tollgate.compare.model import GateSettings
from tollgate.compare.settings import (
    OWN_TIMEOUTS_MS,
    TIMEOUTS_MS,
    CompareSetup,
    drawn_seed,
    lag_s,
    own_timeouts,
)
from tollgate.plan import sided
from tollgate.plan.jmx import PlanError
from tollgate.plan.read import read_plan
from tollgate.plan.sided import Sided, write_sided
from tollgate.plan.threads import longest_s

#: In the run's folder: the copy that goes to both sides.
FOLDER = "sides"


@dataclass(frozen=True)
class PlanOfSides:
    """A plan as it goes to both sides."""

    gate: GateSettings
    """With the labels that are compared, and no more time than the plan sends for."""
    properties: dict[str, object]
    """That it needs beside those of the sides."""
    lag_s: float
    """From when something was sent until it is answered or given up, and written down."""
    usual: dict[str, int] = field(default_factory=dict)
    """Its period and lag; empty for a user's own."""
    fixed: dict[str, int] = field(default_factory=dict)
    """What of them properties set."""
    copy: Path | None = None
    """What JMeter runs of a user's own, and the following of it."""
    sided: Sided | None = None
    ends_s: float | None = None
    """After how many seconds its load is to end."""


def send_as_it_is(plan: str, properties: Mapping[str, object], setup: CompareSetup) -> PlanOfSides:
    """A plan that Tollgate makes. plan: its text. Raises SettingError."""
    usual = pace.usual(plan)
    try:
        fixed = pace.fixed(usual, properties)
    except ValueError as problem:
        raise SettingError(str(problem)) from None
    timeouts = own_timeouts(plan) | properties
    # JMeter adds whole seconds.
    own = {name: timeouts[name] for name in TIMEOUTS_MS if name in timeouts}
    own["measured"] = int(setup.gate.budget_s)
    return PlanOfSides(setup.gate, own, lag_s(timeouts), usual, fixed)


def send_to_sides(
    plan: Path,
    host: str,
    run: Path,
    urls: Sequence[Sequence[Url]],
    properties: Mapping[str, str],
    setup: CompareSetup,
) -> PlanOfSides:
    """Write the copy of a user's own plan. host: whom base and head stand for. run: the folder.
    properties: of the plan. Raises SettingError."""
    copy = run / FOLDER / plan.name
    copy.parent.mkdir(exist_ok=True)
    seed = int(plain_property(properties, sided.SEED, 0)) or drawn_seed()
    usual_ms = {
        name: int(plain_property(properties, name, ms)) for name, ms in OWN_TIMEOUTS_MS.items()
    }
    try:
        written = write_sided(plan, copy, properties, host, urls, usual_ms, seed)
    except PlanError as problem:
        raise SettingError(str(problem)) from None
    warmup_s = plain_property(properties, "warmup", 0)
    sends_s = _sends_s(plan, properties, warmup_s, setup.settings.first)
    gate = replace(setup.gate, labels=setup.gate.labels or written.labels)
    if sends_s:
        gate = replace(gate, budget_s=min(gate.budget_s, sends_s))
    own = {
        **written.timeouts,
        sided.SEED: seed,
        "measured": int(gate.budget_s) if sends_s else 0,
        # The pool of an Open Model Thread Group would keep JMeter up for a minute.
        "jmeterengine.force.system.exit": "true",
    }
    waits_s = lag_s(own)
    ends_s = warmup_s + gate.budget_s + waits_s + 1
    return PlanOfSides(gate, own, waits_s, copy=copy, sided=written, ends_s=ends_s)


def _sends_s(
    plan: Path, properties: Mapping[str, str], warmup_s: float, first_s: float
) -> float | None:
    """How long the plan is measured; None where it does not say."""
    length_s = longest_s(read_plan(plan, properties))
    if length_s is None:
        return None
    if length_s < warmup_s + first_s:
        raise SettingError(
            f"{plan}: sends for {length_s:g} s, of which {warmup_s:g} s are warm-up, and is first "
            f"looked at after {first_s:g} s of measuring: give its thread groups longer durations"
        )
    return float(int(length_s - warmup_s))
