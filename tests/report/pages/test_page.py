"""A page shows every text as text, asks for nothing, and has data that can't end its script."""

import json
import math
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

from tollgate.report.pages.kit import assemble as page
from tollgate.report.pages.kit import charts as page_charts
from tollgate.report.pages.kit.assemble import Head, PageError, Remark
from tollgate.report.pages.kit.bars import Scale
from tollgate.report.pages.kit.charts import Axis, Chart, Series
from tollgate.report.table import Bar, Column, Table, TableCell

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
#: uPlot, scales, charts, what makes them live, and the data.
SCRIPTS = 5


class Reader(HTMLParser):
    """What a browser would make of a page: its elements, and the text within them."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text, self.scripts, self._within = [], [], [], ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._within = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, _tag):
        self._within = ""

    def handle_data(self, data):
        if self._within == "script":
            self.scripts[-1] += data
        elif self._within != "style":
            self.text.append(data)


#: Every macro of the kit, each with the same text.
TEMPLATE = """
{% extends "kit/page.html.jinja" %}
{% from "kit/macros.html.jinja" import badge, charts, details, group, headings, listing, note,
  section, small, table, table_frame, td with context %}
{% block content %}
{% call section("one", text) %}
{{ note(text) }}{{ small(text) }}{{ badge(text, "bad") }}{{ listing([text]) }}
{% call details(text) %}{{ text }}{% endcall %}
{% call table_frame(text, "cards") %}
{{ headings((text, (text, "bar"))) }}
<tbody>
{{ group(text, 2) }}
<tr><th scope="row">{{ text }}</th>{{ td(text, text) }}</tr>
</tbody>
{% endcall %}
{{ charts(charts_) }}
{% endcall %}
{% endblock %}
"""


def chart(text="fork", **changes):
    headings = (Column(text), Column(text, "code"), Column(text), Column(text, "bar", text))
    full = TableCell(text, text, text, text, text)
    row = full, text, TableCell(text, href="#one"), TableCell(bar=Bar(1.0, verdict=text))
    fields = {
        **dict.fromkeys(("title", "summary", "note", "full_title"), text),
        **{"x": Axis(text), "y": Axis(text), "series": (Series(text, [1, 2], [3.0, None]),)},
        "numbers": Table(text, headings, [row], is_grouped=True),
    }
    return Chart(**(fields | changes))


def html_of(text):
    """A page with this text wherever a page has any."""
    head = Head(text, text, text, text, [Remark(text, text)], "good")
    template = page.environment().from_string(TEMPLATE)
    return page.render(template, head, text=text, charts_=[chart(text)])


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_label_of_markup_stays_text_and_can_not_end_the_script_that_holds_it(attack):
    plain, read = Reader(html_of("x")), Reader(html_of(attack))
    assert [tag for tag, _ in read.elements] == [tag for tag, _ in plain.elements]
    assert "".join(read.text).count(attack) == "".join(plain.text).count("x") > 20
    assert len(read.scripts) == SCRIPTS
    assert json.loads(read.scripts[0])[0]["series"][0]["label"] == attack
    assert not re.search("[<>&]", read.scripts[0])


@settings(deadline=None)
@given(st.text(min_size=1))
def test_any_text_comes_back_from_the_data_and_from_the_body(text):
    read = Reader(html_of(text))
    assert json.loads(read.scripts[0])[0]["title"] == text
    assert len(read.elements) == len(Reader(html_of("x")).elements)


def test_what_no_screen_shows_becomes_a_question_mark_in_the_body():
    html = html_of("a\x00b\u202ec\ud800d")
    assert "a?b?c?d" in html
    html.encode()


def test_a_value_that_a_template_lacks_raises():
    with pytest.raises(UndefinedError, match="'unknown' is undefined"):
        page.environment().from_string("{{ unknown }}").render()


def bars_of(expression, **values):
    """What a macro of kit/bars.html.jinja draws."""
    text = f'{{% import "kit/bars.html.jinja" as bars %}}{{{{ bars.{expression} }}}}'
    return page.environment().from_string(text).render(**values)


def test_an_interval_is_a_line_with_a_dot_and_arrows_where_it_leaves_the_scale():
    scale = Scale(0.5, 2.0)
    drawn = bars_of("drawn(bar, scale)", bar=Bar(1.0, 0.5, 1.4), scale=scale)
    assert drawn.count('class="interval"') == drawn.count("<circle") == 1
    assert '<circle cx="50.00%"' in drawn
    assert '<g class="across">' in drawn
    assert "<text" not in drawn
    beyond = bars_of("drawn(bar, scale)", bar=Bar(9.0, 3.0, 20.0), scale=scale)
    assert "<circle" not in beyond
    assert '<text x="96.00%"' in beyond
    unknown = bars_of("drawn(bar, scale)", bar=Bar(None), scale=scale)
    assert ('class="interval"' in unknown, unknown.count("<line")) == (False, len(scale.ticks))


def test_a_limit_stands_at_the_same_place_and_what_lies_beyond_the_end_is_cut_off():
    drawn = bars_of("drawn(bar, 'limit')", bar=Bar(0.5, 0.4, math.inf, "PASS"))
    assert '<rect x="0" y="14" width="33.35%"' in drawn
    assert 'x1="26.68%" x2="100.00%"' in drawn
    assert '<line x1="66.70%" x2="66.70%" y1="6" y2="32" class="limit"/>' in drawn
    unknown = bars_of("drawn(bar, 'limit')", bar=Bar(None))
    assert ("<rect" in unknown, 'class="limit"' in unknown) == (False, True)


def test_shares_lie_beside_each_other_with_a_gap_and_a_scale_has_its_numbers_where_they_lie():
    shares = bars_of("drawn(shares, none)", shares=[0.25, 0.75])
    rects = re.findall('<rect x="([^"]+)".*?width="([^"]+)"', shares)
    assert rects == [("0.00%", "24.50%"), ("25.00%", "74.50%")]
    drawn = bars_of("head(scale)", scale=Scale(0.5, 2.0))
    found = re.findall(r'<text x="([^"]+)"[^>]*>([^<]+)<', drawn)
    assert found == [("4.00%", "1/2"), ("50.00%", "1"), ("96.00%", "2")]


def test_what_is_not_known_is_null_in_the_data():
    series = Series("fork", [1, 2, 3], [math.nan, math.inf, 1 / 3], low=[None, 0.1, 0.2])
    data = page_charts.data(chart(series=(series,)))
    assert data["series"][0]["y"] == [None, None, 0.3333333]
    assert data["series"][0]["low"] == [None, 0.1, 0.2]
    json.dumps(data, allow_nan=False)


def test_points_in_equal_steps_are_written_as_first_step_and_count():
    regular = Series("fork", list(range(5, 3605, 3)), [1.0] * 1200)
    odd = Series("cluster", [1, 2, 4, 8, 16, 32, 64, 128], [1.0] * 8)
    series = page_charts.data(chart(series=(regular, odd)))["series"]
    assert series[0]["x"] == {"first": 5, "step": 3, "count": 1200}
    assert series[1]["x"] == odd.x


def test_a_page_runs_its_own_scripts_alone_names_no_address_and_has_each_chart_as_a_table():
    read = Reader(html_of("the name"))
    policy = next(it["content"] for _, it in read.elements if "http-equiv" in it)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].count("'sha256-") == SCRIPTS - 1
    assert "unsafe" not in policy
    named = [it[name] for _, it in read.elements for name in ("src", "href") if name in it]
    assert [it for it in named if not it.startswith("#")] == []
    assert not any("style" in it for _, it in read.elements)
    tags = {tag for tag, _ in read.elements}
    assert not tags & {"img", "link", "iframe", "object", "base"}
    assert {"details", "summary", "table", "figcaption"} <= tags
    assert "the name" in next(it for _, it in read.elements if "data-chart" in it)["aria-label"]
    assert "Permission is hereby granted" in read.scripts[1]
    assert "uPlot" in read.scripts[1]


def luminance(colour):
    """Relative luminance of #rrggbb, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in parts]
    return sum(each * share for each, share in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_and_charts_have_enough_contrast(scheme):
    blocks = re.findall(r":root \{(.*?)\}", (page.FOLDER / "page.css").read_text(), re.S)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6});", blocks[scheme]))

    def contrast(front, back):
        dark, light = sorted((luminance(colours[front]), luminance(colours[back])))
        return (light + 0.05) / (dark + 0.05)

    for front in ("ink", "soft", "link"):
        assert min(contrast(front, "paper"), contrast(front, "card")) >= 4.5
    for tone in ("good", "bad", "unsure"):
        assert contrast(tone, f"{tone}-back") >= 4.5
    for number in range(6):
        assert contrast(f"series-{number}", "card") >= 3


def test_a_script_that_is_not_installed_or_would_end_itself_is_refused(monkeypatch, tmp_path):
    script = tmp_path / "uPlot.js"
    monkeypatch.setattr(page, "SCRIPTS", (script,))
    with pytest.raises(PageError, match=r"no page: .*uPlot\.js can't be read \(No such file"):
        html_of("x")
    script.write_text("'</SCRIPT>'")
    with pytest.raises(PageError, match="what would end it"):
        html_of("x")
