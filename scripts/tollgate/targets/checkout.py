"""The check-out of a comparison's base, with its Node packages: in the cache, beside the tools.

Node looks for a package in the node_modules of every folder above the file that asks (Node.js
documentation, "Loading from node_modules folders"). Below the suite a base would find among head's
packages what its own lack: an accelerator that only head has, or one that is not declared. So it
stands outside of the repository, in the user's cache where TOLLGATE_HOME lies inside, and above it
there is no node_modules but what head finds as well.

While a check-out lasts, a link inside the suite leads to it, for the next run to remove what a
killed one left. It is a `git worktree`: detached, so that no branch is locked, and of the part
alone that the suite is of its repository. Unlike `git archive`, it applies the filters of Git LFS
and line ends, and leaves out nothing that is marked export-ignore.

Its packages are head's own where it asks for the same ones, else installed for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tollgate.base import paths
from tollgate.base.processes import TooLongError, run_to_end
from tollgate.targets import git, lock
from tollgate.targets.git import GitError, ask

CHECKOUT = "base"
MODULES, LOCK, PACKAGE = "node_modules", "package-lock.json", "package.json"
#: The mode of an entry that is a commit of another repository.
_SUBMODULE = "160000"
#: Seconds for a check-out: filters may have to fetch large files.
CHECKOUT_LIMIT_S = 600
#: Out of npm's own cache where that has them.
NPM = ("npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")
INSTALL_LIMIT_S = 900
#: Characters of npm's reason that are shown.
LONGEST = 160
#: Packages that need not be there, or that are a part of the checkout.
_NOT_NEEDED = ("dev", "optional", "devOptional", "link")
_REPAIR = "run `npm ci`"
#: Linux alone tells whether a file system runs what it holds.
_NOEXEC = getattr(os, "ST_NOEXEC", 0)


class PlaceError(Exception):
    """One line: which folder can't be had or removed, and what to do."""


def provide_folder(root: Path) -> Path:
    """A folder for this suite and this user alone, without links in its path: in the cache, or in
    the user's where that does not do. Raises PlaceError."""
    problems = []
    for cache in dict.fromkeys([paths.cache(), paths.user_cache()]):
        folder = cache.resolve() / f"base-{_key(root)}"
        problem = _problem_above(folder, root) or _problem_in(folder, root)
        if problem is None:
            return folder
        problems.append(f"{folder} {problem}")
    raise PlaceError(
        f"base must stand outside of {root}, and there is no place for it: {'; '.join(problems)}; "
        "set TOLLGATE_HOME to a folder of your own outside of it"
    )


def note(folder: Path, link: Path) -> None:
    """Write down, as a link to it, where a base is checked out."""
    link.unlink(missing_ok=True)
    link.symlink_to(folder / CHECKOUT)


def clear(link: Path, root: Path) -> bool:
    """Remove the check-out that is written down; False where none is.

    Raises PlaceError where something of it stays; then it stays written down as well."""
    if not link.is_symlink():
        return False
    folder = link.readlink()
    # A link that leads elsewhere was made by another: what is there is not ours to remove.
    ours = folder.name == CHECKOUT and folder.parent.name == f"base-{_key(root)}"
    if ours:
        remove(folder, root)
        with contextlib.suppress(OSError):
            folder.parent.rmdir()
    link.unlink()
    return ours


def remove(folder: Path, root: Path) -> None:
    """Leave nothing of a check-out, nor of its entry in root's .git. Raises PlaceError where
    something of the folder stays."""
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        raise PlaceError(f"{folder} can't be removed: remove it by hand")
    # No `git worktree prune`: that would drop the user's own on a disk that is not mounted. Twice
    # --force, for git locks an entry until its check-out is done. Without one git says no.
    with contextlib.suppress(GitError):
        ask(root, "worktree", "remove", "--force", "--force", str(folder))


def _key(root: Path) -> str:
    """Each suite has a place of its own, so that two can be compared at once."""
    return hashlib.sha256(os.fsencode(paths.identity(root.resolve()))).hexdigest()[:16]


