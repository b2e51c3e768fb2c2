"""Records of several jobs come together without a loss, and each run counts once."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from support.histories import nights, record
from tollgate.base.text import UserError
from tollgate.history import files
from tollgate.report.json_model import plain


def line(each):
    return json.dumps(plain(each)) + "\n"


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
