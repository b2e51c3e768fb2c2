"""The settings under modules.study."""

from pathlib import Path

import pytest

from tollgate.study.settings import SetupError, read_settings

DESIGN = {"design": "data/study.csv"}


def test_all_but_the_design_may_be_left_out():
    found = read_settings(DESIGN)
    assert (found.design, found.seed, found.short) == (Path("data/study.csv"), 21, False)
    assert (found.rounds, found.experiments) == (None, ())


@pytest.mark.parametrize("value", ["kittens,pi", " kittens , pi,", ["kittens", "pi"]])
def test_experiments_are_a_list_or_names_parted_by_commas(value):
    assert read_settings({**DESIGN, "experiments": value}).experiments == ("kittens", "pi")


def test_a_short_study_may_not_have_as_many_rounds_as_answer_a_claim():
    assert read_settings({**DESIGN, "short": True, "rounds": 2}).rounds == 2
    with pytest.raises(SetupError, match="short is true and rounds is 8"):
        read_settings({**DESIGN, "short": True, "rounds": 8})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("short", value) for value in ("yes", 1, "false", None)),
        *(("seed", value) for value in (-1, 1.5, "7", True, None)),
        *(("rounds", value) for value in (0, -3, 2.0, "ten", False, None)),
    ],
)
def test_a_value_that_could_be_meant_otherwise_is_refused(name, value):
    with pytest.raises(SetupError, match=f"^{name} is .*: write "):
        read_settings({**DESIGN, name: value})
