"""What a bisect says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tollgate.base.exit_codes import ExitCode
from tollgate.base.text import duration_text, format_duration, printable
from tollgate.cli.bisect.asked import BESIDE_S, Asked
from tollgate.cli.bisect.comparison import Compared
from tollgate.compare.profile import words as profile
from tollgate.compare.profile.model import Why
from tollgate.targets import git
from tollgate.targets.bisection import SKIP, Span

#: How much longer a commit is measured that the first comparison does not decide.
LONGER = 2.0
INTERRUPTED = "interrupted: the same command goes on from here"
#: Candidates that are named.
NAMED = 20
#: What codes mean to a bisect; the others are called by their names.
_MEANT = {ExitCode.PASS: "PASS, good", ExitCode.FAIL: "FAIL, bad", SKIP: "skipped"}


def outset(bisect: Asked, ahead: int, goes_on: bool) -> list[str]:
    """How much is ahead, in comparisons. goes_on: where an earlier call has ended."""
    span = bisect.span
    each, longer = bisect.budget_s, LONGER * bisect.budget_s
    names = [
        f"{name} ({sha[:7]})" for name, sha in zip(bisect.names, (span.good, span.bad), strict=True)
    ]
    begin = f"it goes on: {ahead} comparisons" if goes_on else f"{ahead} comparisons, first of BAD,"
    lines = [
        f"Bisect: {span.commits} commits may be the one, from {names[0]} to {names[1]}",
        f"Bisect: {begin} at most, the last one of what is found against its parent: each of "
        f"{format_duration(each)} of measuring or less, {all_of_it(ahead, each)} in all. A commit "
        f"that is not decided is measured once more, for {format_duration(longer)}. Building comes "
        "on top, once a commit",
        "Bisect: taurus.yml, plans and data are those of the working tree; all else is each "
        "commit's, and changes that are not committed are left out",
    ]
    if span.hidden:
        lines.append(
            f"Bisect: {span.hidden} commits of branches that left before GOOD are not measured by "
            "themselves, but with the merges that brought them"
        )
    return lines


def all_of_it(ahead: int, budget_s: float) -> str:
    """How long so many comparisons take at most: `69 min`."""
    return format_duration(ahead * (budget_s + BESIDE_S))


def begins(root: Path, wanted: Compared, left: int, ahead: int, budget_s: float) -> list[str]:
    """A comparison with GOOD that begins. left: commits that may be the one. ahead: comparisons.
    budget_s: of one that is not made longer."""
    again = ", once more and longer" if wanted.budget_s > budget_s else ""
    far = f"{left} commits left, {ahead} comparisons at most, {all_of_it(ahead, budget_s)}"
    return [f"Bisect: {commit(root, wanted.head)}{again} ({far})"]


def building(root: Path, sha: str) -> list[str]:
    """A commit whose build begins, which may take minutes."""
    return [f"Bisect: building {commit(root, sha)}"]


def apart(root: Path, compared: Compared) -> list[str]:
    """What is found can't be held against its parent."""
    of = f"{commit(root, compared.head)}: its parent {compared.base[:7]}"
    return [f"Bisect: {of} can't be compared with it: {compared.said.message}"]


def ended(root: Path, compared: Compared) -> list[str]:
    """One that has ended, or is known."""
    took = f"{meant(compared)} after {duration_text(compared.took_s)}"
    return [f"Bisect: {commit(root, compared.head)}: {took}: {compared.said.message}"]


def stopped(compared: Compared) -> list[str]:
    """Why a bisect ends before its end."""
    if compared.said.code == ExitCode.INCONCLUSIVE:
        why = "no difference between GOOD and BAD was found or ruled out"
        return [f"Bisect: {why}: raise modules.compare.budget"]
    where = f" ({compared.run})" if compared.run else ""
    if compared.said.code == SKIP:  # no other commit stops it by that
        step = "name another BAD, or mend what the line above says"
        return [f"Bisect: BAD can't be compared with GOOD{where}: {step}"]
    why = f"{compared.head[:7]} has no verdict{where}"
    return [f"Bisect: it stops, for {why}; the same command goes on"]


def table(root: Path, span: Span, compared: Iterable[Compared]) -> list[str]:
    """What was held against GOOD, the newest commit first."""
    by_head = {it.head: it for it in compared if it.base == span.good}
    order = git.demand(root, "rev-list", "--topo-order", f"{span.good}..{span.bad}").split()
    rows = [by_head[sha] for sha in order if sha in by_head]
    width = max((len(meant(it)) for it in rows), default=0)
    return [
        "",
        f"Against {commit(root, span.good)}, the newest first:",
        *(f"  {meant(it):<{width}}  {commit(root, it.head)}: {it.said.message}" for it in rows),
        "",
    ]


def result(root: Path, commits: Sequence[str], last: Compared, why: Why | None) -> list[str]:
    """The commit, what it changed, and why. last: the comparison that says so."""
    lines = [f"{commit(root, commits[0], long=True)} is the first bad commit"]
    if len(commits) > 1:
        more = [f"  and {len(commits) - NAMED} more"] if len(commits) > NAMED else []
        lines = ["The first bad commit is one of these; git had to skip some:"]
        lines += [*(f"  {commit(root, it)}" for it in commits[:NAMED]), *more]
    lines.append(f"{last.head[:7]} against {last.base[:7]}: {meant(last)}: {last.said.message}")
    if last.said.code in (ExitCode.PASS, ExitCode.INCONCLUSIVE) and len(commits) == 1:
        lines.append(
            "By itself it is not known to be slower than its parent: several commits may have "
            "brought the rise together, and with this one it passes the limit"
        )
    if why:
        lines += [profile.sentence(why), *(f"  {name}: {cpu}" for name, cpu in profile.named(why))]
    return [*lines, f"All of it: {last.run or 'none'}"]


def meant(compared: Compared) -> str:
    """`FAIL, bad`."""
    code = compared.said.code
    return _MEANT.get(code) or (ExitCode(code).name if code in [*ExitCode] else "ended")


def commit(root: Path, sha: str, long: bool = False) -> str:
    """`1a2b3c4 Sort tickets by price`; long: with author and date."""
    form = "%h %s (%an, %as)" if long else "%h %s"
    return printable(git.demand(root, "show", "--no-patch", f"--format={form}", sha))
