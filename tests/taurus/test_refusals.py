"""What the reporter `verdict` refuses before any load."""

import pytest
from bzt import TaurusConfigError

from tollgate.taurus.refusals import checked_settings


@pytest.mark.parametrize("value", [-0.01, 0.6, "2 %", None])
def test_a_tolerance_of_the_forecast_that_is_no_share_is_refused(value):
    assert checked_settings({"forecast-tolerance": 0.05}) == {"forecast_tolerance": 0.05}
    with pytest.raises(
        TaurusConfigError, match=r"forecast-tolerance must be a share such as 0\.02"
    ):
        checked_settings({"forecast-tolerance": value})


@pytest.mark.parametrize("value", ["yes", "maybe", None, 2])
def test_whether_a_run_cut_short_counts_is_true_or_false_and_nothing_between(value):
    assert checked_settings({"cut-short-counts": True}) == {"cut_short_counts": True}
    with pytest.raises(TaurusConfigError, match="cut-short-counts must be true or false"):
        checked_settings({"cut-short-counts": value})
