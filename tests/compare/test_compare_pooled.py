"""All labels of a mix together, and what is known before the load to stay open."""

from dataclasses import replace

import numpy as np
import pytest

from support.compared import SHORT, compared, finding, judged
from tollgate.compare.decide import close, look
from tollgate.compare.model import (
    ALL_LABELS,
    ERRORS,
    FAIL,
    INCONCLUSIVE,
    INFORMATIONAL,
    OF_ALL,
    OPEN,
    PASS,
    TYPICAL,
    Blocks,
    Gate,
    GateSettings,
    Requests,
    Side,
)
from tollgate.compare.pooled import all_of
from tollgate.compare.power import Power, foretold
from tollgate.compare.typical import typical_ratio

NAMES = ("list", "item", "find", "order", "login")
MIX = Gate(GateSettings(), is_mix=True)


def mix(rng, seconds=240, ratio=1.0, rate=6.0, **service):
    """Labels that are rare each, of 2 to 10 ms."""
    quiet = {"common": 0.05, "stalls": 0.0, **service}
    return [
        compared(rng, seconds, rate, median_ms=2.0 * (1 + at), ratio=ratio, label=name, **quiet)
        for at, name in enumerate(NAMES)
    ]


def of(gate, label):
    return {it.metric: it.verdict for it in gate.findings if it.label == label}


def test_what_slows_every_label_a_little_is_found_in_all_of_them_before_it_is_in_most_of_each():
    rng = np.random.default_rng(3)
    gates = [judged(mix(rng, ratio=1.06, rate=9.0), SHORT, is_mix=True) for _ in range(12)]
    assert sum(of(it, ALL_LABELS)[TYPICAL] == FAIL for it in gates) >= 10
    single = [of(it, name)[TYPICAL] == FAIL for it in gates for name in NAMES]
    assert sum(single) < len(single) / 2


def test_a_mix_that_is_like_its_base_passes_in_all_labels_and_never_fails():
    rng = np.random.default_rng(4)
    gates = [judged(mix(rng, rate=25.0), SHORT, is_mix=True) for _ in range(12)]
    assert FAIL not in {it.verdict for it in gates}
    assert sum(set(of(it, ALL_LABELS).values()) == {PASS} for it in gates) >= 10


def test_only_what_has_a_meaning_of_a_mix_is_found_of_all_of_it():
    rng = np.random.default_rng(5)
    gate = look(MIX, mix(rng), 240.0)
    assert gate.findings[0].label == ALL_LABELS
    assert of(gate, ALL_LABELS).keys() == set(OF_ALL)
    assert not of(look(Gate(GateSettings()), mix(rng), 240.0), ALL_LABELS)
    assert not of(look(MIX, mix(rng)[:1], 240.0), ALL_LABELS)


def test_labels_that_do_not_gate_are_not_among_all_labels():
    labels = mix(np.random.default_rng(6))
    chosen = replace(MIX, settings=GateSettings(labels=("list", "find")))
    n = all_of(chosen, labels).base.total
    assert n == labels[0].base.total + labels[2].base.total
    assert all_of(replace(MIX, settings=GateSettings(labels=("list",))), labels) is None


def test_a_label_of_a_user_that_has_the_name_of_all_keeps_it():
    labels = [
        replace(it, label=ALL_LABELS if at else it.label) for at, it in enumerate(mix_of_two())
    ]
    gate = look(MIX, labels, 240.0)
    assert len(of(gate, ALL_LABELS)) > len(OF_ALL)


def mix_of_two():
    return mix(np.random.default_rng(7))[:2]


def with_rows(blocks, row_of):
    """The same with rows that are known. row_of: from a side's number of requests."""
    sides = []
    for side, own in zip((blocks.base, blocks.head), blocks.requests, strict=True):
        known = Requests(own.block, row_of(len(own.block)), own.elapsed_ms)
        sides.append(Side(side.counts, side.failed, known))
    return Blocks(blocks.label, blocks.values_ms, *sides)


