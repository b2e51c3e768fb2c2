import re

import pytest
from hypothesis import HealthCheck, given, settings

from support.executions import counts, execution
from support.golden import check_file
from support.judged import LABELS, MANY, RUNS, judged, on_label, runs
from tollgate.judge.facts import InterimHistory, JudgeSettings, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.report.console import verdict_headline, verdict_table
from tollgate.report.markdown import to_markdown
from tollgate.report.table import shorten, width

COLOUR = re.compile(r"\033\[\d+m")


def table(run, **changed):
    return verdict_table(judge(run, JudgeSettings(**changed)))


def rows(text):
    """The lines of the first table, headings first."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if "criterion" in line)
    end = next(i for i, line in enumerate(lines) if i > start and line[:3] in ("", "  !"))
    return lines[start:end]


@pytest.mark.parametrize(
    "name", ["pass", "pass, fail and inconclusive", "invalid", "interrupted", "no samples"]
)
def test_the_table_reads_like_the_golden_file(name):
    file = name.replace(",", "").replace(" ", "-")
    check_file(f"render/{file}.txt", table(RUNS[name]) + "\n")


def test_the_worst_comes_first_what_has_no_say_among_what_passes_and_the_verdict_last():
    notice = "p95 of search>100ms, continue as non-failed"
    text = table(MeasuredRun((execution(notice, *MANY),)))
    verdicts = [line.split()[0] for line in rows(text)[1:]]
    assert verdicts == ["FAIL", "INCONCLUSIVE", "informational", "PASS", "PASS"]
    assert "\nFAIL: 2 of 4 criteria hold; the fault of the service\n" in text


def test_only_a_failure_says_by_how_much_the_limit_was_missed_unless_it_is_nothing():
    for line in rows(table(RUNS["pass, fail and inconclusive"]))[1:]:
        assert ("(+30 %)" in line) == line.strip().startswith("FAIL")
        assert line.count("%)") == line.strip().startswith("FAIL")
    line = rows(table(MeasuredRun((execution("fail of search>0", service=counts(failed=30)),))))[1]
    assert line.split() == ["FAIL", "fail", "of", "search>0", "30", "0", "exact", "3,000"]


def test_the_heading_names_the_confidence_that_the_intervals_have_and_if_they_are_repeated():
    assert "90 % CI" in table(RUNS["fail"], confidence=0.9)
    assert "95 % CI" in table(RUNS["fail"])
    made = execution("p95 of search>250ms", course=InterimHistory(10.0, 240.0, (10.0, 20.0)))
    verdict, _ = judged(MeasuredRun((made,)))
    assert "95 % repeated CI" in verdict_table(verdict)
    assert "| 95 % repeated CI |" in to_markdown(verdict, "check")
    assert "95 % repeated CI" in verdict.executions[0].criteria[0].line


def test_the_headline_names_every_fault_behind_the_verdict_and_no_other():
    assert verdict_headline(judge(RUNS["pass"])) == "PASS: 1 of 1 criteria hold"
    assert verdict_headline(judge(RUNS["interrupted"])).endswith("; the fault of the operator")
    both = MeasuredRun(RUNS["invalid"].executions, interrupted=True)
    assert verdict_headline(judge(both)).endswith("; the fault of the operator and the generator")


def test_more_reasons_than_a_person_reads_are_counted():
    texts = [f"p{p} of search>100ms" for p in range(50, 62)]
    lines = table(MeasuredRun((execution(*texts),))).splitlines()
    assert lines[-1] == "  and 4 more: see verdict.md"
    assert sum("beyond doubt" in line for line in lines) == 8


def test_colour_changes_nothing_but_the_colour():
    for run in RUNS.values():
        verdict, _ = judged(run)
        coloured = verdict_table(verdict, colour=True)
        assert COLOUR.search(coloured)
        assert COLOUR.sub("", coloured) == verdict_table(verdict)


@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_no_label_moves_the_cursor_or_breaks_a_line_or_a_column(label):
    text = table(on_label(label, name=label))
    assert all(each.isprintable() for each in text.replace("\n", ""))
    heading, *lines = rows(text)
    assert len(lines) == 2
    for line in lines:
        ending = line[-(width(line) - heading.index("95 % CI")) :]
        assert re.match(r"(\d+-\d+|exact) +3,000$", ending), ending
    assert max(map(width, text.splitlines())) < 450


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(runs())
def test_a_table_of_anything_can_be_printed_and_tells_the_verdict(run):
    verdict = judge(run)
    text = verdict_table(verdict)
    text.encode("utf-8")
    assert f"\n{verdict.verdict}: " in text
    # An empty line, the title and the headings, then a line each; at most eight of the reasons.
    expected = sum(3 + len(each.criteria) + len(each.warnings) for each in verdict.executions)
    assert text.count("\n") == expected + 1 + min(len(verdict.reasons), 9)


def test_a_long_text_gives_way_in_its_middle_where_no_limit_stands():
    assert shorten("p95 of " + "x" * 90 + ">150ms", 30) == "p95 of xxxxxxx...xxxxxxx>150ms"
    assert shorten("x" * 30, 30) == "x" * 30
    assert len(shorten("x" * 31, 30)) == 30
