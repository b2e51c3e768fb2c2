"""Base and head of a comparison: where each answers, and what would make them unequal."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tollgate.base.settings import SettingError
from tollgate.base.text import some_of
from tollgate.base.urls import Url
from tollgate.compare.record import SideRecord
from tollgate.compare.settings import INJECTIONS
from tollgate.targets import pm2, probe
from tollgate.targets.git import Revisions

#: Apps of ecosystem.config.js, and how many of each the plan can ask.
SIDES = ("base", "head")
MOST_PROCESSES = 4
#: So many files are named in a line.
NAMED = 3


def unequal(found: Revisions, variables: Mapping[str, str]) -> list[str]:
    """In what the two sides differ beyond their commits, a line each."""
    lines = []
    if found.changed:
        files = some_of(found.changed, NAMED)
        lines.append(f"head is the working tree with changes not committed: {files}")
    if found.ignored:
        files = some_of(found.ignored, NAMED)
        lines.append(f"head alone has what git ignores under app/: {files}")
    for name in INJECTIONS:
        value = variables.get(name, "")
        if value.strip("0."):
            lines.append(f"{name}={value} slows base and head alike; HEAD_{name} slows head alone")
    return lines


def set_environment(mode: str, base: Path, head: Path) -> Callable[[], None]:
    """Set what ecosystem.config.js makes the two apps of; returns what puts back what was there.
    base, head: where each has its app/."""
    given = {"COMPARE_MODE": mode, "BASE_FOLDER": str(base), "HEAD_FOLDER": str(head)}
    before = {name: os.environ[name] for name in given if name in os.environ}
    os.environ.update(given)

    def put_back() -> None:
        for name in given:
            os.environ.pop(name, None)
        os.environ.update(before)

    return put_back


def sides_of_revisions(found: Revisions) -> list[SideRecord]:
    """Base and head, both of this repository."""
    return [
        SideRecord("base", found.base_text, found.base, None),
        SideRecord("head", found.head_text, found.head if found.is_commit else None, None),
    ]


def sides_of_urls(urls: Sequence[Url]) -> list[SideRecord]:
    """Base and head, each where it answers. Raises SettingError where one does not."""
    for name, url in zip(SIDES, urls, strict=True):
        why = probe.unanswered(url)
        if why:
            raise SettingError(
                f"{name.upper()}_URL {url.text} does not answer as a web server does ({why}): "
                "start what runs there, or correct the URL"
            )
    return [SideRecord(it, url.text, None, url.text) for it, url in zip(SIDES, urls, strict=True)]


def apps_of_sides(declared: Mapping[str, pm2.App]) -> list[list[pm2.App]]:
    """The processes of base and those of head: `base`, `base-2` and so on, as far as they are
    declared. Raises SettingError where a side has none, other ones than the other, or one without
    its script."""
    found = []
    for side in SIDES:
        if side not in declared:
            raise SettingError(f"ecosystem.config.js has no app {side!r}: put it back")
        others = (f"{side}-{number}" for number in range(2, MOST_PROCESSES + 1))
        found.append([declared[name] for name in (side, *others) if name in declared])
    absent = [app for apps in found for app in apps if not Path(app.script).exists()]
    if absent:
        raise SettingError(
            f"the app {absent[0].name!r} of ecosystem.config.js runs {absent[0].script}, which is "
            "not there: set BASE to a commit that has it"
        )
    base, head = ([app.name.partition("-")[2] for app in apps] for apps in found)
    if base != head:
        raise SettingError(
            f"ecosystem.config.js has {len(base)} processes of base and {len(head)} of head: "
            "declare as many of both"
        )
    return found


def places(sides: Sequence[Sequence[Url]]) -> dict[str, object]:
    """Properties of the plan. sides: where the processes of base and of head answer."""
    found: dict[str, object] = {"last_coin": 2 * len(sides[0]) - 1}
    for name, urls in zip(SIDES, sides, strict=True):
        found |= {f"{name}_host": urls[0].host, f"{name}_protocol": urls[0].protocol}
        for number, url in enumerate(urls, start=1):
            found[f"{name}_port{f'_{number}' if number > 1 else ''}"] = url.port
    return found
