"""junit.xml, the comment of a pull request and verdict.json as those have them who read them."""

import html
import json
import re

import pytest

import support
from compatibility import apps
from support import ci_files, judged
from support.archived import ARCHIVE, unpacked
from tollgate.gather.judged import judged as judged_folder
from tollgate.report.json_verdict import to_dict
from tollgate.report.junit import to_junit
from tollgate.report.markdown import to_markdown

SOURCES = apps.FOLDER / "receivers"
SCHEMA = support.ROOT / "scripts" / "tollgate" / "report" / "verdict.schema.json"
ARCHIVED = ("check-fail", "check-inconclusive", "check-invalid", "check-pass", "compare-fail")
#: When each execution of a run that was never made began, and ended.
SPAN = (1_782_000_000.0, 1_782_000_060.0)
ENVIRONMENT = json.loads((ARCHIVE / "check-pass" / "run.json").read_text())["environment"]
#: Where the comment leads.
PAGE = "https://ci.example/run/1"
GH = 'case "$*" in *--paginate*) ;; *) cp comment.md sent ;; esac\n'


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Judged runs, real ones and those of every kind and label, by name."""
    made = {}
    for name in ARCHIVED:
        done = judged_folder(unpacked(name, tmp_path_factory.mktemp("run")))
        made[name] = done.verdict, done.run
    for name, run in judged.RUNS.items():
        made[re.sub(r"\W+", "-", name)] = judged.judged(run)
    return made


@pytest.fixture(scope="module")
def written(runs, tmp_path_factory):
    """A folder with one for each run, which has its files."""
    folder = tmp_path_factory.mktemp("written")
    gh = tmp_path_factory.mktemp("bin")
    support.script(gh / "gh", GH)
    places = {"COMMENTS": "comments", "COMMENT": "comment", "PAGE": PAGE, "RUN": "check"}
    env = support.environment(**places)
    env["PATH"] = f"{gh}:{env['PATH']}"
    for name, (verdict, run) in runs.items():
        its = folder / name
        its.mkdir()
        spans = {execution.name: SPAN for execution in verdict.executions}
        (its / "junit.xml").write_text(to_junit(verdict, "check", spans), encoding="utf-8")
        content = to_dict(verdict, run, "check", ENVIRONMENT)
        (its / "verdict.json").write_text(json.dumps(content), encoding="utf-8")
        (its / "verdict.md").write_text(to_markdown(verdict, "check"), encoding="utf-8")
        done = support.run(ci_files.COMMENT.with_name("comment"), "verdict.md", cwd=its, env=env)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def readers(written, tmp_path_factory):
    """What each reader makes of each run."""
    folder = apps.installed(SOURCES, tmp_path_factory.mktemp("readers"))
    commands = (
        ("node", folder / "read.mjs", written, SCHEMA),
        (folder / "venv" / "bin" / "python", folder / "render.py", written),
    )
    made = {}
    for command in commands:
        done = support.run(*command, cwd=folder)
        assert done.returncode == 0, done.stderr
        made |= json.loads(done.stdout)
    return made


def results(verdict):
    return [result for execution in verdict.executions for result in execution.criteria]


@pytest.mark.parametrize("reader", ["junit2json", "junit-report-merger", "junit-to-ctrf"])
def test_readers_of_junit_are_red_where_the_verdict_is_and_have_its_figures(runs, readers, reader):
    for name, (verdict, _) in runs.items():
        count, texts, seconds = readers[reader][name]
        assert count >= 1 + len(verdict.executions) + len(results(verdict)), name
        assert bool(texts) == (verdict.verdict != "PASS"), name
        lines = [it.line for it in results(verdict) if it.verdict == "FAIL" and it.decides]
        plain = [re.sub(r"\s+", " ", html.unescape(text)) for text in texts]
        if name in ARCHIVED:
            assert [line for line in lines if not any(line in text for text in plain)] == []
        if seconds is not None:
            assert seconds == 60 * len(verdict.executions), name


@pytest.mark.parametrize("renderer", ["markdown-it", "rehype-sanitize", "cmark-gfm", "comrak"])
def test_a_comment_shows_verdict_tables_and_one_link_whatever_a_label_holds(
    runs, written, readers, renderer
):
    for name, (verdict, _) in runs.items():
        markdown = (written / name / "comment.md").read_text(encoding="utf-8")
        shown = readers[renderer][name]
        assert f"<h2>Tollgate: {verdict.verdict} (check)" in shown, name
        assert re.findall(r'href="([^"]*)"', shown) == [PAGE], name
        assert re.findall(r"<(?:img|input|script|style)\b", shown) == [], name
        tables = re.findall(r"^\| *:?-", markdown, re.MULTILINE)
        assert shown.count("<table") == len(tables), name
        assert shown.count("<details>") == markdown.count("<details>"), name


def test_verdict_json_is_what_its_schema_says_to_a_strict_validator(readers):
    assert {name: errors for name, errors in readers["ajv"].items() if errors} == {}
