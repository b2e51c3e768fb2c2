import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from tollgate.study.autocannon import AutocannonResult
from tollgate.study.crosscheck import TOLERANCE, checks
from tollgate.study.model import Block, Cell, CellData
from tollgate.study.record import CHECKS

ROUNDS, SECONDS, LEAD = 8, 3, 0.5
CROSSCHECK = ("crosscheck", "jmeter", "fork", 20, 0, ROUNDS, SECONDS, LEAD, 0, "/sum/500000", "sum")
JMETER = Cell(*CROSSCHECK)
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
        cores=np.repeat(np.array([[cores, service, idle]]).T, size, axis=1),
    )


def result(pace, speed=1.0, p50=1.0, **changes):
    """What a tool tells of a round: `speed` times JMeter's throughput, `p50` times its p50."""
    times = {"seconds": SECONDS, "p50_ms": round(20_000 / pace) * p50, "step_ms": 0, "cpu_s": 0.1}
    made = {"version": "9.0.0", "requests": round(pace * speed * SECONDS), "failed": 0} | times
    return AutocannonResult(**made | changes)


def results(*args, **changes):
    """Those of all rounds."""
    return [result(pace, *args, **changes) for pace in PACE]


@pytest.fixture
def told(tmp_path):
    """The check of autocannon, whose result in round i is results[i - 1]; None has left no file."""

    def check(results, data=None):
        (tmp_path / CHECKS).mkdir()
        blocks = [Block(1, 0, JMETER), Block(2, 0, OTHER)]
        for number, one in enumerate(results, 1):
            blocks += [Block(2 * number + 1, number, JMETER), Block(2 * number + 2, number, OTHER)]
            if one:
                path = tmp_path / CHECKS / f"{2 * number + 2}.json"
                path.write_text(json.dumps(asdict(one)))
        data = data or jmeter()
        [found] = checks(tmp_path, blocks, {data.cell: data})
        return found

    return check


def test_a_tool_that_sees_what_jmeter_sees_agrees_with_it(told):
    check = told(results())
    assert (check.tool, check.version, check.agreement) == ("autocannon", "9.0.0", "agrees")
    for ratio in check.ratios.values():
        assert ratio.value == pytest.approx(1, abs=0.001)
        # What a round did to the machine cancels: the slow one leaves no width.
        assert ratio.high - ratio.low < 0.002
    assert check.reason == (
        "autocannon / JMeter: throughput 1.00 (1.00 to 1.00) and median response time 1.00 "
        "(1.00 to 1.00), within 0.91 to 1.10"
    )


def test_pairs_and_not_means_decide(told):
    """The same results in other rounds have as good a mean, but the drift tells them apart."""
    turned = told([result(pace) for pace in np.roll(PACE, 3)])
    assert turned.ratios["throughput"].value == pytest.approx(1, abs=0.001)
    assert turned.agreement == "cannot tell"
    assert "reaches beyond 0.91 to 1.10" in turned.reason


@pytest.mark.parametrize(
    ("speed", "p50", "agreement"),
    [
        *((1.08, 1.0, "agrees"), (0.93, 1.08, "agrees"), (1.0, 0.92, "agrees")),
        *((1.15, 1.0, "disagrees"), (1.0, 0.8, "disagrees"), (0.85, 1.2, "disagrees")),
    ],
)
def test_the_tolerance_decides_on_throughput_and_on_the_median(told, speed, p50, agreement):
    check = told(results(speed, p50))
    found = {name: ratio.value for name, ratio in check.ratios.items()}
    assert check.agreement == agreement
    assert found == pytest.approx({"throughput": speed, "p50": p50}, rel=0.002)


def test_an_interval_across_the_tolerance_cannot_tell(told):
    check = told([result(pace, 1 + TOLERANCE + 0.1 * (-1) ** i) for i, pace in enumerate(PACE)])
    assert check.agreement == "cannot tell"
    assert check.reason.startswith("autocannon / JMeter: throughput 1.1")
    assert "median" not in check.reason


def test_a_disagreement_tells_what_each_took_of_the_cpu(told):
    requests = sum(round(pace * 1.3 * SECONDS) for pace in PACE)
    own, other = (
        1000 * cpu_s * ROUNDS / many
        for cpu_s, many in ((0.1, requests), (0.4 * 2.5, jmeter().counts.sum()))
    )
    assert told(results(1.3)).reason.endswith(
        f"a request took {own:.2g} ms of autocannon's CPU and {other:.2g} ms of JMeter's"
    )


