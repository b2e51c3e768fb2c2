"""index.html of a folder of runs, made anew from the files in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tollgate.base import atomic
from tollgate.pages.kit import assemble
from tollgate.pages.kit.assemble import Head, PageError, Remark
from tollgate.pages.kit.tables import Column, Table
from tollgate.pages.runs import rows, texts
from tollgate.pages.runs.changes import FEWEST, LEAST, runs_needed
from tollgate.pages.runs.model import Folder
from tollgate.pages.runs.read import VERDICT, read
from tollgate.pages.runs.trends import SHOWN, Trend, trends
from tollgate.run import manifest

NAME = "index.html"
#: How the page's title begins, by which it is known again.
_TITLE = "Tollgate runs"
#: Bytes of a page within which its title stands, behind its styles.
_HEAD = 200_000
_UNREADABLE = (Column("folder"), Column("why", "wide"))


def holds_runs(folder: Path) -> bool:
    """Whether a folder is not a run itself but has some directly below it."""
    names = (manifest.NAME, VERDICT)
    try:
        if any((folder / name).exists() for name in names):
            return False
        return any(_is_file(each / name) for each in folder.iterdir() for name in names)
    except OSError:
        return False


def _is_file(path: Path) -> bool:
    """False in a folder that can't be read, such as another user's lost+found."""
    try:
        return path.is_file()
    except OSError:
        return False


def write(folder: Path) -> Path:
    """Write the page and return its path; whole or not at all, however many runs end at once: each
    waits for the one before, and then sees its run as well.

    Raises PageError, in one line, where the folder can't be read or written, or where another page
    of that name stands there.
    """
    path = folder / NAME
    try:
        with _alone(folder):
            _check_ours(path)
            atomic.write(path, to_html(read(folder)))
    except OSError as error:
        raise PageError(f"{path} can't be written: {error.strerror}") from None
    return path


def to_html(folder: Folder) -> str:
    """The whole page. Raises PageError where an npm package is not installed."""
    found = trends(folder.runs)
    shown = found[:SHOWN]
    searched = sum(line.is_searched for trend in shown for line in trend.lines)
    return assemble.render(
        "runs/runs.html.jinja",
        _head(folder, shown),
        runs=rows.runs(folder),
        changes=rows.changes(shown),
        moved_together=rows.moved_together(shown),
        trends=rows.trend_rows(found),
        older=len(found) - len(shown),
        unreadable=Table("Can't be read", _UNREADABLE, folder.unreadable),
        others=folder.others[: rows.MOST],
        other_count=len(folder.others),
        searched=searched,
        needed=runs_needed(max(searched, 1)),
        fewest=FEWEST,
        least=LEAST,
    )


def _head(folder: Folder, shown: Sequence[Trend]) -> Head:
    newest = folder.runs[0] if folder.runs else None
    when = f", the newest of {texts.time_of(newest)} UTC" if newest and newest.started else ""
    answer = (newest.verdict if newest else None) or texts.NO_VERDICT
    return Head(
        title=_TITLE,
        kicker=f"Tollgate, all runs of this folder{when}",
        sentence=texts.summary(folder),
        answer=answer,
        tone=assemble.tone(answer),
        remarks=[Remark(texts.overview(shown))] if folder.runs else [],
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a lock on the folder itself, which needs no file and ends with the process."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def is_ours(path: Path) -> bool:
    """Whether a file is a list of runs."""
    return path.is_file() and f"<title>{_TITLE}".encode() in path.read_bytes()[:_HEAD]


def _check_ours(path: Path) -> None:
    """A run may be set to leave its files in any folder."""
    if path.exists() and not is_ours(path):
        raise PageError(f"{path} is another page; move it, or runs elsewhere")
