"""Which executions a run has."""

from __future__ import annotations

import pytest

from tollgate.taurus.load import BOTH_MODES_S, ModeError, chosen_modes

NAMES = ["fork", "cluster"]


def test_both_modes_run_where_together_they_are_short_enough():
    assert chosen_modes("", NAMES, BOTH_MODES_S, "cluster") == (NAMES, "")


@pytest.mark.parametrize("preferred", NAMES)
def test_a_long_kind_runs_in_its_preferred_mode_alone_and_says_so(preferred):
    names, why = chosen_modes("", NAMES, BOTH_MODES_S + 1, preferred)
    assert names == [preferred]
    assert "MODE=both" in why


@pytest.mark.parametrize("mode", NAMES)
def test_mode_chooses_one_execution_however_long_it_is(mode):
    assert chosen_modes(mode, NAMES, 1e6, "cluster")[0] == [mode]


def test_mode_both_runs_them_all_however_long_they_are():
    assert chosen_modes("both", NAMES, 1e6, "cluster") == (NAMES, "")


def test_executions_with_other_names_are_all_kept_because_none_is_known_to_stand_for_the_rest():
    assert chosen_modes("", ["mine", "yours"], 1e6, "cluster") == (["mine", "yours"], "")


@pytest.mark.parametrize(
    ("wanted", "step"),
    [("clutser", "did you mean 'cluster'?"), ("x", "known are fork, cluster, both")],
)
def test_a_mode_that_is_no_execution_is_refused_with_the_nearest_one(wanted, step):
    with pytest.raises(ModeError, match=step):
        chosen_modes(wanted, NAMES, 1, "cluster")
