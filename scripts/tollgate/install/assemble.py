"""Assembles the tools that are missing: `python -m tollgate.install.assemble`.

Standard library alone, because scripts/bootstrap calls this while pip still installs the rest. What
is assembled grows beside its place and is moved there when it is whole. One start at a time does
so, and others wait for it. Its child processes hold the lock too: where a start is killed and they
go on, the next one waits for them instead of working in the same folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tollgate.base import paths
from tollgate.base.installers import reason
from tollgate.base.processes import spawn
from tollgate.base.text import UserError
from tollgate.install import archive, tools

#: Each fills the folder in which it is called; this with what it finds in the folder named last.
NPM = 'cp "$0"/*.json . && exec npm ci --ignore-scripts --no-audit --no-fund --loglevel=error'
PM2 = ("/bin/sh", "-c", NPM, str(tools.NODE))
BY_MAVEN = ("/bin/sh", str(tools.JMETER / "lay-out"))
BY_ARCHIVE = (sys.executable, "-m", "tollgate.install.archive")


class InstallError(UserError):
    """One line: what can't be installed, why, and what to do."""


def provide(source: str | None = None, *, may_fetch: bool = True) -> None:
    """Assemble JMeter and the Node packages where they are missing; check a JMETER_HOME of the
    user's own. Says on standard error what it does. Raises InstallError.

    source: of the archive of JMeter, a file, a folder or a URL. Without one, JMeter is taken from
    the release if it `may_fetch` that and there is one, and made by Maven otherwise.
    """
    if source == "":  # of a variable that is not set: no reason to take JMeter from elsewhere
        raise InstallError("--from names nothing: name a file, a folder or a URL, or leave it out")
    own = os.environ.get("JMETER_HOME")
    if own:
        _check(Path(own))
    if source and tools.JMETER not in _missing(own):
        _say(f"JMeter is in {tools.jmeter_home()} already: {archive.shown(source)} is not read")
    if not _missing(own):
        return
    commands = {tools.NODE: PM2, tools.JMETER: _jmeter(source, may_fetch)}
    try:
        place = paths.cache() / "tools"
        place.mkdir(parents=True, exist_ok=True)
        with _lock(place / "lock") as lock:
            # Again: another start may have done it.
            _assemble({place: commands[it] for it, place in _missing(own).items()}, lock)
    except OSError as problem:
        raise InstallError(
            f"{paths.cache()} can't be written: {problem.strerror}; set TOLLGATE_HOME"
        ) from None


def _missing(own_jmeter: str | None) -> dict[Path, Path]:
    """The place of each tool that is missing, by its sources."""
    places = {tools.NODE: tools.node_folder()}
    if not own_jmeter:
        places[tools.JMETER] = tools.assembled_jmeter()
    return {sources: place for sources, place in places.items() if not place.exists()}


def _jmeter(source: str | None, may_fetch: bool) -> Sequence[str]:
    """The command that makes JMeter."""
    if source:
        return *BY_ARCHIVE, source if archive.is_url(source) else str(Path(source).absolute())
    if may_fetch and (url := archive.released()):
        return *BY_ARCHIVE, url, "or-by-maven"
    return BY_MAVEN


def _check(home: Path) -> None:
    """Refuse a JMeter of the user's own that plans do not run on; say which plugins it lacks."""
    command = ["/bin/sh", str(tools.JMETER_CHECK), str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InstallError(done.stderr.strip())
    sys.stderr.write(done.stdout)


@contextlib.contextmanager
def _lock(file: Path) -> Iterator[int]:
    with file.open("w") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("another start installs the tools; waiting for it")
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield opened.fileno()


def _assemble(commands: dict[Path, Sequence[str]], lock: int) -> None:
    """All at once, for they wait for the network most of the time. commands: by what they make."""
    if not commands:
        return
    _check_prerequisites(by_maven=BY_MAVEN in commands.values())
    running = {}
    try:
        for place, command in commands.items():
            source = f" from {archive.shown(command[3])}" if command[:3] == BY_ARCHIVE else ""
            _say(f"installing {place.name} in {place.parent}{source}")
            running[place] = _begin(command, place, lock)
        for place, process in running.items():
            log = _beside(place, "log")
            if process.wait():
                raise InstallError(f"{place.name} can't be installed: {_reason(log)}; see {log}")
            _beside(place, "growing").rename(place)
            log.unlink()
    finally:
        for process in running.values():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # npm takes others as a wish
            process.wait()


def _begin(command: Sequence[str], place: Path, lock: int) -> subprocess.Popen[Any]:
    growing = _beside(place, "growing")
    shutil.rmtree(growing, ignore_errors=True)
    growing.mkdir()
    with _beside(place, "log").open("w") as log:
        # An archive's is no tool's of others: what it says there, the user is to see.
        stderr = None if command[:3] == BY_ARCHIVE else subprocess.STDOUT
        return spawn(command, growing, None, log, stderr=stderr, pass_fds=[lock])


def _beside(place: Path, ending: str) -> Path:
    return place.with_name(f"{place.name}.{ending}")


def _reason(log: Path) -> str:
    """The first line that names an error of Maven's or of ours, else npm's reason."""
    text = log.read_text(errors="replace")
    lines = [it.strip() for it in text.splitlines() if not it.startswith("npm ")]
    errors = [it for it in lines if "ERR" in it or it.startswith(("lay-out: ", "archive: "))]
    return errors[0].removeprefix("archive: ") if errors else reason(text)


def _check_prerequisites(*, by_maven: bool) -> None:
    without = "" if by_maven else "without_maven=yes; "
    done = tools.prerequisites(f'python="{sys.executable}"; {without}check_prerequisites')
    if done.returncode:
        raise InstallError(done.stderr.strip())


def _say(line: str) -> None:
    print(f"tollgate: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        provide(may_fetch=False)  # a clone is for those who have Maven
    except InstallError as problem:
        sys.exit(f"tollgate: {problem}")
