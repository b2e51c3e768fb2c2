"""JMeter's blocks beside those of another load generator, with figures made up."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from tollgate.study.autocannon import AutocannonResult
from tollgate.study.crosscheck import TOLERANCE, checks
from tollgate.study.model import Block, Cell, CellData
from tollgate.study.record import CHECKS

ROUNDS, SECONDS, LEAD = 8, 3, 0.5
JMETER = Cell(
    *("crosscheck", "jmeter", "fork", 20, 0, ROUNDS, SECONDS, LEAD, 0, "/sum/500000", "sum")
)
OTHER = replace(JMETER, arm="autocannon")
#: Requests a second in each round: the machine drifts, and one round is half as fast.
PACE = np.array([1500, 1480, 1460, 700, 1440, 1420, 1410, 1400])


def jmeter(pace=PACE, failed=0, cores=0.4, service=1.0, idle=0.6):
    """JMeter's cell: each round has one service time, that of a closed loop of 20 users."""
    size = len(pace)
    window = SECONDS - LEAD
    times = np.round(20_000 / pace).astype(np.int64)
    values = np.unique(times)
    counts = np.where(values == times[:, None], np.round(pace * window)[:, None], 0)
    return CellData(
        *(JMETER, np.arange(1, size + 1), np.full(size, window), values, counts.astype(np.int64)),
        failed=np.array([failed] + [0] * (size - 1)),
        workers={"0": int(counts.sum())},
        generator_cores=np.full(size, cores),
        service_cores=np.full(size, service),
        idle_cores=np.full(size, idle),
    )


def result(pace, speed=1.0, p50=1.0, **changes):
    """What a tool tells of a round: `speed` times JMeter's throughput, `p50` times its p50."""
    made = AutocannonResult(
        version="9.0.0",
        requests=round(pace * speed * SECONDS),
        failed=0,
        seconds=SECONDS,
        p50_ms=round(20_000 / pace) * p50,
        step_ms=0,
        cpu_s=0.1,
    )
    return replace(made, **changes)


def told(run, results, data=None):
    """The check of autocannon, whose result in round i is results[i - 1]; None has left no file."""
    (run / CHECKS).mkdir()
    blocks = [Block(1, 0, JMETER), Block(2, 0, OTHER)]
    for number, one in enumerate(results, 1):
        blocks += [Block(2 * number + 1, number, JMETER), Block(2 * number + 2, number, OTHER)]
        if one:
            path = run / CHECKS / f"{2 * number + 2}.json"
            path.write_text(json.dumps(asdict(one)))
    data = data or jmeter()
    (check,) = checks(run, blocks, {data.cell: data})
    return check


def test_a_tool_that_sees_what_jmeter_sees_agrees_with_it(tmp_path):
    check = told(tmp_path, [result(pace) for pace in PACE])
    assert (check.tool, check.version, check.agreement) == ("autocannon", "9.0.0", "agrees")
    for ratio in check.ratios.values():
        assert ratio.value == pytest.approx(1, abs=0.001)
        # What a round did to the machine cancels: the slow one leaves no width.
        assert ratio.high - ratio.low < 0.002
    assert check.reason == (
        "autocannon / JMeter: throughput 1.00 (1.00 to 1.00) and median response time 1.00 "
        "(1.00 to 1.00), within 0.91 to 1.10"
    )


def test_pairs_and_not_means_decide(tmp_path):
    """The same results in other rounds have as good a mean, but the drift tells them apart."""
    turned = told(tmp_path, [result(pace) for pace in np.roll(PACE, 3)])
    ratio = turned.ratios["throughput"]
    assert ratio.value == pytest.approx(1, abs=0.001)
    assert turned.agreement == "cannot tell"
    assert "reaches beyond 0.91 to 1.10" in turned.reason


@pytest.mark.parametrize(
    ("speed", "p50", "agreement"),
    [
        *((1.08, 1.0, "agrees"), (0.93, 1.08, "agrees"), (1.0, 0.92, "agrees")),
        *((1.15, 1.0, "disagrees"), (1.0, 0.8, "disagrees"), (0.85, 1.2, "disagrees")),
    ],
)
def test_the_tolerance_decides_on_throughput_and_on_the_median(tmp_path, speed, p50, agreement):
    check = told(tmp_path, [result(pace, speed, p50) for pace in PACE])
    assert check.agreement == agreement
    assert check.ratios["throughput"].value == pytest.approx(speed, rel=0.002)
    assert check.ratios["p50"].value == pytest.approx(p50, rel=0.002)


def test_an_interval_across_the_tolerance_cannot_tell(tmp_path):
    uneven = [result(pace, 1 + TOLERANCE + 0.1 * (-1) ** i) for i, pace in enumerate(PACE)]
    check = told(tmp_path, uneven)
    assert check.agreement == "cannot tell"
    assert check.reason.startswith("autocannon / JMeter: throughput 1.1")
    assert "median" not in check.reason


