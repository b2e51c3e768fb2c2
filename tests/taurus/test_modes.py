"""Which executions a run has."""

import pytest

from tollgate.taurus.load import BOTH_MODES_S, ModeError, chosen_modes

NAMES = ["fork", "cluster"]


@pytest.mark.parametrize(
    ("mode", "names", "seconds"),
    [("", NAMES, BOTH_MODES_S), ("both", NAMES, 1e6), ("", ["mine", "yours"], 1e6)],
)
def test_all_executions_run_that_are_short_enough_or_wanted_or_do_not_stand_for_one_another(
    mode, names, seconds
):
    assert chosen_modes(mode, names, seconds, "cluster") == (names, "")


@pytest.mark.parametrize("preferred", NAMES)
def test_a_long_kind_runs_in_its_preferred_mode_alone_and_says_so(preferred):
    names, why = chosen_modes("", NAMES, BOTH_MODES_S + 1, preferred)
    assert names == [preferred]
    assert "MODE=both" in why


@pytest.mark.parametrize("mode", NAMES)
def test_mode_chooses_one_execution_however_long_it_is(mode):
    assert chosen_modes(mode, NAMES, 1e6, "cluster")[0] == [mode]


@pytest.mark.parametrize(
    ("wanted", "step"),
    [("clutser", "did you mean 'cluster'?"), ("x", "known are fork, cluster, both")],
)
def test_a_mode_that_is_no_execution_is_refused_with_the_nearest_one(wanted, step):
    with pytest.raises(ModeError, match=step):
        chosen_modes(wanted, NAMES, 1, "cluster")
