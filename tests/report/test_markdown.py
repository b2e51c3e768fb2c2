import pytest

from support.judged import LABELS, on_label
from tollgate.judge.judgement import judge
from tollgate.report.markdown import to_markdown


def table_rows(markdown):
    return [line for line in markdown.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_the_markdown_table_keeps_its_columns(label):
    for row in table_rows(to_markdown(judge(on_label(label, name=label)), label)):
        # No cell needs an escaped bar: GitHub and CommonMark differ over what escapes what.
        assert (row.count("|"), row.count("\\|")) == (7, 0)


def test_no_label_becomes_markup():
    label = "<script>alert(1)</script>"
    markdown = to_markdown(judge(on_label(label, name=label)), "check")
    outside_of_code = "".join(markdown.split("`")[::2])
    assert "\\<script\\>" in outside_of_code
    assert "<script" not in outside_of_code.replace("\\<", "")
    both = to_markdown(judge(on_label("`a|<b>`")), "check")
    assert "<code>p95 of &#96;a&#124;&lt;b&gt;&#96;&gt;150ms</code>" in both
