"""Every claim against services whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cell_data import ROUNDS, by_cell, measured
from tollgate.base.paths import ROOT
from tollgate.study.answers import answer_of, claims
from tollgate.study.design import read_design
from tollgate.study.model import Estimate
from tollgate.study.published import CLAIMS, LESS, MORE, PublishedMachine
from tollgate.study.stats import cell_result

SEED, NOISE = 21, 0.004
MACHINE = PublishedMachine(cores=2, workers=2)
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


def told(data, machine=MACHINE):
    results = [cell_result(each, machine.cores, 1, SEED) for each in data.values()]
    return {claim.id: claim for claim in claims(data, results, machine, SEED)}


def test_in_a_world_where_all_was_true_every_claim_agrees():
    found = told(world())
    assert {name: claim.answer for name, claim in found.items()} == dict.fromkeys(ROWS, "agrees")
    for claim in found.values():
        assert claim.measured.low < claim.measured.value < claim.measured.high


#: What makes each claim wrong, and what leaves it undecided.
FALSE = {
    "calculate-1-user": {"calculate__cluster__1": (900, 0.9)},
    "calculate-50-users": {"calculate__cluster_with_logging__50": (1400, 35)},
    "calculate-logging": {"calculate__cluster__50": (2550, 20)},
    "calculate-users": {"calculate__fork__20": (8000, 2.6)},
    "sum-throughput": {"sum__cluster__100": (770, 119)},
    "search-children": {"search__child_per_search__10": (36, 280)},
    "kittens-baseline": {"kittens__fork__1": (28.0, 30.5)},
    "kittens-scaling": {"kittens__cluster__10": (33, 305)},
    "pi-slowest": {"pi__three_servers__10": (3, 3100)},
}
OPEN = {
    "calculate-1-user": {"calculate__cluster__1": (900, 1.01)},
    "calculate-50-users": {"calculate__cluster_with_logging__50": (1515, 33)},
    "calculate-logging": {"calculate__cluster__50": (2700, 20)},
    "calculate-users": {"calculate__fork__20": (4000, 4.7)},
    "sum-throughput": {"sum__cluster__100": (796, 119)},
    "search-children": {"search__child_per_search__10": (33.7, 300)},
    "kittens-baseline": {"kittens__fork__1": (29.2, 30.5)},
    "kittens-scaling": {"kittens__cluster__10": (45.5, 220)},
    "pi-slowest": {"pi__three_servers__10": (3, 2870)},
}


@pytest.mark.parametrize("name", ROWS)
def test_a_claim_that_is_false_here_is_refused(name):
    claim = told(world(**FALSE[name]))[name]
    assert (claim.answer, "is wholly" in claim.reason) == ("disagrees", True), claim.reason


@pytest.mark.parametrize("name", ROWS)
def test_a_claim_too_near_the_border_is_left_open(name):
    claim = told(world(**OPEN[name]))[name]
    assert (claim.answer, "neither wholly" in claim.reason) == ("cannot tell", True), claim.reason


@pytest.mark.parametrize("name", ROWS)
def test_too_few_rounds_leave_a_claim_open_but_tell_the_value(name):
    claim = told(world(rounds=7))[name]
    assert (claim.answer, claim.measured.low) == ("cannot tell", None)
    assert claim.measured.value is not None
    assert "7 rounds were measured, 8 are needed" in claim.reason


def changed(data, key, **fields):
    return {
        cell: replace(each, **fields) if (cell.experiment, cell.arm, cell.users) == key else each
        for cell, each in data.items()
    }


@pytest.mark.parametrize("name", ROWS)
def test_a_failed_request_in_any_of_its_cells_leaves_a_claim_open(name):
    failed = np.zeros(ROUNDS, np.int64)
    failed[3] = 2
    for key in ROWS[name].cells:
        claim = told(changed(world(), key, failed=failed))[name]
        assert claim.answer == "cannot tell"
        assert "2 of 100,000 requests failed" in claim.reason
        assert key[1] in claim.reason


@pytest.mark.parametrize("name", ROWS)
def test_a_generator_that_held_any_of_its_cells_leaves_a_claim_open(name):
    full = dict(
        zip(
            ("generator_cores", "service_cores", "idle_cores"),
            (np.full(ROUNDS, it) for it in (1.4, 0.5, 0.05)),
            strict=True,
        )
    )
    for key in ROWS[name].cells:
        claim = told(changed(world(), key, **full))[name]
        assert claim.answer == "cannot tell"
        assert f"the generator was the bottleneck ({key[1]} at {key[2]} user" in claim.reason


@pytest.mark.parametrize("name", ROWS)
def test_a_generator_that_nobody_watched_leaves_a_claim_open(name):
    unknown = np.full(ROUNDS, np.nan)
    claim = told(changed(world(), ROWS[name].cells[0], generator_cores=unknown))[name]
    assert claim.answer == "cannot tell"
    assert "is not known" in claim.reason


@pytest.mark.parametrize("name", ROWS)
def test_a_cell_that_was_not_measured_leaves_a_claim_open(name):
    for key in ROWS[name].cells:
        data = {
            cell: each
            for cell, each in world().items()
            if (cell.experiment, cell.arm, cell.users) != key
        }
        claim = told(data)[name]
        assert (claim.answer, claim.measured.value) == ("cannot tell", None)
        assert claim.reason.startswith(f"not measured: {key[1]} at {key[2]} user")


def test_a_cell_whose_blocks_all_were_left_out_counts_as_not_measured():
    empty = {
        "rounds": np.empty(0, np.int64),
        "window_s": np.empty(0),
        "values_ms": np.empty(0, np.int64),
        "counts": np.empty((0, 0), np.int64),
        "failed": np.empty(0, np.int64),
        "generator_cores": np.empty(0),
        "service_cores": np.empty(0),
        "idle_cores": np.empty(0),
        "left_out": ("round 1: worker 0 of cluster died",),
    }
    claim = told(changed(world(), ("sum", "cluster", 100), **empty))["sum-throughput"]
    assert (claim.answer, claim.reason) == ("cannot tell", "not measured: cluster at 100 users")


def test_nothing_measured_still_answers_every_row():
    found = told({})
    assert list(found) == list(ROWS)
    assert {claim.answer for claim in found.values()} == {"cannot tell"}
    assert found["pi-slowest"].reason == "not measured: this run left pi out"


def test_a_reason_is_a_sentence_with_the_numbers():
    reason = told(world(noise=0))["sum-throughput"].reason
    assert reason == "1.81, 95 % interval 1.81 to 1.81, is wholly above 1.02"
    reason = told(world(noise=0))["pi-slowest"].reason
    assert reason.endswith(
        "is wholly below 0.98; a third was published; 2 cores allow 0.50 at best"
    )


def test_kittens_tells_the_concurrency_performance_of_both_arms():
    claim = told(world(noise=0))["kittens-scaling"]
    # 30.5 ms x 62 / s, and for each of two workers.
    assert claim.measured.value == pytest.approx(0.0305 * 62 / 2)
    assert "concurrency performance of cluster 1.89 (1.89 to 1.89)" in claim.reason
    assert "concurrency performance of fork 0.999" in claim.reason


def test_kittens_expects_no_more_than_there_are_users():
    claim = told(world(noise=0), PublishedMachine(64, 64))["kittens-scaling"]
    assert claim.measured.value == pytest.approx(0.0305 * 62 / 10)


@pytest.mark.parametrize("name", ROWS)
def test_one_core_answers_nothing_about_several_processes(name):
    claim = told(world(), PublishedMachine(1, 1))[name]
    if ROWS[name].cores > 1:
        assert claim.answer == "cannot tell"
        assert "one core has nothing" in claim.reason


def test_other_work_than_the_write_ups_is_no_answer_to_them():
    cells = world()
    other = {
        replace(cell, path="/sum/10") if cell.experiment == "sum" else cell: it
        for cell, it in cells.items()
    }
    claim = told({cell: replace(it, cell=cell) for cell, it in other.items()})["sum-throughput"]
    assert claim.answer == "cannot tell"
    assert "the design asks /sum/10, and the write-up /sum/500000" in claim.reason


def test_a_block_shorter_than_three_answers_tells_nothing():
    cells = world()
    short = {
        replace(cell, seconds=1) if cell.experiment == "search" else cell: it
        for cell, it in cells.items()
    }
    claim = told({cell: replace(it, cell=cell) for cell, it in short.items()})["search-children"]
    assert claim.answer == "cannot tell"
    assert "a block holds too few answers of 556 ms each (child per search" in claim.reason


def test_the_limits_can_be_told_from_the_ends_of_an_interval():
    rounded_onto_the_limit = world(noise=0, sum__cluster__100=(788 * 1.0197, 119))
    claim = told(rounded_onto_the_limit)["sum-throughput"]
    assert claim.answer == "cannot tell"
    assert "1.0197 to 1.0197, is neither wholly above 1.02 nor" in claim.reason


@given(st.floats(0.2, 5), st.floats(0.0001, 1), st.sampled_from([row.rule for row in CLAIMS]))
def test_no_interval_is_both_and_between_the_two_lies_a_gap(value, reach, rule):
    ends = value * (1 - reach), value * (1 + reach)
    found = Estimate(value, *ends)
    assert answer_of(found, rule) in ("agrees", "disagrees", "cannot tell")
    if answer_of(found, rule) == "agrees":
        nearest = min(abs(end - it) for end in ends for it in (rule.low, rule.high))
        moved = min(nearest, 0.015)
        for shift in (-moved, moved):
            again = Estimate(value + shift, ends[0] + shift, ends[1] + shift)
            assert answer_of(again, rule) != "disagrees"


def test_what_is_right_at_a_border_is_left_open():
    assert answer_of(Estimate(1, 1, 1), MORE) == answer_of(Estimate(1, 1, 1), LESS) == "cannot tell"
    assert answer_of(Estimate(1.5), MORE) == "cannot tell"
    assert answer_of(Estimate(1.5, 1.4, None), MORE) == "cannot tell"


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


def test_the_rows_are_those_of_the_published_figures():
    systems = [row.system for row in CLAIMS]
    assert {name: systems.count(name) for name in systems} == {
        "calculate": 4,
        "sum": 1,
        "search": 1,
        "kittens": 2,
        "pi": 1,
    }
    assert len(ROWS) == len(CLAIMS)


def test_every_cell_of_a_claim_is_in_the_design():
    design = {(it.experiment, it.arm, it.users) for it in read_design(ROOT / "data" / "study.csv")}
    for row in CLAIMS:
        assert set(row.cells) <= design
