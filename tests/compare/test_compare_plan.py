import re
import sys
from itertools import pairwise

import numpy as np
import pytest

from support import PLANS, ROOT, environment, run
from support.jtl_rows import HEADER, START_MS, lines
from support.simulated import expected_schedules
from tollgate.compare.looks import judge_blocks
from tollgate.compare.model import FAIL, PASS, GateSettings
from tollgate.compare.record import CompareRecord, SideRecord
from tollgate.compare.samples import read
from tollgate.compare.settings import (
    TIMEOUTS_MS,
    SettingError,
    drawn_seeds,
    lag_s,
    own_timeouts,
    repeat_command,
    seeds_of,
)
from tollgate.plan.read import read_plan

HEADER = HEADER + ',"TESTSTART.MS","coin",URL'
#: How long the sums of data/compare-sum.csv take, one a row.
SUMS_MS = 1.7 + 10.3 * np.random.default_rng(0).lognormal(0, 0.125, 100)
#: Milliseconds in which an arrival keeps a process busy, from when it came: a sum at once, a search
#: when it begins and when its carriers have answered.
BUSY_MS = {"sum": ((0, 11),), "search": ((0, 2), (50, 53))}
PERIOD_MS = 18
# Bytes, threads, Latency, Hostname, Connect and TESTSTART.MS.
REST = (120, 2, 3, 0, "h", 1, START_MS)
WARMUP_S, MEASURED_S = 2, 240
SIDES = (SideRecord(name, name, None, None) for name in ("base", "head"))
RECORD = CompareRecord(*SIDES, "compare", "fork", GateSettings(fail_fast=False), 60.0, 30.0, {})


def arrivals_ms(until_s=np.inf):
    """Those that have to be sent."""
    plan = read_plan(PLANS / "compare.jmx", {"warmup": str(WARMUP_S), "measured": str(MEASURED_S)})
    schedules = expected_schedules(plan)
    assert set(schedules) == set(BUSY_MS)
    return {
        label: np.rint(1000 * it.arrivals(min(until_s, it.end_s)))
        for label, it in schedules.items()
    }


def test_no_two_arrivals_are_due_for_work_at_the_same_time():
    spans = sorted(
        (at + begin, at + end)
        for label, due in arrivals_ms(18).items()
        for begin, end in BUSY_MS[label]
        for at in due
    )
    assert len(spans) == 3 * 18_000 // PERIOD_MS
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


def test_the_load_goes_on_for_a_second_after_the_measured_ones():
    end_ms = (WARMUP_S + MEASURED_S + 1) * 1000
    for due in arrivals_ms().values():
        assert end_ms - PERIOD_MS <= due[-1] < end_ms
        assert set(np.diff(due)) == {PERIOD_MS}


