"""Opens pages in headless Chromium, by way of tests/support/browser/open-page.js."""

import functools
import html
import json
import re
import subprocess
from pathlib import Path

import support

#: The palette's first two colours in page.css; a screen rounds some pixels by one.
PALETTE = {"light": ((31, 111, 209), (196, 86, 11)), "dark": ((106, 169, 255), (245, 154, 76))}
SCRIPT = Path(__file__).with_name("browser") / "open-page.js"


def look(page, *options):
    """Open a page and return its title, what went wrong and what is to be seen; see SCRIPT."""
    return look_at_all([page], *options)[0]


def look_at_all(pages, *options):
    browser = _browser()
    browser.stdin.write(json.dumps([str(word) for word in (*pages, *options)]) + "\n")
    browser.stdin.flush()
    answer = json.loads(browser.stdout.readline() or '{"error": "the browser has ended"}')
    if "error" in answer:
        close()
    assert "error" not in answer, answer["error"]
    return answer["seen"]


def close():
    """End the browser if there is one: the tests of a file share it."""
    if _browser.cache_info().currsize:
        _browser().communicate(timeout=support.PATIENCE)
        _browser.cache_clear()


@functools.cache
def _browser():
    pipe = subprocess.PIPE
    return subprocess.Popen(
        ["node", SCRIPT], env=support.environment(), stdin=pipe, stdout=pipe, text=True
    )


def problems(seen):
    """Everything that went wrong on a page."""
    return [*seen["consoleErrors"], *seen["pageErrors"], *seen["failedRequests"]]


def look_from_disk(path, width, scheme):
    """Open a page without a network; nothing may go wrong or be too wide."""
    seen = look(path, "--offline", "--viewport", f"{width}x900", "--colour-scheme", scheme)
    assert problems(seen) == []
    assert (seen["requests"], seen["tooWide"]) == ([path.as_uri()], 0)
    return seen


def pixels(found, colour):
    """How many pixels have about this colour, of the pixels of a chart by colour."""
    rgb = ((tuple(map(int, name.split(","))), count) for name, count in found.items())
    return sum(n for it, n in rgb if max(abs(a - b) for a, b in zip(it, colour, strict=True)) < 3)


def text_of(page):
    """What can be read on a page."""
    text = re.sub("<(script|style).*?</\\1>|<[^>]*>", " ", page, flags=re.S)
    return " ".join(html.unescape(text).split())
