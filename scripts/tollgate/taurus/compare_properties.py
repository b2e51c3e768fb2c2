"""Properties of the plan that a comparison draws: the seeds of its random numbers."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from tollgate.targets import scenario_of
from tollgate.taurus.compare_setup import SetupError

#: Seeds are from 1 to this: the thread groups take 0 for a new one at each start.
LARGEST_SEED = 2**31 - 1


def given(config: Mapping, execution: Mapping) -> dict[str, object]:
    """The properties that a person has set; as in Taurus, a scenario's own go before the rest."""
    module = config.get("modules").get("jmeter").get("properties")
    own = scenario_of(config, execution).get("properties", None)
    return {**(module or {}), **(own or {})}


def seeds_of(plan: str) -> list[str]:
    """The properties of a plan that seed its random numbers.

    Each run has its own. With the same arrivals and the same tosses of the coin head would get the
    same harder half of the requests each time, and all runs would err together.
    """
    return sorted(set(re.findall(r"\$\{__P\((\w*seed)\b", plan)))


def drawn(script: object, properties: Mapping[str, object]) -> dict[str, int]:
    """A seed for each that nobody has set. script: the plan's path. Raises SetupError."""
    try:
        plan = Path(str(script)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise SetupError(f"the plan {script} can't be read: {problem}") from None
    unset = [name for name in seeds_of(plan) if name not in properties]
    return {name: 1 + secrets.randbelow(LARGEST_SEED) for name in unset}


def again(seeds: Mapping[str, int]) -> str:
    """How to have the same arrivals and tosses once more."""
    return " ".join(f"-o modules.jmeter.properties.{name}={it}" for name, it in seeds.items())