def _problem_above(folder: Path, root: Path) -> str | None:
    """Why base would find other packages there than head, if it would."""
    if folder.is_relative_to(Path(ask(root, "rev-parse", "--show-toplevel") or root).resolve()):
        return "lies inside the repository"
    above = [each for each in folder.parents if each not in root.resolve().parents]
    strays = [each / MODULES for each in above if (each / MODULES).exists()]
    return f"lies below {strays[0]}, which head does not see" if strays else None


def _problem_in(folder: Path, root: Path) -> str | None:
    """Make it if need be, for this user alone; why it can't be used, if it can't."""
    try:
        lock.private_folder(folder).chmod(0o700)
        # A package's compiled parts would not load there, and many do without them silently.
        runs_here, runs_there = (not os.statvfs(it).f_flag & _NOEXEC for it in (root, folder))
    except OSError as problem:
        return f"can't be had ({problem.strerror})"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "can't be written"
    return "is on a file system that runs nothing" if runs_here and not runs_there else None


class PackagesError(Exception):
    """One line: whose packages, what is wrong, what to do."""


def provide_packages(base: Path, root: Path, log: Path) -> str:
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


def check_head_packages(root: Path) -> None:
    """Raise PackagesError unless what is installed is what head's lock file asks for: its change
    would not be measured, unseen."""
    try:
        asked, installed = (
            json.loads(path.read_text(encoding="utf-8"))["packages"]
            for path in (root / LOCK, root / MODULES / ".package-lock.json")
        )
    except (OSError, ValueError, KeyError) as problem:
        raise PackagesError(f"the packages of head are unknown: {problem}; {_REPAIR}") from None
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
        done = _run(NPM, base, os.environ, INSTALL_LIMIT_S)
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
    """What npm gives behind the codes of the error; its last line where it gives nothing."""
    marked = re.findall(r"^npm (?:error|ERR!) (?!(?:code|errno|syscall|path) )(.+)", output, re.M)
    return (marked or output.split("\n")[-2:-1] or ["it said nothing"])[0][:LONGEST]


def check_out(root: Path, revision: str, into: Path) -> Path:
    """The folder that is to the revision what `root` is to the checkout, which may be a part of it.

    Raises GitError and PlaceError, one line; what was checked out until then stays, for `remove`.
    """
    remove(into, root)
    prefix = git.demand(root, "rev-parse", "--show-prefix")
    _refuse(root, revision, prefix)
    add = ("worktree", "add", "--detach", "--no-checkout", str(into), revision)
    # All of it into the index, for attributes may stand above the part that is checked out.
    steps = (
        (root, add),
        (into, ("read-tree", "HEAD")),
        (into, ("checkout", "--quiet", "--", f":(literal){prefix}" if prefix else ".")),
    )
    for folder, step in steps:
        command = git.command("-c", "core.sparseCheckout=false", *step)
        try:
            done = _run(command, folder, git.environment(), CHECKOUT_LIMIT_S)
        except TooLongError as problem:
            raise GitError(f"the check-out of {revision[:7]}: {problem}") from None
        if done.returncode:
            raise GitError(f"{revision[:7]} can't be checked out: {git.said(done.stdout)}")
    return into / prefix


def _refuse(root: Path, revision: str, prefix: str) -> None:
    """Raise GitError for a revision that would be no base."""
    listed = git.demand(root, "ls-tree", "-r", "-z", revision).split("\0")
    entries = [entry.partition("\t") for entry in listed if entry]  # mode type SHA, tab, path
    if not entries:
        raise GitError(f"{revision[:7]} has nothing in {prefix or '.'}: set BASE to a later commit")
    submodules = [path for mode, _, path in entries if mode.startswith(_SUBMODULE)]
    if submodules:
        raise GitError(
            f"{submodules[0]} is a submodule in {revision[:7]}, and base would be without what is "
            "in it: start both sides yourself, and compare them with BASE_URL and HEAD_URL"
        )


def _run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], limit_s: float
) -> subprocess.CompletedProcess[str]:
    """Run it to its end. Until then it is on the lock's list, so that the next run ends it if this
    one is killed. Raises FileNotFoundError and TooLongError; needs the lock."""
    try:
        return run_to_end(
            command,
            folder=folder,
            environment=environment,
            limit_s=limit_s,
            started=lambda pid: lock.remember([pid], []),
        )
    finally:
        lock.forget()
