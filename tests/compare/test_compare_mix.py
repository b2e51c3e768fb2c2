from collections import Counter

import pytest

from tollgate.compare import mix


@pytest.mark.parametrize(
    ("weights", "slots"),
    [
        *(
            ([6, 1], [6, 1]),
            ([60, 10], [6, 1]),
            ([0.5, 0.25], [2, 1]),
            ([3], [1]),
            ([0, 2], [0, 1]),
        ),
        # Too fine for a block: rounded, and none is forgotten.
        ([1000, 1], [100, 1]),
        ([1, 1e-9], [100, 1]),
        ([61, 40], [60, 40]),
    ],
)
def test_a_block_has_as_many_of_each_as_its_weight_says(weights, slots):
    assert mix.slots(weights) == slots


@pytest.mark.parametrize("weights", [[], [0, 0], [1, -1]])
def test_weights_that_ask_nothing_are_refused(weights):
    with pytest.raises(ValueError, match="weight above 0"):
        mix.slots(weights)


def test_a_sequence_holds_the_mix_in_each_of_its_blocks_in_an_order_of_its_own():
    parts = mix.parts_of(mix.sequence([6, 1, 3], 7))
    blocks = [parts[at : at + 10] for at in range(0, len(parts), 10)]
    assert len(parts) >= mix.SHORTEST
    assert {tuple(sorted(Counter(it).items())) for it in blocks} == {((0, 6), (1, 1), (2, 3))}
    assert len(set(map(tuple, blocks))) > len(blocks) / 2


def test_the_same_seed_draws_the_same_sequence_and_another_one_another():
    assert mix.sequence([6, 1], 7) == mix.sequence([6, 1], 7) != mix.sequence([6, 1], 8)


def test_a_sequence_is_read_as_it_is_written():
    assert mix.parts_of(mix.written([0, 12, 5])) == [0, 12, 5]
    for text in ("", "012", "0x"):
        with pytest.raises(ValueError, match="the property mix is"):
            mix.parts_of(text)
