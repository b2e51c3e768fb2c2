"""Every claim against services whose truth is known."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import study_cells
from support.cell_data import ROUNDS, by_cell, measured
from tollgate.base.paths import SUITE
from tollgate.study.answers import answer_of, claims
from tollgate.study.design import read_design
from tollgate.study.model import Estimate
from tollgate.study.published import CLAIMS, Rule, StudyMachine
from tollgate.study.stats import cell_result

SEED, NOISE = 21, 0.004
MACHINE = StudyMachine(2, {"cluster": 2})
MORE = Rule(low=1.02, below=1)
ROWS = {row.id: row for row in CLAIMS}
#: Of each cell the throughput (1/s) and mean (ms) in a world where every claim holds.
WORLD = {
    ("calculate", "fork", 1): (900.0, 1.0),
    ("calculate", "cluster", 1): (800.0, 1.2),
    ("calculate", "fork", 5): (2000.0, 2.5),
    ("calculate", "fork", 20): (2000.0, 10.0),
    ("calculate", "fork with logging", 50): (1500.0, 33.0),
    ("calculate", "cluster with logging", 50): (2500.0, 20.0),
    ("calculate", "cluster", 50): (3000.0, 16.0),
    ("sum", "fork", 100): (788.0, 119.0),
    ("sum", "cluster", 100): (1426.0, 65.0),
    ("search", "in-process", 10): (34.0, 293.0),
    ("search", "child per search", 10): (18.0, 555.0),
    ("kittens", "fork", 1): (32.75, 30.5),
    ("kittens", "fork", 10): (32.75, 305.0),
    ("kittens", "cluster", 10): (62.0, 160.0),
    ("pi", "one server", 10): (3.0, 2900.0),
    ("pi", "three servers", 10): (6.0, 1500.0),
}


def world(noise=NOISE, rounds=ROUNDS, seed=0, alone="", **changed):
    """All cells, or one experiment's alone, each with noise of its own. changed: by a cell's name,
    its throughput and mean."""
    rng = np.random.default_rng(seed)
    truth = WORLD | {_key(name): value for name, value in changed.items()}
    truth = {key: value for key, value in truth.items() if alone in ("", key[0])}
    cells = []
    for key, (throughput, mean) in truth.items():
        drawn = np.exp(noise * rng.standard_normal((2, rounds)))
        cells.append(measured(key, throughput * drawn[0], mean * drawn[1]))
    return by_cell(*cells)


def _key(name):
    """`sum__cluster__100` for a cell."""
    experiment, arm, users = name.replace("_with_logging", " with logging").split("__")
    return experiment, arm.replace("_", " "), int(users)


def told(data=None, machine=MACHINE):
    data = world(noise=0) if data is None else data
    results = [cell_result(each, machine.cores, 1, SEED) for each in data.values()]
    return {claim.of.id: claim for claim in claims(data, results, machine, SEED)}


def test_in_a_world_where_all_was_true_every_claim_agrees():
    found = told(world())
    assert {name: claim.answer for name, claim in found.items()} == dict.fromkeys(ROWS, "agrees")
    for claim in found.values():
        assert claim.measured.low < claim.measured.value < claim.measured.high


#: What makes each claim wrong, and what leaves it undecided.
#: By claim the cell that makes it wrong, what that has then, and what leaves the claim undecided.
CHANGED = {
    "calculate-1-user": ("calculate__cluster__1", (900, 0.9), (900, 1.01)),
    "calculate-50-users": ("calculate__cluster_with_logging__50", (1400, 35), (1515, 33)),
    "calculate-logging": ("calculate__cluster__50", (2550, 20), (2700, 20)),
    "calculate-users": ("calculate__fork__20", (8000, 2.6), (4000, 4.7)),
    "sum-throughput": ("sum__cluster__100", (770, 119), (796, 119)),
    "search-children": ("search__child_per_search__10", (36, 280), (33.7, 300)),
    "kittens-baseline": ("kittens__fork__1", (28.0, 30.5), (29.2, 30.5)),
    "kittens-scaling": ("kittens__cluster__10", (33, 305), (45.5, 220)),
    "pi-slowest": ("pi__three_servers__10", (3, 3100), (3, 2870)),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_claim_that_is_false_here_is_refused_and_one_too_near_the_border_left_open(name):
    cell, *values = CHANGED[name]
    false, near = (told(world(**{cell: value}))[name] for value in values)
    assert (false.answer, "is wholly" in false.reason) == ("disagrees", True), false.reason
    assert (near.answer, "neither wholly" in near.reason) == ("cannot tell", True), near.reason


@pytest.mark.parametrize("name", ROWS)
def test_too_few_rounds_leave_a_claim_open_but_tell_the_value(name):
    claim = told(world(rounds=7))[name]
    assert (claim.answer, claim.measured.low) == ("cannot tell", None)
    assert claim.measured.value is not None
    assert "7 rounds were measured, 8 are needed" in claim.reason


def changed(key, **fields):
    """The world with other fields of one cell."""
    return {
        cell: replace(each, **fields) if cell.key == key else each for cell, each in world().items()
    }


#: What leaves a claim open in any of its cells, and the reason.
UNSOUND = {
    "a failed request": (
        {"failed": np.array([0, 0, 0, 2] + [0] * (ROUNDS - 4))},
        "{0} at {1} user",
        "2 of 100,000 requests failed",
    ),
    "a generator that held it": (
        {"cores": np.repeat([[1.4], [0.5], [0.05]], ROUNDS, axis=1)},
        "the generator was the bottleneck ({0} at {1} user",
    ),
    "a generator that nobody watched": (
        {"cores": np.repeat([[np.nan], [1.0], [0.5]], ROUNDS, axis=1)},
        "not known",
    ),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("unsound", UNSOUND)
def test_an_unsound_measurement_of_any_of_its_cells_leaves_a_claim_open(name, unsound):
    fields, *reasons = UNSOUND[unsound]
    for key in ROWS[name].cells:
        claim = told(changed(key, **fields))[name]
        assert claim.answer == "cannot tell"
        assert all(it.format(*key[1:]) in claim.reason for it in reasons), claim.reason


@pytest.mark.parametrize("name", ROWS)
def test_a_cell_that_was_not_measured_leaves_a_claim_open(name):
    for key in ROWS[name].cells:
        claim = told({cell: each for cell, each in world().items() if cell.key != key})[name]
        assert (claim.answer, claim.measured.value) == ("cannot tell", None)
        assert claim.reason.startswith(f"not measured: {key[1]} at {key[2]} user")


def test_a_cell_whose_blocks_all_were_left_out_counts_as_not_measured():
    empty = study_cells.data([], "cluster", users=100)
    cells = {cell: each for cell, each in world().items() if cell.key != empty.cell.key}
    claim = told(cells | {empty.cell: empty})["sum-throughput"]
    assert (claim.answer, claim.reason) == ("cannot tell", "not measured: cluster at 100 users")


def test_nothing_measured_still_answers_every_row():
    found = told({})
    assert list(found) == list(ROWS)
    assert {claim.answer for claim in found.values()} == {"cannot tell"}
    assert found["pi-slowest"].reason == "not measured: this run left pi out"


def test_a_reason_is_a_sentence_with_the_numbers():
    found = told()
    reason = found["sum-throughput"].reason
    assert reason == "1.81, 95 % interval 1.81 to 1.81, is wholly above 1.02"
    reason = found["pi-slowest"].reason
    assert reason.endswith(
        "is wholly below 0.98; a third was published; 2 cores allow 0.50 at best"
    )


def test_kittens_tells_the_concurrency_performance_of_both_arms_by_worker_or_user():
    claim = told()["kittens-scaling"]
    # 30.5 ms x 62 / s, and for each of two workers.
    assert claim.measured.value == pytest.approx(0.0305 * 62 / 2)
    assert "concurrency performance of cluster 1.89 (1.89 to 1.89)" in claim.reason
    assert "concurrency performance of fork 0.999" in claim.reason
    claim = told(machine=StudyMachine(64, {"cluster": 64}))["kittens-scaling"]
    assert claim.measured.value == pytest.approx(0.0305 * 62 / 10)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.cores > 1])
def test_one_core_answers_nothing_about_several_processes(name):
    claim = told(world(), StudyMachine(1, {}))[name]
    assert (claim.answer, "one core has nothing" in claim.reason) == ("cannot tell", True)


@pytest.mark.parametrize(
    ("experiment", "change", "name", "reason"),
    [
        (
            *("sum", {"path": "/sum/10"}, "sum-throughput"),
            "the design asks /sum/10, and the write-up /sum/500000",
        ),
        (
            *("search", {"seconds": 1}, "search-children"),
            "a block holds too few answers of 556 ms each (child per search",
        ),
    ],
)
def test_other_work_or_blocks_than_the_write_ups_are_no_answer(experiment, change, name, reason):
    cells = {}
    for cell, each in world().items():
        cell = replace(cell, **change) if cell.experiment == experiment else cell
        cells[cell] = replace(each, cell=cell)
    claim = told(cells)[name]
    assert (claim.answer, reason in claim.reason) == ("cannot tell", True), claim.reason


def test_the_limits_can_be_told_from_the_ends_of_an_interval():
    claim = told(world(noise=0, sum__cluster__100=(788 * 1.0197, 119)))["sum-throughput"]
    assert claim.answer == "cannot tell"
    assert "1.0197 to 1.0197, is neither wholly above 1.02 nor" in claim.reason


@given(st.floats(0.2, 5), st.floats(0.0001, 1), st.sampled_from([row.rule for row in CLAIMS]))
def test_no_interval_is_both_and_between_the_two_lies_a_gap(value, reach, rule):
    ends = value * (1 - reach), value * (1 + reach)
    answer = answer_of(Estimate(value, *ends), rule)
    assert answer in ("agrees", "disagrees", "cannot tell")
    if answer == "agrees":
        nearest = min(abs(end - it) for end in ends for it in (rule.low, rule.high))
        for shift in (-min(nearest, 0.015), min(nearest, 0.015)):
            again = Estimate(*(it + shift for it in (value, *ends)))
            assert answer_of(again, rule) != "disagrees"


@pytest.mark.parametrize(
    ("found", "rule"),
    [
        ((1, 1, 1), MORE),
        ((1, 1, 1), Rule(high=0.98, above=1)),
        ((1.5,), MORE),
        ((1.5, 1.4, None), MORE),
    ],
)
def test_what_is_right_at_a_border_or_open_ended_is_left_open(found, rule):
    assert answer_of(Estimate(*found), rule) == "cannot tell"


def test_measuring_again_flips_no_answer():
    """With true ratios in and around the gap, and noise of the size that runs have."""
    seen = {}
    for true in (0.98, 0.995, 1.0, 1.005, 1.01, 1.02, 1.04):
        runs = (
            world(noise=0.02, seed=seed, alone="sum", sum__cluster__100=(788 * true, 119))
            for seed in range(12)
        )
        seen[true] = {told(run)["sum-throughput"].answer for run in runs}
        assert not {"agrees", "disagrees"} <= seen[true], seen
    assert any("agrees" in each for each in seen.values())


def test_the_rows_are_those_of_the_published_figures_in_cells_of_the_design():
    counts = {"calculate": 4, "sum": 1, "search": 1, "kittens": 2, "pi": 1}
    assert Counter(row.system for row in CLAIMS) == counts
    assert len(ROWS) == len(CLAIMS)
    design = {it.key for it in read_design(SUITE / "data" / "study.csv")}
    assert {key for row in CLAIMS for key in row.cells} <= design