@pytest.mark.parametrize(
    ("cell", "agreement", "reason"),
    [
        ({"cores": float("nan")}, "disagrees", "of autocannon's CPU"),
        (
            *({"service": 0.54, "idle": 0.06}, "cannot tell"),
            "in JMeter's blocks the server had 0.54 cores and 0.06 were idle: end what else runs "
            "on this machine, and measure again",
        ),
        ({"service": 0.54, "idle": 1.0}, "disagrees", "of JMeter's"),  # it left the server idle
    ],
    ids=["CPU not known", "a server that had no core", "a generator without an excuse"],
)
def test_a_disagreement_is_told_with_what_had_the_cores(told, cell, agreement, reason):
    check = told(results(1.3), jmeter(**cell))
    assert check.agreement == agreement
    assert check.reason.endswith(reason)


def test_what_was_cut_to_milliseconds_counts_as_half_of_one_more(told):
    cut = [replace(one, p50_ms=one.p50_ms - 0.5) for one in results(step_ms=1.0)]
    assert told(cut).ratios["p50"].value == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize(("ours", "theirs"), [(0, 3), (2, 0)])
def test_failed_requests_leave_nothing_to_agree_on(told, ours, theirs):
    check = told([*results()[1:], result(PACE[0], failed=theirs)], jmeter(failed=ours))
    said = f"; {theirs} of autocannon's requests failed and {ours} of JMeter's"
    assert (check.agreement, check.reason.endswith(said)) == ("cannot tell", True)


def test_a_round_without_a_result_is_named_and_too_few_rounds_have_no_interval(told):
    check = told([*results()[:-1], None])
    ratio = check.ratios["p50"]
    assert (check.agreement, ratio.value, ratio.low) == (
        *("cannot tell", pytest.approx(1, abs=0.001), None),
    )
    assert check.reason == (
        "no interval: 7 rounds were measured, 8 are needed; round 8: crosscheck/18.json can't be "
        "read: No such file or directory; a request took 0.025 ms of autocannon's CPU and 0.3 ms "
        "of JMeter's"
    )


def test_a_damaged_result_is_named(told):
    check = told([*results()[:-1], result(1400, requests="many")])
    said = "round 8: crosscheck/18.json can't be read: requests: input should be a valid integer"
    assert (check.agreement, said in check.reason) == ("cannot tell", True)


def test_rounds_that_jmeter_lacks_are_left_out(told):
    reason = told(results(), jmeter(PACE[:6])).reason
    assert reason.startswith("no interval: 6 rounds were measured, 8 are needed; ")


def test_without_a_round_of_both_there_are_no_ratios(told):
    check = told([None] * ROUNDS)
    assert (check.version, check.agreement) == ("", "cannot tell")
    assert {name: it.value for name, it in check.ratios.items()} == dict.fromkeys(
        ("throughput", "p50")
    )
    said = "no round has blocks of both JMeter and autocannon; round 1: crosscheck/4.json can't be "
    assert check.reason.startswith(f"{said}read: No such file or directory; round 2: ")


def test_tools_of_a_run_made_before_are_checked_as_they_were(tmp_path):
    (tmp_path / CHECKS).mkdir()
    blocks = [Block(number, number, JMETER) for number in range(1, ROUNDS + 1)]
    for tool in ("loadtest", "ab", "autocannon"):
        for round_, one in enumerate(results(), 1):
            blocks.append(Block(len(blocks) + 1, round_, replace(JMETER, arm=tool)))
            path = tmp_path / CHECKS / f"{blocks[-1].number}.json"
            path.write_text(json.dumps(asdict(one)))
    found = checks(tmp_path, blocks, {JMETER: jmeter()})
    assert [it.tool for it in found] == ["ab", "autocannon", "loadtest"]
    assert {it.agreement for it in found} == {"agrees"}


def test_without_the_experiment_or_jmeters_cell_there_is_nothing_to_check(tmp_path):
    assert checks(tmp_path, [Block(1, 1, replace(JMETER, experiment="sum"))], {}) == ()
    [check] = checks(tmp_path, [Block(1, 1, JMETER), Block(2, 1, OTHER)], {})
    assert check.agreement == "cannot tell"


def test_other_versions_in_one_run_are_all_told(told):
    found = told([result(PACE[0], version="9.0.1"), *results()[1:]])
    assert found.version == "9.0.0, 9.0.1"
