"""Real runs of every kind, archived with their verdicts, are judged as they were when they ended:
see tests/archive/README.md. TOLLGATE_WRITE_GOLDEN=1 writes what is said of them now."""

import json

import pytest

from support import golden
from support.archived import ARCHIVE, unpacked
from support.command import tollgate
from tollgate.base.exit_codes import ExitCode

RUNS = sorted(run.parent.name for run in ARCHIVE.glob("*/run.json"))
STUDIES = sorted(run.parent.name for run in ARCHIVE.glob("*/study.json"))
#: Relative. CPUs add up floats in orders of their own, and the last digits tell which.
ROUNDING = 1e-9
#: What runs before version 0.2.0 ended with, by what they end with now.
EARLIER = {ExitCode.INVALID: 1, ExitCode.INCONCLUSIVE: 1}


def flat(value, path=""):
    """The leaves of a JSON value by where they stand, such as `executions/0/name`."""
    if isinstance(value, dict | list) and value:
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        return {k: v for key, it in parts for k, v in flat(it, f"{path}/{key}").items()}
    return {path: value}


def assert_said(file, text):
    """Fails unless the JSON is that of the archived file, value for value."""
    if golden.WRITES:
        file.write_text(json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n")
    meant = flat(json.loads(file.read_text()))
    nearly = {k: pytest.approx(v, rel=ROUNDING) for k, v in meant.items() if isinstance(v, float)}
    assert flat(json.loads(text)) == meant | nearly


@pytest.mark.parametrize("name", RUNS)
def test_an_archived_run_has_the_verdict_that_it_had_when_it_ended(tmp_path, name):
    code, out, _ = tollgate("judge", "--json", unpacked(name, tmp_path))
    said = json.loads(out)
    assert code == said["exit_code"]
    said["exit_code"] = EARLIER.get(code, code)
    assert_said(ARCHIVE / name / "verdict.json", json.dumps(said))


@pytest.mark.parametrize("name", STUDIES)
def test_an_archived_study_answers_as_it_did_when_it_ended(tmp_path, monkeypatch, name):
    monkeypatch.setenv("JMETER_HOME", str(tmp_path / "none"))  # nobody looks at its dashboard
    folder = unpacked(name, tmp_path)
    tollgate("report", folder)
    assert_said(ARCHIVE / name / "study.json", (folder / "study.json").read_text())


def test_the_archive_has_every_kind_and_every_verdict():
    said = {name: json.loads((ARCHIVE / name / "verdict.json").read_text()) for name in RUNS}
    found = {(it["kind"], it["verdict"]) for it in said.values()}
    kinds = {"check", "stress", "load", "soak", "study", "compare", "plan"}
    assert {kind for kind, _ in found} == kinds
    assert {verdict for _, verdict in found} == {"PASS", "FAIL", "INVALID", "INCONCLUSIVE"}
    assert found >= {("compare", "PASS"), ("compare", "FAIL")}
    assert [name for name in RUNS if said[name]["kind"] == "study"] == STUDIES
