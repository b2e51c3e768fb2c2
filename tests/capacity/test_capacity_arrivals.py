"""What the arrivals of a trial ask."""

from collections import Counter

import pytest

from tollgate.base.settings import SettingError, read
from tollgate.capacity.arrivals import drawn
from tollgate.capacity.model import Ask
from tollgate.taurus.capacity import SearchSettings

ASK = Ask(1, "search", 400.0, 10)


def test_each_arrival_asks_one_of_them_by_its_weight():
    asked = Counter(drawn(ASK, 1, 1, 0, {"list": 6, "order": 2}, 7).of)
    assert asked["list"] + asked["order"] == pytest.approx(4000, rel=0.1)
    assert asked["list"] / asked["order"] == pytest.approx(3, rel=0.15)


def of(given):
    return read(SearchSettings, {"of": given}, "modules.capacity").of


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("sum", {"sum": 1}),
        (["sum", "search"], {"sum": 1, "search": 1}),
        ({"list": 6, "order": 0.5}, {"list": 6, "order": 0.5}),
    ],
)
def test_what_is_asked_are_names_or_names_with_weights(given, found):
    assert of(given) == found


@pytest.mark.parametrize("given", [[], {}, {"list": 0}, {"list": "much"}, 7, ""])
def test_what_asks_nothing_is_refused_in_a_line(given):
    with pytest.raises(SettingError, match=r"^modules\.capacity\.of") as refused:
        of(given)
    assert "\n" not in str(refused.value)
