import json
from dataclasses import replace

import pytest

from tollgate.compare import record, words
from tollgate.compare.change import as_share
from tollgate.compare.model import GateSettings
from tollgate.compare.record import CompareRecord, CpuRecord, SideRecord
from tollgate.record.manifest import ManifestError

RECORD = CompareRecord(
    base=SideRecord("base", "1a2b3c4 (merge base with origin/main)", "1a2b3c4" + "0" * 33, None),
    head=SideRecord("head", "working tree at 5d6e7f8, with changes", None, None),
    execution="compare",
    mode="cluster",
    settings=GateSettings(effect=0.1, gates=("p95",), labels=("sum", "pi")),
    first_s=60.0,
    every_s=30.0,
    injected={"work_percent": 20.0},
    decided_s=90.0,
    background_cpu=(0.25, None, 0.0),
    cpu=CpuRecord(2, ((1.5, None, 2.0), (0.5, 3.25, 2.0))),
)


def test_what_was_written_is_read_back_from_a_folder_that_is_now_a_comparison(tmp_path):
    assert not record.is_compare(tmp_path)
    with pytest.raises(ManifestError, match=r"is not the folder of a comparison.*compare\.json"):
        record.read(tmp_path)
    record.write(RECORD, tmp_path)
    assert record.is_compare(tmp_path)
    assert record.read(tmp_path) == RECORD
    assert [path.name for path in tmp_path.iterdir()] == [record.NAME]


def spoiled(folder, spoil):
    """The path of a record that a change has spoiled."""
    record.write(RECORD, folder)
    path = folder / record.NAME
    raw = json.loads(path.read_text())
    spoil(raw)
    path.write_text(json.dumps(raw))
    return path


def test_the_names_of_earlier_versions_are_read(tmp_path):
    def of_then(raw):
        raw["foreign"] = raw.pop("background_cpu")
        for side in ("base", "head"):
            raw[side]["told"] = raw[side].pop("description")

    spoiled(tmp_path, of_then)
    assert record.read(tmp_path) == RECORD


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda it: it.update(version=6), "version 6, and this Tollgate reads 1 to 5"),
        (lambda it: it.update(version=[3]), r"version \[3\], and this Tollgate reads 1 to 5"),
        (lambda it: it["settings"].pop("labels"), r"settings\.labels: it is missing"),
        (lambda it: it["settings"].update(gates=[]), r"settings\.gates: .*at least 1 item"),
        (lambda it: it["settings"].update(miss="2 %"), r"settings\.miss: .*number, not '2 %'"),
        (lambda it: it["settings"].update(effect=0), r"settings\.effect: .*greater than 0, not 0"),
        (lambda it: it.update(base={"name": "base"}), "missing"),
        (lambda it: it.update(surplus=1), "surplus"),
        (lambda it: it.pop("first_s"), "first_s"),
        (lambda it: it.update(first_s=0.0), "first_s is 0, and by budget_s 3 at least"),
        (lambda it: it["settings"].update(budget_s=1e12), "first_s is 60, and by budget_s 5e"),
    ],
)
def test_a_record_that_is_not_one_is_refused_in_one_line(tmp_path, spoil, why):
    path = spoiled(tmp_path, spoil)
    with pytest.raises(ManifestError, match=why) as refused:
        record.read(tmp_path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_record_of_before_typical_and_fail_fast_promised_neither(tmp_path):
    def of_then(raw):
        raw["version"] = 1
        raw["settings"]["gates"] = ["p50", "errors"]
        for name in ("typical_effect", "fail_fast", "stall_effect", "cpu_effect", "tail_effect"):
            raw["settings"].pop(name)

    spoiled(tmp_path, of_then)
    read = record.read(tmp_path).settings
    assert read == replace(RECORD.settings, gates=("p50", "errors"), fail_fast=False)
    assert not read.gating("sum", "typical")


def test_a_record_of_before_cpu_time_promised_nothing_of_it(tmp_path):
    def of_then(raw):
        raw["version"] = 3
        del raw["settings"]["cpu_effect"], raw["settings"]["tail_effect"], raw["cpu"]

    spoiled(tmp_path, of_then)
    read = record.read(tmp_path)
    assert read == replace(RECORD, cpu=None)
    assert (read.first_gate.has_cpu, RECORD.first_gate.has_cpu) == (False, True)


@pytest.mark.parametrize("text", ["", "[]", "{", "\x00"])
def test_a_file_that_is_no_record_is_refused(tmp_path, text):
    (tmp_path / record.NAME).write_text(text)
    with pytest.raises(ManifestError, match="can't be read"):
        record.read(tmp_path)


@pytest.mark.parametrize(
    ("shares", "line"),
    [
        ((0.01, 0.02, None), "other processes took 1.5 % of the cores"),
        (
            (0.0, 0.5, 0.25, None),
            "other processes took 25 % of the cores: more than 12.5 % in 2 of 3 s, "
            "which weigh less in p95",
        ),
    ],
)
def test_what_others_took_is_told_with_how_many_seconds_weigh_less(shares, line):
    assert list(words.sides(replace(RECORD, background_cpu=shares)))[-1] == line
    assert line not in words.sides(replace(RECORD, background_cpu=()))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"coin": "iteration"}, ""),
        ({"coin": "thread", "weights": {}}, "once per thread"),
        ({"left_out": ("new", "newer"), "weights": {}}, "head alone answers new, newer"),
        ({"left_out": ("new",), "weights": {"sum": 3}}, ""),
    ],
)
def test_cpu_time_that_holds_what_only_one_side_was_asked_says_nothing_of_a_change(changes, said):
    found = replace(RECORD, **changes).cpu_times(3)
    assert said in found.doubt if said else not found.doubt
    assert replace(RECORD, cpu=None, **changes).cpu_times(3) is None


def test_a_change_of_any_size_is_a_share():
    assert as_share("p95", 0.0) == 0.0
    assert as_share("p95", 1e6) > 1e300
