"""index.html of a folder of runs, made anew from the files in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tollgate.base import atomic
from tollgate.history.listed import VERDICT, Folder, read
from tollgate.history.series import LEAST
from tollgate.history.trends import SHOWN, Line, Trend, trends
from tollgate.record import manifest
from tollgate.report.pages.kit.assemble import Head, PageError, Remark, render
from tollgate.report.pages.runs import charts, texts
from tollgate.report.table import Column, Table
from tollgate.stats.steps import Step

NAME = "index.html"
#: How the page's title begins, by which it is known again.
_TITLE = "Tollgate runs"
#: Bytes of a page within which its title stands, behind its styles.
_HEAD = 200_000
#: Rows that stand open; the others are to be unfolded.
_OPEN = 25
#: Rows of the page at all: a browser shows so many at once without a pause.
MOST = 1_000
#: Kinds that runs.css has a rule for. Further ones can't be chosen.
_KINDS = 8
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
            if path.exists() and not is_ours(path):  # a run may leave its files in any folder
                raise PageError(f"{path} is another page; move it, or runs elsewhere")
            atomic.write(path, to_html(read(folder)))
    except OSError as error:
        raise PageError(f"{path} can't be written: {error.strerror}") from None
    return path


def to_html(folder: Folder) -> str:
    """The whole page. Raises PageError where an npm package is not installed."""
    every = trends(folder.runs)
    shown = every[:SHOWN]
    runs = folder.runs[:MOST]
    kinds = dict.fromkeys(run.kind for run in runs)
    places = {kind: f"kind-{at}" for at, kind in enumerate(kinds)}
    choices = [(place, kind) for kind, place in places.items()]
    return render(
        "runs/runs.html.jinja",
        _head(folder, shown),
        texts=texts,
        sparkline_of=charts.sparkline,
        newest=runs[:_OPEN],
        earlier=runs[_OPEN:],
        unlisted=len(folder.runs) - len(runs),
        places=places,
        choices=[("kind-all", "all kinds"), *choices[:_KINDS]] if len(kinds) > 1 else (),
        steps=_steps(shown),
        every=every,
        trends=list(zip(shown, charts.of_all(shown), strict=True)),
        unreadable=Table("Can't be read", _UNREADABLE, folder.unreadable),
        others=folder.others[:MOST],
        other_count=len(folder.others),
        least=LEAST,
    )


def _steps(shown: Sequence[Trend]) -> list[tuple[Trend, Line, Step]]:
    """Every step of every trend, the newest first."""
    lines = [(trend, line) for trend in shown for line in trend.lines]
    steps = [(trend, line, step) for trend, line in lines for step in line.series.steps]

    def when_and_what(step: tuple[Trend, Line, Step]) -> tuple[str, str]:
        return texts.time_of(texts.first(*step)), step[1].name

    return sorted(steps, key=when_and_what, reverse=True)


def _head(folder: Folder, shown: Sequence[Trend]) -> Head:
    newest = folder.runs[0] if folder.runs else None
    when = f", the newest of {texts.time_of(newest)} UTC" if newest and newest.started else ""
    answer = (newest.verdict if newest else None) or texts.NO_VERDICT
    remarks = [Remark(texts.overview(shown))] if folder.runs else []
    kicker = f"Tollgate, all runs of this folder{when}"
    return Head(_TITLE, kicker, texts.summary(folder), answer, remarks)


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
