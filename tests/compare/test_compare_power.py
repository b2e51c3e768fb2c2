"""What a comparison says that it will find, held against comparisons that are made up."""

import re
from dataclasses import replace

import numpy as np
import pytest

from support.compared import SHORT, compared, judged, verdicts
from tollgate.compare.answers import Answer, AnswersError, Rehearsal
from tollgate.compare.model import FAIL, PASS, GateSettings, Requests
from tollgate.compare.outset import Schedule, set_out
from tollgate.compare.power import power_of
from tollgate.compare.record import CompareRecord, SideRecord

QUIET = {"common": 0.02, "stalls": 0.0}
RATE = 40.0


def rehearsed(rng, **service):
    """The times of half a minute, both sides together."""
    both = compared(rng, 30, **QUIET, **service).requests
    names = ("block", "row", "elapsed_ms")
    return Requests(*(np.concatenate([getattr(it, name) for it in both]) for name in names))


def found(settings, rate=RATE, processes=1, requests=None, **service):
    times = rehearsed(np.random.default_rng(3), rate=rate, **service)
    n = int(rate * settings.budget_s) if requests is None else requests
    powers = power_of(settings, {"search": times}, {"search": n}, processes)
    return {it.metric: it for it in powers}


@pytest.mark.parametrize("metric", ["typical", "p50"])
def test_the_smallest_rise_is_found_in_most_runs_and_half_of_it_in_few(metric):
    rng, rise = np.random.default_rng(5), found(SHORT)[metric].rise
    failed = []
    for ratio in (1 + rise, 1 + rise / 2):
        made = [
            judged([compared(rng, 240, rate=RATE, ratio=ratio, **QUIET)], SHORT) for _ in range(30)
        ]
        failed.append(verdicts(made, metric).count(FAIL))
    assert failed[0] >= 17
    assert failed[1] <= 6


def test_where_a_pass_is_probable_most_like_services_pass():
    rng = np.random.default_rng(6)
    service = {"rate": RATE, "sigma": 0.15, "median_ms": 30.0}
    powers = found(SHORT, **service)
    made = [judged([compared(rng, 240, **QUIET, **service)], SHORT) for _ in range(20)]
    for metric in ("typical", "p50", "errors"):
        assert powers[metric].can_pass
        assert verdicts(made, metric).count(PASS) >= 16


def test_more_time_finds_smaller_rises_and_so_does_a_metric_alone():
    short = found(GateSettings(budget_s=120.0))
    long = found(GateSettings(budget_s=1200.0))
    assert long.keys() == short.keys() == set(GateSettings().gates)
    assert all(long[it].rise < short[it].rise for it in ("typical", "p50", "p95"))
    assert all(long[it].rise <= short[it].rise for it in ("errors", "stalls"))
    alone = found(GateSettings(budget_s=120.0, gates=("p95",)))
    assert alone["p95"].rise < short["p95"].rise


def test_a_label_with_too_few_requests_is_too_rare_for_its_tail_first():
    few = found(SHORT, requests=150)
    assert (few["p95"].rise, few["p95"].can_pass) == (None, False)
    assert few["typical"].rise > 0.05
    assert not few["typical"].can_pass
    assert few["errors"].rise > 0.05
    none = found(SHORT, requests=0)
    assert {it.rise for it in none.values()} == {None}


@pytest.mark.parametrize("slow_ms", [10**4, 10**6, 10**9])
def test_of_times_too_wild_for_the_looks_no_rise_is_foretold(slow_ms):
    times = rehearsed(np.random.default_rng(3), rate=RATE)
    wild = np.where(np.arange(len(times.row)) % 9, times.elapsed_ms, slow_ms)
    settings = replace(SHORT, budget_s=20)
    powers = power_of(settings, {"a": replace(times, elapsed_ms=wild)}, {"a": 40}, 2)
    assert all(it.rise is None or it.rise <= 9 for it in powers)
    assert {it.metric for it in powers if it.rise is None} >= {"typical", "tail"}


def test_several_processes_a_side_ask_for_more_where_each_has_few_requests():
    one, four = found(SHORT, processes=1), found(SHORT, processes=4)
    assert four["p95"].rise >= one["p95"].rise
    # However many requests there are, processes differ by themselves.
    service = {"sigma": 0.05, "median_ms": 300.0}
    assert found(SHORT, processes=4, requests=10**7, **service)["typical"].rise > 0.01


def own_plan(coin, budget_s=600.0):
    sides = (SideRecord(name, name, None, None) for name in ("base", "head"))
    settings = GateSettings(budget_s=budget_s, gates=("typical",))
    return CompareRecord(*sides, "own", "url", settings, 60.0, 30.0, {}, coin=coin)


def answered(label, every_ms, until_ms=10_000):
    return [
        Answer(label, n % 2, at, 40 + n % 9, True, f"http://a/{label}", "200 OK")
        for n, at in enumerate(range(0, until_ms, every_ms))
    ]


def test_cpu_time_that_is_to_decide_and_says_nothing_is_refused_before_the_load():
    record = own_plan("thread")
    record = replace(record, settings=replace(record.settings, gates=("typical", "cpu")))
    with pytest.raises(AnswersError, match=r"names cpu, but requests are assigned once per thread"):
        set_out(record, Schedule(("list",), None, {}, {}), Rehearsal(), 2, 0.5)


def test_a_plan_of_somebodys_own_asks_as_often_as_in_its_rehearsal():
    seen = Rehearsal(tuple(answered("list", 20) + answered("rare", 500)))
    schedule = Schedule(("list", "rare"), None, {}, {})
    made = set_out(own_plan("iteration"), schedule, seen, 2, 0.5)
    assert (made.record.power, made.properties) == ((), {})
    lines = {line.split()[5].rstrip(","): line for line in made.lines}
    # 50 a second of both sides for ten minutes.
    requests = int(re.search(r"some (\d+) requests", lines["list"])[1])
    assert requests == pytest.approx(15_000, rel=0.05)
    assert "in rare, with some 6" in lines["rare"] or "in rare, with some 5" in lines["rare"]
    assert set_out(own_plan("thread"), schedule, seen, 2, 0.5).lines == []
    assert set_out(own_plan("iteration"), schedule, Rehearsal(), 2, 0.5).lines == []