def test_a_disagreement_tells_what_each_took_of_the_cpu(tmp_path):
    check = told(tmp_path, [result(pace, 1.3) for pace in PACE])
    requests = sum(round(pace * 1.3 * SECONDS) for pace in PACE)
    counted = jmeter().counts.sum()
    own, other = 1000 * 0.1 * ROUNDS / requests, 1000 * 0.4 * 2.5 * ROUNDS / counted
    assert check.reason.endswith(
        f"a request took {own:.2g} ms of autocannon's CPU and {other:.2g} ms of JMeter's"
    )


def test_a_disagreement_says_where_cpu_is_not_known(tmp_path):
    check = told(tmp_path, [result(pace, 1.3) for pace in PACE], jmeter(cores=float("nan")))
    assert check.agreement == "disagrees"
    assert check.reason.endswith("of autocannon's CPU, JMeter's is not known")


def test_a_server_that_had_no_core_is_no_measure(tmp_path):
    check = told(tmp_path, [result(pace, 1.3) for pace in PACE], jmeter(service=0.54, idle=0.06))
    assert check.agreement == "cannot tell"
    assert check.reason.endswith(
        "in JMeter's blocks the server had 0.54 cores and 0.06 were idle: end what else runs on "
        "this machine, and measure again"
    )


def test_a_generator_that_leaves_the_server_idle_has_no_excuse(tmp_path):
    data = jmeter(service=0.54, idle=1.0)
    assert told(tmp_path, [result(pace, 1.3) for pace in PACE], data).agreement == "disagrees"


def test_what_was_cut_to_milliseconds_counts_as_half_of_one_more(tmp_path):
    cut = [result(pace, step_ms=1.0) for pace in PACE]
    cut = [replace(one, p50_ms=one.p50_ms - 0.5) for one in cut]
    assert told(tmp_path, cut).ratios["p50"].value == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize(("ours", "theirs"), [(0, 3), (2, 0)])
def test_failed_requests_leave_nothing_to_agree_on(tmp_path, ours, theirs):
    results = [result(pace) for pace in PACE]
    results[4] = replace(results[4], failed=theirs)
    check = told(tmp_path, results, jmeter(failed=ours))
    assert check.agreement == "cannot tell"
    assert check.reason.startswith(
        f"requests failed, {theirs} of autocannon's and {ours} of JMeter's: "
    )


def test_a_round_without_a_result_is_named_and_too_few_rounds_have_no_interval(tmp_path):
    check = told(tmp_path, [*(result(pace) for pace in PACE[:-1]), None])
    assert check.agreement == "cannot tell"
    assert check.ratios["p50"].value == pytest.approx(1, abs=0.001)
    assert check.ratios["p50"].low is None
    assert check.reason.startswith(
        "no interval: 7 rounds were measured, 8 are needed (round 8 left no crosscheck/18.json); "
    )


def test_a_damaged_result_is_named(tmp_path):
    damaged = replace(result(1400), requests="many")
    check = told(tmp_path, [*(result(pace) for pace in PACE[:-1]), damaged])
    assert check.agreement == "cannot tell"
    assert (
        "round 8: crosscheck/18.json can't be read: requests: input should be a valid integer"
        in check.reason
    )


def test_rounds_that_jmeter_lacks_are_left_out(tmp_path):
    check = told(tmp_path, [result(pace) for pace in PACE], jmeter(PACE[:6]))
    assert check.reason.startswith("no interval: 6 rounds were measured, 8 are needed; ")


def test_without_a_round_of_both_there_are_no_ratios(tmp_path):
    check = told(tmp_path, [None] * ROUNDS)
    assert (check.version, check.agreement) == ("unknown", "cannot tell")
    assert {name: ratio.value for name, ratio in check.ratios.items()} == {
        "throughput": None,
        "p50": None,
    }
    assert check.reason.startswith(
        "no round has blocks of both JMeter and autocannon (round 1 left no "
    )


def test_tools_of_a_run_made_before_are_checked_as_they_were(tmp_path):
    (tmp_path / CHECKS).mkdir()
    arms = {tool: replace(JMETER, arm=tool) for tool in ("loadtest", "ab", "autocannon")}
    blocks = [Block(number, number, JMETER) for number in range(1, ROUNDS + 1)]
    for cell in arms.values():
        for round_, pace in enumerate(PACE, 1):
            block = Block(len(blocks) + 1, round_, cell)
            path = tmp_path / CHECKS / f"{block.number}.json"
            path.write_text(json.dumps(asdict(result(pace))))
            blocks.append(block)
    found = checks(tmp_path, blocks, {JMETER: jmeter()})
    assert [(it.tool, it.agreement) for it in found] == [(tool, "agrees") for tool in sorted(arms)]


def test_a_study_without_the_experiment_has_no_checks(tmp_path):
    assert checks(tmp_path, [Block(1, 1, replace(JMETER, experiment="sum"))], {}) == ()


def test_without_jmeters_cell_there_are_no_ratios_either(tmp_path):
    (check,) = checks(tmp_path, [Block(1, 1, JMETER), Block(2, 1, OTHER)], {})
    assert check.agreement == "cannot tell"


def test_other_versions_in_one_run_are_all_told(tmp_path):
    results = [result(pace) for pace in PACE]
    results[0] = replace(results[0], version="9.0.1")
    assert told(tmp_path, results).version == "9.0.0, 9.0.1"
