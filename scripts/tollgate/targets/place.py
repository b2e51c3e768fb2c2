"""Where a base is checked out, with its Node packages: outside of the project.

Node looks for a package in the node_modules of every folder above the file that asks (Node.js
documentation, "Loading from node_modules folders"). Below the project a base would find among
head's packages what its own lack: an accelerator that only head has, or one that nobody declared.
So above this place there is no node_modules but what head finds as well.

While a check-out lasts, a link inside the project leads to it, for the next run to remove what a
killed one left.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tollgate.targets.git import GitError, ask

CHECKOUT = "base"
MODULES = "node_modules"
#: Linux alone tells whether a file system runs what it holds.
_NOEXEC = getattr(os, "ST_NOEXEC", 0)


class PlaceError(Exception):
    """One line: which folder can't be had or removed, and what to do."""


def provide(root: Path) -> Path:
    """A folder for this checkout of the project and this user alone, without links in its path.

    In the user's cache, or with the temporary files where that does not do. Raises PlaceError.
    """
    problems = []
    for folder in _candidates(root):
        problem = _problem_above(folder, root) or _problem_in(folder, root)
        if problem is None:
            return folder
        problems.append(f"{folder} {problem}")
    raise PlaceError(
        f"base must stand outside of {root}, and there is no place for it: {'; '.join(problems)}; "
        "set XDG_CACHE_HOME to a folder of your own"
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
    # What somebody else made of the link is not ours to remove.
    ours = folder.name == CHECKOUT and folder.parent.name.endswith(_key(root))
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


def _candidates(root: Path) -> Iterator[Path]:
    """The best one first; the folders around them without links."""
    # By the XDG Base Directory Specification a relative path does not count.
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        yield given.resolve() / "tollgate" / _key(root)
    with contextlib.suppress(RuntimeError):  # nobody knows where this user is at home
        yield Path("~/.cache").expanduser().resolve() / "tollgate" / _key(root)
    temporary = Path(tempfile.gettempdir()).resolve()
    yield temporary / f"tollgate-base-{os.getuid()}-{_key(root)}"


def _key(root: Path) -> str:
    """Each checkout of the project has a place of its own."""
    return hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:16]


def _problem_above(folder: Path, root: Path) -> str | None:
    """Why base would find other packages there than head, if it would."""
    if folder.is_relative_to(root.resolve()):
        return "lies inside the project"
    above = [each for each in folder.parents if each not in root.resolve().parents]
    strays = [each / MODULES for each in above if (each / MODULES).exists()]
    return f"lies below {strays[0]}, which head does not see" if strays else None


def _problem_in(folder: Path, root: Path) -> str | None:
    """Make it if need be, for this user alone; why it can't be used, if it can't."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return "is somebody else's"
        folder.chmod(0o700)
        # A package's compiled parts would not load there, and many do without them silently.
        runs_here, runs_there = (not os.statvfs(it).f_flag & _NOEXEC for it in (root, folder))
    except OSError as problem:
        return f"can't be had ({problem.strerror})"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "can't be written"
    return "is on a file system that runs nothing" if runs_here and not runs_there else None
