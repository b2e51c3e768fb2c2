"""Opens pages in headless Chromium, by way of tests/browser/open-page.js."""

from __future__ import annotations

import json
from pathlib import Path

import support

SCRIPT = Path(__file__).with_name("browser") / "open-page.js"


def look(page: object, *options: object) -> dict:
    """Open a page and return its title, what went wrong and what is to be seen; see SCRIPT."""
    return look_at_all([page], *options)[0]


def look_at_all(pages: list, *options: object) -> list[dict]:
    """The same for several pages, all at once in one browser."""
    done = support.run("node", SCRIPT, *pages, *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def problems(seen: dict) -> list[str]:
    """Everything that went wrong on a page."""
    return [*seen["consoleErrors"], *seen["pageErrors"], *seen["failedRequests"]]
