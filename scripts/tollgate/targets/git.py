"""Git in the checkout of a repository, without its hooks, and which of its commits is the base.

What is compared with the base is the working tree as it is. By default the base is where the branch
left the main one, so that a comparison shows what merging would change, whatever else has been
merged meanwhile.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tollgate.base.text import telling

MAIN = ("main", "master")
_VERIFY = ("rev-parse", "--verify", "--quiet")
#: How a shallow clone gets the rest.
SHALLOW = "`git fetch --unshallow` gets the rest, in CI a checkout with fetch-depth: 0"
#: What would make git look at another repository or another index than the checkout's own; git
#: itself sets it for hooks, from which a comparison may well be called.
_ELSEWHERE = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE"),
)
_QUIET = (
    *("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false"),
    *("-c", "log.showSignature=false"),
)

#: Folders of packages and of what is made of code.
PACKAGES = ("node_modules", ".venv", "__pycache__")


class GitError(Exception):
    """One line: what git can't do here, and what to do."""


def command(*arguments: str) -> list[str]:
    """A call of git that runs no hook."""
    return ["git", *_QUIET, *arguments]


def environment(**more: str) -> dict[str, str]:
    """The caller's, for git to speak English and to look at the checkout that it is called in."""
    kept = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    return {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", **more}


def ask(root: Path, *arguments: str) -> str | None:
    """What git answers in a folder, without the line break at its end; None where it says no.
    Raises GitError where there is no git."""
    done = _run(root, *arguments)
    return None if done.returncode else done.stdout.rstrip("\n")


def demand(root: Path, *arguments: str) -> str:
    """What git answers in a folder. Raises GitError where it says no."""
    done = _run(root, *arguments)
    if done.returncode:
        named = next((it for it in arguments if not it.startswith("-")), arguments[0])
        raise GitError(f"`git {named}` failed in {root}: {said(done.stderr)}")
    return done.stdout.rstrip("\n")


def said(text: str) -> str:
    """What git gave as the reason, in one line."""
    return (telling(text, "fatal:|error:") or ["it gave no reason"])[0]


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command(*arguments),
            cwd=root,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        raise GitError(
            "git is not on PATH, and the base comes out of git: install it, or compare what runs "
            "elsewhere with BASE_URL and HEAD_URL"
        ) from None


@dataclass(frozen=True)
class Revisions:
    """base, head: full SHAs. base_is: how base was found, such as `merge base with origin/main`.
    head_is: the same of a head that is a commit; empty for the working tree.
    changed: files of the repository that are not as in head's commit, or new. ignored: files and
    folders beside the app's script that git ignores, so that head alone has them."""

    base: str
    base_is: str
    head: str
    changed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    head_is: str = ""

    @property
    def is_commit(self) -> bool:
        """Whether head is its commit and nothing else."""
        return not self.changed and not self.ignored

    @property
    def is_control(self) -> bool:
        """Whether the same code is on both sides."""
        return self.base == self.head and self.is_commit

    @property
    def base_text(self) -> str:
        return f"{self.base[:7]} ({self.base_is})"

    @property
    def head_text(self) -> str:
        if self.head_is:
            return f"{self.head[:7]} ({self.head_is})"
        return f"working tree at {self.head[:7]}{'' if self.is_commit else ', with changes'}"


def find_revisions(
    root: Path, base_name: str | None, near: Path | None = None, apart_from: Sequence[Path] = ()
) -> Revisions:
    """Base and head of a repository. base_name: a revision, None for the default. near: the folder
    that is looked through for what git ignores; none by default. apart_from: folders that are no
    part of the code. Raises GitError, one line."""
    demand(root, "rev-parse", "--show-toplevel")  # no checkout, or one of another user
    head = ask(root, *_VERIFY, "HEAD^{commit}")
    if head is None:
        raise GitError(f"{root} has no commit yet: commit what the base is to be")
    left_out = [it.relative_to(root) for it in apart_from if it.is_relative_to(root)]
    changed = _changed(root, left_out)
    ignored = _ignored(root, near, left_out) if near else ()
    if base_name is not None:
        return Revisions(commit(root, base_name), base_name, head, changed, ignored)
    main = _main_branch(root)
    base = ask(root, "merge-base", head, main)
    if base is None:
        reason = f"HEAD and {main} have no commit in common"
        if is_shallow(root):
            reason = f"this clone is shallow, and where HEAD left {main} is not in it: {SHALLOW}"
        raise GitError(f"{reason}; or set BASE to a commit that is here")
    if base == head and not changed:
        raise GitError(
            f"HEAD ({head[:7]}) has nothing that {main} has not, and no file is changed, so that "
            "there is nothing to compare: set BASE=HEAD~1 to see what the last commit changed, or "
            "BASE=HEAD for the control, which compares the code with itself"
        )
    return Revisions(base, f"merge base with {main}", head, changed, ignored)


def repository(folder: Path) -> Path | None:
    """The repository in whose checkout a folder, or the nearest above it that exists, lies. Raises
    GitError where git does not trust it."""
    there = next(it for it in (folder, *folder.parents) if it.is_dir())
    done = _run(there, "rev-parse", "--show-toplevel")
    if done.returncode and "safe.directory" in done.stderr:
        step = done.stderr.split("\n")[-2].strip()  # the command that git names
        raise GitError(f"{said(done.stderr)}: call `{step}`")
    return None if done.returncode else Path(done.stdout.rstrip("\n"))


def written(root: Path) -> frozenset[str]:
    """What in a checkout is not as in its commit, packages aside: each file, also ignored ones."""
    everything = ("--porcelain", "--ignored=matching", "--untracked-files=all")
    lines = demand(root, "status", *everything).splitlines()
    names = (line[3:] for line in lines)
    return frozenset(it for it in names if not {*Path(it).parts} & {*PACKAGES})


def _ignored(root: Path, near: Path, left_out: Sequence[Path]) -> tuple[str, ...]:
    """What git ignores in a folder, without packages: each side has its own."""
    hidden = ("--others", "--ignored", "--exclude-standard", "--directory", "--", str(near))
    found = demand(root, "ls-files", *hidden).splitlines()
    ours = {it for it in found if any(Path(it).is_relative_to(each) for each in left_out)}
    return tuple(it for it in found if it not in ours and Path(it).name not in PACKAGES)


def _changed(root: Path, left_out: Sequence[Path]) -> tuple[str, ...]:
    """The files in the repository, also new ones, that are not as in its commit or that git is not
    to look at: a lower-case letter stands for assume-unchanged, S for skip-worktree."""
    everything = ("--porcelain", "--ignore-submodules=none", "--untracked-files=normal")
    # Where `reports` is a link, git misses the page in it.
    without = [f":(exclude,literal){it}" for it in left_out]
    status = demand(root, "status", *everything, "--", ".", *without).splitlines()
    flagged = demand(root, "ls-files", "-v").splitlines()
    names = [line[3:] for line in status]  # two letters and a blank stand before a name
    names += [line[2:] for line in flagged if line[0] == "S" or line[0].islower()]
    return tuple(dict.fromkeys(names))


def commit(root: Path, wanted: str, name: str = "BASE") -> str:
    """The SHA of a commit. name: of who asks for it. Raises GitError."""
    # What begins with a dash would be an option of git's; `:/text` takes all behind it for text.
    found = None if wanted.startswith("-") else ask(root, *_VERIFY, wanted)
    found = found and ask(root, *_VERIFY, f"{found}^{{commit}}")
    if not found:
        hint = SHALLOW if is_shallow(root) else "`git fetch` it, or name another one"
        if ask(root, *_VERIFY, f"refs/remotes/origin/{wanted}^{{commit}}"):  # as a CI job has it
            hint = f"did you mean 'origin/{wanted}'?"
        raise GitError(f"{name} is {wanted!r}, and git knows no such commit in {root}: {hint}")
    return found


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
    hint = SHALLOW if is_shallow(root) else "`git fetch origin main` gets one"
    looked = ", ".join(dict.fromkeys(candidates))
    raise GitError(f"no main branch is known here (there is no {looked}): set BASE, or {hint}")


def is_shallow(root: Path) -> bool:
    """Whether a clone has not all of the history."""
    return ask(root, "rev-parse", "--is-shallow-repository") == "true"
