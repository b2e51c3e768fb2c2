"""What a check-out needs beside what git has: its packages, its build, and linked files.

Packages are installed by the lock file that is there, in each folder from the app's up to the
repository's that has one; they are another one's, such as head's of base, where both ask for the
same ones. A service may name another command, a build, and what git ignores and all need.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from tollgate.base.installers import reason
from tollgate.base.processes import TooLongError
from tollgate.base.settings import Listed, SettingError, Word, configured, read
from tollgate.targets.checkout import MODULES, run

PACKAGE = "package.json"
_NPM = ("npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")
_PNPM = ("pnpm", "install", "--frozen-lockfile", "--prefer-offline")
_YARN = ("yarn", "install", "--frozen-lockfile", "--prefer-offline")
_BERRY = ("yarn", "install", "--immutable")
#: What installs packages, by its lock file; the first that is there counts.
INSTALLERS = {
    "package-lock.json": _NPM,
    "npm-shrinkwrap.json": _NPM,
    "pnpm-lock.yaml": _PNPM,
    "yarn.lock": _YARN,
}
#: Beside a lock file, what decides on what is installed; e.g. whether install scripts run.
_SETTINGS = (PACKAGE, ".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml")
LIMIT_S = 900
#: Characters of a reason that are shown.
LONGEST = 160
#: Packages that need not be there, or that are a part of the checkout.
_NOT_NEEDED = ("dev", "optional", "devOptional", "link")
#: Scripts of package.json that run when packages are installed, and what of them changes none.
_AT_INSTALL = ("preinstall", "install", "postinstall", "prepare")
_HOOKS_ALONE = re.compile(r"husky\b[^&;|]*(\|\| *(true|exit 0) *)?")
#: Keeps what installs git's hooks from writing into the .git of the user.
_NO_HOOKS = {
    **{"HUSKY": "0", "HUSKY_SKIP_INSTALL": "1"},
    **{"LEFTHOOK": "0", "SKIP_INSTALL_SIMPLE_GIT_HOOKS": "1"},
}
#: What is said where a disk, and where a network is to blame, and not the commit. A build may ask
#: services of its own, and say the second of them.
_OF_DISK = r"\bENOSPC\b|[Nn]o space left"
_OF_NETWORK = (
    r"\b(ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET|code E5\d\d)\b"
    r"|Could not resolve host|[Nn]o such host|[Nn]ame or service not known|name resolution"
    r"|[Nn]etwork is unreachable|[Cc]onnection (refused|timed out|reset)|i/o timeout"
)
OF_MACHINE = f"{_OF_DISK}|{_OF_NETWORK}"
#: Where no packages come from.
_NO_PACKAGES = "none are needed"


class PackagesError(Exception):
    """One line: whose packages, what is wrong, what to do."""


class MachineError(PackagesError):
    """The same, where the commit is not to blame."""


@configured
class Provision:
    """How a side gets what git does not have, of a scenario."""

    install: Word | None = None
    """A command of the shell, run in the app's folder of base; by default as its lock file has it,
    and head's packages where that has not changed."""
    build: Word | None = None
    """A command of the shell, run in the app's folder of both sides; by default nothing."""
    link: Listed = ()
    """What git ignores and base needs as head has it, such as .env, by its path from the app's
    folder."""


def provision_of(name: str, scenario: Mapping[str, Any]) -> Provision:
    """What a scenario says beside its app. Raises SettingError."""
    keys = [it.name for it in fields(Provision)]
    given = {key: scenario[key] for key in keys if scenario.get(key, None) is not None}
    return read(Provision, given, f"scenarios.{name}")


