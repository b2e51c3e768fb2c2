"""A page shows every text as text, asks for nothing, and has data that can't end its script."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.pages.kit import assemble as page
from tollgate.pages.kit import charts as page_charts
from tollgate.pages.kit.assemble import Page, PageError, Section
from tollgate.pages.kit.charts import Axis, Chart, Series
from tollgate.pages.kit.parts import Column, Group, badge, element, listing, table

ATTACK = "<script>alert(1)</script>"
ATTACKS = (
    ATTACK,
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    '"><img src=x onerror=alert(1)>',
    "]]></style><svg onload=alert(1)>",
    "&lt;script&gt;",
    "javascript:alert(1)",
)
#: uPlot, what lies over charts, scales, charts, what makes them live, and the data.
SCRIPTS = 6


class Reader(HTMLParser):
    """What a browser would make of a page: its elements, and the text within them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self._within = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.elements.append((tag, dict(attrs)))
        self._within = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, _tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within == "script":
            self.scripts[-1] += data
        elif self._within != "style":
            self.text.append(data)

    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}


def chart(text: str = "fork", **changes: object) -> Chart:
    fields = {
        "title": text,
        "summary": text,
        "x": Axis(text),
        "y": Axis(text),
        "series": (Series(text, [1, 2], [3.0, None]),),
        "numbers": table(text, (Column(text),), [(text,)]),
        "note": text,
    }
    return Chart(**(fields | changes))


def sample(text: str, **changes: object) -> Page:
    rows = [(text, element("b", text)), Group((text,))]
    content = [text, table(text, (Column(text), Column(text)), rows), listing([text])]
    fields = {
        "title": text,
        "kicker": text,
        "sentence": text,
        "answer": text,
        "tone": "good",
        "sections": [Section("one", text, [*content, badge(text, "bad"), chart(text)])],
        "remarks": [text],
    }
    return Page(**(fields | changes))


def data_of(read: Reader) -> list:
    return json.loads(read.scripts[0])


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_label_of_markup_stays_text_wherever_it_stands(attack: str) -> None:
    plain, read = Reader(page.to_html(sample("x"))), Reader(page.to_html(sample(attack)))
    assert [tag for tag, _ in read.elements] == [tag for tag, _ in plain.elements]
    assert "".join(read.text).count(attack) == "".join(plain.text).count("x") > 10
    assert len(read.scripts) == SCRIPTS


@pytest.mark.parametrize("attack", ATTACKS)
def test_data_can_not_end_the_script_that_holds_it_and_come_back_as_they_were(attack: str) -> None:
    read = Reader(page.to_html(sample(attack)))
    assert data_of(read)[0]["series"][0]["label"] == attack
    assert not re.search("[<>&]", read.scripts[0])


@given(st.text(min_size=1))
def test_any_text_comes_back_from_the_data_and_from_the_body(text: str) -> None:
    read = Reader(page.to_html(sample(text)))
    assert data_of(read)[0]["title"] == text
    assert len(read.elements) == len(Reader(page.to_html(sample("x"))).elements)


def test_what_no_screen_shows_becomes_a_question_mark_in_the_body() -> None:
    html = page.to_html(sample("a\x00b\u202ec\ud800d"))
    assert "a?b?c?d" in html
    html.encode()


def test_what_is_not_known_is_null_in_the_data() -> None:
    series = Series("fork", [1, 2, 3], [math.nan, math.inf, 1 / 3], low=[None, 0.1, 0.2])
    told = page_charts.data(chart(series=(series,)))
    assert told["series"][0]["y"] == [None, None, 0.3333333]
    assert told["series"][0]["low"] == [None, 0.1, 0.2]
    json.dumps(told, allow_nan=False)


def test_points_in_equal_steps_are_told_by_their_first_step_and_number() -> None:
    regular = Series("fork", list(range(5, 3605, 3)), [1.0] * 1200)
    odd = Series("cluster", [1, 2, 4, 8, 16, 32, 64, 128], [1.0] * 8)
    told = page_charts.data(chart(series=(regular, odd)))["series"]
    assert told[0]["x"] == {"first": 5, "step": 3, "count": 1200}
    assert told[1]["x"] == odd.x


def test_the_policy_lets_run_the_scripts_and_styles_of_the_page_alone() -> None:
    read = Reader(page.to_html(sample("x")))
    policy = next(it["content"] for _, it in read.elements if "http-equiv" in it)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].count("'sha256-") == SCRIPTS - 1
    assert "unsafe" not in policy


def test_nothing_on_the_page_names_another_address_or_has_a_style_of_its_own() -> None:
    read = Reader(page.to_html(sample("x")))
    named = [it[name] for _, it in read.elements for name in ("src", "href") if name in it]
    assert [it for it in named if not it.startswith("#")] == []
    assert not any("style" in it for _, it in read.elements)
    assert not read.tags() & {"img", "link", "iframe", "object", "base"}


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in parts]
    return sum(each * share for each, share in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_and_charts_have_enough_contrast(scheme: int) -> None:
    blocks = re.findall(r":root \{(.*?)\}", (page.FOLDER / "page.css").read_text(), re.S)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6});", blocks[scheme]))

    def contrast(front: str, back: str) -> float:
        dark, light = sorted((luminance(colours[front]), luminance(colours[back])))
        return (light + 0.05) / (dark + 0.05)

    for front in ("ink", "soft", "link"):
        assert min(contrast(front, "paper"), contrast(front, "card")) >= 4.5
    for tone in ("good", "bad", "unsure"):
        assert contrast(tone, f"{tone}-back") >= 4.5
    for number in range(6):
        assert contrast(f"series-{number}", "card") >= 3


def test_every_chart_has_its_numbers_as_a_table_and_a_name() -> None:
    read = Reader(page.to_html(sample("the name")))
    plot = next(it for _, it in read.elements if "data-chart" in it)
    assert "the name" in plot["aria-label"]
    assert {"details", "summary", "table", "figcaption"} <= read.tags()


def test_the_library_stands_on_the_page_with_its_licence() -> None:
    library = Reader(page.to_html(sample("x"))).scripts[1]
    assert "Permission is hereby granted" in library
    assert "uPlot" in library


def test_a_package_that_is_not_installed_is_told_in_one_line(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(page, "SCRIPTS", (tmp_path / "uPlot.js",))
    with pytest.raises(PageError, match=r"no page: .*uPlot\.js can't be read \(No such file"):
        page.to_html(sample("x"))


def test_a_script_that_would_end_itself_is_refused(monkeypatch, tmp_path) -> None:
    script = tmp_path / "bad.js"
    script.write_text("'</SCRIPT>'")
    monkeypatch.setattr(page, "SCRIPTS", (script,))
    with pytest.raises(PageError, match="what would end it"):
        page.to_html(sample("x"))
