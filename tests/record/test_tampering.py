"""What becomes of a verdict when the JTL is tampered with after the run.

With the seal of run.json every change is refused. Without it the schedule still tells what is
missing, up to the one request in a hundred that is tolerated.
"""

import copy
import json
import random
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import run_folder
from support.run_folder import edited_record, reasons
from tollgate.cli import cli
from tollgate.gather import evidence
from tollgate.record import manifest
from tollgate.record.environment import fingerprint
from tollgate.record.sealed_files import check_watched, seal_watched

RECORDED = run_folder.recorded()
HEADER, *ROWS = RECORDED.splitlines(keepends=True)
#: More missing than are tolerated (one in a hundred of 300) and than JMeter sent on top (five).
TOO_MANY = 9
UNCHECKED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
FEW = settings(max_examples=25, deadline=None, suppress_health_check=UNCHECKED)


CRITERIA = st.sampled_from([run_folder.HOLDS, run_folder.BROKEN])
CUTS = st.integers(0, len(RECORDED) - 1)
BYTES = st.tuples(st.integers(0, len(RECORDED) - 1), st.integers(0, 255))


def corrupted(at, value):
    return RECORDED[:at] + bytes([value]) + RECORDED[at + 1 :]


def shuffled(seed):
    rows = list(ROWS)
    random.Random(seed).shuffle(rows)
    return HEADER + b"".join(rows)


@FEW
@given(CRITERIA, CUTS.map(lambda cut: RECORDED[:cut]) | BYTES.map(lambda it: corrupted(*it)))
def test_a_sealed_jtl_that_lost_or_changed_a_byte_is_refused(judged, criteria, spoiled):
    if spoiled == RECORDED:
        return
    with pytest.raises(manifest.ManifestError, match="has changed since the run ended"):
        judged(*criteria, spoiled=spoiled, sealed=True)


def test_a_sealed_jtl_in_another_order_is_refused(judged):
    with pytest.raises(manifest.ManifestError, match="has changed since the run ended"):
        judged(spoiled=shuffled(1), sealed=True)


@FEW
@given(CRITERIA, st.integers())
def test_rows_in_an_order_that_jmeter_does_not_write_prove_nothing(judged, criteria, seed):
    assert judged(*criteria, spoiled=shuffled(seed)).verdict == "INVALID"


@pytest.mark.parametrize("criteria", [run_folder.HOLDS, run_folder.BROKEN])
def test_rows_in_the_order_of_their_starts_change_nothing_about_the_verdict(judged, criteria):
    sorted_rows = HEADER + b"".join(sorted(ROWS))
    assert judged(*criteria, spoiled=sorted_rows) == judged(*criteria)


@FEW
@given(CUTS)
def test_a_cut_off_jtl_never_passes_where_the_whole_one_does_not(judged, cut):
    assert judged(*run_folder.BROKEN, spoiled=RECORDED[:cut]).verdict in ("FAIL", "INVALID")


@FEW
@given(CUTS)
def test_a_cut_off_jtl_passes_only_if_hardly_a_row_is_missing(judged, cut):
    verdict = judged(spoiled=RECORDED[:cut])
    lost = len(ROWS) - RECORDED[:cut].count(b"\n") + 1
    assert verdict.verdict in ("PASS", "INVALID")
    if lost >= TOO_MANY or not RECORDED[:cut].endswith(b"\n"):
        assert verdict.verdict == "INVALID" or RECORDED[cut:] == b"\n"


@FEW
@given(st.sets(st.integers(0, len(ROWS) - 1), min_size=TOO_MANY, max_size=200))
def test_rows_taken_out_from_anywhere_are_missed(judged, taken):
    kept = [row for number, row in enumerate(ROWS) if number not in taken]
    verdict = judged(spoiled=HEADER + b"".join(kept))
    assert verdict.verdict == "INVALID"
    assert "scheduled requests of nap were not sent" in reasons(verdict)


