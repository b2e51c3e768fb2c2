"""Properties of the plan that a comparison draws or goes by: its seeds and its timeouts."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from tollgate.compare.setup import SetupError
from tollgate.scenarios import scenario_of

#: What plans/compare.jmx waits for, in ms, where no property says so.
TIMEOUTS_MS = {"connect_timeout": 2000, "response_timeout": 5000}
#: Seconds beyond the timeouts in which JMeter writes down what it has given up.
WRITING_S = 1.0
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
        plan = Path(str(script)).read_text()
    except (OSError, UnicodeDecodeError) as problem:
        raise SetupError(f"the plan {script} can't be read: {problem}") from None
    unset = [name for name in seeds_of(plan) if name not in properties]
    return {name: 1 + secrets.randbelow(LARGEST_SEED) for name in unset}


def again(seeds: Mapping[str, int]) -> str:
    """How to have the same arrivals and tosses once more."""
    return " ".join(f"-o modules.jmeter.properties.{name}={it}" for name, it in seeds.items())


def lag_s(properties: Mapping[str, object]) -> float:
    """Seconds after which whatever was sent has been answered or given up, and is in the file.

    Raises SetupError for timeouts that never come: then what is slow might be missing for good.
    """
    total_ms = 0.0
    for name, usual_ms in TIMEOUTS_MS.items():
        text = str(properties.get(name, usual_ms))
        if not re.fullmatch(r"\d+", text) or not int(text):
            raise SetupError(
                f"the property {name} is {text!r}: write whole milliseconds above 0, for the "
                "samples are only judged once everything sent before has been answered or given up"
            )
        total_ms += int(text)
    return total_ms / 1000 + WRITING_S
