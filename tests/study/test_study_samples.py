from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from support.jtl_rows import START_MS
from support.study_cells import cell
from support.study_jtl import CELLS, Sent, by_another, design, load, write, write_cpu
from tollgate.samples.layout import JtlError
from tollgate.study.model import CROSSCHECK, Block
from tollgate.study.samples import read


def window(block, sent):
    """The requests of a block that count, and the seconds in which they ended."""
    mine = [it for it in sent if it.block == str(block.number)]
    first = min(it.start_ms for it in mine)
    ends = {it: it.start_ms + it.elapsed_ms for it in mine}
    if block.cell.each:
        return mine, (max(ends.values()) - first) / 1000
    low, high = first + 1000 * block.cell.lead_s, first + 1000 * block.cell.seconds
    return [it for it in mine if low <= ends[it] < high], block.cell.seconds - block.cell.lead_s


def check(found, blocks, sent):
    """Every number of every cell against a look at each request."""
    assert list(found) == list(dict.fromkeys(block.cell for block in blocks if block.round))
    for each, data in found.items():
        turns = [it for it in blocks if it.cell == each and it.round]
        turns.sort(key=lambda it: it.round)
        assert data.cell == each
        assert data.rounds.tolist() == [block.round for block in turns]
        workers, busiest = Counter(), []
        for row, block in enumerate(turns):
            counted, length_s = window(block, sent)
            times = Counter(it.elapsed_ms for it in counted)
            told = dict(zip(data.values_ms.tolist(), data.counts[row].tolist(), strict=True))
            assert {value: count for value, count in told.items() if count} == times
            assert data.window_s[row] == pytest.approx(length_s)
            assert data.failed[row] == sum(not it.ok for it in counted)
            by = Counter(f"{it.server}/{it.worker}".strip("/") for it in counted)
            workers.update(by)
            busiest += [max(by.values()) / by.total()] if by else []
        assert (data.workers, data.left_out) == (workers, ())
        assert data.busiest.tolist() == pytest.approx(busiest)
        assert (np.diff(data.values_ms) > 0).all()


@pytest.fixture
def one():
    """The blocks of one cell in one round, and what was sent in them."""
    blocks = design(CELLS[:1], 1)
    return blocks, load(blocks)


def test_cells_hold_what_a_look_at_every_request_finds(tmp_path):
    blocks = design()
    sent = load(blocks)
    write(tmp_path, sent)
    check(read(tmp_path, blocks), blocks, sent)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_the_times_are_the_order_of_the_rows_does_not_matter(tmp_path, seed):
    blocks = design(rounds=2)
    sent = load(blocks, seed=seed, mean_ms=(2, 15, 90, 400)[seed])
    write(tmp_path, sent, seed=seed)
    check(read(tmp_path, blocks), blocks, sent)


def test_rows_of_transactions_are_no_requests(tmp_path, one):
    blocks, sent = one
    path = write(tmp_path, sent)
    said = b"Number of samples in transaction : 1, number of failing samples : 0"
    row = path.read_bytes().split(b"\n")[1]
    with path.open("ab") as file:
        file.write(row.replace(b",OK,", b',"' + said + b'",') + b"\n")
    check(read(tmp_path, blocks), blocks, sent)


def test_a_worker_that_nobody_named_is_not_told(tmp_path, one):
    blocks, sent = one
    sent = [replace(it, worker=("null", "", "1")[k % 3]) for k, it in enumerate(sent)]
    write(tmp_path, sent)
    found = read(tmp_path, blocks)[CELLS[0]]
    counted = window(blocks[-1], sent)[0]
    assert found.workers == {"1": sum(it.worker == "1" for it in counted)}
    assert found.counts.sum() == len(counted)


def test_blocks_of_another_generator_are_no_requests(tmp_path):
    jmeter, other = (
        cell(arm, experiment=CROSSCHECK, app="fork", users=2) for arm in ("jmeter", "autocannon")
    )
    blocks = (Block(1, 1, jmeter), Block(2, 1, other))
    sent = load(blocks[:1])
    end = max(it.start_ms + it.elapsed_ms for it in sent)
    write(tmp_path, [*sent, by_another(blocks[1], end + 5, 1.2)])
    found = read(tmp_path, blocks)
    check({jmeter: found[jmeter]}, blocks[:1], sent)
    assert (found[other].rounds.size, found[other].counts.size) == (0, 0)
    assert found[other].left_out == ("round 1: another generator sent the requests",)


def test_the_requests_by_which_users_connect_are_no_load(tmp_path):
    blocks = design(CELLS, 1)
    sent = load(blocks)
    first = {}
    for it in sent:
        first[it.block] = min(it.start_ms, first.get(it.block, it.start_ms))
    # The last of them ends in the very millisecond in which the load begins.
    connects = [Sent(block, at - 3, 3, label="connect") for block, at in first.items()]
    write(tmp_path, [*connects, *sent])
    check(read(tmp_path, blocks), blocks, sent)


