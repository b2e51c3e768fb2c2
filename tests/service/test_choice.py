"""Which of the services of taurus.yml a run is of."""

import pytest

from support.services_described import SHOP
from tollgate.base.settings import SettingError
from tollgate.service.choice import chosen, secrets_of


def test_two_services_and_two_kinds_are_refused():
    kinds = {"check": {}, "load": {"modules": {"verdict": {"kind": "load"}}}, "fast": {"a": 1}}
    assert chosen(["load", "shop", "fast"], ["shop"], kinds) == "shop"
    assert chosen(["load"], ["shop"], kinds) is None
    for given in (["shop", "depot"], ["check", "load"]):
        with pytest.raises(SettingError, match=f"-{given[0]} and -{given[1]} are two"):
            chosen(given, ["shop", "depot"], kinds)


def test_the_secrets_of_services_are_known_by_their_variables():
    scenarios = {
        "shop": {**SHOP, "environment": ["SHOP_KEY"]},
        "depot": {**SHOP, "environment": "DEPOT_KEY, OTHER"},
        "plan": {"script": "own.jmx", "environment": ["UNREAD"]},
        "open": SHOP,
    }
    assert secrets_of({"scenarios": scenarios}) == {"SHOP_KEY", "DEPOT_KEY", "OTHER"}
    assert secrets_of({}) == set()
