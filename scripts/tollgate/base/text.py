"""Text for people: numbers, durations, Markdown that is no markup, errors of a file. Pure."""

from __future__ import annotations

import difflib
import html
import json
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count, islice

# Whatever begins markup in CommonMark or in GitHub's dialect of it; a line that begins with a slash
# is a command to GitLab.
_SPECIAL = re.compile(r"([\\`*_<>|\[\]&~$#]|^/)")
# Whom a comment would notify, and what it would be linked to: mentions, e-mail addresses, issues,
# URLs. They are looked for in the text that comes of the Markdown, where no escape is left; an
# invisible character keeps them apart.
_REFERENCE = re.compile(r"@|[#!](?=\d)|GH-(?=\d)|:(?=//)|www(?=\.)", re.I)
_APART = "&#8203;"
#: Names of which one may be meant that a message lists.
_NAMED = 50
# A commit, which can still be copied from code.
_COMMIT = re.compile(r"[0-9a-f]{7,}", re.I)
# Inside <code> Markdown goes on working; &, < and > are entities by then.
_IN_CODE = re.compile(r"[\\`*_|\[\]~$#]")


def format_number(value: float, against: float | None = None) -> str:
    """A number in three or so digits, and in up to eight decimals where fewer would round it onto
    the limit it is compared with."""
    if not math.isfinite(value):
        return "inf" if value > 0 else "none"
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    while digits < 9:
        text = f"{value:.{digits}f}"
        if against is None or value == against or float(text) != against:
            break
        digits += 1
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_interval(low: float, high: float, against: float | None = None) -> str:
    """`219-244`, or `-3 to 2` where a minus could be read as a dash."""
    ends = [format_number(end, against) for end in (low, high)]
    return (" to " if low < 0 else "-").join(ends)


def duration(seconds: float) -> tuple[float, str]:
    """(length in seconds, name) of the unit in which a person reads such a time."""
    for length, name, upto in ((1.0, "s", 120.0), (60.0, "min", 7200.0), (3600.0, "h", 172800.0)):
        if seconds < upto:
            return length, name
    return 86400.0, "days"


def short(value: float) -> str:
    """A number with two digits at most."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def format_duration(seconds: float) -> str:
    """A time as a person would say it: `34 s`, `12.5 min`, `24 h`."""
    unit_s, unit = duration(seconds)
    return f"{format_number(seconds / unit_s)} {unit}"


def duration_text(seconds: float) -> str:
    """`24 h 0 min`, `1 min 10 s`, `8 s`, `2.5 s`: rounded to the smaller of the two units."""
    if seconds < 10:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like this one, in either case; None if none is."""
    by_lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), by_lower, 1)
    return by_lower[near[0]] if near else None


def printable(text: str) -> str:
    """The text with its line breaks. Other space becomes a space, and what no terminal shows
    (control characters, so that a label can't move the cursor or turn a line round; halves of
    surrogate pairs, which no file takes) a question mark."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each == "\n" else " " if each.isspace() else "?"
        for each in text
    )


def one_line(text: str) -> str:
    """Printable text on one line."""
    return printable(" ".join(text.split()))


def code(text: str) -> str:
    """As code, which notifies no one. Where backticks can't hold the text, for they know no
    escape, as HTML."""
    text = one_line(text)
    if not re.search(r"[`|\\]", text):
        return f"`{text}`"
    markup = html.escape(text, quote=False)
    # GitHub finds URLs and addresses there as well.
    markup = _REFERENCE.sub("\\g<0>\u200b", markup)
    return f"<code>{_IN_CODE.sub(lambda sign: f'&#{ord(sign[0])};', markup)}</code>"


def escaped(text: str) -> str:
    """Text of unknown origin as one line that is no markup, and that notifies no one."""
    markup = _REFERENCE.sub(rf"\g<0>{_APART}", _SPECIAL.sub(r"\\\1", one_line(text)))
    return _COMMIT.sub(r"`\g<0>`", markup)


def json_without_markup(data: object) -> str:
    """One line of JSON. Within a script element no entity is one: nothing in there may look like a
    tag's beginning."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for special in "<>&":
        text = text.replace(special, f"\\u{ord(special):04x}")
    return text


def java_property(name: str, value: str) -> str:
    """A line of a properties file from which Java reads the same, but for the character set."""
    key = re.sub(r"([\\:=#!\s])", r"\\\1", name)
    written = value.replace("\\", r"\\").replace("\n", r"\n").replace("\r", r"\r")
    blank = "\\" if written[:1].isspace() else ""
    return f"{key}={blank}{written}\n"


def java_escaped(text: str) -> str:
    """The text of a properties file in ASCII, `\\u00fc` for an ü: Java takes it for ISO 8859-1."""
    return re.sub(r"[^\x00-\x7f]+", lambda match: json.dumps(match[0])[1:-1], text)


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    """The next step for a name that is not known: `did you mean 'fork'?`, or all the known ones."""
    names = [*known]
    near = closest(wanted, names)
    return f"did you mean {near!r}?" if near else f"known are {some_of(names, _NAMED) or 'none'}"


def telling(output: str, error: str) -> list[str]:
    """The lines of a program's output that begin with an error, by a regular expression; all that
    say something where none does."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return [line for line in lines if re.match(error, line)] or lines


def unique(name: str, is_taken: Callable[[str], bool], apart: str = "_") -> str:
    """The name, or with the first number from 2 on that is not taken: `id`, `id_2`."""
    numbered = (f"{name}{apart}{number}" for number in count(2))
    first = next((it for it in islice(chain([name], numbered), 100) if not is_taken(it)), None)
    if first is not None:
        return first
    # Among thousands of the same name the end of the row is looked for.
    free = bisect_left(
        range(10**9), True, lo=100, key=lambda number: not is_taken(f"{name}{apart}{number}")
    )
    return f"{name}{apart}{free}"


def some_of(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def shown(value: object, width: int = 60) -> str:
    """A value for an error message: quoted, on one line, cut to a readable width."""
    text = str(value)
    return repr(text if len(text) <= width else text[:width] + "...")


class UserError(Exception):
    """What a person is shown in place of a traceback: one line, or several where the error says so,
    on what is wrong and what to do."""


class FileError(UserError, ValueError):
    """A file that can't be used: one line for each thing wrong with it, in `errors`."""

    #: More errors than this are counted, not listed.
    SHOWN = 10

    def __init__(self, *errors: str) -> None:
        left = len(errors) - self.SHOWN
        more = [f"and {left} more such errors: correct these first"] if left > 0 else []
        self.errors = (*errors[: self.SHOWN], *more)
        super().__init__("\n".join(self.errors))
