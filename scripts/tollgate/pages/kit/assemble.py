"""One page of HTML that needs nothing but itself: no server, no network, no other file.

A run's folder is mailed, archived and opened from disk, so styles, scripts and data stand in the
page; links to the run's other files are relative. A Content Security Policy lets run the page's
own scripts alone, known by their hashes, and lets it ask for nothing: even a label that somehow
became markup could do nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tollgate.base import ROOT
from tollgate.pages.kit import charts as page_charts
from tollgate.pages.kit.charts import Chart
from tollgate.pages.kit.parts import Child, badge, element

FOLDER = Path(__file__).parent
#: The chart library, from its npm package.
UPLOT = ROOT / "node_modules" / "uplot"
SCRIPTS = (
    UPLOT / "dist" / "uPlot.iife.min.js",
    *(FOLDER / name for name in ("over.js", "scales.js", "charts.js", "page.js")),
)
STYLES = (
    UPLOT / "dist" / "uPlot.min.css",
    *(FOLDER / name for name in ("page.css", "tables.css", "charts.css", "runs.css")),
)
LICENCE = UPLOT / "LICENSE"


class PageError(Exception):
    """One line: which file the page lacks, and what to do."""


@dataclass(frozen=True)
class Section:
    """A part of the page. Charts stand in its content, and in a grid where several follow."""

    id: str
    heading: str
    content: Sequence[Child | Chart]


@dataclass(frozen=True)
class Page:
    """title: of the window. kicker: the line above the sentence, e.g. the kind and the time.
    sentence: what the run says. answer: its shortest form, with its tone (see page/parts.py).
    remarks: lines below the sentence."""

    title: str
    kicker: str
    sentence: str
    answer: str
    tone: str
    sections: Sequence[Section]
    remarks: Sequence[Child] = ()


def to_html(page: Page) -> str:
    """The page as text. Raises PageError where an npm package is not installed."""
    charts: list[Chart] = []
    sections = [_section(each, charts) for each in page.sections]
    scripts, styles = [_script(path) for path in SCRIPTS], [_read(path) for path in STYLES]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(scripts, styles)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", page.title),
        *(_raw("style", style) for style in styles),
    )
    body = element(
        "body",
        element("a", "To the content", href="#content", class_="skip"),
        _header(page),
        element("main", *sections, id="content"),
        _data([page_charts.data(chart) for chart in charts]),
        *(_raw("script", script) for script in scripts),
    )
    root = element("html", head, body, lang="en")
    return f"<!DOCTYPE html>\n{ET.tostring(root, encoding='unicode', method='html')}\n"


def _header(page: Page) -> ET.Element:
    links = [element("a", it.heading, href=f"#{it.id}") for it in page.sections]
    return element(
        "header",
        element("p", badge(page.answer, page.tone), " ", page.kicker, class_="kicker"),
        # A line never begins with the sign of a number's unit.
        element("h1", page.sentence.replace(" %", "\u00a0%")),
        *(element("p", remark, class_="remark") for remark in page.remarks),
        element("nav", *links, aria_label="Sections"),
    )


def _section(section: Section, charts: list[Chart]) -> ET.Element:
    """The section's element; its charts are appended to the page's."""
    heading = element("h2", section.heading, id=f"{section.id}-heading")
    made = element("section", heading, id=section.id, aria_labelledby=f"{section.id}-heading")
    grid = None
    for each in section.content:
        if isinstance(each, Chart):
            kind = "charts wide" if each.wide else "charts"
            if grid is None or grid.get("class") != kind:
                grid = ET.SubElement(made, "div", {"class": kind})
            grid.append(page_charts.figure(each, len(charts)))
            charts.append(each)
        elif each is not None:
            grid = None
            made.append(element("p", each) if isinstance(each, str) else each)
    return made


def _data(charts: list[dict]) -> ET.Element:
    text = json.dumps(charts, allow_nan=False, separators=(",", ":"))
    # Within a script element no entity is one: nothing in there may look like a tag's beginning.
    for special in "<>&":
        text = text.replace(special, f"\\u{ord(special):04x}")
    made = _raw("script", text)
    made.set("type", "application/json")
    made.set("id", "charts")
    return made


def _raw(tag: str, text: str) -> ET.Element:
    """A script or style, which HTML takes as it stands up to its end tag."""
    if f"</{tag}" in text.lower() or "<!--" in text:
        raise PageError(f"a {tag} of the page holds what would end it: </{tag} or <!--")
    made = ET.Element(tag)
    made.text = text
    return made


def _policy(scripts: list[str], styles: list[str]) -> str:
    """https://www.w3.org/TR/CSP3: nothing is allowed but what has one of these hashes."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {' '.join(map(_hash, styles))}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


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
            f"no page: {path} can't be read ({error.strerror}); run scripts/bootstrap"
        ) from None
