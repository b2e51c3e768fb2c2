"""CPU time of an answered request, head against base: sides whose costs are known."""

import math
from dataclasses import replace

import numpy as np
import pytest

from support.cpu_times import Service, compared
from tollgate.compare.cpu import LUCK_SD, LUCK_SD_ALONE, by_label, cpu_change
from tollgate.compare.cpu_times import CpuTimes
from tollgate.compare.decide import close, look
from tollgate.compare.model import (
    ALL_LABELS,
    CPU,
    FAIL,
    IMPROVED,
    INCONCLUSIVE,
    INFORMATIONAL,
    OPEN,
    PASS,
    TYPICAL,
    Finding,
    Gate,
    GateSettings,
)

#: Nothing of which varies but what was asked.
EXACT = Service(sizes=0.0, noise=0.0, wait_ms=0.0)
SETTINGS = GateSettings(gates=("cpu",), budget_s=240.0, fail_fast=False)
LABELS = ("sum", "search")


def with_cpu(labels, cpu):
    return [replace(it, cpu=cpu) for it in labels]


def change_of(*arguments, **service):
    return cpu_change(*compared(*arguments, **service)).change


def gate_of(made, settings=SETTINGS, at_s=180.0, **more):
    return look(Gate(settings, has_cpu=True, **more), with_cpu(*made), at_s)


def finding(gate):
    return next(it for it in gate.findings if it.key == (ALL_LABELS, CPU))


def test_what_every_request_costs_is_found_to_the_last_digit_where_nothing_is_noise():
    found = change_of(np.random.default_rng(1), service=replace(EXACT, idle_ms=0.0), ratio=1.05)
    assert found.value == pytest.approx(math.log(1.05), abs=1e-3)
    assert found.head / found.base == pytest.approx(math.exp(found.value))
    assert found.base == pytest.approx((7 + 12) / 2, rel=0.01)
    assert found.lasting == pytest.approx(1.0, abs=0.01)  # all of its error is luck


def test_a_second_in_which_nobody_asks_costs_both_sides_alike():
    idle = replace(EXACT, idle_ms=50.0)
    alike = change_of(np.random.default_rng(2), service=idle)
    assert alike.value == pytest.approx(0.0, abs=1e-9)
    more = change_of(np.random.default_rng(2), service=idle, idle_more=50.0)
    assert more.value > 0.2  # and what head does besides is part of what an answer costs


@pytest.mark.parametrize("share", [{"sum": 0.7, "search": 0.5}, {"sum": 0.4, "search": 0.6}])
def test_a_side_that_gets_more_of_a_heavy_label_is_no_worse(share):
    found = change_of(np.random.default_rng(3), service=EXACT, to_head=share)
    assert found.value == pytest.approx(0.0, abs=1e-9)
    assert found.head == pytest.approx(found.base)


def test_a_side_that_gets_heavier_rows_of_its_data_is_no_worse():
    rng = np.random.default_rng(4)
    labels, cpu = compared(rng, service=Service(sizes=0.4, noise=0.0, costs={"sum": 20.0}))
    [label] = labels
    # Head loses the answers to half of its light rows, and the CPU time that they took.
    heavy = label.head.known.row >= 10
    is_kept = heavy | (rng.random(len(heavy)) < 0.5)
    size = np.exp(0.4 * np.linspace(-2, 2, 40))
    lost = label.head.known.where(~is_kept)
    used = cpu.used_ms.copy()
    np.subtract.at(used, (1 + 2 * lost.process, lost.block), 20.0 * size[lost.row])
    kept = label.head.known.where(is_kept)
    head = label.head.of(kept, label.values_ms, label.head.failed)
    found = cpu_change([replace(label, head=head)], CpuTimes(used)).change
    plain = used[1::2].sum() / len(kept.row) / (used[0::2].sum() / label.base.total)
    assert math.log(plain) > 0.04
    assert abs(found.value) < 0.01


def test_many_labels_in_few_seconds_explain_no_change_away():
    many = replace(EXACT, costs={f"label {it}": 5.0 + it for it in range(20)}, sizes=0.1)
    rng = np.random.default_rng(4)
    found = change_of(rng, seconds=60, processes=1, rate=10.0, service=many, ratio=1.1)
    assert found.value == pytest.approx(math.log(1.1), abs=0.02)


def test_collections_of_garbage_are_part_of_the_cost_however_seldom_they_come():
    rng = np.random.default_rng(5)
    labels, cpu = compared(rng, seconds=600, service=EXACT)
    used = cpu.used_ms.copy()
    used[1::2, ::20] += 400.0  # of each of head's processes, every 20 seconds
    found = cpu_change(labels, CpuTimes(used)).change
    answers = sum(it.head.total for it in labels)
    assert found.head - found.base == pytest.approx(4 * 30 * 400.0 / answers, rel=0.1)


def test_what_is_read_late_at_the_edges_of_seconds_evens_out():
    late = change_of(np.random.default_rng(6), service=replace(EXACT, edge=0.1), ratio=1.03)
    assert late.value == pytest.approx(math.log(1.03), abs=2e-3)


