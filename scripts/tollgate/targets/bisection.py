"""Which commit of a span is measured next, as `git bisect` chooses it: nothing of the user's is
touched.

git finds the commit that halves what is left (git-rev-list, --bisect-vars). What is known of
commits stands in a file of ours, so that branches, index and files stay as they are, and so does a
bisect of the user's own. It stays there until it is removed, however the process ends.

Commits of branches that left before GOOD lack what GOOD has. Held against GOOD, they would differ
by that. They are taken for good, and so they are measured with the merge that brought them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tollgate.base import atomic
from tollgate.base.exit_codes import ExitCode
from tollgate.targets import git
from tollgate.targets.git import GitError

#: Exit code of a step whose commit decides nothing, as for `git bisect run`.
SKIP = 125
#: How a bisect calls what a step came to.
WORDS = {
    ExitCode.PASS: "good",
    ExitCode.FAIL: "bad",
    ExitCode.INCONCLUSIVE: "skip",
    SKIP: "skip",
}


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
    """One that is under way, in the user's repository. file: what is known so far, by SHA in the
    order in which it was found."""

    file: Path
    root: Path
    span: Span

    @property
    def _marks(self) -> dict[str, str]:
        try:
            marks: dict[str, str] = json.loads(self.file.read_text(encoding="utf-8"))
            return marks
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as problem:
            step = f"remove {self.file}, and the same command goes on"
            raise GitError(f"{self.file} can't be read: {problem}: {step}") from None

    def mark(self, commit: str, word: str) -> None:
        """Keep what a commit is: good, bad or skip."""
        atomic.write(self.file, json.dumps({**self._marks, commit: word}))

    def _marked(self, word: str) -> list[str]:
        return [commit for commit, it in self._marks.items() if it == word]

    @property
    def bad(self) -> str:
        """The SHA of the oldest commit that is known to be bad."""
        return [self.span.bad, *self._marked("bad")][-1]

    def _list(self, *options: str) -> list[str]:
        """Of the commits that may be the one, what git says by these options, a line each."""
        good = (self.span.good, *self.span.apart, *self._marked("good"))
        return git.demand(self.root, "rev-list", *options, self.bad, "--not", *good).splitlines()

    @property
    def left(self) -> int:
        """How many commits may be the one."""
        return len(self._list())

    @property
    def candidate(self) -> str | None:
        """The SHA of the commit that is to be measured; None once there is none."""
        skipped = self._marked("skip")
        # Not by --bisect, which looks for a bisect of the user's own as well.
        listed = self._list("--bisect-all" if skipped else "--bisect-vars")
        commits = re.findall("[0-9a-f]{40,}", "\n".join(listed))
        return next((it for it in commits if it not in (self.bad, *skipped)), None)

    @property
    def found(self) -> tuple[str, ...]:
        """The SHA of the first bad commit, or of all that may be it where some had to be skipped;
        empty while one is still to be measured."""
        return () if self.candidate else tuple(self._list())


def drive(bisection: Bisection, step: Callable[[str, bool], int]) -> int | None:
    """Have commits measured until the one is known; returns None then, or the code of the step that
    stopped it.

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
