"""The check-out of the base, inside the project's own cache, for as long as a comparison lasts.

A tree and an index of its own, filled by `git read-tree`, and no `git worktree`: that one writes
into .git, where an entry would stay for good after a `kill -9`, lock the branch that it names, and
fail where a CI system mounts .git read-only. This needs to read .git alone, and one folder is all
that can be left. Unlike `git archive`, it applies the filters of Git LFS and line ends, and leaves
out nothing that is marked export-ignore.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tollgate.compare import git
from tollgate.compare.command import TooLongError, run
from tollgate.compare.git import GitError

SCRIPT = Path("app") / "server.js"
#: Seconds for a check-out: filters may have to fetch large files.
LIMIT_S = 600


def check_out(root: Path, revision: str, into: Path) -> Path:
    """The folder that is to the revision what `root` is to the checkout, which may be a part of it.

    Raises GitError, one line; what was checked out until then stays, for `remove`.
    """
    remove(into)
    tree = into / "tree"
    tree.mkdir(parents=True)
    top = Path(git.demand(root, "rev-parse", "--show-toplevel"))
    prefix = git.demand(root, "rev-parse", "--show-prefix")
    command = git.command(
        "-c", "core.sparseCheckout=false", f"--work-tree={tree}", "read-tree", "--reset", "-u"
    )
    environment = git.environment(GIT_INDEX_FILE=str(into / "index"))
    try:
        done = run([*command, revision], top, environment, LIMIT_S)
    except TooLongError as problem:
        raise GitError(f"the check-out of {revision[:7]}: {problem}") from None
    if done.returncode:
        raise GitError(f"{revision[:7]} can't be checked out: {git.said(done.stdout)}")
    folder = tree / prefix
    if not (folder / SCRIPT).is_file():
        raise GitError(
            f"{revision[:7]} has no {Path(prefix) / SCRIPT}, so there is no base that could run: "
            "set BASE to a commit that has one"
        )
    return folder


def remove(into: Path) -> None:
    """Leave nothing of a check-out."""
    shutil.rmtree(into, ignore_errors=True)
