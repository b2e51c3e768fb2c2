"""What a verdict tells beside what it judges: notes, whose service it was, remarks on the plan."""

import json

import jsonschema
import pytest

from support import run_folder
from tollgate.base.paths import SUITE
from tollgate.gather import evidence
from tollgate.judge.judgement import judge
from tollgate.record import manifest
from tollgate.report.console import verdict_table
from tollgate.report.json_model import to_json
from tollgate.report.json_verdict import to_dict
from tollgate.report.markdown import to_markdown

URL = "http://127.0.0.1:8080"
LINT = "no assertion looks at the answers of 'nap|home': add <one>"
NOTE = "responses of shop have no X-Worker"


@pytest.fixture
def told(tmp_path):
    """(verdict, verdict.json, verdict.md, the console's table) of a run with these in run.json."""

    def judged(**changes):
        run_folder.make(tmp_path, **changes)
        run, settings = evidence.gather(tmp_path, manifest.read(tmp_path))
        verdict = judge(run, settings)
        content = to_dict(verdict, run, "check", ENVIRONMENT)
        return verdict, content, to_markdown(verdict, "check"), verdict_table(verdict)

    return judged


ENVIRONMENT = {
    **{"cpu": "a", "cores": 2, "memory_bytes": 1, "os": "b", "commit": "unknown", "plans": {}},
    "variables": {},
    "versions": dict.fromkeys(
        ("tollgate", "node", "java", "jmeter", "taurus", "pm2", "python"), "1"
    ),
}


def test_they_are_told_everywhere_and_change_no_verdict(told):
    plain = told()[0]
    verdict, content, markdown, shown = told(url=URL, notes=[NOTE], lint=[LINT])
    assert (verdict.verdict, verdict.reasons) == (plain.verdict, plain.reasons)
    (execution,) = content["executions"]
    assert execution["lint"] == [LINT]
    assert execution["url"] == URL
    assert [line.partition(",")[0] for line in execution["warnings"][-2:]] == [
        *(f"asked was {URL}", NOTE)
    ]
    assert "What was noticed of the plan:" in markdown
    assert "'nap\\|home': add \\<one\\>" in markdown
    assert f"  lint: {LINT}" in shown.splitlines()
    assert f"  ! {NOTE}" in shown.splitlines()


def test_a_run_without_any_tells_none(told):
    _, content, markdown, shown = told()
    (execution,) = content["executions"]
    assert (execution["lint"], execution["url"]) == ([], None)
    assert "noticed" not in markdown
    assert "lint:" not in shown


@pytest.mark.parametrize("changes", [{}, {"url": URL, "notes": [NOTE], "lint": [LINT]}])
def test_verdict_json_with_all_of_them_is_as_its_schema_says(told, changes):
    schema = json.loads((SUITE / "scripts/tollgate/report/verdict.schema.json").read_text())
    jsonschema.validate(json.loads(to_json(told(**changes)[1])), schema)
