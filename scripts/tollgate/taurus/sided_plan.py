"""Of the service `compare`: a user's own plan in place of one that Tollgate makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tollgate.base.settings import SettingError
from tollgate.base.urls import Url
from tollgate.compare.model import GateSettings
from tollgate.compare.settings import OWN_TIMEOUTS_MS, CompareSetup, drawn_seed, lag_s
from tollgate.plan import sided
from tollgate.plan.jmx import PlanError
from tollgate.plan.read import read_plan
from tollgate.plan.sided import Sided, write_sided
from tollgate.plan.threads import longest_s
from tollgate.taurus.shared import PreparedExecution, property_of

#: In the run's folder: the copy that goes to both sides.
FOLDER = "sides"


@dataclass(frozen=True)
class OwnPlanCompared:
    """copy: what JMeter runs. gate: with the labels that are compared, and no more time than the
    plan sends for. properties: that the copy needs beside those of the sides."""

    copy: Path
    sided: Sided
    gate: GateSettings
    properties: dict[str, object]


def send_to_sides(
    prepared: PreparedExecution,
    run: Path,
    urls: Sequence[Sequence[Url]],
    given: Mapping[str, str],
    wanted: CompareSetup,
) -> OwnPlanCompared:
    """Write the copy of a user's own plan, and say when its load is to end. run: the folder.
    given: its properties. Raises SettingError."""
    plan = prepared.original
    copy = run / FOLDER / plan.name
    copy.parent.mkdir(exist_ok=True)
    seed = int(property_of(given, sided.SEED, 0, "compare")) or drawn_seed()
    usual_ms = {k: int(property_of(given, k, ms, "compare")) for k, ms in OWN_TIMEOUTS_MS.items()}
    try:
        found = write_sided(plan, copy, given, prepared.service_host, urls, usual_ms, seed)
    except PlanError as problem:
        raise SettingError(str(problem)) from None
    prepared.notes += found.remarks
    warmup_s = property_of(given, "warmup", 0, "compare")
    sends_s = _sends_s(plan, given, warmup_s, wanted.settings.first)
    gate = replace(wanted.gate, labels=wanted.gate.labels or found.labels)
    if sends_s:
        gate = replace(gate, budget_s=min(gate.budget_s, sends_s))
    prepared.ends_s = warmup_s + gate.budget_s + lag_s(found.timeouts) + 1
    properties = {
        **found.timeouts,
        sided.SEED: seed,
        "measured": int(gate.budget_s) if sends_s else 0,
        # The pool of an Open Model Thread Group would keep JMeter up for a minute.
        "jmeterengine.force.system.exit": "true",
    }
    return OwnPlanCompared(copy, found, gate, properties)


def _sends_s(plan: Path, given: Mapping[str, str], warmup_s: float, first_s: float) -> float | None:
    """How long the plan is measured; None where it does not say."""
    length_s = longest_s(read_plan(plan, given))
    if length_s is None:
        return None
    if length_s < warmup_s + first_s:
        raise SettingError(
            f"{plan}: sends for {length_s:g} s, of which {warmup_s:g} s are warm-up, and is first "
            f"looked at after {first_s:g} s of measuring: give its thread groups longer durations"
        )
    return float(int(length_s - warmup_s))
