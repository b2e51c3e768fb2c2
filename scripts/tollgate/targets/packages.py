"""The Node packages of the base: head's own where it asks for the same, else installed for it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from tollgate.targets.command import TooLongError, run

MODULES, LOCK, PACKAGE = "node_modules", "package-lock.json", "package.json"
#: Out of npm's own cache where that has them.
NPM = ("npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")
LIMIT_S = 900
#: Characters of npm's reason that are told.
LONGEST = 160
#: What npm says before and after the reason.
_NO_REASON = ("code ", "errno ", "syscall ", "path ", "network ", "A complete log", "Or, ")
#: Packages that need not be there, or that are a part of the checkout.
_NOT_NEEDED = ("dev", "optional", "devOptional", "link")
_REPAIR = "run scripts/bootstrap"


class PackagesError(Exception):
    """One line: whose packages, what is wrong, what to do."""


def provide(base: Path, root: Path, log: Path) -> str:
    """Give a check-out of the base its node_modules, and say where they come from.

    root: of head. log: where npm's output goes if it fails. Raises PackagesError.
    """
    target = base / MODULES
    if target.exists():
        return "as committed"
    if not (base / LOCK).is_file():
        raise PackagesError(f"base has no {LOCK}, by which its packages could be installed")
    if _asked(base) == _asked(root) and not _has_links(root / MODULES):
        target.symlink_to(root / MODULES)
        return "the same as head's"
    _install(base, log)
    return "installed"


def check_head(root: Path) -> None:
    """Raise PackagesError unless what is installed is what head's lock file asks for: its change
    would not be measured, and nobody would see that."""
    try:
        asked, installed = (
            json.loads(path.read_text(encoding="utf-8"))["packages"]
            for path in (root / LOCK, root / MODULES / ".package-lock.json")
        )
    except (OSError, ValueError, KeyError) as problem:
        raise PackagesError(f"head's packages can't be told: {problem}; {_REPAIR}") from None
    for path, package in asked.items():
        if not path.startswith(f"{MODULES}/") or any(map(package.get, _NOT_NEEDED)):
            continue
        found = installed.get(path, {})
        if found.get("version") != package.get("version"):
            there = found.get("version") or "none"
        elif not _is_same(package, found):
            there = "another one of that version"
        else:
            continue
        raise PackagesError(
            f"{LOCK} asks for {path} {package.get('version')}, and {there} is installed, so that "
            f"head is not what its files say: {_REPAIR}"
        )


def _is_same(asked: Mapping[str, str], found: Mapping[str, str]) -> bool:
    """Whether two packages of one version have the same content, as far as lock files tell."""
    # A mirror has the same content under another address; where that comes from decides only
    # where there is no hash, as for a commit of git.
    for name in ("integrity", "resolved"):
        if asked.get(name) and found.get(name):
            return bool(set(asked[name].split()) & set(found[name].split()))
    return True


def _asked(folder: Path) -> list[bytes | None]:
    """What decides on the packages; npm's settings say e.g. whether install scripts run."""
    files = (folder / name for name in (PACKAGE, LOCK, ".npmrc"))
    return [path.read_bytes() if path.is_file() else None for path in files]


def _has_links(modules: Path) -> bool:
    """Whether a package is a link into the checkout, as those of workspaces are: then it is part of
    the code that is compared, and not to be shared."""
    return any(path.is_symlink() for path in (*modules.glob("*"), *modules.glob("@*/*")))


def _install(base: Path, log: Path) -> None:
    try:
        done = run(NPM, base, os.environ, LIMIT_S)
    except FileNotFoundError:
        raise PackagesError("npm is not on PATH, and base needs packages: install it") from None
    except TooLongError as problem:
        raise PackagesError(f"the packages of base: {problem}") from None
    if done.returncode:
        log.write_text(done.stdout, encoding="utf-8")
        raise PackagesError(
            f"`npm ci` failed for base: {_reason(done.stdout)} (all of it: {log.name} in the run's "
            "folder)"
        )


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines()]
    marks = ("npm error", "npm ERR!")
    told = [line.removeprefix(mark).strip() for mark in marks for line in lines if mark in line]
    reasons = [line for line in told if line and not line.startswith(_NO_REASON)]
    best = (line for each in (reasons, told, lines) for line in each if line)
    said = next(best, "it said nothing")
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}..."
