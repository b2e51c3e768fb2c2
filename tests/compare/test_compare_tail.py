"""Time that head loses in slow answers: found however rare they are, and only where they are its
own."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.tail import SLOWED, blocks_of, slowed
from support.compared import finding, judged
from tollgate.compare.model import FAIL, PASS, TAIL, Blocks, GateSettings, Requests, Side
from tollgate.compare.stalls import AFTER_S, LONGEST_S
from tollgate.compare.tail import FEW_TIMES, TailRise, tail_rise

SECONDS, RATE, FAST_MS = 120, 20, 10
LEVEL = 0.001
#: Everything that asks for time, without errors, of which nothing fails here.
SETTINGS = GateSettings(gates=("typical", "p50", "p95", TAIL, "stalls"))
LOST_MS = st.lists(st.integers(0, 3000), min_size=SECONDS, max_size=SECONDS)
CALM = [0] * SECONDS


def losing(base, head):
    """RATE answers of each side in each second, of which one takes so many ms more."""
    values = np.unique([*base, *head, 0]) + FAST_MS
    block = np.repeat(np.arange(SECONDS), RATE)
    sides = []
    for lost in (base, head):
        took = np.full(len(block), FAST_MS)
        took[::RATE] += np.array(lost)
        known = Requests(block, np.zeros(len(block), int), took)
        sides.append(Side.of(known, values, np.zeros(SECONDS, int)))
    return Blocks("sum", values, *sides)


@given(LOST_MS, LOST_MS)
def test_what_is_said_of_head_against_base_is_the_opposite_of_base_against_head(base, head):
    base[:AFTER_S] = head[:AFTER_S] = CALM[:AFTER_S]
    one, other = tail_rise(losing(base, head)), tail_rise(losing(head, base))
    assert one.more - one.less == pytest.approx(other.less - other.more)
    assert one.low(LEVEL) <= one.value <= one.high(LEVEL)
    if one.low(LEVEL) > 0:
        assert other.low(LEVEL) <= 0
    else:  # spells depend on the mean of base, which is the other's head
        mirrored = replace(one, more=one.less, less=one.more, calm=-one.calm)
        assert math.expm1(one.low(LEVEL)) <= max(-0.99, -math.expm1(mirrored.high(LEVEL))) + 1e-9


@given(LOST_MS)
def test_what_hits_both_sides_alike_tells_nothing_of_head(lost):
    found = tail_rise(losing(lost, lost))
    assert (found.value, found.error, found.low(LEVEL), found.high(LEVEL)) == (0, 0, 0, 0)


@given(st.integers(1, 15), st.integers(500, 5000))
def test_single_answers_of_head_alone_count_as_a_sign_test_has_them(many, lost):
    head = list(CALM)
    head[: 4 * many : 4] = [lost] * many
    found = tail_rise(losing(CALM, head))
    assert (found.low(2.02 * 2.0**-many) > 0, found.low(1.98 * 2.0**-many) > 0) == (True, False)
    assert found.head - found.base == pytest.approx(many * lost / (SECONDS * RATE), rel=0.02)


@given(st.integers(1, LONGEST_S), st.integers(500, 5000))
def test_seconds_that_follow_one_another_count_once(lasts, lost):
    head = list(CALM)
    head[30 : 30 + lasts] = [lost] * lasts
    found = tail_rise(losing(CALM, head))
    assert found.low(0.49) < 0 < found.value
    assert found.high(LEVEL) > math.log1p(3 * math.expm1(found.value))


def test_a_head_that_is_faster_otherwise_does_not_make_up_for_its_slow_answers():
    blocks = blocks_of(np.random.default_rng(5), 0.5)
    slow = slowed(np.random.default_rng(6), blocks, SLOWED["1 of 100 takes 2 s"])
    assert tail_rise(slow).low(LEVEL) > 0


def test_a_base_that_answered_nothing_in_its_first_seconds_says_nothing():
    blocks = losing(CALM, CALM)
    late = blocks.base.counts.copy()
    late[:AFTER_S] = 0
    blocks = Blocks("sum", blocks.values_ms, Side(late, blocks.base.failed), blocks.head)
    assert (tail_rise(blocks).note != "", math.isnan(tail_rise(blocks).value)) == (True, True)


def test_what_base_itself_loses_bounds_what_head_may():
    rare = TailRise(10.0, more=3.0, less=0.0, error=2.0, usual=FEW_TIMES)
    assert rare.times_usual == 1
    assert TailRise(10.0, more=3.0, less=0.0, error=2.0).times_usual == math.inf


@pytest.mark.statistics
@pytest.mark.parametrize("name", list(SLOWED))
def test_of_100_heads_with_rare_slow_answers_95_fail_and_of_a_slow_spell_none_passes(
    repetitions, name
):
    rng, made = np.random.default_rng(43), repetitions(100)
    ends = [judged([slowed(rng, blocks_of(rng, 1.0), SLOWED[name])], SETTINGS) for _ in made]
    verdicts = [it.verdict for it in ends]
    if name != "twice as slow for 15 s of 100":
        assert verdicts.count(FAIL) >= made.least(0.95), verdicts
        assert {finding(it, TAIL, "sum").verdict for it in ends} <= {FAIL, "INCONCLUSIVE"}
    assert PASS not in verdicts


@pytest.mark.statistics
@pytest.mark.parametrize("noise", [{}, {"bursts": 0.05}, {"neighbour": "known"}])
def test_of_1000_controls_at_most_10_fail_by_tail_and_none_waits_for_it(repetitions, noise):
    rng, made = np.random.default_rng(44), repetitions(200)
    gates = [judged([blocks_of(rng, 1.0, **noise)], GateSettings(gates=(TAIL,))) for _ in made]
    verdicts = [it.verdict for it in gates]
    assert verdicts.count(FAIL) <= made.most(0.01)
    assert np.mean([it.looks_s[-1] for it in gates]) <= 90
