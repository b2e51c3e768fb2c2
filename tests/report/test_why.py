"""What a profile adds to verdict.md, and why.json from its writing to its reading."""

import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from support import ROOT
from support.profiles import WHY
from tollgate.compare.cpu import WAITING
from tollgate.compare.profile.model import SAME, absent, read_why, write_why
from tollgate.record.manifest import ManifestError
from tollgate.report import write as outputs

SCHEMA = json.loads((ROOT / "scripts" / "tollgate" / "report" / "why.schema.json").read_text())


@pytest.mark.parametrize("why", [WHY, absent("it is a service by URL")])
def test_what_is_written_is_read_again_and_is_what_the_schema_says(tmp_path, why):
    write_why(why, tmp_path)
    Draft202012Validator(SCHEMA).validate(json.loads((tmp_path / "why.json").read_text()))
    assert read_why(tmp_path) == why


def test_a_run_without_a_profile_has_none_and_a_broken_one_is_refused(tmp_path):
    assert read_why(tmp_path) is None
    (tmp_path / "why.json").write_text('{"version": 4}')
    with pytest.raises(ManifestError, match=r"why\.json can't be read: version"):
        read_why(tmp_path)


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_of_an_earlier_version_is_read_without_what_it_has_more(tmp_path, version):
    write_why(WHY, tmp_path)
    file = tmp_path / "why.json"
    overhead = {"off_us": 1000.0, "on_us": 1100.0, "low": 0.08, "high": 0.12}
    old = json.loads(file.read_text()) | {"version": version, "overhead": overhead}
    for function in old["functions"]:
        function |= {"caller": "handler (app/handler.js:3)"} if version == 1 else {}
    file.write_text(json.dumps(old))
    assert read_why(tmp_path) == WHY


def section(tmp_path, monkeypatch, why):
    """What verdict.md has more, and the job's page alike."""
    page = tmp_path / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    (tmp_path / "verdict.md").write_text("before\n")
    outputs.append_why(tmp_path, why)
    before, added = (tmp_path / "verdict.md").read_text().split("\n", 1)
    assert (before, page.read_text()) == ("before", added)
    return added


def test_the_first_three_functions_are_named_as_code(tmp_path, monkeypatch):
    added = section(tmp_path, monkeypatch, WHY)
    named = [line for line in added.splitlines() if line.startswith("- ")]
    assert len(named) == 3
    assert "<code>" in named[0]
    assert "`second (app/x.js:7)`" in named[1]
    assert "fourth (" not in added


def test_the_same_cpu_is_waiting_and_without_a_profile_its_want_is_said(tmp_path, monkeypatch):
    waiting = replace(
        WHY, outcome=WAITING, cpu=replace(WHY.cpu, low_us=-100.0, moved=SAME), functions=()
    )
    assert "waiting, not computing" in section(tmp_path, monkeypatch, waiting)
    (tmp_path / "page.md").unlink()
    none = absent("it is a service by URL")
    assert "No profile: it is a service by URL." in section(tmp_path, monkeypatch, none)
