import json
import os
from dataclasses import replace

import pytest

from support.run_folder import edited_record
from tollgate.record import manifest

EXECUTION = manifest.Execution(
    name="fork",
    plan="plan/check.jmx",
    jtl="kpi.jtl",
    properties={"warmup": "5"},
    targets=[{"name": "fork", "mode": "fork", "instances": 1}],
    criteria=["p95 of search>250ms", {"Too slow": "avg-rt>1s"}],
    warmup=5.0,
    measured=30.0,
    exit_code=0,
    began=1.5,
    ended=40.25,
)
MANIFEST = manifest.Manifest(
    kind="check",
    started="2026-01-01T00:00:00+00:00",
    criteria=["fail>0%"],
    settings={"inconclusive_passes": True},
    environment={"cores": 2, "cpu": "Ünïcode 🐌"},
    executions=[EXECUTION],
    stopped_by="p95 of search>1s for 5s",
)
JTL = b"timeStamp,elapsed\n1,2\n"


@pytest.fixture
def sealed(tmp_path):
    """(run's folder, its one execution) with a sealed JTL."""
    (tmp_path / "kpi.jtl").write_bytes(JTL)
    execution = replace(EXECUTION)
    manifest.seal(execution, tmp_path)
    return tmp_path, execution


def refusal(function, *arguments):
    """The one line with which it is refused."""
    with pytest.raises(manifest.ManifestError) as caught:
        function(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_was_written_is_read_again(tmp_path):
    manifest.write(MANIFEST, tmp_path)
    assert manifest.read(tmp_path) == MANIFEST
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


LOOKS = {"least_s": 30.0, "budget_s": 240.0, "every_s": 10.0, "lag_s": 1.0}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("warmup", -5.0),
        ("measured", -30.0),
        ("targets", [{}]),
        ("targets", [{"name": "fork", "mode": "fork", "instances": "1"}]),
        ("clock_steps", [[1.0]]),
        ("clock_steps", [[1.0, 2.0, 3.0]]),
        ("began", -1.0),
        ("ended", 1e300),
        ("interim", {**LOOKS, "every_s": 1e-9}),
        ("interim", {**LOOKS, "budget_s": 0.0}),
        ("interim", {**LOOKS, "lag_s": -5.0}),
        ("interim", {**LOOKS, "budget_s": 1e12}),
        ("interim", {**LOOKS, "least_s": 1e300}),
    ],
)
def test_an_execution_that_no_run_wrote_is_refused(tmp_path, field, value):
    manifest.write(replace(MANIFEST, executions=[replace(EXECUTION, **{field: value})]), tmp_path)
    assert f"executions.0.{field}" in refusal(manifest.read, tmp_path)


RELOAD = {"app": "cluster", "began": 10.5, "ended": 12.25, "problem": ""}


@pytest.mark.parametrize("reload", [{}, {"app": "fork"}, {**RELOAD, "began": "x"}])
def test_a_reload_that_no_run_wrote_is_refused(tmp_path, reload):
    manifest.write(replace(MANIFEST, reloads=[reload]), tmp_path)
    assert "reloads.0." in refusal(manifest.read, tmp_path)


def test_a_run_from_before_watching_was_measured_is_read(tmp_path):
    manifest.write(MANIFEST, tmp_path)
    with edited_record(tmp_path) as older:
        for field in ("watching", "reloads", "interrupted_at", "arguments", "stopped_at", "seal"):
            del older[field]
        for execution in older["executions"]:
            del execution["stop_requested_at"], execution["ended_by_force"]
    assert manifest.read(tmp_path) == replace(MANIFEST, seal=None)


@pytest.mark.parametrize(
    ("former", "field", "value"),
    [
        ("told_to_end", "stop_requested_at", 5.0),
        ("looks", "interim", manifest.InterimSchedule(**LOOKS)),
        ("whole", "undivided_properties", {"rate": "5"}),
    ],
)
def test_a_field_by_its_former_name_is_read(tmp_path, former, field, value):
    record = replace(MANIFEST, executions=[replace(EXECUTION, **{field: value})])
    manifest.write(record, tmp_path)
    with edited_record(tmp_path) as older:
        older["executions"][0][former] = older["executions"][0].pop(field)
        older["seal"] = None
    assert manifest.read(tmp_path) == replace(record, seal=None)


def test_the_seal_is_the_size_and_digest_of_the_jtl(sealed):
    run, execution = sealed
    manifest.check_seal(execution, run)
    assert execution.bytes == len(JTL)
    # As `sha256sum kpi.jtl` prints it, so that a person can look it up.
    digest = "5877bb33a920bfdcf4a613fd426072eb37b3f7113a1466f640e69066e88c5365"
    assert execution.sha256 == digest


