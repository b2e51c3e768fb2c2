"""The seal of run.json itself."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import run_folder
from tollgate.commands import cli
from tollgate.gather import evidence
from tollgate.run import manifest

VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run as it was left."""
    folder = tmp_path_factory.mktemp("run")
    run_folder.make(folder, (*run_folder.HOLDS, {"Zu langsam 🐌": "avg-rt>1s"}))
    return folder


def places(value, path=()):
    """Where the values of a JSON object stand."""
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, part in parts:
        yield (*path, key)
        yield from places(part, (*path, key))


def edited(fields, path, value):
    fields = copy.deepcopy(fields)
    of = fields
    for key in path[:-1]:
        of = of[key]
    of[path[-1]] = value
    return fields


@settings(deadline=None)
@given(st.data())
def test_a_run_json_of_which_any_one_value_was_edited_is_refused_in_one_line(run, data):
    whole = (run / "run.json").read_text()
    fields = json.loads(whole)
    path = data.draw(st.sampled_from([it for it in places(fields) if it != ("seal",)]))
    changed = edited(fields, path, data.draw(VALUES))
    # 1 and 1.0 are equal in Python, and not in JSON.
    is_same = json.dumps(changed) == json.dumps(fields)
    try:
        (run / "run.json").write_text(json.dumps(changed))
        if is_same:
            assert manifest.read(run).criteria == fields["criteria"]
            return
        with pytest.raises(manifest.ManifestError) as refused:
            manifest.read(run)
        assert len(str(refused.value).splitlines()) == 1
    finally:
        (run / "run.json").write_text(whole)


@pytest.mark.parametrize(
    ("field", "value"), [("criteria", ["p50 of nap>9s"]), ("settings", {"confidence": 0.5})]
)
def test_judge_refuses_criteria_and_confidence_that_were_edited(
    tmp_path, monkeypatch, capsys, field, value
):
    run_folder.make(tmp_path)
    fields = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**fields, field: value}))
    monkeypatch.setattr("sys.argv", ["tollgate", "judge", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert f"{tmp_path / 'run.json'} was edited: " in said
    assert said.count("\n") == 1


def test_order_and_space_are_no_edit(run):
    whole = (run / "run.json").read_text()
    try:
        (run / "run.json").write_text(json.dumps(json.loads(whole), sort_keys=True))
        assert manifest.read(run).seal == json.loads(whole)["seal"]
    finally:
        (run / "run.json").write_text(whole)


def test_a_seal_of_another_version_is_refused(tmp_path):
    run_folder.make(tmp_path)
    fields = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**fields, "seal": "2:abc"}))
    with pytest.raises(manifest.ManifestError, match=r"has a seal of version 2, .* reads 1: "):
        manifest.read(tmp_path)


@pytest.mark.parametrize("sealed", [True, False])
def test_a_run_without_a_seal_is_judged_and_its_verdict_says_so(tmp_path, sealed):
    run_folder.make(tmp_path)
    fields = json.loads((tmp_path / "run.json").read_text())
    if not sealed:
        del fields["seal"]
    (tmp_path / "run.json").write_text(json.dumps(fields))
    verdict = run_folder.verdict_of(tmp_path)
    assert verdict.exit_code == 0
    (execution,) = verdict.executions
    assert (evidence.UNSEALED in execution.warnings) == (not sealed)
