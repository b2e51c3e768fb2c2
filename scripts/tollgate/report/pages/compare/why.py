"""Why head is slower, in index.html: the differential flame graph and its table. Pure but for the
reading of why.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tollgate.compare.profile import words
from tollgate.compare.profile.model import Flame, Why, read_why
from tollgate.compare.profile.read import FOLDER
from tollgate.report.table import Column, Table, numeric

#: Of the graph, in pixels: its width, a frame's height, a letter, and the room before the first.
WIDTH, HEIGHT, LETTER, PAD = 1000, 18, 6.7, 4
#: Functions in the table, unless more have changed.
_ROWS = 12
_TONES = {"more": "bad", "less": "good", "same": "rule"}


@dataclass(frozen=True)
class Box:
    """A frame. text: as much of its name as fits. title: what pointing at it shows."""

    x: float
    y: int
    width: float
    tone: str
    text: str
    title: str


@dataclass(frozen=True)
class WhyPart:
    """sentence: what it comes to. about: how it was found. table: None without a profile. boxes: of
    the graph, which is so many pixels high."""

    sentence: str
    about: Sequence[str]
    table: Table | None
    boxes: Sequence[Box]
    height: int


def why_part(run: Path) -> WhyPart | None:
    """Of a run's folder; None where nothing was profiled. Raises ManifestError."""
    why = read_why(run)
    if why is None:
        return None
    about = [*words.about(why)]
    if not why.problem:
        about.append(f"{FOLDER}/ holds the .cpuprofile files, which Chrome's DevTools open.")
    whole = (why.flame[0].width_us if why.flame else 0.0) or 1.0  # a side may have computed nothing
    boxes = [_box(each, WIDTH / whole) for each in why.flame]
    height = HEIGHT * (1 + max((each.depth for each in why.flame), default=-1))
    return WhyPart(words.sentence(why), about, _table(why) if why.cpu else None, boxes, height)


def _box(frame: Flame, pixels: float) -> Box:
    x, width = frame.from_us * pixels, frame.width_us * pixels
    letters = int((width - 2 * PAD) / LETTER)
    name = frame.name
    text = name if len(name) <= letters else f"{name[: letters - 1]}\u2026" if letters > 2 else ""
    title = (
        f"{name}{f' ({frame.place})' if frame.place else ''}: with all that it calls "
        f"{words.ms(frame.base_us)} in base, {words.ms(frame.head_us)} in head"
    )
    y = frame.depth * HEIGHT
    return Box(round(x, 1), y, round(width, 1), _TONES[frame.moved], text, title)


def _table(why: Why) -> Table:
    shown = max(_ROWS, sum(it.moved != "same" for it in why.functions))
    rows = [
        (
            it.name,
            it.place or "in V8 or native code",
            words.ms(it.own.base_us),
            words.ms(it.own.head_us),
            words.change(it.own) if it.moved != "same" else f"{words.change(it.own)}, noise",
            f"{words.signed(it.own.low_us)}, {words.signed(it.own.high_us)}",
        )
        for it in why.functions[:shown]
    ]
    columns = (
        *(Column("function"), Column("file:line")),
        *numeric("base", "head", "change", "at least, at most"),
    )
    caption = "CPU of the function itself per answered request"
    return Table(caption, columns, rows, "cards")
