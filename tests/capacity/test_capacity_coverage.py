"""How often a search's interval holds the capacity, over simulated services that are known.

docs/capacity-search.md has the table of all services, which `scripts/dev/bench capacity` makes.
"""

import pytest

from benchmarks.capacity import simulated, truth_of

SEARCHES, MINUTES, SEED = 200, 200, 11


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("name", "share", "half_width"),
    [
        ("mg1", 0.93, 0.05),
        pytest.param("mg1, 17 ms", 0.93, 0.07, marks=pytest.mark.long),
        pytest.param("cliff", 0.93, 0.04, marks=pytest.mark.long),
        pytest.param("knee", 0.93, 0.08, marks=pytest.mark.long),
        pytest.param("burner", 0.93, 0.1, marks=pytest.mark.long),
        pytest.param("brief neighbour", 0.93, 0.1, marks=pytest.mark.long),
        ("drift", 0.9, 0.06),
    ],
)
def test_intervals_hold_a_known_capacity_as_often_as_they_say(name, share, half_width, repetitions):
    runs = repetitions(SEARCHES)
    common = truth_of(name, MINUTES, SEED)
    made = [simulated(name, SEED, common, number) for number in range(runs.made)]
    assert sum(it.held for it in made) >= runs.least(share)
    found = [it.found for it in made]
    widths = sorted((it.high - it.low) / 2 / it.estimate for it in found)
    assert widths[runs.made // 2] < half_width
    assert sum(it.status == "found" for it in found) >= runs.least(0.5 if name == "drift" else 0.9)


def test_a_search_is_drawn_from_its_seed_and_number_alone():
    first, second = (simulated("cliff", SEED, 100.0, number) for number in (0, 1))
    assert simulated("cliff", SEED, 100.0, 0) == first
    assert first.found.low != second.found.low
