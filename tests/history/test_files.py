"""Records of several jobs come together without a loss, and each run counts once."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from support.histories import leave, line, measure, nights, record
from tollgate.base.text import UserError
from tollgate.history import files
from tollgate.record import manifest
from tollgate.report.json_model import plain


@pytest.fixture
def three():
    return nights([0.0, 0.01, 0.02])


def test_records_of_files_and_folders_are_one_history_oldest_first(three, tmp_path):
    files.collect([three[2]], tmp_path / "job-1" / "reports" / "history")
    (tmp_path / "job-2.jsonl").write_text(line(three[1]) + "\n" + line(three[0]))
    assert files.read([tmp_path / "job-1", tmp_path / "job-2.jsonl"]) == three
    assert files.read([tmp_path / "job-1" / "reports" / "history"]) == three[2:]


def test_a_run_that_several_jobs_have_counts_once(three, tmp_path):
    for name in "ab":
        files.collect(three, tmp_path / name)
    with (tmp_path / "a" / "appended.jsonl").open("a") as file:
        file.write(line(three[0]) * 2)
    assert files.read([tmp_path / "b", tmp_path / "a"]) == three
    assert files.collect(three, tmp_path / "b") == 0


def test_two_runs_of_one_second_on_two_machines_are_two_files(tmp_path):
    first, second = (record(1, setup=it) for it in "ab")
    assert first.run == second.run
    assert files.collect([first, second], tmp_path) == 2
    assert {it.id for it in files.read([tmp_path])} == {first.id, second.id}


def test_many_writers_at_once_lose_nothing(tmp_path):
    every = nights([0.0] * 40)
    shifted = [every[start:] + every[:start] for start in range(8)]
    with ThreadPoolExecutor(8) as jobs:
        added = sum(jobs.map(files.collect, shifted, [tmp_path] * 8))
    assert added >= 40
    assert files.read([tmp_path]) == every
    assert len([*tmp_path.iterdir()]) == 40


def test_what_workers_left_in_a_runs_folder_is_no_history(three, tmp_path):
    files.collect(three, tmp_path)
    for name in ("workers.jsonl", "workers-cpu.jsonl"):
        (tmp_path / name).write_text("{}\n")
    (tmp_path / ".half.jsonl").write_text('{"ver')
    assert files.read([tmp_path]) == three


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 2}, "version is 2"),
        ({"kind": 3}, "kind: "),
        ({"more": 1}, "more: there is no such field"),
        ({"id": None}, "id: "),
        ({"started": "soon"}, "started: 'soon' is no time in ISO 8601 with its time zone"),
        ({"started": "2026-01-01T01:17:00"}, "started: '2026-01-01T01:17:00' is no time"),
        ({"executions": [{"name": "compare"}]}, "executions.0.setup: it is missing"),
    ],
)
def test_a_line_that_is_no_record_is_named_with_its_field(change, says, three, tmp_path):
    file = tmp_path / "history.jsonl"
    file.write_text(line(three[0]) + json.dumps({**plain(three[1]), **change}))
    with pytest.raises(UserError) as raised:
        files.read([file])
    message = str(raised.value)
    assert message.startswith(f"{file}:2 is no record of a run: {says}")
    assert "\n" not in message


@pytest.mark.parametrize("text", ["half a li", "[1]", '"text"', "NaN"])
def test_a_line_that_is_no_object_is_named(text, tmp_path):
    file = tmp_path / "history.jsonl"
    file.write_text(text)
    with pytest.raises(UserError, match=r"history\.jsonl:1 is no record of a run: "):
        files.read([file])


@pytest.mark.parametrize("name", ["/tmp/evil", "../evil", "a\\b", ""])
def test_a_record_names_no_folder_that_its_file_could_leave(three, name, tmp_path):
    (tmp_path / "history.jsonl").write_text(line(replace(three[0], run=name)))
    with pytest.raises(UserError, match=r"history\.jsonl:1 is no record of a run: "):
        files.read([tmp_path / "history.jsonl"])


def test_a_folder_without_records_among_others_is_named_and_the_others_count(three, tmp_path):
    files.collect(three, tmp_path / "job-1")
    (tmp_path / "job-2").mkdir()
    said = []
    assert files.read([tmp_path / "job-1", tmp_path / "job-2"], said.append) == three
    assert len(said) == 1
    assert "job-2 has no records of runs" in said[0]
    with pytest.raises(UserError, match="job-3"):
        files.read([tmp_path / "job-1", tmp_path / "job-3"])


@pytest.mark.parametrize("name", ["there is none", "empty"])
def test_a_place_without_records_is_named(name, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=f"{name} has no records of runs"):
        files.read([tmp_path / name])


def test_a_record_of_before_there_were_other_reasons_has_none(three, tmp_path):
    fields = plain(replace(three[0], failed=("every request of sum to head failed (n=9)",)))
    del fields["failed"]
    (tmp_path / "old.jsonl").write_text(json.dumps(fields))
    assert files.read([tmp_path]) == three[:1]


def test_a_file_is_read_as_other_programs_write_it(tmp_path):
    label = record(1, measure("a\u2028b", "p50", 0.0))
    text = json.dumps(plain(label), ensure_ascii=False)
    (tmp_path / "written.jsonl").write_text(f"\ufeff{text}\r\n", encoding="utf-8")
    assert files.read([tmp_path]) == [label]


def test_a_file_that_lost_its_record_is_named_and_written_anew_from_the_artifacts(three, tmp_path):
    kept, artifacts = tmp_path / "history", tmp_path / "artifacts"
    for folder in (kept, artifacts):
        files.collect(three, folder)
    lost = kept / f"{three[1].run}-{three[1].id[:8]}.jsonl"
    lost.write_text("\n")
    said = []
    found = files.read([kept, artifacts], said.append)
    assert found == three
    assert said == [f"{lost} holds no record: take it from the artifacts with --to, or delete it"]
    assert files.collect(found, kept) == 1
    assert files.read([kept]) == three
    lost.write_text("")
    with pytest.raises(UserError, match="has no records of runs"):
        files.read([lost])


def test_a_record_from_the_future_is_left_out_and_named_with_its_time(three, tmp_path):
    started = (datetime.now(timezone.utc) + timedelta(days=2)).isoformat()
    file = tmp_path / "history.jsonl"
    file.write_text(line(three[0]) + line(replace(three[1], started=started)))
    said = []
    assert files.read([file], said.append) == three[:1]
    assert len(said) == 1
    assert said[0].startswith(f"{file}:2 is left out: started is {started!r}, more than a day from")


def test_records_of_several_time_zones_are_in_the_order_of_their_times(three, tmp_path):
    first = replace(three[0], started="2026-01-02T02:00:00+02:00")
    second = replace(three[1], started="2026-01-01T22:00:00-03:00")
    files.collect([second, first], tmp_path)
    assert files.read([tmp_path]) == [first, second]


def test_a_record_whose_run_is_another_one_is_refused_by_both_their_ids(three, tmp_path):
    run = leave(three[1], tmp_path)
    (run / "run.json").write_text("{}")
    its_id = manifest.digest(run / "run.json")
    for read in (files.of_run, lambda place, warn: files.read([place], warn)):
        with pytest.raises(UserError) as refused:
            read(run, print)
        assert f"history.jsonl:1 is not of the run beside it: id is {three[1].id}" in str(
            refused.value
        )
        assert its_id in str(refused.value)
    (run / "history.jsonl").write_text(line(replace(three[1], id=its_id)))
    assert files.of_run(run, print).id == its_id


def test_the_record_of_a_run_is_that_of_its_folder_or_of_a_link_to_it(three, tmp_path):
    run = leave(three[1], tmp_path)
    (tmp_path / "latest").symlink_to(run)
    said = []
    assert [files.of_run(it, said.append) for it in (run, tmp_path / "latest")] == [three[1]] * 2
    with pytest.raises(UserError, match="none is no folder of a run"):
        files.of_run(tmp_path / "none", said.append)
    ahead = leave(replace(three[2], started="2999-01-01T00:00:00+00:00"), tmp_path)
    with pytest.raises(UserError, match="left no record"):
        files.of_run(ahead, said.append)
    assert len(said) == 1


def test_a_pipe_among_the_records_keeps_nobody_waiting(three, tmp_path):
    files.collect(three, tmp_path / "history")
    os.mkfifo(tmp_path / "history" / "night.jsonl")
    assert files.read([tmp_path]) == three
