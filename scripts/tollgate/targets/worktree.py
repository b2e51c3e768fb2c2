"""The check-out of the base: a `git worktree` outside of the project while a comparison lasts.

Detached, so that no branch is locked, and of the part alone that the project is of its repository.
Unlike `git archive`, it applies the filters of Git LFS and line ends, and leaves out nothing that
is marked export-ignore. place.py removes it, with its entry in .git.
"""

from __future__ import annotations

from pathlib import Path

from tollgate.targets import git
from tollgate.targets.command import TooLongError, run
from tollgate.targets.git import GitError
from tollgate.targets.place import remove

SCRIPT = Path("app") / "server.js"
#: The mode of an entry that is a commit of another repository.
_SUBMODULE = "160000"
#: Seconds for a check-out: filters may have to fetch large files.
LIMIT_S = 600


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
            done = run(command, folder, git.environment(), LIMIT_S)
        except TooLongError as problem:
            raise GitError(f"the check-out of {revision[:7]}: {problem}") from None
        if done.returncode:
            raise GitError(f"{revision[:7]} can't be checked out: {git.said(done.stdout)}")
    return into / prefix


def _refuse(root: Path, revision: str, prefix: str) -> None:
    """Raise GitError for a revision that would be no base."""
    listed = git.demand(root, "ls-tree", "-r", "-z", revision).split("\0")
    entries = [entry.partition("\t") for entry in listed if entry]  # mode type SHA, tab, path
    if SCRIPT.as_posix() not in (path for _, _, path in entries):
        raise GitError(
            f"{revision[:7]} has no {Path(prefix) / SCRIPT}, so there is no base that could run: "
            "set BASE to a commit that has one"
        )
    submodules = [path for told, _, path in entries if told.startswith(_SUBMODULE)]
    if submodules:
        raise GitError(
            f"{submodules[0]} is a submodule in {revision[:7]}, and base would be without what is "
            "in it: start both sides yourself, and compare them with BASE_URL and HEAD_URL"
        )
