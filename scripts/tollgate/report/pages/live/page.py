"""The frame of the live page, which live.js fills with what the run's server sends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tollgate.report.pages.kit.assemble import FOLDER, Head, Resources, render

_HERE = Path(__file__).parent
_SCRIPTS = (_HERE / "live.js",)
_STYLES = (FOLDER / "page.css", FOLDER / "tables.css", _HERE / "live.css")


def to_html(kind: str, began: str, headings: Mapping[str, str]) -> tuple[str, str]:
    """The page, and its Content Security Policy. headings: of its sections, by their ids."""
    resources = Resources.of(_SCRIPTS, _STYLES, is_served=True)
    kicker = f"Tollgate {kind}, {began} UTC"
    head = Head(f"Live: {kind}, {began}", kicker, "Waiting for the run", "running")
    page = render("live/live.html.jinja", head, resources, headings=headings)
    return page, resources.policy
