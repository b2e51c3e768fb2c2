"""The executions of Taurus's configuration, before Taurus makes anything of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bzt import TaurusConfigError
from bzt.utils import BetterDict

_EXPECTED = "expected-ms"


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


def note(config: Mapping, target: str, line: str) -> None:
    """Have the verdict on each execution with this target tell a line beside what it judges."""
    for execution in config.get("execution", []):
        scenario = scenario_of(config, execution)
        if target in targets_of(scenario, name_of(execution)):
            scenario.get("notes", [], force_set=True).append(line)


class Probe(NamedTuple):
    """What is asked before any load: a path, a regular expression for the answer, and how many
    milliseconds it may take where the load was made for; None for any time."""

    path: str
    answer: str
    expected_ms: float | None = None


def probes_of(given: object, where: str) -> list[Probe] | None:
    """`probes` of a scenario or of the service `targets`; None where there are none. where: whose
    they are. Raises TaurusConfigError."""
    if given is None:
        return None
    if not isinstance(given, list):
        raise _no_probe(where, given)
    return [_probe(each, where) for each in given]


def _probe(given: object, where: str) -> Probe:
    if not isinstance(given, dict) or set(given) - {_EXPECTED} != {"path", "answer"}:
        raise _no_probe(where, given)
    path, answer = str(given["path"]), str(given["answer"])
    try:
        re.compile(answer)
    except re.error as error:
        raise TaurusConfigError(
            f"targets: {where}: the probe of {path} has answer {answer!r}, which is no regular "
            f"expression: {error}"
        ) from None
    expected = given.get(_EXPECTED, None)
    if expected is not None and not (type(expected) in (int, float) and expected > 0):
        raise TaurusConfigError(
            f"targets: {where}: the probe of {path} has {_EXPECTED} {expected!r}: write a "
            "number of milliseconds, such as 500"
        )
    if not path.startswith("/"):
        raise _no_probe(where, given)
    return Probe(path, answer, expected)


def _no_probe(where: str, given: object) -> TaurusConfigError:
    return TaurusConfigError(
        f"targets: {where} has a probe {given!r}: write a list of entries with a `path` that "
        "begins with / and, as `answer`, a regular expression that the body must contain; "
        f"`{_EXPECTED}` may say how long it takes where the load was made for"
    )


def is_inline(execution: Mapping) -> bool:
    """Whether the scenario stands in the execution itself, where MODE can't name it."""
    return not isinstance(execution.get("scenario", None), str | int | float)


def name_of(execution: Mapping) -> str:
    """What the execution is called; an inline scenario, as in Taurus, by its plan's file."""
    scenario = execution.get("scenario", None)
    if isinstance(scenario, dict):
        return Path(str(scenario.get("script", None) or "inline scenario")).name
    return str(scenario)
