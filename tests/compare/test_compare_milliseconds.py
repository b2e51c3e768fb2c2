"""What JMeter's whole milliseconds hide: percentiles of known shapes, seen in whole ones alone."""

import numpy as np
import pytest
from scipy import stats

from support.compared import finding, judged
from tollgate.compare.estimates import percentile_ratio
from tollgate.compare.milliseconds import doubt_ms, inside, percentile
from tollgate.compare.model import Blocks, GateSettings, Side

MIDDLE_MS = 7.0
SPREADS_MS = (0.05, 0.1, 0.3, 0.5, 1.0, 1.6, 2.5)
SHAPES = {
    "normal": lambda at, spread: stats.norm(at, spread),
    "log-normal": lambda at, spread: stats.lognorm(spread / at, scale=at),
    "gamma": lambda at, spread: stats.gamma(2, loc=at - 1.4 * spread, scale=0.7 * spread),
    "shifted exponential": lambda at, spread: stats.expon(at - spread, spread),
}
#: By how much a percentile of a shape that begins abruptly may be further off than is told.
ABRUPT_MS = 0.04
PARTS = (np.arange(64) + 0.5) / 64
VALUES = np.arange(60)
LOOKS = GateSettings(budget_s=240.0, gates=("p50", "p95"))


def counted(shape, n=20_000):
    """Of n requests whose phases lie evenly in the millisecond, how many take floor(phase + x)."""
    upto = shape.cdf(VALUES[:, None] + PARTS).mean(axis=1)
    return np.round(n * np.diff(upto, prepend=0)).astype(int)


def true_ms(shape, share):
    """The percentile of x + 0.5 - phase."""
    low, high = 0.0, 60.0
    for _ in range(50):
        at = (low + high) / 2
        low, high = (at, high) if shape.cdf(at + PARTS - 0.5).mean() < share else (low, at)
    return low


def percentile_of(counts, share):
    """The percentile, and how much it is doubted."""
    place = int(np.searchsorted(counts.cumsum(), share * counts.sum()))
    doubt = doubt_ms(tuple(map(int, counts[place - 1 : place + 2])))
    return percentile(Side(counts[None, :], np.zeros(1, int)), VALUES, share), doubt


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_a_percentile_is_off_by_no_more_than_is_doubted(name, share):
    more_ms = ABRUPT_MS if name in ("gamma", "shifted exponential") else 0.01
    for spread in SPREADS_MS:
        for phase in np.arange(0, 1, 0.1):  # all over a millisecond
            shape = SHAPES[name](MIDDLE_MS + phase, spread)
            found, doubt = percentile_of(counted(shape), share)
            assert abs(found - true_ms(shape, share)) <= doubt + more_ms, (spread, phase)


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_times_like_those_of_sum_are_hardly_doubted(share):
    for middle_ms in np.arange(6.0, 7.0, 0.1):
        shape = stats.lognorm(0.25, scale=middle_ms)
        found, doubt = percentile_of(counted(shape), share)
        assert abs(found - true_ms(shape, share)) <= doubt <= 0.025


@pytest.mark.parametrize("around", [(0, 9, 0), (5, 9, 5), (400, 9, 0), (0, 3, 900), (1, 1, 1)])
def test_a_percentile_stays_in_its_millisecond_and_grows_with_its_share(around):
    at = [0, *(inside(around, share) for share in np.linspace(0.01, 1, 40)), 1]
    assert (np.diff(at) >= 0).all()


def test_even_milliseconds_have_a_straight_line_between_them():
    assert inside((8, 8, 8), 0.3) == pytest.approx(0.3)
    assert doubt_ms((8, 8, 8)) == 0


def blocks_of(rng, middle_ms, spread_ms, ratio, seconds=240, rate=28):
    """What JMeter sees of normal times, head's `ratio` times base's."""
    sides = []
    for times in (1.0, ratio):
        second = np.repeat(np.arange(seconds), rng.poisson(rate, seconds))
        took = rng.normal(middle_ms, spread_ms, len(second)) * times
        elapsed = np.floor(took + rng.random(len(second))).astype(int)
        table = np.zeros((seconds, len(VALUES)), int)
        np.add.at(table, (second, elapsed), 1)
        sides.append(Side(table, np.zeros(seconds, int)))
    return Blocks("search", VALUES, *sides)


def gates_of(seed, runs, *service):
    rng = np.random.default_rng(seed)
    return [judged([blocks_of(rng, *service)], LOOKS) for _ in range(runs)]


def verdicts_of(gates, metric):
    return {finding(gate, metric).verdict for gate in gates}


def test_two_percent_more_of_times_that_are_nearly_all_alike_is_no_failure():
    gates = gates_of(1, 12, 7.0, 0.1, 1.02)
    assert "FAIL" not in verdicts_of(gates, "p95") | verdicts_of(gates, "p50")
    found = finding(gates[0], "p95")
    assert found.verdict == "INCONCLUSIVE"
    assert "JMeter's whole milliseconds are too coarse for a rise of 5.0 %" in found.reason
    assert found.low < 0.02 < found.high


def test_five_percent_more_within_a_millisecond_does_not_pass():
    for seed, at in enumerate((7.2, 7.4, 7.6)):
        gates = gates_of(seed, 8, at, 0.3, 1.05)
        assert "PASS" not in verdicts_of(gates, "p95") | verdicts_of(gates, "p50")
        assert all(finding(gate, "p95").low < 0.05 < finding(gate, "p95").high for gate in gates)


def test_a_change_of_whole_milliseconds_fails_all_the_same():
    gates = gates_of(3, 6, 7.2, 0.1, 1.4)
    assert verdicts_of(gates, "p50") == verdicts_of(gates, "p95") == {"FAIL"}


def test_a_base_against_itself_passes_where_times_spread_over_some_milliseconds():
    found = [finding(gate, "p50").verdict for gate in gates_of(4, 12, 7.2, 1.5, 1.0)]
    assert "FAIL" not in found
    assert found.count("PASS") >= 11


def test_the_ratio_of_a_slower_head_is_unbiased_wherever_in_a_millisecond_it_lies():
    rng = np.random.default_rng(5)
    for at in (7.0, 7.3, 7.6, 7.9):
        blocks = (blocks_of(rng, at, 1.2, 1.05, 600, 60) for _ in range(12))
        found = [percentile_ratio(it, "p95").value for it in blocks]
        spread = np.std(found) / np.sqrt(len(found))
        assert np.mean(found) == pytest.approx(np.log(1.05), abs=0.004 + 4 * spread)


def test_what_is_open_for_whole_milliseconds_names_them():
    blocks = blocks_of(np.random.default_rng(6), 7.2, 0.1, 1.02)
    found = percentile_ratio(blocks, "p95")
    assert found.among in ("7 to 9 ms", "8 to 9 ms")
    assert found.coarse > 0.05
    assert found.high(0.01) - found.value > found.coarse
    assert "OPEN" not in {each.verdict for each in judged([blocks], LOOKS).findings}
