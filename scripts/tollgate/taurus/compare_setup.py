"""Base and head of a comparison: where each answers, and what would make them unequal."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tollgate.base.urls import Url
from tollgate.compare.record import SideRecord
from tollgate.compare.settings import INJECTIONS
from tollgate.targets import pm2, probe
from tollgate.targets.git import Revisions
from tollgate.targets.reloads import period_of
from tollgate.targets.scenarios import given_properties, name_of, scenario_of

#: Apps of ecosystem.config.js, and how many of each the plan can ask.
SIDES = ("base", "head")
MOST_PROCESSES = 4
#: So many files are named in a line.
NAMED = 3


class CompareSetupError(ValueError):
    """One line: what can't be compared and what to do."""


def refuse(config: Mapping, variables: Mapping[str, str]) -> None:
    """Raises SetupError for what would make two comparisons of one, or none. config: Taurus's."""
    modules = config.get("modules")
    if period_of(modules.get("targets").get("reload-every", None), variables):
        raise CompareSetupError(
            "RELOAD_EVERY or modules.targets.reload-every is set, and a reload hits base and head "
            "at different moments: leave reloads out"
        )
    executions = config.get("execution", [])
    if len(executions) != 1:
        names = ", ".join(name_of(each) for each in executions) or "none"
        raise CompareSetupError(f"base and head share one execution, and this run has: {names}")
    given = given_properties(config, scenario_of(config, executions[0]))
    measured = given.get("measured", "0")
    if measured not in ("0", "0.0"):
        raise CompareSetupError(
            f"the property measured is {measured}: modules.compare.budget says how long to "
            "measure, so set that"
        )


def unequal(found: Revisions, variables: Mapping[str, str]) -> list[str]:
    """In what the two sides differ beyond their commits, a line each."""
    lines = []
    if found.changed:
        files = _listed(found.changed)
        lines.append(f"head is the working tree with changes not committed: {files}")
    if found.ignored:
        lines.append(f"head alone has what git ignores under app/: {_listed(found.ignored)}")
    for name in INJECTIONS:
        value = variables.get(name, "")
        if value.strip("0."):
            lines.append(f"{name}={value} slows base and head alike; HEAD_{name} slows head alone")
    return lines


def _listed(files: Sequence[str]) -> str:
    more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
    return f"{', '.join(files[:NAMED])}{more}"


def environment(mode: str, base: Path, head: Path) -> dict[str, str]:
    """What ecosystem.config.js makes the two apps of. base, head: where each has its app/."""
    return {"COMPARE_MODE": mode, "BASE_FOLDER": str(base), "HEAD_FOLDER": str(head)}


def replace_environment(variables: Mapping[str, str]) -> dict[str, str | None]:
    """Set variables of this process; returns what they were, for `put_back`."""
    replaced = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    return replaced


def put_back(replaced: Mapping[str, str | None]) -> None:
    """Variables of this process as they were; None: not set."""
    for name, value in replaced.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def sides_of_revisions(found: Revisions) -> list[SideRecord]:
    """Base and head, both of this repository."""
    return [
        SideRecord("base", found.base_text, found.base, None),
        SideRecord("head", found.head_text, found.head if found.is_commit else None, None),
    ]


def sides_of_urls(urls: Sequence[Url]) -> list[SideRecord]:
    """Base and head, each where it answers. Raises SetupError where one does not."""
    for name, url in zip(SIDES, urls, strict=True):
        why = probe.unanswered(url)
        if why:
            raise CompareSetupError(
                f"{name.upper()}_URL {url.text} does not answer as a web server does ({why}): "
                "start what runs there, or correct the URL"
            )
    return [
        SideRecord(name, url.text, None, url.text) for name, url in zip(SIDES, urls, strict=True)
    ]


def apps_of_sides(declared: Mapping[str, pm2.App]) -> list[list[pm2.App]]:
    """The processes of base and those of head: `base`, `base-2` and so on, as far as they are
    declared. Raises SetupError where a side has none, or other ones than the other."""
    found = []
    for side in SIDES:
        if side not in declared:
            raise CompareSetupError(f"ecosystem.config.js has no app {side!r}: put it back")
        others = (f"{side}-{number}" for number in range(2, MOST_PROCESSES + 1))
        found.append([declared[name] for name in (side, *others) if name in declared])
    base, head = ([app.name.partition("-")[2] for app in apps] for apps in found)
    if base != head:
        raise CompareSetupError(
            f"ecosystem.config.js has {len(base)} processes of base and {len(head)} of head: "
            "declare as many of both"
        )
    return found


def places_of_apps(sides: Sequence[Sequence[pm2.App]]) -> dict[str, object]:
    """Properties of the plan. sides: the processes of base and of head."""
    hosts = {f"{name}_host": pm2.HOST for name in SIDES}
    ports = {
        f"{name}_port{f'_{number}' if number > 1 else ''}": app.port
        for name, apps in zip(SIDES, sides, strict=True)
        for number, app in enumerate(apps, start=1)
    }
    protocols = {f"{name}_protocol": "http" for name in SIDES}
    return {**hosts, **ports, **protocols, "last_coin": 2 * len(sides[0]) - 1}


def places_of_urls(urls: Sequence[Url]) -> dict[str, object]:
    """Properties of the plan."""
    return {
        f"{name}_{key}": value
        for name, url in zip(SIDES, urls, strict=True)
        for key, value in (("host", url.host), ("port", url.port), ("protocol", url.protocol))
    }
