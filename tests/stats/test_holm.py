"""How hypotheses share an error."""

from tollgate.stats.holm import holm

#: The least share of the error at which each is refused.
NEEDED = {"a": 0.01, "b": 0.02, "c": 1.0}


def shared(weights, refused=(), others=0):
    return holm(weights, 0.06, lambda key, share: share >= NEEDED[key], frozenset(refused), others)


def test_what_is_refused_leaves_its_share_to_the_others():
    equal = dict.fromkeys(NEEDED, 1)
    assert shared(equal) == ({"a": 0.02, "b": 0.02, "c": 0.06}, {"a", "b"})
    assert shared(equal, others=3) == ({"a": 0.01, "b": 0.012, "c": 0.012}, {"a"})


def test_a_share_goes_by_weight_and_no_test_has_more_than_the_error():
    shares, refused = shared({"a": 0.1, "c": 1.0})
    assert shares == {"a": 0.06 * 0.1 / 1.1, "c": 0.06 / 1.1}
    assert not refused
    assert shared({"a": 0.1}) == ({"a": 0.06}, {"a"})


def test_what_was_refused_before_is_not_tested_again():
    shares, refused = shared({"a": 1, "c": 1}, refused=["c"])
    assert shares == {"a": 0.06, "c": 0.06}
    assert refused == {"a", "c"}
    assert shared({}) == ({}, frozenset())
