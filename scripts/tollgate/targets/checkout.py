"""The check-out of a comparison's base: in the cache, beside the tools.

Node looks for a package in the node_modules of every folder above the file that asks (Node.js
documentation, "Loading from node_modules folders"). Inside its repository a base would find among
head's packages what its own lack: an accelerator that only head has, or one that is not declared.
So it stands outside of the repository, in the user's cache where TOLLGATE_HOME lies inside, and
above it there is no node_modules but what head finds as well.

While a check-out lasts, a link inside the suite leads to it, for the next run to remove what a
killed one left. It is a `git worktree`: detached, so that no branch is locked. Unlike `git
archive`, it applies the filters of Git LFS and line ends, and leaves out nothing that is marked
export-ignore.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tollgate.base import paths
from tollgate.base.processes import TooLongError, run_to_end
from tollgate.targets import git, lock
from tollgate.targets.git import GitError, ask

CHECKOUT = "base"
MODULES = "node_modules"
#: The mode of an entry that is a commit of another repository.
_SUBMODULE = "160000"
#: Seconds for a check-out: filters may have to fetch large files.
CHECKOUT_LIMIT_S = 600
#: Linux alone tells whether a file system runs what it holds.
_NOEXEC = getattr(os, "ST_NOEXEC", 0)


class PlaceError(Exception):
    """One line: which folder can't be had or removed, and what to do."""


def provide_folder(suite: Path, root: Path, name: str = CHECKOUT) -> Path:
    """A folder for this suite and this user alone, without links in its path: in the cache, or in
    the user's where that does not do. root: the repository. name: begins that of the folder. Raises
    PlaceError."""
    problems = []
    for cache in dict.fromkeys([paths.cache(), paths.user_cache()]):
        folder = cache.resolve() / f"{name}-{_key(suite)}"
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


def clear(link: Path, suite: Path) -> bool:
    """Remove the check-out that is written down; False where none is.

    Raises PlaceError where something of it stays; then it stays written down as well."""
    if not link.is_symlink():
        return False
    folder = link.readlink()
    # A link that leads elsewhere was made by another: what is there is not ours to remove.
    ours = folder.name == CHECKOUT and folder.parent.name == f"base-{_key(suite)}"
    if ours:
        remove(folder, _repository_of(folder))
        with contextlib.suppress(OSError):
            folder.parent.rmdir()
    link.unlink()
    return ours


def _repository_of(folder: Path) -> Path | None:
    """The .git of the repository of which a check-out is; None where nothing tells it any more."""
    try:
        entry = (folder / ".git").read_text(encoding="utf-8").removeprefix("gitdir:").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return (folder / entry).parent.parent  # .git/worktrees/base


def remove(folder: Path, root: Path | None) -> None:
    """Leave nothing of a check-out, nor of its entry in the .git of its repository, if that is
    known. Raises PlaceError where something of the folder stays."""
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        raise PlaceError(f"{folder} can't be removed: remove it by hand")
    # No `git worktree prune`: that would drop the user's own on a disk that is not mounted. Twice
    # --force, for git locks an entry until its check-out is done. Without one git says no.
    with contextlib.suppress(GitError, OSError):
        ask(root or folder.parent, "worktree", "remove", "--force", "--force", str(folder))


def detach(folder: Path, root: Path) -> None:
    """Make a check-out a folder like any other, of which its repository knows nothing. Raises
    PlaceError."""
    aside = folder.with_name(f"{folder.name}~")
    (folder / ".git").unlink()
    folder.rename(aside)
    try:
        remove(folder, root)
    finally:
        aside.rename(folder)


def _key(suite: Path) -> str:
    """Each suite has a place of its own, so that two can be compared at once."""
    return hashlib.sha256(os.fsencode(paths.identity(suite.resolve()))).hexdigest()[:16]


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


def check_out(root: Path, revision: str, into: Path) -> None:
    """Have a whole revision in a folder. root: the repository's.

    Raises GitError and PlaceError, one line; what was checked out until then stays, for `remove`.
    """
    remove(into, root)
    _refuse_submodules(root, revision)
    add = ("worktree", "add", "--detach", "--no-checkout", str(into), revision)
    steps = (root, add), (into, ("read-tree", "HEAD")), (into, ("checkout", "--quiet", "--", "."))
    for folder, step in steps:
        command = git.command("-c", "core.sparseCheckout=false", *step)
        try:
            done = run(command, folder, git.environment(), CHECKOUT_LIMIT_S)
        except TooLongError as problem:
            raise GitError(f"the check-out of {revision[:7]}: {problem}") from None
        if done.returncode:
            raise GitError(f"{revision[:7]} can't be checked out: {git.said(done.stdout)}")


def _refuse_submodules(root: Path, revision: str) -> None:
    """Raise GitError for a revision that would be no base."""
    listed = git.demand(root, "ls-tree", "-r", "-z", "--full-tree", revision).split("\0")
    entries = [entry.partition("\t") for entry in listed if entry]  # mode type SHA, tab, path
    if not entries:
        raise GitError(f"{revision[:7]} has no file: set BASE to a later commit")
    submodules = [path for mode, _, path in entries if mode.startswith(_SUBMODULE)]
    if submodules:
        raise GitError(
            f"{submodules[0]} is a submodule in {revision[:7]}, and base would be without what is "
            "in it: start both sides yourself, and compare them with BASE_URL and HEAD_URL"
        )


def run(
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
