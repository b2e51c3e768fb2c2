"""The services that a configuration describes, and the one that a run is of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tollgate.base.settings import SettingError, names
from tollgate.service.model import is_service


def services_of(config: Mapping[str, Any]) -> list[str]:
    """The names of the services of taurus.yml."""
    scenarios = config.get("scenarios") or {}
    return [str(name) for name, scenario in scenarios.items() if is_service(scenario)]


def secrets_of(config: Mapping[str, Any]) -> set[str]:
    """The variables of the environment that services of taurus.yml keep secrets in."""
    scenarios = (config.get("scenarios") or {}).values()
    stated = [scenario.get("environment") for scenario in scenarios if is_service(scenario)]
    lists = [value if isinstance(value, str) else [*value] for value in stated if value]
    return {name for each in lists for name in names(each)}


def chosen(words: Sequence[str], services: Collection[str], kinds: Mapping[str, Any]) -> str | None:
    """The service among the words of the command line. kinds: the aliases of taurus.yml. Raises
    SettingError for two services, and for two kinds."""
    distinct = list(dict.fromkeys(words))
    named_kinds = [word for word in distinct if _is_kind(kinds, word)]
    named = [word for word in distinct if word in services and word not in named_kinds]
    if len(named) > 1:
        raise SettingError(f"-{' and -'.join(named)} are two services: run one after the other")
    if len(named_kinds) > 1:
        line = f"-{' and -'.join(named_kinds)} are two kinds of run: run one of them"
        raise SettingError(line)
    return named[0] if named else None


def only_service(config: Mapping[str, Any]) -> str | None:
    """The service of a run for which neither the command line nor taurus.yml names one; None where
    there are executions, or no service. Raises SettingError where there are several."""
    services = services_of(config)
    if config.get("execution", None) or not services:
        return None
    if len(services) > 1:
        raise SettingError(f"no service is named: write one of -{', -'.join(services)}")
    return services[0]


def _is_kind(kinds: Mapping[str, Any], name: str) -> bool:
    """Whether an alias says what a run is; others change some of its settings."""
    alias = kinds.get(name, None)
    try:
        return name in kinds and (not alias or "kind" in alias["modules"]["verdict"])
    except (KeyError, TypeError):
        return False