def test_the_luck_of_processes_is_in_the_interval_however_long_it_is_measured():
    quiet, lucky = (
        change_of(np.random.default_rng(7), service=replace(EXACT, luck=luck))
        for luck in (0.0, 0.03)
    )
    # Of four a side, beside what was measured before, which counts as eight degrees of freedom.
    assert quiet.error == pytest.approx(LUCK_SD * math.sqrt(2 / 4 * 8 / 14), rel=0.02)
    assert lucky.error > 2 * quiet.error
    assert quiet.freedom >= 14


def test_more_workers_of_a_side_whose_answers_are_not_told_apart_have_less_luck():
    labels, cpu = compared(np.random.default_rng(8), processes=1, service=EXACT)
    one, four = (cpu_change(labels, replace(cpu, workers=it)) for it in (1, 4))
    assert one.change.value == four.change.value
    assert four.change.error == pytest.approx(one.change.error / 2, rel=0.02)
    assert one.spread is None
    # A single one shows nothing of the luck, which may be the worst of any service.
    assert one.change.error == pytest.approx(LUCK_SD_ALONE * math.sqrt(2), rel=0.02)


def test_what_speaks_against_it_is_said_instead_of_a_change():
    labels, cpu = compared(np.random.default_rng(8), ratio=1.3)
    doubtful = replace(cpu, doubt="nobody knows")
    told = finding(gate_of((labels, doubtful)))
    assert (told.verdict, told.change) == (OPEN, None)
    assert told.reason == "cannot tell: nobody knows"
    assert by_label(labels, doubtful, (), 0.01) == ()


def test_head_is_worse_only_where_all_of_its_processes_are():
    base, rng = (1.0, 1.01, 0.99, 1.0), np.random.default_rng(9)
    worse = gate_of(compared(rng, ratios=(*base, 1.05, 1.06, 1.05, 1.07)))
    assert (finding(worse).verdict, worse.verdict, worse.finished) == (FAIL, FAIL, True)
    wide = GateSettings(gates=("cpu",), cpu_effect=0.03, false_alarm=0.4)
    one_is_not = gate_of(compared(rng, ratios=(*base, 1.08, 1.09, 0.985, 1.09)), wide)
    assert finding(one_is_not).low > 0
    assert finding(one_is_not).verdict == OPEN
    better = gate_of(compared(rng, ratios=(1.05, 1.06, 1.05, 1.07, *base)))
    assert finding(better).verdict == IMPROVED
    ratios = (*base, 1.05, 1.06, 1.05, 1.07)
    spread = cpu_change(*compared(rng, ratios=ratios, service=EXACT)).spread
    assert spread.base == pytest.approx((0.0, 0.01, -0.01, 0.0), abs=0.005)
    assert spread.head == pytest.approx((0.05, 0.06, 0.05, 0.07), abs=0.006)
    assert (spread.metric, spread.is_slower) == (CPU, True)


def test_it_has_no_say_unless_it_is_asked_for_one_and_takes_nothing_of_the_others_error():
    labels, cpu = compared(np.random.default_rng(10), ratio=1.1)
    with_, without = (
        look(Gate(GateSettings(), has_cpu=it), with_cpu(labels, cpu), 180.0) for it in (True, False)
    )
    assert finding(with_).verdict == INFORMATIONAL
    assert finding(with_).change == pytest.approx(0.1, abs=0.02)
    assert tuple(it for it in with_.findings if it.metric != CPU) == without.findings


def test_it_passes_where_a_rise_as_large_as_its_own_effect_is_ruled_out():
    made = compared(np.random.default_rng(11), seconds=240)
    assert finding(gate_of(made, at_s=240.0)).verdict == PASS
    strict = replace(SETTINGS, cpu_effect=0.003)
    assert finding(close(gate_of(made, strict, at_s=240.0))).verdict == INCONCLUSIVE


def test_no_more_time_is_advised_where_only_more_processes_would_tell():
    ratios = (1.0, 1.03, 0.99, 1.0, 1.03, 1.0, 1.02, 1.01)
    found = finding(gate_of(compared(np.random.default_rng(12), ratios=ratios)))
    assert (found.verdict, found.more_s, found.is_coarse) == (OPEN, None, False)
    assert "more of a side" in found.reason


def test_what_is_not_known_of_some_seconds_is_left_out_and_of_most_says_nothing():
    labels, cpu = compared(np.random.default_rng(13), service=EXACT, ratio=1.05)
    used = cpu.used_ms.copy()
    used[3, 40:55] = np.nan
    found = cpu_change(labels, CpuTimes(used)).change
    assert found.value == pytest.approx(cpu_change(labels, cpu).change.value, abs=0.01)
    used[3, 15:] = np.nan
    told = finding(gate_of((labels, CpuTimes(used))))
    assert (told.verdict, told.base, told.change) == (OPEN, None, None)
    assert told.reason == "cannot tell: the CPU time of 15 of 180 s is known, 162 s are needed"