def test_an_interrupted_run_leaves_out_the_block_that_it_cut_off_and_those_after_it(tmp_path):
    blocks = design(CELLS[:2], 2)
    sent = load(blocks)
    last = blocks[-2]  # round 2 of cluster; the last one is that of fork
    first = min(it.start_ms for it in sent if it.block == str(last.number))
    write(tmp_path, [it for it in sent if it.start_ms + it.elapsed_ms < first + 600])
    found = read(tmp_path, blocks)
    assert [data.rounds.tolist() for data in found.values()] == [[1], [1]]
    [told] = found[last.cell].left_out
    assert told.startswith("round 2: the load ended too early, after 0.6 s and ")
    assert found[blocks[-1].cell].left_out == ("round 2: no samples, the run ended before",)


def test_a_worker_that_died_takes_its_blocks_out_of_the_analysis(tmp_path):
    blocks = design()
    sent = load(blocks)
    write(tmp_path, sent)
    starts = {it: min(s.start_ms for s in sent if s.block == str(it.number)) for it in blocks}
    one = next(it for it in blocks if it.round == 2 and it.cell.app == "cluster")
    other = next(it for it in blocks if it.round == 1 and it.cell.app == "balancer")
    origin_s = (START_MS - 500) / 1000
    outages = [
        {"app": app, "worker": "1", "from_s": starts[block] / 1000 - origin_s + 0.1, "to_s": to_s}
        for app, block, to_s in (("cluster", one, None), ("pi-2", other, 0.0), ("x", other, None))
    ]
    found = read(tmp_path, blocks, outages, origin_s)
    assert [found[it].rounds.tolist() for it in CELLS[:3]] == [[1, 2, 3], [1], [2, 3]]
    died = "worker 1 of cluster died"
    assert found[CELLS[1]].left_out == (f"round 2: {died}", f"round 3: {died}")
    assert found[CELLS[2]].left_out == ("round 1: worker 1 of pi-2 died",)


def test_mean_cores_are_those_of_the_windows(tmp_path):
    blocks = design(CELLS[:2], 2)
    write(tmp_path, load(blocks))
    assert np.isnan(read(tmp_path, blocks)[CELLS[0]].cores).all()
    times = np.arange(START_MS / 1000 - 1, START_MS / 1000 + 60, 0.2)
    rows = [(at, 3 + 0.4 * k, 7 + 0.1 * k, 9 + 0.05 * k) for k, at in enumerate(times)]
    write_cpu(tmp_path / "cpu.jsonl", rows)
    for data in read(tmp_path, blocks).values():
        for found, cores in zip(data.cores, (2.0, 0.5, 0.25), strict=True):
            np.testing.assert_allclose(found, cores, rtol=1e-6)


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        (
            {b'"server"': b"host", b'"block"': b"b"},
            r"kpi\.jtl:1: the header has no column block, server; set JMeter's",
        ),
        ({b",true,": b",maybe,"}, "success"),
    ],
)
def test_columns_and_values_that_jmeter_never_writes_are_refused(tmp_path, one, replaced, message):
    blocks, sent = one
    path = write(tmp_path, sent)
    for old, new in replaced.items():
        path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(JtlError, match=message):
        read(tmp_path, blocks)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"block": "99"}, r"block = '99': 1 samples of a block that blocks\.csv does not have"),
        ({"block": "null"}, r"block = 'null': 1 samples of a block"),
        ({"label": "kittens"}, r"samples with the label 'kittens' in a block of 'sum'"),
        ({"user": 9}, r"block = '2': 2 users sent requests where the design has 1"),
        ({"start_ms": START_MS}, r"block = '2': began \d+ ms before block 1 had ended"),
    ],
)
def test_samples_that_contradict_the_design_are_one_clear_error(tmp_path, one, changed, reason):
    blocks, sent = one
    place = next(place for place, it in enumerate(sent) if it.block == "2") + 3
    sent[place] = replace(sent[place], **changed)
    write(tmp_path, sent)
    with pytest.raises(JtlError, match=reason) as refused:
        read(tmp_path, blocks)
    assert "\n" not in str(refused.value)
    assert "run it again" in str(refused.value)


def test_a_study_without_any_block_that_counts_is_read(tmp_path, one):
    write(tmp_path, [Sent("1", START_MS, 20)])
    found = read(tmp_path, one[0])[CELLS[0]]
    assert (found.counts.shape, found.workers) == ((0, 0), {})
    assert found.left_out == ("round 1: no samples, the run ended before",)
