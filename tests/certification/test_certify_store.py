"""A certification can end at any time, and carries on where it was."""

import json
from collections import Counter

import pytest

from certification.conditions import parse
from certification.live import Limits, session
from certification.store import BROKEN, Store, StoreError
from support.certified import finished

WEIGHTS = parse(["aa*2", "work-5"])


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "certify")


class Live:
    """Makes runs up, as quickly as asked for; `breaks` are numbers of runs without a verdict."""

    def __init__(self, store, breaks=(), interrupted=()):
        self.store, self.breaks, self.interrupted = store, breaks, interrupted
        self.calls = []

    def __call__(self, condition, number, seed):
        self.calls.append((condition.key, number, seed))
        made = self.store.under_way / f"run-{number}"
        made.mkdir(parents=True)
        (made / "kpi.jtl").write_text(f"samples of {number}")
        (made / "jmeter.log").write_text("much")
        if number in self.interrupted:
            raise KeyboardInterrupt
        folder = self.store.move(made, f"{number:04}-{condition.key}")
        verdict = BROKEN if number in self.breaks else "PASS"
        return finished(number, condition.key, verdict, seed=seed, folder=folder, problem="broke")


def carry_on(store, live, runs=None, minutes=None, clock=lambda: 0.0):
    said = []
    session(store, WEIGHTS, 1, Limits(runs, minutes), live, said.append, clock)
    return said


def test_runs_are_kept_with_their_samples_and_without_the_rest(store):
    said = carry_on(store, Live(store), runs=3)
    runs = store.read()
    assert [run.number for run in runs] == [1, 2, 3]
    assert Counter(run.condition for run in runs) == {"aa": 2, "work-5": 1}
    for run in runs:
        assert (store.folder / run.folder / "kpi.jtl").read_text() == f"samples of {run.number}"
        assert [file.name for file in (store.folder / run.folder).iterdir()] == ["kpi.jtl"]
    assert len({run.seed for run in runs}) == 3
    assert said[1] == "run 1: PASS after 60 s of measuring, 90 s in all: broke"


def test_it_carries_on_as_if_it_had_never_stopped(store, tmp_path):
    carry_on(store, Live(store), runs=2)
    carry_on(store, Live(store), runs=4)
    other = Store(tmp_path / "other")
    carry_on(other, Live(other), runs=6)
    assert store.read() == other.read()


def test_an_interruption_loses_the_run_under_way_alone(store):
    live = Live(store, interrupted=[3])
    with pytest.raises(KeyboardInterrupt):
        carry_on(store, live, runs=6)
    assert [run.number for run in store.read()] == [1, 2]
    assert not store.under_way.exists()
    again = Live(store)
    carry_on(store, again, runs=1)
    assert again.calls[0] == live.calls[2]


def killed(store, number=2):
    """What a run leaves that somebody kills while its samples are put away."""
    made = store.under_way / f"run-{number}"
    made.mkdir(parents=True)
    made.with_suffix(".out").write_text("what bzt said")
    (store.folder / "runs" / f"{number:04}-work-20+noise").mkdir(parents=True)


def test_what_a_killed_run_left_is_removed_by_the_next_which_says_so(store):
    carry_on(store, Live(store), runs=1)
    killed(store)
    said = carry_on(store, Live(store), runs=0)
    assert [str(it.relative_to(store.folder)) for it in (store.folder / "runs").iterdir()] == [
        store.read()[0].folder
    ]
    assert not store.under_way.exists()
    assert said == [
        f"removed {left}: a run that did not finish left it"
        for left in ("runs/0002-work-20+noise", "under-way/run-2", "under-way/run-2.out")
    ]


def test_a_first_run_that_was_killed_keeps_nobody_from_going_on(store):
    store.lock().close()
    killed(store, number=1)
    store.lock().close()
    carry_on(store, Live(store), runs=1)
    assert [run.number for run in store.read()] == [1]
    assert not (store.folder / "runs" / "0001-work-20+noise").exists()


OTHERS = (
    "runs/2026-11-01/samples.jtl",
    "runs/0002-lunch",
    "runs/0002-aa*3",
    "runs/2-aa",
    "runs/0001-work-2+noise",
    "runs/0005-aa",
    "under-way/thesis.md",
    "under-way/run-home/index.html",
    "runs.bak",
)