def simulated(folder, seed, ratio=1.0):
    """kpi.jtl of two servers under this plan, of which head takes `ratio` as long for a sum."""
    rng = np.random.default_rng(seed)
    rows = []
    for label, due in arrivals_ms().items():
        size = len(due)
        coin = rng.integers(0, 2, size)
        # What both sides share for some seconds, and a stall now and then.
        shared = np.repeat(rng.normal(0, 0.05, size // 500 + 1), 500)[:size]
        row = np.arange(size) % len(SUMS_MS)
        took = SUMS_MS[row] if label == "sum" else np.full(size, 52.0)
        took = took * rng.lognormal(0, 0.05, size)
        if label == "sum":
            took *= np.where(coin == 1, ratio, 1.0)
        took = took * np.exp(shared) + rng.exponential(0.3, size)
        took += np.where(rng.random(size) < 0.02, rng.exponential(8, size), 0)
        begin = START_MS + due + rng.exponential(0.3, size)
        start, end = (np.floor(it).astype(int) for it in (begin, begin + took))
        sent = zip(start, end - start, coin, row, strict=True)
        for number, (at, elapsed, side, which) in enumerate(sent, 1):
            url = f"http://127.0.0.1:302{1 + side}/{label}/{which}"
            words = (label, 200, "OK", f"{label} 1-{number}", "true")
            rows.append((at, elapsed, *words, *REST, side, url))
    path = folder / "kpi.jtl"
    path.write_bytes(lines(rows, header=HEADER))
    return path


def gate_of(path, live=False):
    found = read(path, ("sum", "search"), WARMUP_S, RECORD.settings.budget_s)
    return judge_blocks(RECORD, found.blocks, found.seconds, live)


@pytest.mark.parametrize("seed", range(4))
def test_two_identical_servers_pass_within_four_minutes(tmp_path, seed):
    gate = gate_of(simulated(tmp_path, seed), live=True)
    assert gate.finished
    assert gate.verdict == PASS, [each for each in gate.findings if each.verdict != PASS]


def test_a_head_that_takes_a_tenth_longer_fails_in_the_label_that_does(tmp_path):
    gate = gate_of(simulated(tmp_path, 1, ratio=1.1))
    failed = {each.key: each for each in gate.findings if each.verdict == FAIL}
    assert set(failed) == {("sum", it) for it in ("typical", "p50", "p95", "tail")}
    assert failed["sum", "p50"].at_s <= 120
    assert failed["sum", "p50"].change == pytest.approx(0.1, abs=0.03)


PLAN = PLANS / "compare.jmx"


def test_all_random_numbers_of_the_plan_are_seeded_by_the_run():
    text = PLAN.read_text()
    assert seeds_of(text) == ["coin_seed"]
    assert len(re.findall(r"[sS]eed\">", text)) == 1


def test_seeds_are_drawn_anew_and_apart_but_for_those_that_are_set(tmp_path):
    plan = tmp_path / "plan.jmx"
    plan.write_text("${__P(coin_seed,3)} ${__P(sum_seed,4)} ${__P(search_seed,5)}")
    seeds = [drawn_seeds(plan, {"sum_seed": 41}) for _ in range(20)]
    assert all(set(each) == {"coin_seed", "search_seed"} for each in seeds)
    numbers = [number for each in seeds for number in each.values()]
    assert len(set(numbers)) == len(numbers)
    assert all(0 < number < 2**31 for number in numbers)


def test_the_same_run_again_is_a_command_s_options():
    options = [f"-o modules.jmeter.properties.{it}" for it in ("coin_seed=3", "sum_seed=4")]
    assert repeat_command({"coin_seed": 3, "sum_seed": 4}) == " ".join(options)


def test_what_was_sent_before_a_look_has_ended_by_then():
    assert lag_s({}) == 8
    assert lag_s({"connect_timeout": "500", "response_timeout": 1500}) == 3
    # The usual timeouts are those of the plan.
    found = dict(re.findall(r"__P\((connect_timeout|response_timeout),(\d+)\)", PLAN.read_text()))
    assert {name: int(value) for name, value in found.items()} == TIMEOUTS_MS


def test_the_timeouts_of_a_plan_are_told_where_they_are_not_usual():
    assert own_timeouts(PLAN.read_text()) == {}
    text = "${__P(connect_timeout,2000)} ${__P(response_timeout,9000)}"
    assert own_timeouts(text) == {"response_timeout": "9000"}


@pytest.mark.parametrize("value", ["0", "", "5s", "-1", "nan"])
def test_a_timeout_must_come(value):
    with pytest.raises(SettingError, match=f"connect_timeout is '{value}': write whole"):
        lag_s({"connect_timeout": value})


def test_a_plan_is_utf_8_whatever_the_locale_says(tmp_path):
    plan = tmp_path / "plan.jmx"
    plan.write_text("<plan name='Größe'>${__P(sum_seed,0)}</plan>", encoding="utf-8")
    code = "import sys; from tollgate.compare.settings import drawn_seeds as drawn; "
    code += "print(*drawn(sys.argv[1], {}))"
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    env = environment(PYTHONPATH=str(ROOT / "scripts"), **ascii_only)
    done = run(sys.executable, "-c", code, plan, env=env)
    assert (done.stdout, done.stderr) == ("sum_seed\n", "")