def test_requests_that_occur_once_are_held_against_others_of_their_label_alone():
    rng = np.random.default_rng(8)
    fast, slow = (
        compared(rng, 240, median_ms=ms, common=0.02, stalls=0.0, sigma=0.1, label=f"{ms}")
        for ms in (5.0, 80.0)
    )
    common = typical_ratio(
        all_of(MIX, [with_rows(it, lambda n: np.zeros(n, int)) for it in (fast, slow)])
    )
    unique = typical_ratio(all_of(MIX, [with_rows(it, np.arange) for it in (fast, slow)]))
    assert unique.error == pytest.approx(common.error)
    assert unique.error < 0.005


def test_failures_are_counted_over_all_labels():
    rng = np.random.default_rng(9)
    labels = mix(rng, failing=(0.0, 0.02))
    assert of(look(MIX, labels, 240.0), ALL_LABELS)[ERRORS] == FAIL


def test_times_of_all_labels_say_nothing_where_one_of_them_does_other_work():
    rng = np.random.default_rng(10)
    labels = mix(rng)
    labels[1] = compared(rng, 240, label="item", failing=(0.0, 0.5))
    found = finding(look(MIX, labels, 240.0), TYPICAL, ALL_LABELS)
    assert found.verdict == OPEN
    assert "item" in found.reason


def test_a_label_that_has_no_say_and_fails_keeps_the_others_from_nothing():
    rng = np.random.default_rng(10)
    labels = mix(rng)
    labels[1] = compared(rng, 240, label="item", failing=(0.1, 0.1))
    names = tuple(it.label for it in labels if it.label != "item")
    gate = Gate(GateSettings(gates=(TYPICAL,), labels=names), is_mix=True)
    assert finding(look(gate, labels, 240.0), TYPICAL, ALL_LABELS).change is not None


KEYS = frozenset({("login", "p50"), ("login", TYPICAL)})


def test_what_was_foretold_to_stay_open_does_not_keep_the_run_from_passing_nor_from_ending():
    gate = Gate(GateSettings(gates=(TYPICAL, "p50"), labels=("list", "login")), foretold=KEYS)
    seen = look(gate, [quiet("list", 100.0), quiet("login", 2.0)], 240.0)
    assert of(seen, "login")[TYPICAL] == OPEN
    assert seen.finished
    closed = close(seen)
    assert closed.verdict == PASS
    left = [it for it in closed.findings if it.gates and it.verdict == INFORMATIONAL]
    assert {it.key for it in left} <= KEYS
    assert ("login", TYPICAL) in {it.key for it in left}
    assert close(replace(seen, foretold=frozenset())).verdict == INCONCLUSIVE


def quiet(label, rate, ratio=1.0):
    rng = np.random.default_rng(11)
    return compared(rng, 240, rate, ratio=ratio, common=0.01, stalls=0.0, sigma=0.2, label=label)


def test_what_was_foretold_to_stay_open_can_fail_the_run():
    gate = Gate(GateSettings(gates=(TYPICAL,)), foretold=KEYS)
    seen = look(gate, [quiet("list", 100.0), quiet("login", 5.0, ratio=1.5)], 240.0)
    assert close(seen).verdict == FAIL


def powers(can_pass):
    return [Power(*key, 100, 0.1, ok) for key, ok in can_pass.items()]


def test_what_cannot_be_decided_is_foretold_unless_nothing_of_its_kind_would_be_left():
    times = {("list", TYPICAL): True, ("list", "p95"): False, ("login", TYPICAL): False}
    errors = {("list", ERRORS): False, ("login", ERRORS): False}
    assert foretold(powers(times | errors)) == {("list", "p95"), ("login", TYPICAL)}
    alone = {("list", TYPICAL): False, ("list", "p95"): False}
    assert not foretold(powers(alone))


def test_all_labels_together_are_always_waited_for():
    of_all = {(ALL_LABELS, TYPICAL): False, (ALL_LABELS, ERRORS): False}
    single = {("list", TYPICAL): False, ("list", ERRORS): False}
    assert foretold(powers(of_all | single)) == single.keys()
