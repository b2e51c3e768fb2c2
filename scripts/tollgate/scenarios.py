"""The executions of Taurus's configuration, before Taurus makes anything of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bzt import TaurusConfigError
from bzt.utils import BetterDict


def scenario_of(config: Mapping, execution: Mapping) -> BetterDict:
    """The execution's own scenario, inline or by name; an empty one where there is none."""
    scenario = execution.get("scenario", None)
    if not isinstance(scenario, dict | list):
        scenario = config.get("scenarios").get(scenario, None)
    return scenario if isinstance(scenario, dict) else BetterDict()


def targets_of(scenario: Mapping, name: str) -> list[str]:
    """The apps that a scenario names as its `target`, each once: one, a list of them, or none.

    name: of the execution. Raises TaurusConfigError for anything else."""
    given = scenario.get("target", None)
    names = given if isinstance(given, list) else [given] if given else []
    if given == [] or not all(isinstance(each, str) for each in names):
        raise TaurusConfigError(
            f"targets: scenario {name!r} has target {given!r}: name an app of "
            "ecosystem.config.js, or a list of them such as [balancer, pi-1]"
        )
    return list(dict.fromkeys(names))


def is_inline(execution: Mapping) -> bool:
    """Whether the scenario stands in the execution itself, where MODE can't name it."""
    return not isinstance(execution.get("scenario", None), str | int | float)


def name_of(execution: Mapping) -> str:
    """What the execution is called; an inline scenario, as in Taurus, by its plan's file."""
    scenario = execution.get("scenario", None)
    if isinstance(scenario, dict):
        return Path(str(scenario.get("script", None) or "inline scenario")).name
    return str(scenario)
