"""Commits of a repository, each checked out and built once, and kept for as long as it is needed.

A build lies in the cache, where a comparison's base lies as well. Once it is made it is a folder
like any other: git's entry of the check-out goes, so that nothing is left in the user's .git
however the process ends. Packages are those of the first build where a commit asks for the same
ones, never those of the working tree, in which the user may go on working.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from tollgate.base import atomic
from tollgate.base import disk as room
from tollgate.base.paths import SUITE
from tollgate.base.processes import defer_signals
from tollgate.base.text import UserError
from tollgate.targets import checkout, git, leftovers, lock, packages, pm2
from tollgate.targets.git import GitError
from tollgate.targets.packages import MachineError, PackagesError, Provision
from tollgate.targets.sides import Source

#: Behind the name of a build: written once it is whole, with what it was made by.
_MADE = ".made"
#: Characters of a SHA that name a build.
_SHA = 12


class NotBuiltError(Exception):
    """One line: why a commit can't be built."""


class Builds:
    """The builds of this suite."""

    def __init__(self, source: Source, app: pm2.App, provision: Provision, logs: Path) -> None:
        """source, app, provision: what is built. logs: where the output of what fails goes. Raises
        PlaceError."""
        self.source, self.app, self.provision, self.logs = source, app, provision, logs
        #: Where builds lie.
        self.place = checkout.provide_folder(SUITE, source.root, "builds")

    def folder(self, commit: str) -> Path:
        """Where the build of a commit lies, or would."""
        return self.place / commit[:_SHA]

    def provide(self, commit: str, like: str) -> Path:
        """The build of a commit, made if need be. like: whose packages it may share, made before.
        Raises NotBuiltError; and UserError while another run is under way, or where the commit is
        not to blame."""
        folder = self.folder(commit)
        with _no_other_run():
            if not self.has(commit):
                self._make(folder, commit, self.folder(like))
        return folder

    def _make(self, folder: Path, commit: str, like: Path) -> None:
        root = self.source.root
        self._mark(folder).unlink(missing_ok=True)
        own, roots = self.source.folder, (folder, root)
        try:
            checkout.check_out(root, commit, folder)
            packages.provide(self.provision, own, roots, self.logs, commit[:7], like)
            for path in (self.app.script, self.app.interpreter):
                inside = Path(path)
                if inside.is_relative_to(root) and not (folder / inside.relative_to(root)).exists():
                    raise PackagesError(f"{commit[:7]} has no {inside.relative_to(root)}")
            with defer_signals():
                checkout.detach(folder, root)
        except BaseException as problem:
            told = self._told(problem)  # before what fills the disk is gone
            with defer_signals():
                checkout.remove(folder, root)
            if isinstance(problem, GitError | PackagesError):
                raise told from None
            raise
        atomic.write(self._mark(folder), self._made_of())

    def _told(self, problem: BaseException) -> NotBuiltError | UserError:
        """By what is to blame: the commit, or the machine."""
        text, is_machine = str(problem), isinstance(problem, MachineError)
        if room.free(self.place) < room.LEAST:
            text, is_machine = f"{room.full(self.place)}: {text}", True
        elif isinstance(problem, GitError):
            is_machine = bool(re.search(packages.OF_MACHINE, text))
        if is_machine:
            return UserError(f"{text}; with that mended, the same command goes on")
        return NotBuiltError(text)

    def _made_of(self) -> str:
        """What else than its commit a build is of: a repository may have several apps."""
        app = self.app
        return repr((self.source.folder, app.script, app.interpreter, self.provision))

    @staticmethod
    def _mark(folder: Path) -> Path:
        return folder.with_name(f"{folder.name}{_MADE}")

    def has(self, commit: str) -> bool:
        """Whether its build is there as it was made: what an app has written since would be on one
        side alone."""
        folder = self.folder(commit)
        try:
            mark = self._mark(folder)
            if not folder.is_dir() or mark.read_text(encoding="utf-8") != self._made_of():
                return False
            made = mark.stat().st_mtime
            return all(it.lstat().st_mtime <= made for it in _files(folder))
        except OSError:
            return False

    def keep(self, commits: Collection[str]) -> None:
        """Remove all others. Raises PlaceError."""
        kept = {self.folder(it).name for it in commits}
        # Marks first: half of a build, left by a call that was ended here, is none.
        for path in sorted(self.place.iterdir(), key=Path.is_dir):
            if path.name.removesuffix(_MADE) in kept:
                continue
            if path.is_dir():
                checkout.remove(path, self.source.root)
            else:
                path.unlink()

    def clear(self) -> None:
        """Leave none. Raises PlaceError."""
        self.keep(())
        shutil.rmtree(self.place, ignore_errors=True)


def _files(folder: Path) -> Iterator[Path]:
    """All but packages."""
    for path, folders, files in os.walk(folder):
        folders[:] = [it for it in folders if it not in git.PACKAGES]
        yield from (Path(path, it) for it in files)


@contextmanager
def _no_other_run() -> Iterator[None]:
    """Keep runs out, and end what a killed one left. Raises UserError while there is one."""
    try:
        held = lock.take_lock()
    except lock.AlreadyRunning as problem:
        raise UserError(str(problem)) from None
    with held:
        for line in leftovers.clean_up():
            print(f"tollgate: {line}", file=sys.stderr, flush=True)
        yield
