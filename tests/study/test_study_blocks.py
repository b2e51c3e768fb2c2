"""The blocks of a study in their random order, and their file."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.study_blocks import CELL, HEADER, blocks, design, errors_of
from tollgate.study.design import (
    only,
    read_blocks,
    rounds,
    seconds_of,
    shorten,
    warm_up,
    write_blocks,
)
from tollgate.study.model import CROSSCHECK, JMETER


def order(of):
    """(experiment, round, arm, users) of each block."""
    return [(b.cell.experiment, b.round, b.cell.arm, b.cell.users) for b in of]


CELLS = st.lists(
    st.builds(
        lambda experiment, arm, users: replace(CELL, experiment=experiment, arm=arm, users=users),
        st.sampled_from(["sum", "pi"]),
        st.sampled_from(["fork", "cluster"]),
        st.integers(1, 5),
    ),
    min_size=1,
    unique=True,
)


@given(CELLS, st.integers(1, 12), st.integers())
def test_each_round_has_each_cell_once_and_experiments_come_one_after_another(cells, many, seed):
    cells = [replace(cell, rounds=many) for cell in cells]
    made = rounds(cells, seed, after=7)
    assert [block.number for block in made] == [*range(8, len(made) + 8)]
    in_order = [(b.cell.experiment, b.round) for b in made]
    turns = [*dict.fromkeys(in_order)]
    experiments = dict.fromkeys(cell.experiment for cell in cells)
    assert turns == [(it, round_) for it in experiments for round_ in range(1, many + 1)]
    assert in_order == sorted(in_order, key=turns.index)
    for turn in turns:
        there = [b.cell for b in made if (b.cell.experiment, b.round) == turn]
        assert Counter(there) == Counter(only(cells, [turn[0]]))


@given(CELLS, st.integers(2, 12), st.integers())
def test_the_warm_up_has_each_cell_between_two_blocks_of_the_fewest_users(cells, many, seed):
    cells = [replace(cell, rounds=many) for cell in cells]
    made = warm_up(cells, seed)
    first, *others, last = made
    assert Counter(block.cell for block in others) == Counter(cells)
    assert first.cell == last.cell
    assert last.cell.users == min(cell.users for cell in cells)
    assert {block.round for block in made} == {0}
    assert blocks(cells, seed) == (*made, *rounds(cells, seed, after=len(made)))


def test_jmeter_itself_opens_and_closes_the_warm_up_which_a_smoke_has_not():
    made = warm_up(only(design(), [CROSSCHECK]), 21)
    assert (made[0].cell.arm, made[-1].cell.arm) == (JMETER, JMETER)
    assert warm_up(shorten(design()), 21) == ()


def test_the_order_depends_on_the_seed_and_not_on_lengths_or_other_experiments():
    made = order(rounds(design(), 21))
    longer = [replace(cell, seconds=2 * cell.seconds) for cell in design()]
    assert order(rounds(longer, 21)) == made
    alone = order(rounds(only(design(), ["kittens"]), 21))
    assert [turn for turn in made if turn[0] == "kittens"] == alone
    assert order(rounds(design(), 1)) != order(rounds(design(), 2))


def test_the_same_seed_makes_the_same_order_in_every_version_of_python():
    cells = [replace(CELL, users=users, rounds=2) for users in (1, 2, 3, 4)]
    made = [b.cell.users for b in blocks(cells, 21)]
    assert made == [1, *(1, 3, 2, 4), 1, *(1, 3, 4, 2), *(4, 2, 3, 1)]


def test_rounds_differ_in_their_order():
    made = [b for b in blocks(design(), 21) if b.cell.experiment == "calculate"]
    orders = {tuple(b.cell for b in made if b.round == r) for r in range(9)}
    assert len(orders) == 9


def test_each_cell_comes_in_each_position_as_often_as_any_other():
    cells = [replace(CELL, users=users, rounds=400) for users in range(1, 7)]
    made = rounds(cells, 21)
    at = Counter((b.cell.users, place % 6) for place, b in enumerate(made))
    expected = 400 / 6
    chi_square = sum((count - expected) ** 2 / expected for count in at.values())
    assert len(at) == 36
    assert chi_square < 44.3  # 99 % of chi-square with 25 degrees of freedom


def test_the_expected_length_counts_seconds_or_what_requests_take():
    one = seconds_of(blocks([replace(CELL, rounds=1, seconds=7)], 1))
    assert 7 < one < 7.5
    limited = replace(CELL, rounds=1, seconds=60, lead_s=0, users=10, each=5)
    assert 1 < seconds_of(blocks([limited], 1)) < 60
    assert seconds_of([]) == 0


def test_the_expected_length_is_the_measured_one_where_there_is_one():
    one, other = replace(CELL, rounds=1), replace(CELL, arm="cluster", rounds=1)
    both = blocks([one, other], 1)
    assert seconds_of(both, {one.key: 2.5, other.key: 4.25}) == 6.75
    others = [block for block in both if block.cell == other]
    assert seconds_of(both, {one.key: 2.5}) == 2.5 + seconds_of(others)


# The file of blocks.

PORTS = {"fork": 1234, "cluster": 99}
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)


@given(CELLS, TEXT, st.sampled_from([0, 0.25, 1 / 3]), st.integers(0, 5))
def test_blocks_come_out_of_their_file_as_they_went_in(tmp_path_factory, cells, arm, lead, each):
    path = tmp_path_factory.mktemp("blocks") / "blocks.csv"
    other = {"each": each, "lead_s": float(f"{lead:g}"), "answer": re.escape(f'{arm}",")')}
    made = blocks([replace(cell, arm=arm, **other) for cell in set(cells)], 21)
    write_blocks(path, made, PORTS)
    assert read_blocks(path) == made


def test_blocks_can_be_written_behind_others(tmp_path):
    path, first = tmp_path / "blocks.csv", warm_up([CELL], 21)
    write_blocks(path, first, PORTS)
    with path.open() as opened:
        opened.readlines()
        write_blocks(path, rounds([CELL], 21, after=len(first)), PORTS, append=True)
        assert len(opened.readlines()) == CELL.rounds
    assert read_blocks(path) == blocks([CELL], 21)


def test_the_file_tells_each_app_its_port_and_jmeter_to_go_on_for_ever(tmp_path):
    path = tmp_path / "blocks.csv"
    cells = [replace(CELL, rounds=1), replace(CELL, app="cluster", arm="b", each=3, rounds=1)]
    write_blocks(path, blocks(cells, 1), PORTS)
    header, *rows = path.read_text().splitlines()
    assert header == f"block,round,{HEADER},port"
    assert sorted(row.split(",", 2)[2] for row in rows) == [
        "sum,b,cluster,5,0,1,1,0.25,3,/sum/9,45,99",
        "sum,fork,fork,5,0,1,1,0.25,-1,/sum/9,45,1234",
    ]


def test_a_file_of_blocks_that_somebody_has_cut_is_refused(tmp_path):
    path = tmp_path / "blocks.csv"
    write_blocks(path, blocks([CELL], 1), PORTS)
    header, _first, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, *rows]))
    assert errors_of(path, read_blocks) == [": is not the file that the study wrote; run it again"]


@pytest.mark.parametrize("damage", [("sum", "sums"), (",5,", ",five,"), ("each", "many")])
def test_a_damaged_file_of_blocks_is_refused(tmp_path, damage):
    path = tmp_path / "blocks.csv"
    write_blocks(path, blocks([CELL], 1), PORTS)
    path.write_text(path.read_text().replace(*damage))
    [error] = errors_of(path, read_blocks)
    assert error.startswith(": can't be read (")
