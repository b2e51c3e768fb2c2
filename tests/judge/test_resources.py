"""Criteria on workers: what they find, what they don't, and what they can't tell."""

import math
from dataclasses import replace

import numpy as np
import pytest

from support.executions import counts, result_of, verdict_on
from support.golden import check_golden
from support.watched_workers import MIB, leaking, reborn, watched, worker
from tollgate.workers.model import Resources, WorkerCount, WorkerOutage
from tollgate.workers.processes import growth, lives, restarts

SLOPE = "rss-slope of worker>20MB/min"


def on(*workers, criterion=SLOPE, warmup_s=0.0, seconds=120, **changes):
    """The result of a criterion on these workers, watched for that long."""
    return result_of(
        criterion,
        service=counts(3000, seconds),
        warmup_s=warmup_s,
        measured_s=seconds - warmup_s,
        resources=watched(*workers, **changes),
    )


#: A verdict, the worker that it is about, and the result.
RESULTS = {
    "a leak": ("FAIL", "0", on(leaking(60), leaking(0, name="1", seed=2))),
    "no leak": ("PASS", None, on(leaking(0), leaking(0, name="1", seed=2))),
    "a leak without a memory limit": ("FAIL", "0", on(leaking(60), limit_mb=None)),
    "near to the limit": ("INCONCLUSIVE", "0", on(leaking(20))),
    "too short": ("INCONCLUSIVE", "0", on(leaking(60, seconds=15), seconds=15)),
    "time left": ("FAIL", "0", on(leaking(60), criterion="time-left of worker<24h")),
    "time left without a leak": ("INCONCLUSIVE", "0", on(leaking(0), criterion="time-left<24h")),
    "time left and no limit": (
        *("INVALID", None, on(leaking(60), criterion="time-left<24h", limit_mb=None)),
    ),
    "the most RSS": ("FAIL", "0", on(leaking(60), criterion="rss of worker>100MB")),
    "restarts": ("FAIL", "0", on(reborn([[80] * 60, [80] * 60]), criterion="restarts>0")),
    "no restart": ("PASS", "0", on(worker([80] * 60), criterion="restarts>0")),
    "cpu": ("FAIL", "0", on(worker([80] * 60, cpu=95), criterion="cpu of worker>90%")),
    "a blocked loop": (
        "FAIL",
        "1",
        on(
            worker([80] * 60, loop_delay_p95=9),
            worker([80] * 60, name="1", loop_delay_p95=np.tile([5, 400], 30)),
            criterion="loop-delay-p95>50ms",
        ),
    ),
    "a free loop": (
        *("PASS", "0", on(worker([80] * 60), criterion="loop-delay-p50>20ms", seconds=60)),
    ),
    "nobody watched": ("INVALID", None, on()),
    "nothing told": ("INVALID", "0", on(worker([80] * 60, cpu=np.nan), criterion="cpu>90%")),
    "a few seconds of cpu": (
        *("INCONCLUSIVE", "0", on(worker([80] * 4), criterion="cpu>90%", seconds=4)),
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_criterion_on_workers_is_told_in_one_line(name):
    verdict, who, result = RESULTS[name]
    assert result.verdict == verdict
    assert who is None or result.worker == who
    told = f"{result.verdict} {result.line}: {result.reason}"
    check_golden("judge/resources.txt", name, told)


def test_over_many_runs_the_leak_is_found_and_its_absence_is_not_called_one():
    runs = range(40)
    assert all(on(leaking(60, seed=seed)).verdict == "FAIL" for seed in runs)
    verdicts = [on(leaking(0, seed=seed)).verdict for seed in runs]
    assert "FAIL" not in verdicts
    assert verdicts.count("PASS") >= 36


def test_the_leaking_worker_is_named_wherever_it_stands():
    calm, leaky = leaking(0, name="0"), leaking(60, name="7", seed=2)
    for result in (on(calm, leaky), on(leaky, calm)):
        assert (result.verdict, result.worker) == ("FAIL", "7")
        assert result.line.startswith("rss-slope of worker 7 = ")


def test_the_slope_is_what_the_memory_gained_and_the_time_left_follows_from_it():
    growing = worker(100 + np.arange(120) * 0.5)
    result = on(growing, limit_mb=400)
    assert (result.observed, result.samples) == (pytest.approx(30), 120)
    assert "400 MB would be reached in 8.0 min" in result.reason
    # 159.5 MB at the last look, and 30 MB a minute.
    left = on(growing, criterion="time-left<1h", limit_mb=400)
    assert left.observed == pytest.approx((400 - 159.5) / 30)
    touching = on(worker(np.linspace(400, 512, 120)), criterion="time-left<1h")
    assert (touching.verdict, touching.observed) == ("FAIL", 0)
    steady = on(worker(np.full(120, 80.0)), criterion="time-left<24h")
    assert (steady.verdict, steady.observed) == ("PASS", math.inf)


def test_restarts_by_the_memory_limit_do_not_hide_the_leak():
    calm, leak = np.full(60, 80.0), 80 + np.arange(60) * 1.0
    sawtooth = reborn([leak] * 4)
    assert abs(np.polyfit(sawtooth.second, sawtooth.rss / MIB, 1)[0] * 60) < 20
    result = on(sawtooth, seconds=240)
    assert (result.verdict, result.worker) == ("FAIL", "0")
    assert result.observed == pytest.approx(60)
    assert "one of 4" in result.reason
    result = on(reborn([calm, leak, calm]), seconds=180)
    assert result.verdict == "FAIL"
    assert "judged was process 101, one of 3" in result.reason


def test_processes_that_die_too_young_to_be_judged_are_never_a_pass():
    crashing = reborn([np.full(12, 80.0)] * 10)
    result = on(crashing)
    assert (result.verdict, result.observed) == ("INCONCLUSIVE", None)
    assert "watched for 11 s at most" in result.reason
    mostly = reborn([np.full(25, 80.0), *[np.full(12, 80.0)] * 8])
    assert on(mostly).verdict == "INCONCLUSIVE"


def test_a_process_that_came_later_warms_up_as_well():
    young = 120 - 60 * np.exp(-np.arange(100) / 5)
    twice = reborn([young, young])
    (first, second) = lives(twice, 40.0, 200.0)
    assert (first.second[0], second.second[0]) == (40.5, 140.5)
    assert on(twice, warmup_s=40.0, seconds=200).verdict == "PASS"
    assert on(twice, warmup_s=0.0, seconds=200).verdict != "FAIL"


def test_the_warm_up_of_the_run_is_left_out():
    series = worker(np.concatenate([np.linspace(50, 150, 60), np.full(60, 150.0)]))
    assert on(series, warmup_s=60.0).verdict == "PASS"
    assert on(series, warmup_s=60.0, criterion="rss<140MB").verdict == "PASS"
    assert on(series, warmup_s=0.0).verdict != "PASS"


def test_planned_reloads_are_no_restarts():
    series = reborn([[80] * 60, [80] * 60])
    for name, expected in {"0": ("PASS", 0), "1": ("FAIL", 1)}.items():
        result = on(series, criterion="restarts>0", planned=[(name, 60.0)])
        assert (result.verdict, result.observed) == expected


def test_a_restart_between_two_looks_shows_in_its_pid_or_in_pm2s_count():
    by_pid = worker([80] * 10, pid=[100] * 5 + [101] * 5)
    by_count = worker([80] * 10, restarts=[0] * 5 + [3] * 5)
    assert restarts(by_pid, (), 10.0) == 1
    assert restarts(by_count, (), 10.0) == 3
    assert restarts(by_count, (), 5.0) == 0


def test_stalls_of_a_loop_are_not_hidden_by_its_median_and_a_few_looks_may_lack_a_value():
    stalls = np.where(np.arange(120) % 3 == 0, 300, 5)
    gaps = np.where(np.arange(120) % 12, 9.0, np.nan)
    stalled, free = (
        on(worker([80] * 120, loop_delay_p95=delays), criterion="loop-delay-p95>50ms")
        for delays in (stalls, gaps)
    )
    assert (stalled.verdict, stalled.observed) == ("FAIL", pytest.approx(stalls.mean()))
    assert (free.verdict, free.observed, free.samples) == ("PASS", 9, 110)


@pytest.mark.parametrize(
    ("column", "criterion", "good", "bad"),
    [
        ("rss_mb", "rss>400MB", 80, 500),
        ("cpu", "cpu>90%", 10, 99),
        ("loop_delay_p95", "loop-delay-p95>50ms", 5, 400),
        ("loop_delay_p50", "loop-delay-p50>50ms", 5, 400),
    ],
)
def test_what_was_told_of_half_the_time_alone_can_fail_and_never_pass(column, criterion, good, bad):
    def half(value):
        told = np.where(np.arange(60) < 30, float(value), np.nan)
        return on(worker(**{"rss_mb": [80] * 60, column: told}), criterion=criterion, seconds=60)

    assert half(bad).verdict == "FAIL"
    assert half(good).verdict == "INCONCLUSIVE"
    assert "measured by 30 looks in 60 s" in half(good).reason


def test_looks_that_are_missing_altogether_are_no_pass_either():
    result = on(worker([80] * 3), criterion="rss>400MB", seconds=60)
    assert (result.verdict, result.observed) == ("INCONCLUSIVE", 80)
    assert on(worker(np.where(np.arange(120) < 50, 80.0, np.nan))).verdict == "INCONCLUSIVE"


def with_outage(criterion, *outage, of=None):
    """The verdict on two minutes of a worker, 0, and an outage."""
    resources = replace(watched(of or worker([80] * 120)), outages=(WorkerOutage(*outage),))
    return verdict_on(criterion, service=counts(3000, 120), resources=resources)


@pytest.mark.parametrize("outage", [(0.1, 0.4), (119.6, 119.9), (120.2, 120.9), (-0.2, 0.3)])
def test_a_restart_that_no_two_looks_show_counts_by_its_outage(outage):
    verdict = with_outage("restarts>0", "0", 99, *outage)
    assert (verdict.verdict, verdict.executions[0].criteria[0].observed) == ("FAIL", 1)
    assert verdict.executions[0].workers[0].restarts == 1


def test_a_planned_reload_that_no_look_shows_hides_no_other_restart():
    outages = (WorkerOutage("0", 99, 0.1, 0.4), WorkerOutage("0", 100, 119.6, 119.6, planned=True))
    assert restarts(worker([80] * 120), outages, 120.0) == 1


def test_a_restart_of_a_worker_that_no_look_saw_is_judged_by_no_criterion():
    assert with_outage("restarts>5", "1", 99, 5.0, 5.5).verdict == "INVALID"
    seen = with_outage(SLOPE, "0", 100, 60.0, 61.0, of=leaking(60))
    assert seen.executions[0].criteria[0].verdict == "FAIL"


def test_where_no_worker_was_seen_of_a_target_the_watch_is_pointed_to():
    nobody = verdict_on(SLOPE, facts={"workers": (WorkerCount(2),)}, resources=Resources())
    text = nobody.executions[0].criteria[0].reason
    assert text.endswith(
        "no worker was seen, so nothing was judged: see workers.jsonl and workers.err"
    )


def test_a_run_may_be_judged_by_its_workers_alone_and_a_leak_is_the_services_fault():
    nobody = verdict_on(SLOPE, resources=Resources())
    assert (nobody.verdict, nobody.reasons[0].fault) == ("INVALID", "operator")
    steady, leak = (
        verdict_on(SLOPE, service=counts(3000, 120), resources=watched(leaking(mb)))
        for mb in (0, 60)
    )
    assert steady.verdict == "PASS"
    assert (leak.verdict, leak.exit_code, leak.reasons[0].fault) == ("FAIL", 3, "service")
    assert "worker 0" in leak.reasons[0].text


def test_a_worker_that_never_was_up_gives_no_process():
    down = worker([0] * 30, pid=0)
    assert lives(down, 0.0, 30.0) == ()
    assert on(down, seconds=30).verdict == "INCONCLUSIVE"


def test_the_peak_is_where_the_highest_looks_stand_at_the_end():
    rss = 100 + np.arange(120) * 0.5
    rss[30] += 40  # once, long before the end
    (life,) = lives(worker(rss), 0.0, 120.0)
    grown = growth(life, 0.95)
    assert grown.peak / MIB == pytest.approx(rss[-1] + 40, abs=0.5)
    assert grown.time_left(600 * MIB)[0] == pytest.approx((600 - grown.peak / MIB) / 0.5, rel=0.01)


def a_day(mb_per_request):
    """Two minutes in which the load goes down to a tenth and up again, twice."""
    served = np.cumsum(11 + 9 * np.cos(np.arange(120) / 60 * 2 * np.pi))
    noise = np.random.default_rng(5).normal(0, 2, 120)
    return worker(80 + mb_per_request * served + noise, requests=np.floor(served))


def test_a_leak_that_goes_with_the_work_is_found_though_the_work_comes_and_goes():
    found = on(a_day(0.1))
    assert (found.verdict, found.worker) == ("FAIL", "0")
    assert found.low <= 0.1 * 11 * 60 <= found.high
    by_time = on(replace(a_day(0.1), requests=np.full(120, np.nan)))
    assert found.high - found.low < (by_time.high - by_time.low) / 2
    assert on(a_day(0.0)).verdict == "PASS"


def test_two_days_of_eight_workers_are_judged():
    seconds = 172_800
    series = [leaking(0.5, seconds=seconds, start=50, name=str(n), seed=n) for n in range(8)]
    result = on(*series, criterion="rss-slope>100KB/min", seconds=seconds, limit_mb=2048)
    assert (result.verdict, result.samples) == ("FAIL", seconds)
    assert result.observed == pytest.approx(0.5, rel=0.02)


def test_an_event_loop_that_nobody_told_is_no_free_one_and_the_line_says_what_to_do():
    result = on(worker([80] * 60, loop_delay_p50=np.nan), criterion="loop-delay-p50 of worker>20ms")
    assert result.verdict == "INVALID"
    assert result.reason.endswith("for another kind of app remove the criterion")
