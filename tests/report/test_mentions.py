"""A name in a label, a message or a branch notifies nobody and is no link where Markdown becomes a
comment."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.compare_findings import ALL_KINDS, RECORD, comparison, run_of
from support.executions import execution
from support.forecasts import facts, mixed
from support.judged import criterion
from tollgate.base.text import code, escaped
from tollgate.judge.facts import ExecutionFacts, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.report import write as outputs
from tollgate.report.json_verdict import to_dict
from tollgate.report.junit import to_junit
from tollgate.report.markdown import to_markdown

NAMES = (
    *("@octocat", "GET @octocat/team #12 |x|", "by `@octocat` of o/r#12", "@octocat\\", "a@b.org"),
    *("/close @all !12", "**@octocat**", "[@octocat](#12)", "@_octocat", "&#64;octocat"),
    *("https://example.org/a_b?c=d", "see http://example.org|x", "ftp://a.b", "www.example.org"),
    *("*www.example.org*", "WWW.example.org`", "GH-3", "gh-3|", "o/r#3", "mailto:a@b.org|"),
    *("a" * 40, f"o/r@{'0123456789' * 4}", "`0123abc`", "fixes 0123abc"),
)
#: What names and links are made of.
PARTS = (
    *("@", "octocat", "#", "!", "3", "GH-", "o/r", "http", "https", ":", "//", "www", ".", "org"),
    *("0123abc", "f" * 40, "a@b.org", "_", "*", "`", "|", "\\", "<", ">", "&", "[", "(", " ", "x"),
)


def notified(markdown):
    """Whom or what GitHub and GitLab would find in the text that comes of it. In code they find
    nothing; in HTML of code GitHub does find URLs and addresses."""
    # Behind an even number of backslashes nothing is escaped.
    text = re.sub(r"(?<!\\)((?:\\\\)*)`[^`\n]*`", r"\1code", markdown)
    # An entity is as good as the character itself, and an escape is gone by then.
    text = re.sub(r"(?<!\\)((?:\\\\)*)&#(\d+);", lambda it: it[1] + chr(int(it[2])), text)
    text = re.sub(r"\\([^\w\s])", r"\1", text)
    links = re.findall(r"\w://|www\.|\w@\w", text, re.I)
    text = re.sub(r"<code>.*?</code>", "code", text)
    links += re.findall(r"@\w+|[#!]\d+|GH-\d+|[0-9a-f]{7,}", text, re.I)
    return links + re.findall(r"^/\w+", markdown, re.M)


def failing(name):
    """A run that says the name wherever it may: label, message, problems, notes, and lint."""
    told = ExecutionFacts(
        generator_error=name, machine_problems=(name,), notes=(name,), lint=(name,), url=name
    )
    criteria = criterion(name), {name: f"fail of {name}>0%"}
    followed = facts(*[mixed(50)] * 3, mixed(9), {name: 3})
    made = execution(*criteria, label=name, name=name, facts=told, forecast=followed)
    return MeasuredRun((made,), problems=(name,))


@pytest.mark.parametrize("name", NAMES)
def test_no_name_in_a_verdict_notifies_anybody(name, tmp_path, monkeypatch):
    verdict = judge(failing(name))
    assert notified(to_markdown(verdict, name)) == []
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    outputs.append_summary(tmp_path, verdict, name)
    assert notified((tmp_path / "summary").read_text()) == []


@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=2), max_size=12).map("".join))
@example("`" * 3 + "0123abc" + "`" * 3)
@example("\\0123abc")
def test_no_text_notifies_anybody_or_is_a_link(text):
    for markdown in (escaped(text), code(text), f"- {escaped(text)} {code(text)}"):
        assert notified(markdown) == [], markdown


@pytest.mark.parametrize("name", NAMES)
def test_no_branch_and_no_label_of_a_comparison_notifies_anybody(name):
    base, head = (replace(it, description=name) for it in (RECORD.base, RECORD.head))
    labelled = tuple(replace(it, label=name) for it in ALL_KINDS)
    compared = comparison(labelled, replace(RECORD, base=base, head=head))
    markdown = to_markdown(judge(run_of(compared)), "compare")
    assert "**FAIL**" in markdown
    assert notified(markdown) == []


def test_programs_get_the_label_as_it_is():
    name = "GET @octocat/team #12"
    run = failing(name)
    verdict = judge(run)
    assert f"fail of {name}&gt;0%" in to_junit(verdict, "check")
    content = to_dict(verdict, run, "check", {})
    assert name in json.dumps(content)
    assert content["executions"][0]["name"] == name


def test_a_name_is_read_as_it_was_written():
    assert escaped("@octocat #12, # 1") == "@&#8203;octocat \\#&#8203;12, \\# 1"
    assert escaped("/close a/b") == "\\/close a/b"
    assert escaped("at 0123abc of www.a.org") == "at `0123abc` of www&#8203;.a.org"
