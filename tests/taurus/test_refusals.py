"""What the reporter `verdict` refuses before any load."""

import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from support.forecasts import steps_of
from tollgate.forecast.model import Followed, to_record
from tollgate.taurus.refusals import checked_forecast, checked_settings

RECORD = to_record(Followed("data/forecast.csv", 1.0, 1440.0, steps_of(4, 8)))


@pytest.mark.parametrize("value", [-0.01, 0.6, "2 %", None])
def test_a_tolerance_of_the_forecast_that_is_no_share_is_refused(value):
    assert checked_settings({"forecast-tolerance": 0.05}) == {"forecast_tolerance": 0.05}
    with pytest.raises(
        TaurusConfigError, match=r"forecast-tolerance must be a share such as 0\.02"
    ):
        checked_settings({"forecast-tolerance": value})


def test_the_forecast_of_a_scenario_is_kept_in_plain_values():
    scenario = BetterDict.from_dict({"forecast": RECORD})
    kept = checked_forecast("fork", scenario.get("forecast"))
    assert kept == RECORD
    assert type(kept["steps"][0]["shares"]) is dict
    assert checked_forecast("fork", None) is None


def test_a_forecast_that_the_service_load_did_not_write_is_refused():
    with pytest.raises(TaurusConfigError, match=r"execution 'fork': .*leave `forecast` to"):
        checked_forecast("fork", {"path": "data/forecast.csv"})


@pytest.mark.parametrize("value", ["yes", "maybe", None, 2])
def test_whether_a_run_cut_short_counts_is_true_or_false_and_nothing_between(value):
    assert checked_settings({"cut-short-counts": True}) == {"cut_short_counts": True}
    with pytest.raises(TaurusConfigError, match="cut-short-counts must be true or false"):
        checked_settings({"cut-short-counts": value})
