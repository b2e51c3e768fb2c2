"""A head that stands still now and then: found where it does so more than base, and only there."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.tail import blocks_of, stalls_of
from support.compared import finding, judged
from tollgate.compare.decide import WEIGHTS, decided, look, measured, shared
from tollgate.compare.model import STALLS, Blocks, Gate, GateSettings, Side
from tollgate.compare.processes import spread
from tollgate.compare.stalls import AFTER_S, LONGEST_S, SLOW, stall_rise
from tollgate.stats.sequential import nominal_level

SETTINGS = GateSettings(gates=(STALLS,))
#: Of the error, beside all else that gates by default, of two labels.
SHARE = WEIGHTS[STALLS] / (2 * (4 + sum(WEIGHTS.values())))
SECONDS, RATE, FAST_MS, SLOW_MS = 120, 20, 10, 500
LEVEL = 0.001
SLOW_ANSWERS = st.lists(st.integers(0, RATE), min_size=SECONDS, max_size=SECONDS)


def counted(base, head):
    """So many slow answers in each second, of RATE of each side."""
    sides = (
        Side(np.stack([RATE - slow, slow], axis=1), np.zeros(len(slow), int))
        for slow in (np.array(base), np.array(head))
    )
    return Blocks("sum", np.array([FAST_MS, SLOW_MS]), *sides)


def every(seconds, slow=RATE, lasts=1):
    return [slow if second % seconds < lasts else 0 for second in range(SECONDS)]


NEVER = every(1, slow=0)


@given(SLOW_ANSWERS, SLOW_ANSWERS)
def test_what_is_said_of_head_against_base_is_the_opposite_of_base_against_head(base, head):
    base[:AFTER_S] = head[:AFTER_S] = NEVER[:AFTER_S]
    one, other = stall_rise(counted(base, head)), stall_rise(counted(head, base))
    assert one.value == -other.value
    assert one.deff == other.deff >= 1
    assert one.low(LEVEL) <= one.value <= one.high(LEVEL)
    if one.low(LEVEL) > 0:
        assert other.low(LEVEL) <= 0


@given(st.integers(1, 5), st.integers(1, RATE), st.integers(0, 20))
def test_a_stall_counts_once_however_many_answers_it_holds(lasts, slow, after):
    head = list(NEVER)
    head[after : after + lasts] = [slow] * lasts
    found = stall_rise(counted(NEVER, head))
    assert found.failed[1] / found.deff == pytest.approx(1)
    assert found.low(0.4) < 0


@given(st.integers(1, 10), st.integers(1, RATE))
def test_stalls_of_head_alone_count_as_a_sign_test_has_them(many, slow):
    head = list(NEVER)
    head[: 2 * many : 2] = [slow] * many
    found = stall_rise(counted(NEVER, head))
    assert (found.low(1.01 * 2.0**-many) > 0, found.low(0.99 * 2.0**-many) > 0) == (True, False)


@given(st.integers(1, RATE))
def test_stalls_that_hit_both_sides_alike_tell_nothing_of_head(slow):
    found = stall_rise(counted(every(5, slow), every(5, slow)))
    assert (found.value, found.deff) == (0, 1)
    # What stalls all the time is cut into spells.
    found = stall_rise(counted(NEVER, every(1, slow=1)))
    assert found.failed[1] / found.deff == SECONDS / LONGEST_S


@given(SLOW_ANSWERS, SLOW_ANSWERS)
def test_what_is_slow_follows_from_the_first_seconds_of_base_alone(base, head):
    base[:AFTER_S] = NEVER[:AFTER_S]
    limit_ms = stall_rise(counted(base, head)).limit_ms
    assert limit_ms == stall_rise(counted(NEVER, NEVER)).limit_ms
    assert limit_ms == pytest.approx(SLOW * FAST_MS, abs=SLOW)


def test_without_an_answer_of_base_in_these_seconds_nothing_is_said():
    blocks = counted(NEVER, NEVER)
    late = blocks.base.counts.copy()
    late[:AFTER_S] = 0
    late[AFTER_S:] *= 2
    found = stall_rise(replace(blocks, base=Side(late, blocks.base.failed)))
    assert (found.limit_ms, bool(found.note)) == (None, True)


def test_a_pass_is_void_once_head_stalls():
    blocks = counted(NEVER, NEVER[:60] + every(20, lasts=4)[:60])
    passed = look(Gate(SETTINGS), [blocks.first(60)], 60.0)
    gates = (passed, look(passed, [blocks.first(90)], 90.0))
    assert [finding(it, STALLS, "sum").verdict for it in gates] == ["PASS", "OPEN"]


def service(rng, head, alone=False, processes=4, bursts=0.0):
    stalls = stalls_of(rng, head, alone, processes)
    return blocks_of(rng, 1.0, own=0.0, bursts=bursts, processes=processes, stalls=stalls)


def test_a_head_that_stands_still_for_2_s_of_every_30_fails_and_told_by_times_alone_it_passed():
    blocks, times = service(np.random.default_rng(1), (2, 30)), ("typical", "p50", "p95")
    assert judged([blocks], GateSettings(gates=times)).verdict == "PASS"
    gate = judged([blocks], GateSettings(gates=(*times, STALLS)))
    found = finding(gate, STALLS, "sum")
    assert gate.verdict == found.verdict == "FAIL"
    assert found.change == pytest.approx(2 / 30, abs=0.01)


def test_a_single_process_that_stalls_is_not_held_against_head():
    stalls = [[], [(0, begin, begin + 2.0) for begin in range(5, 600, 15)]]
    blocks = blocks_of(np.random.default_rng(2), 1.0, processes=4, stalls=stalls)
    found = finding(judged([blocks], SETTINGS), STALLS, "sum")
    assert (found.verdict, found.low > 0) == ("INCONCLUSIVE", True)
    assert found.reason.startswith("worse, but not every process of head")


def alone(blocks):
    """(verdict, seconds) of stalls, at the errors that they have beside all that gates."""
    share = SETTINGS.false_alarm * SHARE
    for looks in range(1, len(LOOKS_S) + 1):
        at_s, fractions = LOOKS_S[looks - 1], tuple(it / 600 for it in LOOKS_S[:looks])
        seen = blocks.first(at_s)
        change = stall_rise(seen)
        levels = nominal_level(fractions, share), nominal_level(fractions, SETTINGS.miss)
        found = measured(("sum", STALLS), change, *levels)
        found = shared(
            decided(found, change, *levels, SETTINGS, at_s), partial(spread, seen, STALLS)
        )
        if found.verdict == "FAIL":
            break
    return found.verdict, at_s


LOOKS_S = range(60, 601, 30)
RUNS = 400


@pytest.mark.statistics
@pytest.mark.parametrize("is_beside", [False, True])
@pytest.mark.parametrize(("head", "within_s"), [((0.3, 5), 300), ((2, 30), 600)])
def test_of_100_heads_that_stall_95_fail_in_time(repetitions, head, within_s, is_beside):
    rng, made = np.random.default_rng(40), repetitions(RUNS)
    ends = [alone(service(rng, head, is_beside)) for _ in made]
    late = sum(verdict != "FAIL" or at_s > within_s for verdict, at_s in ends)
    assert late <= made.most(0.05), late


@pytest.mark.statistics
def test_of_100_heads_that_stall_4_s_of_every_60_no_5_pass(repetitions):
    rng, made = np.random.default_rng(41), repetitions(RUNS)
    passed = sum(alone(service(rng, (4, 60)))[0] == "PASS" for _ in made)
    assert passed <= made.most(0.05), passed


@pytest.mark.statistics
@pytest.mark.parametrize("processes", [1, 4])
@pytest.mark.parametrize("bursts", [0.0, 0.05])
def test_of_1000_controls_whose_processes_stall_at_random_at_most_10_fail(
    repetitions, processes, bursts
):
    rng, made = np.random.default_rng(42), repetitions(2 * RUNS)
    ends = [alone(service(rng, None, True, processes, bursts))[0] for _ in made]
    assert ends.count("FAIL") <= made.most(0.01), ends.count("FAIL")
    # A stall of the only process is one of the whole side, four times as much of its answers.
    assert ends.count("PASS") >= made.least(0.95 if processes > 1 else 0.85)
