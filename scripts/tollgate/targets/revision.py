"""Which commit is the base, and what is compared with it: the working tree as it is.

By default the base is where the branch left the main one, so that a comparison shows what merging
would change, whatever else has been merged meanwhile.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from tollgate.targets.git import GitError, ask, demand

MAIN = ("main", "master")
_VERIFY = ("rev-parse", "--verify", "--quiet")
_SHALLOW = "`git fetch --unshallow` gets the rest, in CI a checkout with fetch-depth: 0"


@dataclass(frozen=True)
class Revisions:
    """base, head: full SHAs. base_is: how base was found, such as `merge base with origin/main`.
    changed: files of the project that are not as in head's commit, or new. ignored: files and
    folders under app/ of which git keeps no record, so that head alone has them."""

    base: str
    base_is: str
    head: str
    changed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def is_commit(self) -> bool:
        """Whether head is its commit and nothing else."""
        return not self.changed and not self.ignored

    @property
    def is_control(self) -> bool:
        """Whether the same code is on both sides."""
        return self.base == self.head and self.is_commit

    @property
    def base_told(self) -> str:
        return f"{self.base[:7]} ({self.base_is})"

    @property
    def head_told(self) -> str:
        return f"working tree at {self.head[:7]}{'' if self.is_commit else ', with changes'}"


def find(root: Path, wanted: str | None) -> Revisions:
    """wanted: a revision, None for the default. Raises GitError, one line."""
    if ask(root, "rev-parse", "--is-inside-work-tree") != "true":
        _refuse_folder(root)
    head = ask(root, *_VERIFY, "HEAD^{commit}")
    if head is None:
        raise GitError(f"{root} has no commit yet: commit what the base is to be")
    changed, ignored = _changed(root), _ignored(root)
    if wanted is not None:
        return Revisions(_commit(root, wanted), wanted, head, changed, ignored)
    main = _main_branch(root)
    base = ask(root, "merge-base", head, main)
    if base is None:
        raise GitError(f"{_unrelated(root, main)}; or set BASE to a commit that is here")
    if base == head and not changed:
        raise GitError(
            f"HEAD ({head[:7]}) has nothing that {main} has not, and no file is changed, so that "
            "there is nothing to compare: set BASE=HEAD~1 to see what the last commit changed, or "
            "BASE=HEAD for the control, which compares the code with itself"
        )
    return Revisions(base, f"merge base with {main}", head, changed, ignored)


def _refuse_folder(root: Path) -> None:
    """Raises GitError with git's own reason: no checkout, or one that belongs to somebody else."""
    try:
        demand(root, "rev-parse", "--show-toplevel")
    except GitError as problem:
        raise GitError(
            f"{problem}: the base comes out of git, so run in a clone, or compare what runs "
            "elsewhere with BASE_URL and HEAD_URL"
        ) from None


def _changed(root: Path) -> tuple[str, ...]:
    """The files in the project, also new ones, that are not as in its commit or that git was told
    not to look at: a lower-case letter stands for assume-unchanged, S for skip-worktree."""
    everything = ("--porcelain", "--ignore-submodules=none", "--untracked-files=normal")
    status = demand(root, "status", *everything, "--", ".").splitlines()
    flagged = demand(root, "ls-files", "-v").splitlines()
    names = [line[3:] for line in status]  # two letters and a blank stand before a name
    names += [line[2:] for line in flagged if line[0] == "S" or line[0].islower()]
    return tuple(dict.fromkeys(names))


def _ignored(root: Path) -> tuple[str, ...]:
    asked = ("--others", "--ignored", "--exclude-standard", "--directory")
    return tuple(demand(root, "ls-files", *asked, "--", "app").splitlines())


def _commit(root: Path, wanted: str) -> str:
    # What begins with a dash would be an option of git's; `:/text` takes all behind it for text.
    found = None if wanted.startswith("-") else ask(root, *_VERIFY, wanted)
    found = found and ask(root, *_VERIFY, f"{found}^{{commit}}")
    if not found:
        hint = _SHALLOW if _is_shallow(root) else _nearest(root, wanted)
        raise GitError(f"BASE is {wanted!r}, and git knows no such commit here: {hint}")
    return found


def _nearest(root: Path, wanted: str) -> str:
    """The next step for a name that git does not know."""
    refs = ("refs/heads", "refs/remotes", "refs/tags")
    names = demand(root, "for-each-ref", "--format=%(refname:short)", *refs).splitlines()
    remotes = [name for name in names if name.endswith(f"/{wanted}")]
    near = remotes or difflib.get_close_matches(wanted, names, 1)
    return f"did you mean {near[0]}?" if near else "`git fetch` it, or name another one"


def _main_branch(root: Path) -> str:
    """The main branch as the remote has it, the local one where there is no remote."""
    branch = ask(root, "symbolic-ref", "--quiet", "--short", "HEAD")
    remote = branch and ask(root, "config", f"branch.{branch}.remote")
    remotes = [name for name in dict.fromkeys((remote, "origin")) if name and name != "."]
    heads = (ask(root, "rev-parse", "--abbrev-ref", f"{name}/HEAD") for name in remotes)
    candidates = [head for head in heads if head]
    candidates += [f"{name}/{main}" for name in remotes for main in MAIN]
    candidates += MAIN
    for name in candidates:
        if ask(root, *_VERIFY, f"{name}^{{commit}}") is not None:
            return name
    hint = _SHALLOW if _is_shallow(root) else "`git fetch origin main` gets one"
    looked = ", ".join(dict.fromkeys(candidates))
    raise GitError(f"no main branch is known here (there is no {looked}): set BASE, or {hint}")


def _unrelated(root: Path, main: str) -> str:
    if _is_shallow(root):
        return f"this clone is shallow, and where HEAD left {main} is not in it: {_SHALLOW}"
    return f"HEAD and {main} have no commit in common"


def _is_shallow(root: Path) -> bool:
    return ask(root, "rev-parse", "--is-shallow-repository") == "true"
