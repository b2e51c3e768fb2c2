"""A name in a label, a message or a branch notifies nobody where Markdown becomes a comment."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from support.compare_findings import ALL_KINDS, RECORD, comparison, run_of
from support.executions import execution
from support.forecasts import facts, mixed
from support.judged import criterion
from tollgate.base.text import escaped
from tollgate.judge.facts import ExecutionFacts, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.outputs import write as outputs
from tollgate.outputs.json_verdict import to_dict
from tollgate.outputs.junit import to_junit
from tollgate.outputs.markdown import to_markdown

NAMES = (
    *("@octocat", "GET @octocat/team #12 |x|", "by `@octocat` of o/r#12", "@octocat\\", "a@b.org"),
    *("/close @all !12", "**@octocat**", "[@octocat](#12)", "@_octocat", "&#64;octocat"),
)


def notified(markdown: str) -> list[str]:
    """Whom or what GitHub and GitLab would find in the text that comes of it: not in code."""
    text = re.sub(r"<code>.*?</code>|`[^`\n]*`", "code", markdown)
    # An entity is as good as the character itself, and an escape is gone by then.
    text = re.sub(r"(?<!\\)&#(\d+);", lambda it: chr(int(it[1])), text)
    text = re.sub(r"\\([^\w\s])", r"\1", text)
    return re.findall(r"@\w+|[#!]\d+", text) + re.findall(r"^/\w+", markdown, re.M)


def failing(name: str) -> MeasuredRun:
    """A run that says the name wherever it may: label, message, problems, notes, and lint."""
    told = ExecutionFacts(
        generator_error=name, machine_problems=(name,), notes=(name,), lint=(name,), url=name
    )
    criteria = criterion(name), {name: f"fail of {name}>0%"}
    followed = facts(*[mixed(50)] * 3, mixed(9), {name: 3})
    made = execution(*criteria, label=name, name=name, facts=told, forecast=followed)
    return MeasuredRun((made,), problems=(name,))


@pytest.mark.parametrize("name", NAMES)
def test_no_name_in_a_verdict_notifies_anybody(name, tmp_path, monkeypatch) -> None:
    run = failing(name)
    verdict = judge(run)
    markdown = to_markdown(verdict, name)
    assert notified(markdown) == []
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    outputs.append_summary(verdict, name)
    assert notified((tmp_path / "summary").read_text()) == []


@pytest.mark.parametrize("name", NAMES)
def test_no_branch_and_no_label_of_a_comparison_notifies_anybody(name) -> None:
    of_name = replace(
        RECORD, base=replace(RECORD.base, told=name), head=replace(RECORD.head, told=name)
    )
    compared = comparison(tuple(replace(it, label=name) for it in ALL_KINDS), of_name)
    markdown = to_markdown(judge(run_of(compared)), "compare")
    assert "**FAIL**" in markdown
    assert notified(markdown) == []


def test_programs_get_the_label_as_it_is() -> None:
    name = "GET @octocat/team #12"
    run = failing(name)
    verdict = judge(run)
    assert f"fail of {name}&gt;0%" in to_junit(verdict, "check")
    content = to_dict(verdict, run, "check", {})
    assert name in json.dumps(content)
    assert content["executions"][0]["name"] == name


def test_a_name_is_read_as_it_was_written() -> None:
    assert escaped("@octocat #12, # 1") == "@&#8203;octocat \\#&#8203;12, \\# 1"
    assert escaped("/close a/b") == "\\/close a/b"
