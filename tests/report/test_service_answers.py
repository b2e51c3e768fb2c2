"""What a service answers comes out of every report as text, whatever it is: code, message, and what
an assertion quotes of the body."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from support import run_folder
from tollgate.base.terminal import Terminal
from tollgate.record import manifest
from tollgate.report import write as outputs
from tollgate.report.console import verdict_table
from tollgate.report.pages.run import write as page

PARTS = (
    *("<script>alert(1)</script>", "</script>", "<!--", "]]>", "<img src=x onerror=a()>", "&#64;"),
    *("::error::", "##[add-mask]", "##vso[task.setvariable]", "\n::stop-commands::x\n", "@octocat"),
    *("\x1b[2J", "\x1b]0;x\x07", "\u202e", "\r", "\x00", "\ufffe", "|", "`", "\\", "</details>"),
    *("=cmd()", '"', "'", ",", "\n# head\n", "[a](javascript:b)", "{{ 7 * 7 }}", "{% x %}", "日本"),
    "[[ATTACHMENT|/etc/hostname]]",
)
ANSWERS = st.lists(st.sampled_from(PARTS) | st.text(max_size=3), min_size=1, max_size=6).map(
    "".join
)


class Reader(HTMLParser):
    """The elements of a page, with the names of their attributes."""

    def __init__(self, html):
        super().__init__()
        self.elements = set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.add((tag, *sorted(name for name, _ in attrs)))


def failing(folder, answer):
    """The recorded run, in which every fifth request failed with this answer."""
    rows = [*csv.DictReader(io.StringIO(run_folder.recorded().decode()))]
    code = " ".join(answer.split())[:40]  # HTTP's ends with its line
    for row in rows[::5]:
        row |= {"success": "false", "responseCode": code, "responseMessage": answer}
        row |= {"failureMessage": answer} if "failureMessage" in row else {}
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    run_folder.make(folder, ("p50 of nap>1s", "fail of nap>0%", "rc5?? of nap>0%"))
    run_folder.spoil(folder, text.getvalue().encode("utf-8", "replace"))
    return page.judged(folder)


@pytest.fixture(scope="module")
def elements(tmp_path_factory):
    """Of the pages of harmless answers, of which one is long."""
    both = set()
    for answer in ("Bad Gateway", "Bad Gateway " * 50):
        folder = tmp_path_factory.mktemp("harmless")
        both |= Reader(page.to_html(folder, failing(folder, answer))).elements
    return both


@given(ANSWERS)
@example("".join(PARTS))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_answer_is_text_in_every_report(elements, tmp_path_factory, answer):
    folder = tmp_path_factory.mktemp("run")
    known = failing(folder, answer)
    html = page.to_html(folder, known)
    assert Reader(html).elements <= elements
    outputs.write_all(folder, known.verdict, known.run, manifest.read(folder))
    markdown = (folder / "verdict.md").read_text(encoding="utf-8")
    tags = re.findall(r"(?<!\\)<(/?\w*)", re.sub(r"(?<!\\)`[^`\n]*`", "", markdown))
    assert {*tags} <= {"details", "/details", "summary", "/summary", "code", "/code"}
    junit = ET.fromstring((folder / "junit.xml").read_bytes())
    assert all(it.isprintable() or it == "\n" for each in junit.itertext() for it in each)
    assert json.loads((folder / "verdict.json").read_text())["verdict"] == "FAIL"
    screen = Terminal(io.StringIO())
    screen.write(verdict_table(known.verdict))
    for line in screen.getvalue().split("\n"):
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)