@pytest.mark.parametrize(
    "changed",
    [JTL.replace(b"2", b"3"), JTL[:-1], b"", JTL + b"3,4\n", JTL.replace(b"\n", b"\r\n")],
)
def test_a_jtl_that_changed_since_the_run_is_refused(sealed, changed):
    run, execution = sealed
    (run / "kpi.jtl").write_bytes(changed)
    said = refusal(manifest.check_seal, execution, run)
    assert said.startswith(f"{run / 'kpi.jtl'} has changed since the run ended")


def test_a_jtl_that_is_gone_is_refused(sealed):
    run, execution = sealed
    (run / "kpi.jtl").unlink()
    said = refusal(manifest.check_seal, execution, run)
    assert said == f"{run / 'kpi.jtl'} is missing: the samples of 'fork' are gone"


def test_an_execution_that_never_wrote_a_jtl_has_no_seal(tmp_path):
    for jtl in ("kpi.jtl", ""):
        execution = replace(EXECUTION, jtl=jtl)
        manifest.seal(execution, tmp_path)
        assert (execution.bytes, execution.sha256) == (None, None)
        manifest.check_seal(execution, tmp_path)


def test_a_folder_that_is_no_runs_is_refused(tmp_path):
    expected = f"{tmp_path} is not the folder of a run: it has no run.json; name one under reports/"
    assert refusal(manifest.read, tmp_path) == expected
    assert "is not the folder of a run" in refusal(manifest.read, tmp_path / "nowhere")
    manifest.write(MANIFEST, tmp_path)
    assert "is not the folder of a run" in refusal(manifest.read, tmp_path / "run.json")


def test_a_run_of_another_version_is_refused(tmp_path):
    manifest.write(replace(MANIFEST, version=manifest.VERSION + 1), tmp_path)
    said = refusal(manifest.read, tmp_path)
    assert f"has version {manifest.VERSION + 1}, this Tollgate reads {manifest.VERSION}: " in said
    assert said.endswith("judge the run with the Tollgate that made it")


def test_a_run_from_before_there_were_several_targets_is_refused_for_its_version(tmp_path):
    manifest.write(replace(MANIFEST, version=1), tmp_path)
    with edited_record(tmp_path) as older:
        [older["executions"][0]["target"]] = older["executions"][0].pop("targets")
    assert "run.json has version 1, this Tollgate reads 2: " in refusal(manifest.read, tmp_path)


OBJECTS = ({"kind": "check"}, {"executions": [{"nome": "fork"}]}, {"executions": [], "more": 1})


@pytest.mark.parametrize(
    "text", ["", "{", "\x00", '"a text"', "[]", "null", *map(json.dumps, OBJECTS)]
)
def test_a_run_json_that_cannot_be_read_is_refused(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    assert refusal(manifest.read, tmp_path).startswith(f"{tmp_path / 'run.json'} can't be read: ")


def test_writing_replaces_the_file_as_a_whole(tmp_path):
    manifest.write(MANIFEST, tmp_path)
    before = (tmp_path / "run.json").stat().st_ino
    manifest.write(replace(MANIFEST, interrupted=True), tmp_path)
    assert (tmp_path / "run.json").stat().st_ino != before
    assert manifest.read(tmp_path).interrupted


def test_the_reloads_of_a_run_are_kept_and_an_older_run_without_them_is_read(tmp_path):
    manifest.write(replace(MANIFEST, reloads=[RELOAD]), tmp_path)
    assert manifest.read(tmp_path).reloads == [RELOAD]
    with edited_record(tmp_path) as older:
        del older["reloads"], older["seal"]
    assert manifest.read(tmp_path).reloads == []


def test_a_run_of_a_version_that_could_compact_and_did_not_is_read(tmp_path):
    manifest.write(MANIFEST, tmp_path)
    with edited_record(tmp_path) as older:
        older["executions"][0]["pieces_sha256"] = None
        del older["seal"]
    assert manifest.read(tmp_path) == replace(MANIFEST, seal=None)


def test_a_run_whose_samples_an_earlier_version_compacted_is_refused(tmp_path):
    manifest.write(MANIFEST, tmp_path)
    (tmp_path / "kpi.pieces").mkdir()
    assert manifest.read(tmp_path) == MANIFEST
    (tmp_path / "kpi.pieces" / "index.json").write_text('{"version": 1}')
    with pytest.raises(manifest.ManifestError, match="was compacted by an earlier version"):
        manifest.read(tmp_path)
    (tmp_path / "kpi.pieces" / "index.json").unlink()
    with edited_record(tmp_path) as older:
        older["executions"][0]["pieces_sha256"] = "0" * 64
        del older["seal"]
    with pytest.raises(manifest.ManifestError, match="was compacted by an earlier version"):
        manifest.read(tmp_path)


def test_a_pipe_in_the_folder_of_a_run_keeps_nobody_waiting(tmp_path):
    manifest.write(MANIFEST, tmp_path)
    os.mkfifo(tmp_path / "workers.jsonl")
    assert "workers.jsonl is neither a file nor a folder" in refusal(manifest.read, tmp_path)
