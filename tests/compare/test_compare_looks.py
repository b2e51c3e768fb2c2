from dataclasses import replace

import numpy as np
import pytest

from support.compared import compared, finding
from tollgate.compare.looks import judge_blocks
from tollgate.compare.model import INCONCLUSIVE, OPEN, Blocks, GateSettings, Side
from tollgate.compare.record import CompareRecord, SideRecord

BUDGET_S = 200
BASE, HEAD = (SideRecord(name, name, None, None) for name in ("base", "head"))
#: Errors are left out: without any failure they take thousands of samples.
SETTINGS = GateSettings(budget_s=BUDGET_S, gates=("p50", "p95"), fail_fast=False)
RECORD = CompareRecord(BASE, HEAD, "compare", "fork", SETTINGS, 40.0, 20.0, {})
QUIET = {"rate": 40.0, "sigma": 0.1, "common": 0.05, "stalls": 0.0}


def labels(ratio=1.0, seed=1, **service):
    rng, service = np.random.default_rng(seed), QUIET | service
    ratios = {"sum": ratio, "search": 1.0}
    return [compared(rng, BUDGET_S, ratio=ratios[it], label=it, **service) for it in ratios]


def live(blocks):
    """What a run sees that looks again every second."""
    for seconds in range(1, BUDGET_S + 1):
        seen = [each.first(seconds) for each in blocks]
        gate = judge_blocks(RECORD, seen, float(seconds), live=True)
        if gate.finished:
            break
    return gate


@pytest.mark.parametrize("ratio", [1.0, 1.02, 1.05, 1.2])
@pytest.mark.parametrize("seed", [1, 2])
def test_live_looks_and_the_final_verdict_agree(ratio, seed):
    blocks = labels(ratio, seed)
    seen = live(blocks)
    ended = replace(RECORD, decided_s=seen.looks_s[-1] if seen.finished else None)
    final = judge_blocks(ended, blocks, BUDGET_S, live=False)
    assert final.looks_s == seen.looks_s
    kept = [each for each in seen.findings if each.verdict != OPEN]
    assert [each for each in final.findings if each.verdict != INCONCLUSIVE] == kept


@pytest.mark.parametrize("ratio", [1.0, 1.2])
def test_seconds_after_the_run_has_decided_to_end_do_not_count(ratio):
    blocks = labels(ratio)
    seen = live(blocks)
    decided_s = seen.looks_s[-1]
    assert seen.finished
    assert decided_s < BUDGET_S
    ended = replace(RECORD, decided_s=decided_s)
    for longer in (blocks, [turned_over(each, int(decided_s)) for each in blocks]):
        for seconds in (decided_s, decided_s + 3, BUDGET_S):
            assert judge_blocks(ended, longer, seconds, live=False) == seen


def turned_over(blocks, at_s):
    """The same until then; from then on head is fast where it was slow, and all of it fails."""
    counts, failed = blocks.head.counts.copy(), blocks.head.failed.copy()
    counts[at_s:] = counts[at_s:, ::-1]
    failed[at_s:] = counts[at_s:].sum(axis=1)
    return replace(blocks, head=Side(counts, failed))


@pytest.mark.parametrize(
    ("seconds", "looks_s"),
    [
        (0, ()),
        (0.5, ()),
        (30, (30,)),
        (39, (39,)),
        (40, (40,)),
        (40.9, (40,)),  # less than the least step after the last one
        (41, (40, 41)),
        (77, (40, 60, 77)),
        (199, (40, 60, 80, 100, 120, 140, 160, 180, 199)),
        (BUDGET_S, (40, 60, 80, 100, 120, 140, 160, 180, 200)),
    ],
)
def test_looks_come_as_recorded_and_once_more_at_the_end_of_the_run(seconds, looks_s):
    gate = judge_blocks(RECORD, labels(1.025, sigma=0.5), seconds, live=False)
    verdicts = {each.verdict for each in gate.findings}
    assert gate.looks_s == looks_s
    assert OPEN not in verdicts
    assert (INCONCLUSIVE in verdicts) == bool(looks_s)


def test_while_the_run_goes_on_what_is_open_stays_open_and_there_is_no_look_between():
    gate = judge_blocks(RECORD, labels(ratio=1.025, sigma=0.5), 77, live=True)
    assert gate.looks_s == (40, 60)
    assert OPEN in {each.verdict for each in gate.findings}
    assert judge_blocks(RECORD, labels(), 39, live=True).looks_s == ()


def test_a_label_without_samples_is_inconclusive_and_not_passed_over():
    nothing = Side(np.zeros((BUDGET_S, 0), np.int64), np.zeros(BUDGET_S, np.int64))
    blocks = [*labels(), Blocks("pi", np.zeros(0, np.int64), nothing, nothing)]
    gate = judge_blocks(RECORD, blocks, BUDGET_S, live=False)
    assert finding(gate, "p95", "pi").verdict == gate.verdict == INCONCLUSIVE
    assert finding(gate, "p50", "sum").verdict == "PASS"


def test_a_slower_head_fails_by_its_label_and_metric():
    gate = judge_blocks(RECORD, labels(1.2), BUDGET_S, live=False)
    assert finding(gate, "p50", "sum").verdict == gate.verdict == "FAIL"
    assert finding(gate, "p50", "search").verdict == "PASS"
    assert finding(gate, "errors", "sum").gates is False
