"""git's own bisect, in a repository of its own: nothing of the user's is touched.

That repository is bare and borrows the user's objects (gitrepository-layout, objects/info/
alternates). In a bare one git checks nothing out and leaves the commit that it asks about in
BISECT_HEAD (git-bisect, --no-checkout). So branches, index and files stay as they are, and so does
a bisect of the user's own. What is known so far stays in that folder until the folder is removed,
however the process ends.

Commits of branches that left before GOOD lack what GOOD has. Held against GOOD, they would differ
by that. They are marked as good, and so they are measured with the merge that brought them.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tollgate.base.exit_codes import ExitCode
from tollgate.base.processes import TooLongError, defer_signals, run_to_end
from tollgate.targets import git
from tollgate.targets.git import GitError

#: Exit code of a step whose commit decides nothing, as for `git bisect run`.
SKIP = 125
#: How git calls what a step came to.
WORDS = {
    ExitCode.PASS: "good",
    ExitCode.FAIL: "bad",
    ExitCode.INCONCLUSIVE: "skip",
    SKIP: "skip",
}
#: Seconds for a call of git; it reads the history between GOOD and BAD.
LIMIT_S = 600
#: `git bisect` ends so where all that is left has been skipped.
_NONE_LEFT = 2
_FOUND = re.compile(r"^# (?:possible )?first bad commit: \[(\w+)\]", re.M)


@dataclass(frozen=True)
class Span:
    """What lies between two commits. good, bad: SHAs. commits: how many it may be, BAD among them.
    apart: SHAs of commits that lack what GOOD has, the newest of their branches; with them come
    `hidden` commits that are not measured by themselves."""

    good: str
    bad: str
    commits: int
    apart: tuple[str, ...] = ()
    hidden: int = 0

    @classmethod
    def of(cls, root: Path, good: str, bad: str) -> Span:
        """By any revisions of a repository. Raises GitError, one line, for what is no span."""
        first, last = git.commit(root, good, "GOOD"), git.commit(root, bad, "BAD")
        if first == last:
            raise GitError(f"GOOD and BAD are both {first[:7]}: name an older GOOD")
        between = f"{first}..{last}"
        if git.ask(root, "merge-base", "--is-ancestor", first, last) is None:
            raise GitError(_no_ancestor(root, (good, first), (bad, last)))
        listed = git.demand(root, "rev-list", "--ancestry-path", "--parents", between)
        rows = [line.split() for line in listed.splitlines()]
        own = {row[0] for row in rows}
        apart = {parent for row in rows for parent in row[1:]} - own - {first}
        hidden = int(git.demand(root, "rev-list", "--count", between)) - len(own)
        return cls(first, last, len(own), tuple(sorted(apart)), hidden)


def _no_ancestor(root: Path, good: tuple[str, str], bad: tuple[str, str]) -> str:
    """Why no commit can be found; each is (as it was named, SHA)."""
    if git.ask(root, "merge-base", "--is-ancestor", bad[1], good[1]) is not None:
        return f"BAD {bad[0]!r} is older than GOOD {good[0]!r}: name the older one first"
    common = git.ask(root, "merge-base", good[1], bad[1])
    if not common and git.is_shallow(root):
        between = f"between GOOD {good[0]!r} and BAD {bad[0]!r}"
        return f"this clone is shallow, and not all {between} is in it: {git.SHALLOW}"
    step = f"name where they part, {common[:7]}, as GOOD" if common else "name another GOOD"
    return f"GOOD {good[0]!r} is no ancestor of BAD {bad[0]!r}, as one of both has to be: {step}"


def steps(commits: int) -> int:
    """How many commits are asked about at most, if none is skipped, to find the one among so many,
    of which the last is known to be bad."""
    return math.ceil(math.log2(commits)) if commits > 1 else 0


@dataclass(frozen=True)
class Bisection:
    """A `git bisect` under way. folder: the bare repository."""

    folder: Path

    @classmethod
    def of(cls, folder: Path, root: Path, span: Span) -> Bisection:
        """The one in a folder, which begins where there is none. root: the user's repository.
        Raises GitError."""
        if folder.is_dir():
            return cls(folder)
        # Aside until it is whole: what was cut off would neither begin nor go on.
        bisection = cls(folder.with_name(f"{folder.name}~"))
        shutil.rmtree(bisection.folder, ignore_errors=True)
        bisection.folder.mkdir(parents=True)
        # Of the user's they are: any other format of names would find no object. An older git has
        # one alone, and no such option.
        kind = git.demand(root, "rev-parse", "--show-object-format")
        other = ["--object-format=sha256"] if kind == "sha256" else []
        git.demand(bisection.folder, "init", "--quiet", "--bare", "--template=", *other)
        objects, shallow = (
            (root / git.demand(root, "rev-parse", "--git-path", name)).resolve()
            for name in ("objects", "shallow")
        )
        info = bisection.folder / "objects" / "info"
        info.mkdir(exist_ok=True)
        (info / "alternates").write_text(f"{objects}\n", encoding="utf-8")
        if shallow.is_file():
            shutil.copyfile(shallow, bisection.folder / "shallow")
        bisection._ask("update-ref", "--no-deref", "HEAD", span.bad)
        bisection._bisect("start", span.bad, span.good, *span.apart)
        bisection.folder.rename(folder)
        return cls(folder)

    @property
    def found(self) -> tuple[str, ...]:
        """The SHA of the first bad commit, or of all that may be it where git had to skip some;
        empty while it still asks."""
        # With the subjects of commits, as they are.
        log = (self.folder / "BISECT_LOG").read_text(encoding="utf-8", errors="replace")
        return tuple(_FOUND.findall(log)) or ((self.bad,) if self.left == 1 else ())

    @property
    def candidate(self) -> str | None:
        """The SHA of the commit that git asks about; None once it asks no more."""
        return None if self.found else self._ask("rev-parse", "BISECT_HEAD")

    @property
    def bad(self) -> str:
        """The SHA of the oldest commit that is known to be bad."""
        return self._ask("rev-parse", "refs/bisect/bad")

    @property
    def left(self) -> int:
        """How many commits may be the one."""
        good = ("--not", "--glob=refs/bisect/good-*")
        return int(self._ask("rev-list", "--count", "refs/bisect/bad", *good))

    def mark(self, commit: str, word: str) -> None:
        """Tell git what a commit is: good, bad or skip. Raises GitError."""
        self._bisect(word, commit)

    @property
    def _is_over(self) -> bool:
        try:
            return self.left == 1
        except GitError:
            return False

    def _ask(self, *words: str) -> str:
        try:
            # By its name: the user's configuration may keep git from finding bare repositories.
            return git.demand(self.folder, "--git-dir=.", *words)
        except GitError as problem:
            step = f"remove {self.folder}, and the same command goes on"
            raise GitError(f"{problem}: {step}") from None

    def _bisect(self, *words: str) -> None:
        # Half of a mark would be neither: no signal reaches git in its session.
        try:
            with defer_signals():
                done = run_to_end(
                    git.command("--git-dir=.", "bisect", *words),
                    folder=self.folder,
                    environment=git.environment(),
                    limit_s=LIMIT_S,
                )
        except TooLongError:
            raise GitError(f"`git bisect {words[0]}` did not end within {LIMIT_S} s") from None
        # At its end git shows the commit, which fails in a clone that is partial.
        if done.returncode not in (0, _NONE_LEFT) and not self._is_over:
            raise GitError(f"`git bisect {words[0]}` failed: {git.said(done.stdout)}")


def drive(bisection: Bisection, step: Callable[[str, bool], int]) -> int | None:
    """Have git ask until it knows; returns None then, or the code of the step that stopped it.

    step: measures a commit, longer where it could not tell before, and returns an exit code. Only
    those of WORDS let it go on. What it raises goes through; the same commit is asked for again in
    the next call.
    """
    while commit := bisection.candidate:
        code = step(commit, False)
        if code == ExitCode.INCONCLUSIVE:
            code = step(commit, True)
        if code not in WORDS:
            return code
        bisection.mark(commit, WORDS[code])
    return None
