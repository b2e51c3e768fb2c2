"""One page of HTML that needs nothing but itself: no server, no network, no other file.

A run's folder is mailed, archived and opened from disk, so styles, scripts and data stand in the
page; links to the run's other files are relative. A Content Security Policy lets run the page's
own scripts alone, known by their hashes, and lets it ask for nothing: even a label that somehow
became markup could do nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from typing_extensions import Self

from tollgate.base.text import (
    UserError,
    format_duration,
    format_interval,
    json_without_markup,
    one_line,
)
from tollgate.compare import words as compare_words
from tollgate.compare.profile import words as profile_words
from tollgate.install import tools
from tollgate.judge import forecast as forecast_words
from tollgate.report import capacity as capacity_words
from tollgate.report import tables
from tollgate.report import text as words
from tollgate.report.pages.kit import charts as page_charts
from tollgate.report.pages.kit.bars import LIMIT_AT, Scale, of_limit
from tollgate.report.pages.kit.charts import Chart
from tollgate.report.pages.kit.names import full, readable
from tollgate.report.pages.kit.tones import tone
from tollgate.report.table import Bar, split
from tollgate.study import words as study_words

FOLDER = Path(__file__).parent
#: The chart library, from its npm package.
UPLOT = tools.node_package("uplot")
SCRIPTS = (
    UPLOT / "dist" / "uPlot.iife.min.js",
    *(FOLDER / name for name in ("scales.js", "charts.js", "page.js")),
)
STYLES = (
    UPLOT / "dist" / "uPlot.min.css",
    *(FOLDER / name for name in ("page.css", "tables.css", "charts.css", "runs.css")),
)
LICENCE = UPLOT / "LICENSE"
#: White space that is shown though Python does not call it printable.
_SPACES = "\n\u00a0"


class PageError(UserError):
    """One line: which file the page lacks, and what to do."""


@dataclass(frozen=True)
class Remark:
    """A line below the sentence. answer: a badge before it."""

    text: str
    answer: str = ""


@dataclass(frozen=True)
class Head:
    """title: of the window. kicker: the line above the sentence, e.g. the kind and the time.
    sentence: what the page says. answer: its shortest form. tone: of that, `good`, `bad` or
    `unsure`, where it is not the answer's own."""

    title: str
    kicker: str
    sentence: str
    answer: str
    remarks: Sequence[Remark] = ()
    tone: str = ""


class Contents:
    """What macros register while a template is rendered. sections: (id, heading)."""

    def __init__(self) -> None:
        self.sections: list[tuple[str, str]] = []
        self._charts: list[dict[str, Any]] = []

    def section(self, id_: str, heading: str) -> str:
        """The id again."""
        self.sections.append((id_, heading))
        return id_

    def chart(self, chart: Chart) -> int:
        """The chart's place in the page's data."""
        self._charts.append(page_charts.data(chart))
        return len(self._charts) - 1

    def data(self) -> Markup:
        """All charts for page.js."""
        return Markup(json_without_markup(self._charts))  # noqa: S704


@dataclass(frozen=True)
class Resources:
    """The texts of a page's scripts and styles. is_served: whether it asks its server for news."""

    scripts: Sequence[str]
    styles: Sequence[str]
    is_served: bool = False

    @classmethod
    def of(cls, scripts: Iterable[Path], styles: Iterable[Path], is_served: bool = False) -> Self:
        """Raises PageError where an npm package is not installed."""
        return cls([*map(_script, scripts)], [*map(_read, styles)], is_served)

    @property
    def policy(self) -> str:
        """https://www.w3.org/TR/CSP3: nothing is allowed but what has one of these hashes."""
        scripts, styles = (" ".join(map(_hash, it)) for it in (self.scripts, self.styles))
        connect = " connect-src 'self';" if self.is_served else ""
        allowed = f"default-src 'none'; script-src {scripts}; style-src {styles};{connect}"
        return f"{allowed} base-uri 'none'; form-action 'none'"


def render(template: str, head: Head, resources: Resources | None = None, **values: object) -> str:
    """A page as text. template: its path below pages/; it extends kit/page.html.jinja and takes
    these values. resources: those of pages with charts unless it has its own. Raises PageError
    where an npm package is not installed."""
    resources = resources or Resources.of(SCRIPTS, STYLES)
    values |= {"head": head, "contents": Contents(), "policy": resources.policy}
    values["scripts"] = [_raw("script", it) for it in resources.scripts]
    values["styles"] = [_raw("style", it) for it in resources.styles]
    return environment().get_template(template).render(**values)


@cache
def environment() -> Environment:
    """The templates of all pages. Every value is escaped; one that is missing raises."""
    templates = Environment(
        loader=FileSystemLoader(FOLDER.parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters.update(
        duration=format_duration, full=full, grouped=grouped, number=study_words.number
    )
    templates.filters.update(one_line=one_line, readable=readable, split=split)
    templates.filters.update(time_of_day=time_of_day, tone=tone)
    templates.globals.update(Bar=Bar, LIMIT_AT=LIMIT_AT, Scale=Scale, of_limit=of_limit)
    templates.globals.update(interval=format_interval, words=words, capacity_words=capacity_words)
    templates.globals.update(power_table=tables.power_table)
    templates.globals.update(compare_words=compare_words, forecast_words=forecast_words)
    templates.globals.update(profile_words=profile_words, study_words=study_words)
    return templates


def grouped(items: Iterable[Any], *attributes: str) -> list[tuple[Any, list[Any]]]:
    """By attributes, such as `cell.arm`, in the order in which their values come."""
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(attrgetter(*attributes)(item), []).append(item)
    return list(groups.items())


def time_of_day(seconds: float) -> str:
    """`12:01:33.5` in UTC of seconds since the epoch."""
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%H:%M:%S.%f}"[:-5]


def _shown(value: object) -> object:
    """A value as a template shows it: None as nothing."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return "" if value is None else value


def printable(text: str) -> str:
    """What no screen shows (control characters, those that turn the direction of reading, halves
    of surrogate pairs, which no file takes) becomes a question mark."""
    return "".join(each if each.isprintable() or each in _SPACES else "?" for each in text)


def _raw(tag: str, text: str) -> Markup:
    """A script or style of the project, which HTML takes as it stands up to its end tag."""
    if f"</{tag}" in text.lower() or "<!--" in text:
        raise PageError(f"a {tag} of the page holds what would end it: </{tag} or <!--")
    return Markup(text)  # noqa: S704


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _script(path: Path) -> str:
    """A script; the library's with its licence, which asks to go wherever the library goes."""
    if path.is_relative_to(UPLOT):
        return f"/*\n{_read(LICENCE)}*/\n{_read(path)}"
    return _read(path)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PageError(
            f"no page: {path} can't be read ({error.strerror}); run `tollgate install`"
        ) from None