def test_failures_that_were_taken_out_are_missed(judged):
    rows = [it if n % 20 else it.replace(b",true,", b",false,") for n, it in enumerate(ROWS)]
    assert judged(spoiled=HEADER + b"".join(rows)).verdict == "FAIL"
    kept = [row for row in rows if b",false," not in row]
    assert judged(spoiled=HEADER + b"".join(kept)).verdict == "INVALID"


@FEW
@given(BYTES)
def test_a_corrupted_byte_never_makes_a_failed_run_pass(judged, change):
    verdict = judged(*run_folder.BROKEN, spoiled=corrupted(*change))
    assert verdict.verdict in ("FAIL", "INVALID", "INCONCLUSIVE")


@FEW
@given(st.integers(0, len(ROWS) - 1), st.integers(0, 255))
def test_a_failure_whose_label_was_corrupted_is_a_failure_still(judged, row, value):
    broken = ROWS[row].replace(b",true,", b",false,").replace(b",nap,", b",n%cp," % value)
    spoiled = HEADER + b"".join([*ROWS[:row], broken, *ROWS[row + 1 :]])
    in_window = 2000 <= int(ROWS[row][:13]) - int(ROWS[row].split(b",")[-1]) < 10000
    verdict = judged("p50 of nap>1s", "fail>0", spoiled=spoiled).verdict
    assert verdict in (("FAIL", "INVALID") if in_window else ("PASS", "FAIL", "INVALID"))


VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run as it was left."""
    folder = tmp_path_factory.mktemp("run")
    run_folder.make(folder, (*run_folder.HOLDS, {"Zu langsam 🐌": "avg-rt>1s"}))
    return folder


def places(value, path=()):
    """Where the values of a JSON object stand."""
    parts = dict(enumerate(value)) if isinstance(value, list) else value
    for key, part in parts.items() if isinstance(parts, dict) else ():
        yield (*path, key)
        yield from places(part, (*path, key))


def edited(fields, path, value):
    edited = of = copy.deepcopy(fields)
    for key in path[:-1]:
        of = of[key]
    of[path[-1]] = value
    return edited


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
    with edited_record(tmp_path) as fields:
        fields[field] = value
    monkeypatch.setattr("sys.argv", ["tollgate", "judge", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert f"{tmp_path / 'run.json'} was edited: " in said
    assert said.count("\n") == 1


#: Whatever they hold: they are proven before they are read.
BESIDE = {"workers.jsonl": b'{"app": "fork"}\n', "workers-cpu.jsonl": b'{"time": 1}\n'}


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """The folder of a run with all that is sealed beside run.json, by its path."""
    folder = tmp_path_factory.mktemp("sealed")
    run_folder.make(folder)
    for name, content in BESIDE.items():
        (folder / name).write_bytes(content)
    made = manifest.read(folder)
    made.environment = {"plans": fingerprint(folder / "plan")["plans"]}
    made.watched_sha256 = seal_watched(folder)
    manifest.write(made, folder)
    run_folder.verdict_of(folder)
    names = [run_folder.JTL, made.executions[0].plan, *BESIDE]
    return {folder / name: (folder / name).read_bytes() for name in names}


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_one_byte_changed_in_any_sealed_file_is_refused_by_its_name_in_one_line(sealed, data):
    path = data.draw(st.sampled_from(sorted(sealed)))
    whole = sealed[path]
    at, by = data.draw(st.integers(0, len(whole))), data.draw(st.integers(1, 255))
    spoiled = bytearray(whole + b"\0")
    spoiled[at] ^= by
    folder = next(it.parent for it in sealed if it.name == run_folder.JTL)
    try:
        path.write_bytes(spoiled if at == len(whole) else spoiled[:-1])
        with pytest.raises(manifest.ManifestError) as refused:
            run_folder.verdict_of(folder)
        assert str(refused.value).startswith(f"{path} has changed since the run")
        assert "\n" not in str(refused.value)
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("name", BESIDE)
def test_a_sealed_file_that_is_gone_or_was_added_is_refused_by_its_name(tmp_path, name):
    run_folder.make(tmp_path)
    made = manifest.read(tmp_path)
    made.watched_sha256 = {}
    manifest.write(made, tmp_path)
    (tmp_path / name).write_bytes(BESIDE[name])
    with pytest.raises(manifest.ManifestError, match=f"{name} was not there when the run ended"):
        run_folder.verdict_of(tmp_path)
    made.watched_sha256 = seal_watched(tmp_path)
    manifest.write(made, tmp_path)
    assert run_folder.verdict_of(tmp_path).verdict == "PASS"
    (tmp_path / name).unlink()
    with pytest.raises(manifest.ManifestError, match=f"{name} is missing"):
        run_folder.verdict_of(tmp_path)


def test_a_run_of_before_there_were_seals_of_workers_is_judged(tmp_path):
    run_folder.make(tmp_path)
    (tmp_path / "workers.jsonl").write_bytes(BESIDE["workers.jsonl"])
    with edited_record(tmp_path) as fields:
        del fields["watched_sha256"], fields["seal"]
    verdict = run_folder.verdict_of(tmp_path)
    assert verdict.exit_code == 0
    assert evidence.UNSEALED in verdict.executions[0].warnings


def test_a_search_that_was_added_to_a_run_of_none_is_refused_by_its_name(tmp_path):
    run_folder.make(tmp_path)
    (tmp_path / "capacity-nap-alone.json").write_text("{}")
    with pytest.raises(manifest.ManifestError, match=r"capacity-nap-alone.json was not there when"):
        run_folder.verdict_of(tmp_path)


def test_order_and_space_are_no_edit(run):
    whole = (run / "run.json").read_text()
    try:
        (run / "run.json").write_text(json.dumps(json.loads(whole), sort_keys=True))
        assert manifest.read(run).seal == json.loads(whole)["seal"]
    finally:
        (run / "run.json").write_text(whole)


def test_a_seal_of_another_version_is_refused(tmp_path):
    run_folder.make(tmp_path)
    with edited_record(tmp_path) as fields:
        fields["seal"] = "2:abc"
    with pytest.raises(manifest.ManifestError, match=r"has a seal of version 2, .* reads 1: "):
        manifest.read(tmp_path)


@pytest.mark.parametrize("sealed", [True, False])
def test_a_run_without_a_seal_is_judged_and_its_verdict_says_so(tmp_path, sealed):
    run_folder.make(tmp_path)
    with edited_record(tmp_path) as fields:
        if not sealed:
            del fields["seal"]
    verdict = run_folder.verdict_of(tmp_path)
    assert verdict.exit_code == 0
    (execution,) = verdict.executions
    assert (evidence.UNSEALED in execution.warnings) == (not sealed)


@FEW
@given(
    st.sampled_from(["plan", "jtl", "folder", "sealed"]),
    st.sampled_from(["/", "../", "plan/../../", "./../", "link/", "link/../"]),
    st.text(st.characters(codec="utf-8", exclude_characters="/"), max_size=9),
)
def test_a_record_that_names_what_is_not_of_its_run_reads_nothing(tmp_path, field, way, name):
    """Its seal proves nothing: whoever wrote the fields wrote it too."""
    run = tmp_path / "run"
    made = run_folder.make(run)
    (run / "link").unlink(missing_ok=True)
    (run / "link").symlink_to("/proc/self")
    if field == "folder":
        made.engines = [{"folder": way + name, "sha256": "0" * 64}]
    elif field == "sealed":
        made.watched_sha256 = {way + name: "0" * 64}
    else:
        setattr(made.executions[0], field, way + name)
    manifest.write(made, run)
    with pytest.raises(manifest.ManifestError, match=r"leads out of the run's folder"):
        check_watched(manifest.read(run), run)


@FEW
@given(
    st.sampled_from(["cpu", "cores", "commit", "versions", "variables", "plans"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    ),
)
def test_whatever_a_record_says_of_its_machine_ends_in_a_verdict_or_in_one_line(
    tmp_path, field, value
):
    run = tmp_path / "run"
    made = run_folder.make(run)
    made.environment[field] = value
    manifest.write(made, run)
    with suppress(manifest.ManifestError):
        evidence.gather(run, manifest.read(run))
