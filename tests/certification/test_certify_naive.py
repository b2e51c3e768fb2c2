"""The simpler gates that the real one is held against, and what their limits come from."""

from dataclasses import replace

import numpy as np

from certification.found import Rate, rate
from certification.rows import baselines, live_rows, one_after_the_other, stored_baseline
from support.certified import ENVIRONMENT, by_name, finished, steady
from support.compared import compared
from tollgate.compare.model import Blocks, GateSettings, Side

SETTINGS = GateSettings(budget_s=240.0, fail_fast=False)


def test_a_stored_baseline_fails_what_is_more_than_5_percent_slower_than_base_was():
    earlier = steady(100)
    assert not stored_baseline(earlier, steady(100, 105))
    assert stored_baseline(earlier, steady(100, 107))
    # The machine became slower: base would fail as well, and nobody asks it.
    assert stored_baseline(earlier, steady(120, 120))
    assert not stored_baseline(earlier, steady(80, 100))


def test_one_after_the_other_compares_the_first_half_of_base_with_the_second_of_head():
    assert not one_after_the_other(steady(100, 105), same_code=False)
    assert one_after_the_other(steady(100, 107), same_code=False)
    # Both became slower in the middle of the run, and head is blamed for it.
    for same_code in (True, False):
        assert one_after_the_other(steady(100, 100, later_ms=120), same_code)
    assert not one_after_the_other(steady(100, 110, later_ms=100), same_code=False)


def test_one_after_the_other_has_all_samples_of_each_half_where_both_are_the_same_code():
    """A p95 of the few samples that the coin left one side is noisier than a benchmark's would be:
    what one side alone shows by chance, the other one does not."""
    rng = np.random.default_rng(5)
    runs = [(compared(rng, 60, rate=4, sigma=0.3, ratio=1.0),) for _ in range(200)]
    halves, whole = (rate(one_after_the_other(it, same) for it in runs) for same in (False, True))
    assert whole.hits < halves.hits
    assert not one_after_the_other(steady(100, 107), same_code=True)


def test_any_label_makes_a_naive_gate_fail_but_one_without_samples():
    fine, slow = steady(100), steady(50, 60, label="sum")
    assert one_after_the_other([*fine, *slow], same_code=False)
    empty = Side(np.zeros((60, 200), np.int64), np.zeros(60, np.int64))
    nothing = Blocks("sum", np.arange(200), empty, empty)
    assert not one_after_the_other([*fine, nothing], same_code=False)
    assert not stored_baseline([*fine, nothing], [*fine, *slow])


def began(number, minute, condition="aa", commit="1a2b3c4"):
    """A run that began so many minutes after ten."""
    at = f"2026-11-21T{10 + minute // 60}:{minute % 60:02}:00+00:00"
    environment = {**ENVIRONMENT, "commit": commit}
    return finished(number, condition, began=at, environment=environment)


def test_the_baseline_is_of_the_last_run_before_it_with_the_same_neighbour_or_none():
    """Base of a run beside a neighbour takes twice as long: it is nobody's limit but its like's."""
    made = [
        (0, "aa", steady(50)),
        (4, "aa+noise", steady(100)),
        (8, "aa", steady(50)),
        (10, "work-20+noise", steady(100, 115)),
        (18, "aa", steady(53)),
    ]
    runs = [began(number, *it) for number, (*it, _) in enumerate(made, 1)]
    samples = by_name(runs, [it for *_, it in made])
    rows = {row.condition.key: row for row in live_rows(runs, samples, SETTINGS)}
    assert rows["aa"].baseline == Rate(1, 2)  # 53 ms after 50 is too much, 50 after 50 is not
    assert rows["aa+noise"].baseline == Rate(0, 0)  # there was none before it
    assert rows["work-20+noise"].baseline == Rate(1, 1)
    assert rows["aa"].sequential == Rate(0, 3)
    assert rows["work-20+noise"].sequential == Rate(1, 1)


def test_a_baseline_is_no_older_than_an_hour_and_of_the_same_commit():
    runs = [
        began(1, 0),
        began(2, 60),
        began(3, 121),  # an hour and a minute after the last
        began(4, 130, commit="5d6e7f8"),
        began(5, 140),  # 19 minutes after the last of its own commit
        began(6, 150),  # after one that left no samples
    ]
    names = [run.name for run in runs]
    found = baselines(runs, {*names} - {names[4]})
    assert found == {names[1]: names[0], names[5]: names[2]}
    assert baselines(runs, names[:5])[names[4]] == names[2]


def test_a_run_of_another_machine_is_no_baseline():
    runs = [began(1, 0), began(2, 10)]
    there = replace(runs[0], environment={**runs[0].environment, "cpu": "Another CPU"})
    names = [it.name for it in runs]
    assert baselines(runs, names) == {names[1]: names[0]}
    assert baselines([there, runs[1]], names) == {}


def test_only_of_an_a_a_run_base_first_then_head_takes_the_samples_of_both():
    runs = [finished(1), finished(2, "work-5")]
    samples = by_name(runs, [steady(100, 107)] * 2)
    found = {row.condition.key: row.sequential for row in live_rows(runs, samples, SETTINGS)}
    assert found == {"aa": Rate(0, 1), "work-5": Rate(1, 1)}
