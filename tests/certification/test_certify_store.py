"""A certification can end at any time, and carries on where it was."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from certification.conditions import parse
from certification.live import Limits, session
from certification.store import BROKEN, Store, StoreError
from support.certified import finished
from support.compared import compared
from tollgate.compare.cpu_times import CpuTimes
from tollgate.compare.estimates import percentile_ratio
from tollgate.compare.model import Blocks, Requests, Side
from tollgate.compare.processes import spread

WEIGHTS = parse(["aa*2", "work-5"])


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "certify", tmp_path / "kept")


class Live:
    """Makes runs up, as quickly as asked for; `breaks` are numbers of runs without a verdict."""

    def __init__(self, store, breaks=(), interrupted=()):
        self.store, self.breaks, self.interrupted = store, breaks, interrupted
        self.seeds = []

    def __call__(self, condition, number, seed):
        self.seeds.append(seed)
        made = self.store.under_way / f"run-{number}"
        made.mkdir(parents=True)
        (made / "kpi.jtl").write_text(f"samples of {number}")
        if number in self.interrupted:
            raise KeyboardInterrupt
        verdict = BROKEN if number in self.breaks else "PASS"
        return finished(seed, condition.key, verdict, findings=(), problem="broke"), ()


def carry_on(store, live, clock=lambda: 0.0, **limits):
    said = []
    session(store, WEIGHTS, Limits(**limits), live, said.append, clock)
    return said


def service(rng, processes):
    """Blocks as they are read, with rows and processes."""
    sides, seconds = [], 40
    for ratio in (1.0, 1.1):
        block = np.repeat(np.arange(seconds - 2), 20)  # nothing came in the last two
        row, process = rng.integers(50, size=len(block)), rng.integers(processes, size=len(block))
        sides.append(Requests(block, row, (300 + ratio * row).astype(int), process))
    return blocks_of(sides, rng.integers(3, size=(2, seconds)))


def blocks_of(sides, failed):
    values = np.unique(np.concatenate([it.elapsed_ms for it in sides]))
    made = (Side.of(it, values, n) for it, n in zip(sides, failed, strict=True))
    return Blocks("sum", values, *made)


def same(one, other):
    for a, b in ((one.base, other.base), (one.head, other.head)):
        assert (a.counts == b.counts).all()
        assert (a.failed == b.failed).all()
        for name in ("block", "row", "elapsed_ms"):
            assert (getattr(a.known, name) == getattr(b.known, name)).all()


def test_what_is_read_again_says_what_was_kept(store):
    blocks = service(np.random.default_rng(1), 3)
    store.add(run := finished(1, findings=()), [blocks, replace(blocks, label="search")])
    assert store.read() == [run]
    first, second = store.blocks(run)
    assert [first.label, second.label] == ["sum", "search"]
    same(first, blocks)
    assert percentile_ratio(first, "p50") == percentile_ratio(blocks, "p50")
    assert (first.processes, spread(first, "p50")) == (3, spread(blocks, "p50"))


def test_what_others_took_is_kept_where_it_is_known(store):
    blocks = service(np.random.default_rng(1), 3)
    foreign = np.round(np.random.default_rng(2).uniform(0, 1, len(blocks.base.n)), 3)
    beside = blocks.beside(foreign)
    store.add(run := finished(1, findings=()), [beside, replace(beside, label="search")])
    for found in store.blocks(run):
        assert found.background_cpu.tolist() == foreign.tolist()
    assert percentile_ratio(found, "p95") == percentile_ratio(beside, "p95")
    store.add(earlier := finished(2, findings=()), [blocks])
    [found] = store.blocks(earlier)
    assert found.background_cpu is None


def test_what_the_processes_used_is_kept_where_it_is_known(store):
    blocks = service(np.random.default_rng(1), 3)
    used = np.random.default_rng(2).uniform(0, 900, (6, len(blocks.base.n)))
    used[2, 5] = np.nan
    with_cpu = replace(blocks, cpu=CpuTimes(used, 2))
    store.add(run := finished(1, findings=()), [with_cpu, replace(with_cpu, label="search")])
    for found in store.blocks(run):
        np.testing.assert_allclose(found.cpu.used_ms, used, rtol=1e-6)
        assert found.cpu.workers == 2
    store.add(earlier := finished(2, findings=()), [blocks])
    assert store.blocks(earlier)[0].cpu is None


def test_samples_without_rows_are_kept_as_well(store):
    blocks = compared(np.random.default_rng(1), 30, failing=(0.1, 0.2))
    store.add(run := finished(1, findings=()), [blocks])
    [found] = store.blocks(run)
    assert found.requests[0].row.max() == 0
    assert (found.base.n == blocks.base.n).all()
    assert (found.head.failed == blocks.head.failed).all()
    store.add(broken := finished(2, verdict=BROKEN, findings=()))
    assert store.blocks(broken) == []


def test_ten_minutes_of_a_comparison_take_a_hundred_kilobytes_or_so(store):
    rng, seconds = np.random.default_rng(1), 600
    sides = []
    for _ in range(2):
        block = np.repeat(np.arange(seconds), rng.poisson(27.5, seconds))
        row = rng.integers(100, size=len(block))
        order = np.lexsort((row, block))
        took = np.floor(10 * np.exp(0.4 * rng.standard_normal(len(block)))).astype(int)
        sides.append(Requests(block, row[order], took, rng.integers(4, size=len(block))))
    store.add(finished(1, findings=()), [blocks_of(sides, np.zeros((2, seconds), int))])
    [file] = store.folder.glob("*.npz")
    assert file.stat().st_size < 100_000


def test_every_run_has_a_seed_of_its_own(store):
    live, again = Live(store), Live(store)
    said = carry_on(store, live, runs=3)
    carry_on(store, again, runs=3)
    assert len({*live.seeds, *again.seeds}) == 6
    assert Counter(run.condition for run in store.read()) == {"aa": 4, "work-5": 2}
    assert said[1] == "run 1: PASS after 60 s of measuring, 90 s in all: broke"


def test_sittings_of_several_folders_add_up(store, tmp_path):
    other = Store(tmp_path / "other", tmp_path / "kept")
    for each in (store, other):
        carry_on(each, Live(each), runs=2)
    assert len(store.read()) == len(other.read()) == 2
    moved = [*store.keep(), *other.keep()]
    assert [path.exists() for path in moved] == [True] * 4
    assert len(store.read()) == len(other.read()) == 4
    # Both go on from there: two of three were A/A.
    carry_on(store, Live(store), runs=2)
    assert Counter(run.condition for run in store.read()) == {"aa": 4, "work-5": 2}


def test_an_interruption_loses_the_run_under_way_alone(store):
    with pytest.raises(KeyboardInterrupt):
        carry_on(store, Live(store, interrupted=[3]), runs=6)
    assert len(store.read()) == 2
    assert not store.under_way.exists()


def killed(store, number=2):
    """What a run leaves that somebody kills."""
    made = store.under_way / f"run-{number}"
    made.mkdir(parents=True)
    made.with_suffix(".out").write_text("what bzt said")


def test_what_a_killed_run_left_is_removed_by_the_next_which_says_so(store):
    carry_on(store, Live(store), runs=1)
    killed(store)
    said = [carry_on(store, Live(store), runs=0) for _ in range(2)]
    assert said == [[f"removed {store.under_way}: a run that did not finish left it"], []]
    assert not store.under_way.exists()
    assert len(store.read()) == 1


def test_a_folder_that_cannot_be_worked_in_is_told_in_a_line(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match=r"file can't be worked in: File exists; name another"):
        Store(tmp_path / "file").lock()


def test_what_cannot_be_removed_is_told_and_not_passed_over(store, monkeypatch):
    killed(store, number=1)

    def denied(path):
        raise PermissionError(13, "Permission denied", str(path / "run-1"))

    monkeypatch.setattr("shutil.rmtree", denied)
    with pytest.raises(StoreError, match=r"run-1 can't be removed: Permission denied"):
        carry_on(store, Live(store), runs=1)


def test_no_run_is_started_once_the_minutes_are_over(store):
    times = iter([0.0, 30.0, 90.0, 121.0])
    carry_on(store, Live(store), minutes=2, clock=lambda: next(times))
    assert len(store.read()) == 2


def test_broken_runs_are_kept_and_made_up_for(store):
    carry_on(store, Live(store, breaks=[1, 2]), runs=5)
    found = Counter(run.condition for run in store.read() if run.verdict != BROKEN)
    assert found == {"aa": 2, "work-5": 1}
    assert len(store.read()) == 5


def test_three_broken_runs_in_a_row_end_it_with_the_reason(store):
    with pytest.raises(StoreError, match="3 runs in a row left no verdict; the last: broke"):
        carry_on(store, Live(store, breaks=range(2, 9)), runs=9)
    assert len(store.read()) == 4


def test_a_file_that_is_none_is_named(store):
    carry_on(store, Live(store), runs=1)
    [file] = store.folder.glob("*.npz")
    whole = file.read_bytes()
    for damaged in (b"", b"lunch", whole[:100], whole[: len(whole) // 2]):
        file.write_bytes(damaged)
        with pytest.raises(StoreError, match=r"\.npz can't be read: .*; take it out"):
            store.read()
    file.write_bytes(whole)
    file.rename(file.with_stem("lunch"))
    with pytest.raises(StoreError, match=r"lunch\.npz can't be read: it holds the run 2026"):
        store.read()


def test_two_certifications_do_not_work_in_one_folder(store):
    with store.lock(), pytest.raises(StoreError, match="another certification works in"):
        store.lock()
    store.lock().close()
