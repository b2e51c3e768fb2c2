"""Copies of an app of ecosystem.config.js: in another mode, on another port, from another folder.

composed.config.js makes them of the app that is declared, as the variable TOLLGATE_APPS asks.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from tollgate.base.paths import ECOSYSTEM
from tollgate.base.settings import SettingError, unknown
from tollgate.base.text import did_you_mean
from tollgate.targets.pm2 import App, declared_apps, why_not_asked

#: Of the environment of every PM2 process: a list of copies.
VARIABLE = "TOLLGATE_APPS"
LAST_PORT = 65535
#: The modes of PM2, and the word for all of them.
MODES, BOTH = ("fork", "cluster"), "both"
#: `instances` of a cluster with as many workers as there are cores.
ONE_A_CORE = "max"
#: What options and variables are called that say where an app listens.
_A_PLACE = re.compile(r"port|listen|addr|url|bind|host|origin|^-[lp]$", re.IGNORECASE)


@dataclass(frozen=True)
class Copy:
    """An app that a run starts, made of a declared one, which it replaces where it has its name.

    `${PORT}`, `${SIDE}` and `${PROCESS}` in the declared app's args, env and cwd become its own.
    """

    of: str
    """The name of the declared app."""
    name: str
    port: int
    """env.PORT."""
    side: str
    """`base` or `head` in a comparison; else a name that no other copy of the app has."""
    process: int = 1
    """Its number on its side."""
    exec_mode: str = "fork"
    """Or cluster."""
    instances: int | str = 1
    """Or ONE_A_CORE."""
    node: bool = True
    """Whether Node runs it; otherwise it has no ready signal and no arguments of Node's."""
    from_folder: str = ""
    """A folder instead of which the copy has another, wherever its settings name it or what is
    below it; empty for none."""
    to_folder: str = ""
    """The other one."""
    env: Mapping[str, str] = field(default_factory=dict)
    """What goes before the declared app's env."""


def in_mode(app: App, name: str, port: int, mode: str, side: str = "", process: int = 1) -> Copy:
    """A declared app as one process, or as a cluster with a worker for each core. side: by default
    its name. Raises SettingError where the mode is none of the app's."""
    refuse_mode(app, mode)
    instances = ONE_A_CORE if mode == "cluster" else 1
    return Copy(app.name, name, port, side or name, process, mode, instances, app.is_node)


def compose_modes(service: str, name: str, mode: str) -> dict[str, str]:
    """Have an app run in one mode, or in each of both: a copy of it, by the name of the execution
    that asks it. service: of whose the app is. name: of the app, empty for a URL. Raises
    SettingError."""
    if mode not in (*MODES, BOTH):
        raise SettingError(f"MODE is {mode!r}: {did_you_mean(mode, [*MODES, BOTH])}")
    if not name:
        raise SettingError(f"MODE is {mode!r}, and {service!r} answers at a URL: leave MODE out")
    app = declared(declared_apps(), name, f"scenarios.{service}.app")
    modes = MODES if mode == BOTH else (mode,)
    names = [f"{app.name}-{each}" for each in modes]
    compose(in_mode(app, names[at], app.port + at, each) for at, each in enumerate(modes))
    apps = declared_apps()
    refuse_shared_ports(app, [apps[each] for each in names])
    executions = [f"{service}-{each}" for each in modes] if mode == BOTH else [service]
    return dict(zip(executions, names, strict=True))


def of_side(
    app: App, side: str, ports: Iterable[int], mode: str, moved: tuple[Path, Path] | None = None
) -> list[Copy]:
    """The processes of one side of a comparison, as `base`, `base-2` and so on. ports: of each.
    moved: the folder of the repository, and what stands for it. Raises SettingError where the mode
    is none of the app's."""
    source, place = map(str, moved or ("", ""))
    copies = []
    for number, port in enumerate(ports, start=1):
        name = f"{side}-{number}" if number > 1 else side
        copy = in_mode(app, name, port, mode, side, number)
        copies.append(replace(copy, from_folder=source, to_folder=place))
    return copies


def refuse_mode(app: App, mode: str) -> None:
    """Raises SettingError where PM2 can't run the app so."""
    if mode == "cluster" and not app.is_node:
        raise SettingError(
            f"the app {app.name!r} of {ECOSYSTEM.name} runs with {Path(app.interpreter).name!r},"
            " and PM2 has the cluster mode for Node alone: leave out MODE, or set MODE=fork"
        )


def declared(apps: Mapping[str, App], name: str, where: str) -> App:
    """The app of a name. where: the setting that names it. Raises SettingError."""
    if name not in apps:
        raise SettingError(f"{where} is {name!r}, an app of {ECOSYSTEM.name} {unknown(name, apps)}")
    if why := why_not_asked(apps[name]):
        raise SettingError(why)
    return apps[name]


def refuse_shared_ports(app: App, apps: Sequence[App]) -> None:
    """Raises SettingError where copies would listen on one port. app: of which they were made.
    apps: the copies, as pm2.declared_apps has them."""
    owners: dict[int, str] = {}
    for each in apps:
        if each.port > LAST_PORT:
            raise SettingError(
                f"port {each.port} of {each.name!r} does not exist: give {app.name!r} a lower one, "
                f"behind which {len(apps)} fit"
            )
        if first := owners.get(each.port):
            raise SettingError(
                f"{first!r} and {each.name!r} both have port {each.port}: give them other ones"
            )
        owners[each.port] = each.name
        where = next(_names_of_port(app.port, each), None)
        if where and each.port != app.port:
            raise SettingError(
                f"{where} of the app {app.name!r} in {ECOSYSTEM.name} names port {app.port}, "
                f"which each of its {len(apps)} processes would use: write ${{PORT}} there"
            )


def _names_of_port(port: int, made: App) -> Iterator[str]:
    """Where an app names a port. Any other number of its size, such as of milliseconds, is none."""
    number, place = re.compile(rf"(?<![\d.]){port}(?!\d)"), re.compile(rf":{port}(?!\d)")
    for word, before in zip(made.args, ("", *made.args), strict=False):
        option, _, value = word.rpartition("=")
        option = option or (before if before.startswith("-") and "=" not in before else "")
        names = not option or _A_PLACE.search(option)
        if place.search(word) or (names and number.search(value)):
            yield "args"
    for key, value in made.env.items():
        asked = number if _A_PLACE.search(key) else place
        if key != "PORT" and asked.search(value):
            yield key


def compose(copies: Iterable[Copy]) -> Callable[[], None]:
    """Have the apps of a run be these as well, from now on (pm2.declared_apps knows them); returns
    what puts back what was asked for before."""
    before = os.environ.get(VARIABLE)
    every = json.loads(before or "[]") + [asdict(copy) for copy in copies]
    os.environ[VARIABLE] = json.dumps(every)

    def put_back() -> None:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before

    return put_back
