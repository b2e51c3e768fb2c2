"""Opens pages in headless Chromium, by way of tests/support/browser/open-page.js."""

import functools
import json
import subprocess
from pathlib import Path

import support

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