def provide(
    provision: Provision,
    folder: Path,
    roots: Sequence[Path],
    logs: Path,
    side: str = "base",
    like: Path | None = None,
) -> str:
    """Give a check-out its links, packages and build; say where the packages come from.

    folder: the app's in the repository. roots: of the check-out, and of the repository. logs: where
    these go. side: what the check-out is called. like: the root of what may share its packages, by
    default the repository. Raises PackagesError and SettingError."""
    inside = folder.relative_to(roots[1])
    for here in linked(provision, folder, roots[1]):
        there = roots[0] / here.relative_to(roots[1])
        if there.exists():
            raise PackagesError(f"link names {here}, which {side} has committed: leave it out")
        there.parent.mkdir(parents=True, exist_ok=True)
        there.symlink_to(here)
    if (provision.install or provision.build) and not (roots[0] / inside).is_dir():
        raise PackagesError(f"{side} has no {inside}: take a later commit")
    log = logs / f"install-{side}.log"
    if provision.install:
        _run(provision.install, roots[0] / inside, log, side)
        source = f"by `{provision.install}`"
    else:
        like = like or roots[1]
        source = provide_packages(like / inside, (roots[0], like), log, side)
        own = (it / MODULES for it in _upwards(folder, roots[1]))
        if source == _NO_PACKAGES and any(it.is_dir() for it in own):
            raise _no_lock(side, "lock file", inside)
    build(provision, roots[0] / inside, logs, side)
    return source


def build(provision: Provision, folder: Path, logs: Path, side: str) -> None:
    """Build a side in its app's folder, if the service says how. Raises PackagesError."""
    if provision.build:
        _run(provision.build, folder, logs / f"build-{side}.log", side, _OF_DISK)


def linked(provision: Provision, head: Path, root: Path) -> list[Path]:
    """Where head has what is linked. Raises SettingError for what can't be."""
    found = []
    for name in provision.link:
        here = Path(os.path.normpath(head / name))
        if Path(name).is_absolute() or not here.is_relative_to(root) or here == root:
            raise SettingError(f"link is {name!r}: write a path in the repository, from {head}")
        if not here.exists():
            raise SettingError(f"link is {name!r}, and there is no {here}: make it or leave it out")
        found.append(here)
    return found


def locked_folders(folder: Path, root: Path) -> list[Path]:
    """Those from an app's folder up to its repository's that have a lock file."""
    return [it for it in _upwards(folder, root) if _lock_of(it)]


def _upwards(folder: Path, root: Path) -> list[Path]:
    """A folder and those above it, up to the repository's."""
    return [it for it in (folder, *folder.parents) if it.is_relative_to(root)]


def _lock_of(folder: Path) -> str | None:
    return next((name for name in INSTALLERS if (folder / name).is_file()), None)


def provide_packages(head: Path, roots: Sequence[Path], log: Path, side: str = "base") -> str:
    """Give a check-out its node_modules, and say where they come from.

    head: the app's folder in what may share its packages. roots: of the check-out, and of that.
    log: where the output goes if it fails. side: what the check-out is called. Raises
    PackagesError.
    """
    sources = []
    has_lock = False
    for here in reversed(_upwards(head, roots[1])):
        there = roots[0] / here.relative_to(roots[1])
        lock = _lock_of(there)
        if (there / MODULES).exists():
            sources += [] if has_lock else ["as committed"]
        elif lock:
            sources.append(_packages(there, here, log, side))
        elif _lock_of(here) or (not has_lock and (here / MODULES).is_dir()):
            raise _no_lock(side, _lock_of(here) or "lock file", here.relative_to(roots[1]))
        has_lock = has_lock or lock is not None
    return " and ".join(dict.fromkeys(sources)) or _NO_PACKAGES


def _no_lock(side: str, name: str, folder: Path) -> PackagesError:
    return PackagesError(
        f"{side} has no {name} in {folder}, by which its packages could be installed: take a "
        "commit that has one, or name an `install` command beside the app"
    )


def _packages(base: Path, head: Path, log: Path, side: str) -> str:
    is_shared = _asked(base) == _asked(head) and (head / MODULES).is_dir()
    if is_shared and not (_is_workspace(head) or _has_links(head) or makes_packages(head)):
        (base / MODULES).symlink_to(head / MODULES)
        return "the same as head's"
    lock = _lock_of(base) or ""
    command = INSTALLERS[lock]
    if lock == "yarn.lock" and (base / ".yarnrc.yml").is_file():
        command = _BERRY
    _run(command, base, log, side)
    return "installed"


