"""JMeter with its plugins as one file, which scripts/dev/jmeter-archive makes and a release has.

`python -m tollgate.install.archive SOURCE [or-by-maven]` fills the folder in which it is called,
from a file, from a folder that holds the archive by its name, or from a URL of either. Whoever can
change an archive can change a checksum beside it: the one that decides stands in this package. With
`or-by-maven`, Maven makes JMeter where SOURCE does not answer; an archive of another checksum is
refused in any case.

Standard library alone, as assemble.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from tollgate.base.text import one_line
from tollgate.install import tools

#: Of an archive, and of all that is unpacked from it: bytes. It has less than half of that.
LIMIT = 200_000_000
#: Seconds without a byte, and for all of them.
SILENCE_S, DOWNLOAD_S = 30, 1200
#: Where a release of this version has its files, below the repository that the package names.
RELEASE = "{repository}/releases/download/v{version}/{name}"
BLOCK = 1 << 16


class ArchiveError(Exception):
    """One line: which archive can't be taken, why, and what to do."""


class UnreachableError(ArchiveError):
    """One line: a source that gives no archive."""


def name() -> str:
    """Of the archive that this version takes. Not compressed: its jars are, and what compressors
    write differs by their version."""
    return f"{tools.jmeter_name()}.tar"


def pinned() -> str | None:
    """The SHA-256 of that archive; None while JMeter is made from something else than what the
    package has a checksum of."""
    checksum, _, file = tools.JMETER_ARCHIVE.read_text(encoding="utf-8").strip().partition("  ")
    return checksum if file == name() else None


def repository() -> str:
    """The URL of the repository that releases this package; empty where the package, which may not
    be installed, names none."""
    try:
        package = metadata.metadata("tollgate")
    except metadata.PackageNotFoundError:
        return ""
    pairs = (text.partition(", ") for text in package.get_all("Project-URL") or ())
    urls = {label.lower(): url for label, _, url in pairs}
    url = urls.get("repository", "").rstrip("/")
    return "" if "/OWNER/" in url else url  # OWNER: nobody has a name yet


def released() -> str | None:
    """The URL of the archive in the release of this version; None where the package names no
    repository, or has no checksum of it."""
    url = repository()
    if not url or not pinned():
        return None
    return RELEASE.format(repository=url, version=metadata.version("tollgate"), name=name())


def take(source: str, folder: Path) -> None:
    """Unpack the archive of this source into an empty folder. Raises ArchiveError, and then there
    may be a part of it; UnreachableError where there is none to unpack."""
    expected = pinned()
    if not expected:
        raise ArchiveError(
            f"no checksum of {name()} is known: leave --from out, and Maven makes it"
        )
    if is_url(source) and "@" in source.split("/")[2]:
        raise ArchiveError("the URL holds a user's name or password: fetch the file, and name that")
    if source.endswith("/") or Path(source).is_dir():
        source = f"{source.rstrip('/')}/{name()}"
    digest = hashlib.sha256()
    try:
        with tempfile.TemporaryFile(dir=folder) as copy:
            for block in _blocks(source):
                digest.update(block)
                copy.write(block)
            if digest.hexdigest() != expected:
                raise ArchiveError(
                    f"{shown(source)} has the SHA-256 {digest.hexdigest()}, and {name()} of this "
                    f"version has {expected}: nothing of it is installed; take the file from the "
                    "release again"
                )
            copy.seek(0)
            unpack(copy, folder)
    except OSError as problem:  # of no source, and Maven would find the same disk full
        why = f"{name()} can't be kept in {folder}: {_in_words(problem)}"
        raise ArchiveError(f"{why}; make room, or set TOLLGATE_HOME") from None


def is_url(source: str) -> bool:
    """Whether it is none of a file."""
    return source.startswith(("http://", "https://"))


