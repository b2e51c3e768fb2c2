"""From GOOD and BAD to the commit: what is measured, in which order, and what is known of it."""

from __future__ import annotations

import contextlib
import math
import shutil
import time
from collections.abc import Iterable
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from tollgate.base import records
from tollgate.base.exit_codes import ExitCode
from tollgate.base.text import UserError
from tollgate.cli.artifacts import stamp
from tollgate.cli.bisect import comparison, words
from tollgate.cli.bisect.asked import Asked
from tollgate.cli.bisect.comparison import VERDICTS, Compared, Focus, Runs, Said
from tollgate.compare.profile.model import read_why
from tollgate.stats.sequential import LEAST_STEP
from tollgate.targets import bisection, git
from tollgate.targets.bisection import SKIP, Bisection
from tollgate.targets.builds import Builds, NotBuiltError
from tollgate.targets.git import Revisions
from tollgate.targets.sides import VARIABLE, BuiltSides


@records.stored
class Known:
    """state.json: what BAD failed by, and what has been compared."""

    focus: Focus = field(default_factory=Focus)
    compared: tuple[Compared, ...] = ()


class Search:
    """A bisect. It keeps what it knows after each comparison."""

    def __init__(self, asked: Asked, runs: Runs) -> None:
        """It goes on where an earlier call with the same question has ended."""
        self.asked, self.runs = asked, runs
        self.root, self.span = asked.source.root, asked.span
        asked.state.mkdir(parents=True, exist_ok=True)
        asked.runs.mkdir(parents=True, exist_ok=True)  # logs outlive the state
        self.builds = Builds(asked.source, asked.app, asked.provision, asked.runs)
        self.bisection = Bisection.of(asked.state / "git", self.root, self.span)
        self.known = Known()
        if self._file.is_file():
            again = f"remove {asked.state} to begin anew"
            self.known = records.read(self._file, Known, UserError, "bisect", again)

    @property
    def _file(self) -> Path:
        return self.asked.state / "state.json"

    def run(self) -> int:
        """From the first word to the last; returns an exit code. Raises KeyboardInterrupt."""
        is_bad = any(it.head == self.span.bad for it in self.known.compared)
        _say(words.outset(self.asked, self._ahead(0 if is_bad else 1), is_bad))
        self._build(self.span.good)
        code: int | None = self._look_at_bad()
        if code == ExitCode.FAIL:
            code = bisection.drive(self.bisection, self._step)
        if code is None:
            return self._conclude()
        _say(words.stopped(self.last))
        return code if code in [*ExitCode] else ExitCode.ERROR

    def _look_at_bad(self) -> int:
        """What BAD comes to. What it fails by is what is looked for from then on."""
        code = self._step(self.span.bad, False)
        if code == ExitCode.INCONCLUSIVE:
            code = self._step(self.span.bad, True)
        if code in (ExitCode.PASS, ExitCode.INCONCLUSIVE):
            self._forget()  # another call has other settings, or starts anew
        if code == ExitCode.PASS:
            raise UserError(f"BAD is no slower than GOOD: {self.last.said.message}")
        if code == ExitCode.FAIL and not self.known.focus.metrics:
            self._keep(focus=Focus.of(self.last.said.failed))
        return code

    def _step(self, commit: str, longer: bool) -> int:
        """Hold a commit against GOOD, and tell what came of it."""
        budget_s = self.asked.budget_s * (words.LONGER if longer else 1)
        wanted = Compared(self.span.good, commit, budget_s, False)
        if not self._known(wanted):
            left, ahead = self.bisection.left, self._ahead(int(commit == self.span.bad))
            _say(words.begins(self.root, wanted, left, ahead, self.asked.budget_s))
        self.last = self._compared(wanted)
        _say(words.ended(self.root, self.last))
        good = [it.head for it in self.known.compared if it.said.code == ExitCode.PASS]
        bad, candidate = self.bisection.bad, self.bisection.candidate
        self.builds.keep({self.span.good, bad, candidate or bad, *good[-1:]})
        return self.last.said.code

    def _ahead(self, more: int = 0) -> int:
        """How many comparisons are to come, the last one among them."""
        steps = 0 if self.bisection.found else bisection.steps(self.bisection.left)
        return more + steps + 1

    def _conclude(self) -> int:
        """Hold what was found against its parent, with a profile, and tell all of it."""
        first_bad, bad, good = self.bisection.found, self.bisection.bad, self.span.good
        base = self._parent(bad) if len(first_bad) == 1 else good
        against_parent = Compared(base, bad, self.asked.budget_s, True)
        self.last = self._compared(against_parent)
        if self.last.said.code == SKIP and base != good:
            _say(words.apart(self.root, self.last))
            self.last = self._compared(replace(against_parent, base=good))
        _say(words.table(self.root, self.span, self.known.compared))
        why = read_why(Path(self.last.run)) if self.last.run else None
        _say(words.result(self.root, first_bad, self.last, why))
        code = self.last.said.code
        if code not in VERDICTS:
            return code if code in [*ExitCode] else ExitCode.ERROR
        self._forget()
        is_sure = len(first_bad) == 1 and code == ExitCode.FAIL and self.last.base == base
        return ExitCode.PASS if is_sure else ExitCode.INCONCLUSIVE

    def _parent(self, commit: str) -> str:
        """The first of its parents that has what GOOD has."""
        parents = git.demand(self.root, "rev-parse", f"{commit}^@").split()
        older = ("merge-base", "--is-ancestor", self.span.good)
        return next(it for it in parents if git.ask(self.root, *older, it) is not None)

    def _known(self, wanted: Compared) -> Compared | None:
        return next((it for it in self.known.compared if it.is_like(wanted)), None)

    def _compared(self, planned: Compared) -> Compared:
        """That comparison, made unless it is known. What says nothing of head is not kept. Raises
        KeyboardInterrupt."""
        if earlier := self._known(planned):
            return earlier
        if self.runs.interrupted:
            raise KeyboardInterrupt
        began = time.monotonic()
        self._build(self.span.good)  # its failure says nothing of head
        try:
            sides = self._built(planned.base, planned.head)
        except NotBuiltError as problem:
            compared = replace(planned, said=Said(SKIP, str(problem)))
        else:
            compared = self._measured(planned, sides)
        compared = replace(compared, took_s=time.monotonic() - began)
        # What keeps BAD, or what was measured before, from being measured may be mended.
        is_known = planned.is_profiled or compared.head == self.span.bad
        if compared.said.code in (VERDICTS if is_known else (*VERDICTS, SKIP)):
            self._keep(compared=(*self.known.compared, compared))
        return compared

    def _build(self, commit: str) -> Path:
        """The folder of a commit's build. Raises NotBuiltError and UserError."""
        if not self.builds.has(commit):
            _say(words.building(self.root, commit))
        return self.builds.provide(commit, self.span.good)

    def _built(self, base: str, head: str) -> BuiltSides:
        good, bad = self.span.good, self.span.bad
        folders = {it: self._build(it) for it in (good, base, head)}
        names = dict(zip((good, bad), self.asked.names, strict=True))
        base_is, head_is = (names.get(it, "bisect") for it in (base, head))
        found = Revisions(base, base_is, head, head_is=head_is)
        return BuiltSides(found, (folders[base], folders[head]), folders[good])

    def _measured(self, wanted: Compared, sides: BuiltSides) -> Compared:
        number = len(self.known.compared) + 1
        folder = self.asked.runs / f"{stamp(time.time())}-bisect-{number}-{wanted.head[:7]}"
        own, least_s = self.asked.setup.settings, math.ceil(LEAST_STEP * wanted.budget_s)
        settings = (
            f"modules.compare.budget={wanted.budget_s:.0f}",
            f"modules.compare.first={max(own.first, least_s):g}",
            f"modules.compare.every={max(own.every, least_s):g}",
            f"modules.compare.profile={str(wanted.is_profiled).lower()}",
            *self.known.focus.error_effect(self.asked.setup.gate.error_effect),
        )
        given = [*self.asked.words, *(word for it in settings for word in ("-o", it))]
        variables = {VARIABLE: sides.text}
        said = comparison.compare(self.runs, given, variables, folder, self.known.focus)
        return replace(wanted, run=str(folder), said=said)

    def _keep(self, **more: Any) -> None:
        self.known = replace(self.known, **more)
        records.write(self._file, self.known)

    def _forget(self) -> None:
        self.builds.clear()
        # Aside first: half of it would neither begin anew nor go on.
        gone = self.asked.state.with_name(f"{self.asked.state.name}~")
        shutil.rmtree(gone, ignore_errors=True)
        self.asked.state.rename(gone)
        shutil.rmtree(gone)
        with contextlib.suppress(OSError):
            self.asked.state.parent.rmdir()


def _say(lines: Iterable[str]) -> None:
    print("\n".join(lines), flush=True)