def check_head_packages(folder: Path) -> None:
    """Raise PackagesError unless what is installed is what head's lock file asks for: its change
    would not be measured, unseen. folder: that of the lock file."""
    lock = _lock_of(folder) or ""
    command = " ".join(INSTALLERS[lock][:2])
    if INSTALLERS[lock] is not _NPM:
        if not (folder / MODULES).is_dir():
            raise PackagesError(f"head has no {folder / MODULES}: run `{command}`")
        return
    try:
        locked, installed = (
            json.loads(path.read_text(encoding="utf-8"))["packages"]
            for path in (folder / lock, folder / MODULES / ".package-lock.json")
        )
    except (OSError, ValueError, KeyError) as problem:
        raise PackagesError(f"the packages of head are unknown: {problem}; run `npm ci`") from None
    for path, package in locked.items():
        if not path.startswith(f"{MODULES}/") or any(map(package.get, _NOT_NEEDED)):
            continue
        present = installed.get(path, {})
        if present.get("version") != package.get("version"):
            there = present.get("version") or "none"
        elif not _is_same(package, present):
            there = "another one of that version"
        else:
            continue
        raise PackagesError(
            f"{lock} asks for {path} {package.get('version')}, and {there} is installed, so that "
            "head is not what its files say: run `npm ci`"
        )


def _is_same(package: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two packages of one version have the same content, as far as lock files tell."""
    # A mirror has the same content under another address; where that comes from decides only
    # where there is no hash, as for a commit of git.
    for name in ("integrity", "resolved"):
        if package.get(name) and other.get(name):
            return bool(set(package[name].split()) & set(other[name].split()))
    return True


def _asked(folder: Path) -> list[bytes | None]:
    """What decides on the packages."""
    files = (folder / name for name in (*_SETTINGS, *INSTALLERS))
    return [path.read_bytes() if path.is_file() else None for path in files]


def _is_workspace(folder: Path) -> bool:
    """Whether packages below it have modules of their own, which its own do not show."""
    return (folder / "pnpm-workspace.yaml").is_file() or "workspaces" in _described(folder)


def makes_packages(folder: Path) -> bool:
    """Whether a script of its own may make or patch packages: by code that is compared."""
    scripts = _described(folder).get("scripts") or {}
    own = [str(scripts[it]) for it in _AT_INSTALL if it in scripts]
    return not all(_HOOKS_ALONE.fullmatch(it) for it in own)


def _described(folder: Path) -> dict[str, Any]:
    """Its package.json; empty where there is none that can be read."""
    try:
        found = json.loads((folder / PACKAGE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _has_links(folder: Path) -> bool:
    """Whether a package is a link into the checkout, as those of workspaces are: then it is part of
    the code that is compared, and not to be shared."""
    modules = folder / MODULES
    links = (it for it in (*modules.glob("*"), *modules.glob("@*/*")) if it.is_symlink())
    return any(not it.resolve().is_relative_to(modules.resolve()) for it in links)


def _run(
    command: str | Sequence[str], folder: Path, log: Path, side: str, of_machine: str = OF_MACHINE
) -> None:
    """A text is one of the shell. of_machine: says in its output that the machine is to blame."""
    shown = command
    if isinstance(command, str):
        command = ("/bin/sh", "-c", command)
    else:
        shown = " ".join(command[:2])
    try:
        done = run(command, folder, {**os.environ, **_NO_HOOKS}, LIMIT_S)
    except FileNotFoundError:
        raise MachineError(f"{command[0]} is not on PATH: install it for {side}") from None
    except TooLongError as problem:
        raise PackagesError(f"`{shown}` for {side}: {problem}") from None
    if done.returncode:
        log.write_text(done.stdout, encoding="utf-8")
        error = MachineError if re.search(of_machine, done.stdout) else PackagesError
        raise error(
            f"`{shown}` failed for {side}: {reason(done.stdout)[:LONGEST]} (all of it: {log})"
        )