def test_what_has_no_name_that_a_run_under_way_gives_is_never_removed(store):
    """Also samples of runs whose line was taken out, and of those that are not due yet."""
    carry_on(store, Live(store), runs=1)
    killed(store)
    for name in OTHERS:
        file = store.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("mine")
    removed = store.clean_up()
    assert [(store.folder / name).read_text() for name in OTHERS] == ["mine"] * len(OTHERS)
    assert len(removed) == 3
    assert (store.folder / store.read()[0].folder / "kpi.jtl").exists()


@pytest.mark.parametrize(
    "name", ["runs/monday/samples.jtl", "thesis.md", "under-way/run-1/kpi.jtl"]
)
def test_a_folder_that_is_no_certifications_is_refused_and_left_as_it_is(store, name):
    file = store.folder / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    first = name.partition("/")[0]
    with pytest.raises(StoreError, match=rf"has {first} but no runs\.jsonl: .* another --folder"):
        store.lock()
    assert [it for it in store.folder.rglob("*") if it.is_file()] == [file]


def test_a_certification_without_its_list_of_runs_is_refused_and_loses_no_samples(store):
    store.lock().close()
    carry_on(store, Live(store), runs=2)
    file = store.folder / "runs.jsonl"
    file.rename(store.folder / "runs.old")
    with pytest.raises(StoreError, match=r"has runs but no runs\.jsonl: .*put runs\.jsonl back"):
        store.lock()
    (store.folder / "runs.old").rename(file)
    store.lock().close()
    assert all((store.folder / run.folder / "kpi.jtl").exists() for run in store.read())


def test_a_folder_that_cannot_be_worked_in_is_told_in_a_line(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match=r"file can't be worked in: File exists; name another"):
        Store(tmp_path / "file").lock()


def test_what_cannot_be_removed_is_told_and_not_passed_over(store, monkeypatch):
    store.lock().close()
    killed(store, number=1)

    def denied(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("shutil.rmtree", denied)
    with pytest.raises(
        StoreError, match=r"0001-work-20\+noise can't be removed: Permission denied"
    ):
        carry_on(store, Live(store), runs=1)


def test_no_run_is_started_once_the_minutes_are_over(store):
    times = iter([0.0, 30.0, 90.0, 121.0])
    carry_on(store, Live(store), minutes=2, clock=lambda: next(times))
    assert len(store.read()) == 2


def test_broken_runs_are_kept_and_made_up_for(store):
    live = Live(store, breaks=[1, 2])
    carry_on(store, live, runs=5)
    found = Counter(run.condition for run in store.read() if run.verdict != BROKEN)
    assert found == {"aa": 2, "work-5": 1}
    assert len(store.read()) == 5


def test_three_broken_runs_in_a_row_end_it_with_the_reason(store):
    with pytest.raises(StoreError, match="3 runs in a row left no verdict; the last: broke"):
        carry_on(store, Live(store, breaks=range(2, 9)), runs=9)
    assert len(store.read()) == 4


def test_a_line_that_is_none_is_named(store):
    carry_on(store, Live(store), runs=2)
    file = store.folder / "runs.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], lines[1][:40]]))
    with pytest.raises(StoreError, match=r"runs\.jsonl:2 can't be read: .*take that line out"):
        store.read()
    raw = {**json.loads(lines[1]), "condition": "lunch"}
    file.write_text("\n".join([lines[0], json.dumps(raw)]))
    with pytest.raises(StoreError, match="'lunch' is no condition"):
        store.read()


def test_a_line_that_was_taken_out_leaves_every_other_run_its_number(store):
    carry_on(store, Live(store), runs=3)
    file = store.folder / "runs.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
    carry_on(store, Live(store), runs=2)
    assert [run.number for run in store.read()] == [2, 3, 4, 5]
    assert len({run.seed for run in store.read()}) == 4


def test_two_certifications_do_not_work_in_one_folder(store):
    with store.lock(), pytest.raises(StoreError, match="another certification works in"):
        store.lock()
    store.lock().close()