@pytest.mark.parametrize("cpu", [None, CpuTimes.of((), 1, 4, 180)])
def test_what_was_never_recorded_is_inconclusive_where_it_decides(cpu):
    labels, _ = compared(np.random.default_rng(14))
    gate = close(look(Gate(SETTINGS, has_cpu=True), with_cpu(labels, cpu), 180.0))
    assert (finding(gate).verdict, finding(gate).change) == (INCONCLUSIVE, None)


def test_sides_of_which_one_fails_often_did_not_do_the_same_work():
    labels, cpu = compared(np.random.default_rng(15))
    failed = np.ones(180, int) * 3
    broken = replace(labels[0], head=replace(labels[0].head, failed=failed))
    assert "failed" in finding(gate_of(([broken, labels[1]], cpu))).reason


def test_rows_that_were_written_are_the_times_that_are_read():
    rows = ((1.0, 2.0, None), (3.0, 4.0))
    cpu = CpuTimes.of(rows, 2, 2, 2)
    assert cpu.workers == 2
    assert cpu.used_ms[:2].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert np.isnan(cpu.used_ms[2:]).all()
    assert CpuTimes.of(rows, 1, 1, 5).first(3).used_ms.shape == (2, 3)


def of_labels(made, *failed):
    """LabelCpu by label. failed: findings of times."""
    return {it.label: it for it in by_label(*made, failed, 0.01)}


def test_the_cpu_time_of_each_label_is_told_with_an_interval_that_holds_it():
    rng, more = np.random.default_rng(16), {"sum": 1.5}
    made = compared(rng, seconds=300, rate=40.0, more_ms=more, service=Service(noise=0.1))
    found = of_labels(made)
    assert found["sum"].low_ms < 1.5 < found["sum"].high_ms
    assert found["search"].low_ms < 0.0 < found["search"].high_ms
    assert found["sum"].low_ms > 0
    assert found["sum"].base_ms == pytest.approx(7.0, rel=0.1)
    assert found["search"].base_ms == pytest.approx(12.0, rel=0.1)


def test_a_label_that_awaits_is_told_from_one_that_computes():
    rng = np.random.default_rng(17)
    of_sum, of_search = (Finding(it, TYPICAL, True, FAIL, "", 9.0, 12.0) for it in LABELS)
    made = compared(rng, seconds=120, waits_ms={"sum": 3.0}, more_ms={"search": 3.0})
    found = of_labels(made, of_sum, of_search)
    assert (found["sum"].outcome, found["search"].outcome) == ("waiting", "computing")
    assert found["sum"].rise_ms == 3.0
    assert {it.outcome for it in of_labels(made).values()} == {"unknown"}  # nothing takes longer


def test_of_too_few_seconds_or_too_many_labels_no_label_is_told():
    rng = np.random.default_rng(18)
    assert by_label(*compared(rng, seconds=15), (), 0.01) == ()
    many = Service(costs={f"label {it}": 1.0 + it for it in range(30)})
    assert by_label(*compared(rng, seconds=30, rate=4.0, service=many), (), 0.01) == ()
    assert by_label(*compared(rng, seconds=30, rate=0.5, service=many), (), 0.01) == ()


@pytest.mark.statistics
@pytest.mark.parametrize("noise", [{}, {"own": 0.05}, {"collects": (0.1, 40.0), "edge": 0.1}])
def test_intervals_hold_the_change_as_often_as_they_say(repetitions, noise):
    """With the luck that was measured; of a level of 5 % at either end, and some for chance."""
    rng, repeated = np.random.default_rng(19), repetitions(100)
    low = high = 0
    for _ in repeated:
        found = change_of(rng, seconds=90, service=Service(luck=LUCK_SD, **noise), ratio=1.02)
        low += found.low(0.05) > math.log(1.02)
        high += found.high(0.05) < math.log(1.02)
    assert max(low, high) <= repeated.most(0.08)


@pytest.mark.statistics
def test_intervals_of_labels_hold_all_of_their_changes_together(repetitions):
    rng, repeated = np.random.default_rng(20), repetitions(60)
    missed = 0
    for _ in repeated:
        made = compared(rng, seconds=90, service=Service(luck=LUCK_SD), more_ms={"sum": 1.0})
        found = {it.label: it for it in by_label(*made, (), 0.1)}
        held = (found["sum"].low_ms <= 1.0 <= found["sum"].high_ms) and (
            found["search"].low_ms <= 0.0 <= found["search"].high_ms
        )
        missed += not held
    assert missed <= repeated.most(0.15)


@pytest.mark.statistics
def test_luck_of_any_size_seldom_fails_with_four_processes(repetitions):
    rng, repeated = np.random.default_rng(21), repetitions(100)
    failed = 0
    for _ in repeated:
        gate = gate_of(compared(rng, seconds=60, service=Service(luck=0.03)), at_s=60.0)
        failed += finding(gate).verdict == FAIL
    assert failed <= repeated.most(2 / 70)


def test_findings_of_cpu_are_told_in_milliseconds():
    found = Finding(ALL_LABELS, CPU, False, INFORMATIONAL, "", 1.0, 2.0)
    assert found.unit == "ms"


def test_its_effect_is_a_share_however_little_a_request_costs():
    assert GateSettings().effect_of(CPU, 0.2) == 0.02
