"""A user's own plan in a comparison, in place of one that Tollgate makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tollgate.base.settings import SettingError, plain_property
from tollgate.base.urls import Url
from tollgate.compare.model import GateSettings
from tollgate.compare.settings import OWN_TIMEOUTS_MS, CompareSetup, drawn_seed, lag_s
from tollgate.plan import sided
from tollgate.plan.jmx import PlanError
from tollgate.plan.read import read_plan
from tollgate.plan.sided import Sided, write_sided
from tollgate.plan.threads import longest_s

#: In the run's folder: the copy that goes to both sides.
FOLDER = "sides"


@dataclass(frozen=True)
class OwnPlanCompared:
    """A user's own plan as it goes to both sides."""

    copy: Path
    """What JMeter runs."""
    sided: Sided
    gate: GateSettings
    """With the labels that are compared, and no more time than the plan sends for."""
    properties: dict[str, object]
    """That the copy needs beside those of the sides."""
    ends_s: float
    """After how many seconds its load is to end."""


def send_to_sides(
    plan: Path,
    host: str,
    run: Path,
    urls: Sequence[Sequence[Url]],
    properties: Mapping[str, str],
    setup: CompareSetup,
) -> OwnPlanCompared:
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
    ends_s = warmup_s + gate.budget_s + lag_s(written.timeouts) + 1
    return OwnPlanCompared(copy, written, gate, own, ends_s)


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
