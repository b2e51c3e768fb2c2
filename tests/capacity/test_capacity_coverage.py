"""How often a search's interval holds the capacity, over simulated services that are known.

docs/capacity-search.md has the table of all services, which `scripts/bench capacity` makes.
"""

import pytest

from benchmarks.capacity import SETTINGS, simulated

SEARCHES, MINUTES = 200, 200


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("name", "share", "half_width"),
    [
        ("mg1", 0.93, 0.05),
        ("mg1, 17 ms", 0.93, 0.08),
        ("cliff", 0.93, 0.04),
        ("knee", 0.93, 0.08),
        ("drift", 0.9, 0.06),
    ],
)
def test_intervals_hold_a_known_capacity_as_often_as_they_say(name, share, half_width, repetitions):
    runs = repetitions(SEARCHES)
    row = simulated(name, runs.made, MINUTES, seed=11)
    pairs = list(zip(row.results, row.truths, strict=True))
    held = sum(it.low <= truth <= it.high for it, truth in pairs)
    assert held >= runs.least(share)
    assert sorted(it.half_width for it in row.results)[runs.made // 2] < half_width
    assert sum(it.status == "found" for it in row.results) > runs.made / 4
    assert all(it.holdout.ask.seconds == SETTINGS.holdout_s for it in row.results)
