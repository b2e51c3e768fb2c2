"""The bounds by which simulations are judged, of all of their repetitions and of a part of them."""

import pytest
from scipy import stats

from support.repetitions import RISK, Repetitions


@pytest.mark.parametrize(("whole", "made"), [(500, 50), (2000, 200), (5, 1)])
def test_a_tenth_of_the_repetitions_is_made_where_not_all_are_asked_for(whole, made):
    assert len(list(Repetitions.of(whole, makes_all=False))) == made
    assert len(list(Repetitions.of(whole, makes_all=True))) == whole


def test_of_all_repetitions_the_share_itself_is_the_limit():
    runs = Repetitions.of(500, makes_all=True)
    assert runs.least(0.92) <= 460 < runs.least(0.921)
    assert runs.most(0.979) < 490 <= runs.most(0.98)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.92, 0.98])
def test_of_a_part_a_right_share_is_refused_once_in_a_thousand_and_no_less_often_than_need_be(
    share,
):
    runs = Repetitions.of(1500, makes_all=False)
    counts = stats.binom(runs.made, share)
    assert counts.sf(runs.most(share)) <= RISK < counts.sf(runs.most(share) - 1)
    assert counts.cdf(runs.least(share) - 1) <= RISK < counts.cdf(runs.least(share))