def shown(source: str) -> str:
    """The source without what may be secret in a URL."""
    if not is_url(source):
        return source
    with contextlib.suppress(ValueError):
        parts = urlsplit(source)
        host = parts.netloc.rpartition("@")[2]
        return parts._replace(netloc=host, query="", fragment="").geturl()
    return "the URL"


def _blocks(source: str) -> Iterator[bytes]:
    size, until = 0, time.monotonic() + DOWNLOAD_S
    try:
        with _opened(source) as (read, length):
            while block := read(BLOCK):
                size += len(block)
                if size > LIMIT:
                    raise ArchiveError(
                        f"{shown(source)} has more than {LIMIT} bytes, and is not {name()}: "
                        "take the file from the release"
                    )
                if time.monotonic() > until:
                    raise UnreachableError(f"{shown(source)} took longer than {DOWNLOAD_S} s")
                yield block
    except (OSError, HTTPException, ValueError) as problem:
        raise UnreachableError(f"{shown(source)} can't be read: {_in_words(problem)}") from None
    if length not in (None, size):
        raise UnreachableError(f"{shown(source)} ended after {size} of {length} bytes")


@contextlib.contextmanager
def _opened(source: str) -> Iterator[tuple[Callable[[int], bytes], int | None]]:
    """What reads at most so many bytes and waits for the first alone, and how many there are."""
    if is_url(source):
        with urlopen(source, timeout=SILENCE_S) as answer:  # noqa: S310 - by HTTP
            yield answer.read1, getattr(answer, "length", None)  # none after a redirect to FTP
        return
    if not Path(source).is_file():
        raise UnreachableError(f"{source} is no file")
    with Path(source).open("rb") as file:
        yield file.read, None


def _in_words(problem: BaseException | str) -> str:
    if isinstance(problem, HTTPError):
        return one_line(f"{problem.code} {problem.reason}")
    if isinstance(problem, URLError):
        return _in_words(problem.reason)
    text = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
    return one_line(text)


def unpack(archive: IO[bytes], folder: Path) -> None:
    """Files and folders alone, and none outside of this one. Raises ArchiveError."""
    left = LIMIT
    try:
        with tarfile.open(fileobj=archive, mode="r:") as opened:
            for member in opened:
                path = PurePosixPath(member.name)
                is_below = not path.is_absolute() and ".." not in path.parts
                if not is_below or not (member.isreg() or member.isdir()):
                    raise ArchiveError(f"{member.name!r} of {name()} is no file or folder below it")
                left -= member.size
                if left < 0:
                    raise ArchiveError(f"{name()} holds more than {LIMIT} bytes")
                _put(opened, member, folder / path)
    except (tarfile.TarError, OSError, ValueError) as problem:
        raise ArchiveError(f"{name()} can't be unpacked: {_in_words(problem)}") from None


def _put(opened: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    (place if member.isdir() else place.parent).mkdir(parents=True, exist_ok=True)
    if content := opened.extractfile(member):
        with place.open("xb") as file:
            shutil.copyfileobj(content, file)
        place.chmod(0o755 if member.mode & 0o100 else 0o644)


def main(source: str, or_by_maven: str = "") -> None:
    """See the module. Raises ArchiveError."""
    try:
        take(source, Path.cwd())
    except UnreachableError as problem:
        step = "name the file of the release: tollgate install --from FILE"
        if not or_by_maven:
            raise ArchiveError(f"{problem}; {step}") from None
        lacking = tools.prerequisites("check_one about_maven").stdout
        if lacking:
            raise ArchiveError(
                f"{problem}, and there is no Maven to make it by ({lacking.strip()}); {step}"
            ) from None
        print(f"tollgate: {problem}; Maven makes JMeter instead", file=sys.stderr, flush=True)
        os.dup2(1, 2)  # what follows belongs into the log
        os.execv("/bin/sh", ["/bin/sh", str(tools.JMETER / "lay-out")])  # noqa: S606


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except ArchiveError as problem:
        print(f"archive: {problem}", flush=True)
        sys.exit(1)
