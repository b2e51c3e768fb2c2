import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tollgate.base.paths import SUITE
from tollgate.base.settings import SettingError
from tollgate.criteria.grammar import parse
from tollgate.study.design import read_design
from tollgate.study.model import AUTOCANNON, JMETER
from tollgate.study.settings import (
    ENVIRONMENT,
    SLOWER,
    SetupError,
    StudySettings,
    chosen,
    labels_of,
    read_settings,
    refuse_environment,
    without_missing_autocannon,
)
from tollgate.targets import pm2
from tollgate.taurus.own_load import OwnLoad
from tollgate.taurus.study import apps_of

DESIGN = read_design(SUITE / "data" / "study.csv")
GIVEN = {"design": "data/study.csv"}


def wanted(**changes):
    return replace(StudySettings("study.csv", 21, False, None, ()), **changes)


def experiments(cells):
    return list(dict.fromkeys(cell.experiment for cell in cells))


def test_all_settings_but_the_design_may_be_left_out():
    found = read_settings(GIVEN)
    assert (found.design, found.seed, found.short) == ("data/study.csv", 21, False)
    assert (found.rounds, found.experiments) == (None, ())


@pytest.mark.parametrize("value", ["kittens,pi", " kittens , pi,", ["kittens", "pi"]])
def test_experiments_are_a_list_or_names_parted_by_commas(value):
    assert read_settings({**GIVEN, "experiments": value}).experiments == ("kittens", "pi")


def test_a_short_study_may_not_have_as_many_rounds_as_answer_a_claim():
    assert read_settings({**GIVEN, "short": True, "rounds": 2}).rounds == 2
    with pytest.raises(SetupError, match="short is true and rounds is 8"):
        read_settings({**GIVEN, "short": True, "rounds": 8})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("short", value) for value in ("yes", 1, "false", None)),
        *(("seed", value) for value in (-1, 1.5, "7", True, None)),
        *(("rounds", value) for value in (0, -3, 2.5, "ten", False)),
    ],
)
def test_a_value_that_could_be_meant_otherwise_is_refused(name, value):
    with pytest.raises(SettingError, match=rf"^modules\.study\.{name} is {value!r}: write "):
        read_settings({**GIVEN, name: value})


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_a_variable_that_changes_what_an_arm_is_is_refused(name):
    with pytest.raises(SetupError, match=f"{name} is 'on', .*: unset it"):
        refuse_environment({"PATH": "/bin", name: "on"})


def test_empty_variables_and_work_that_slows_all_arms_alike_are_allowed():
    refuse_environment(dict.fromkeys(ENVIRONMENT, "") | {SLOWER: "200"})


def test_no_variable_that_the_apps_read_is_forgotten():
    sources = [SUITE / "app" / "settings.js", SUITE / "app" / "balancer" / "settings.js"]
    read = {name for it in sources for name in re.findall(r"variable: '(\w+)'", it.read_text())}
    # PM2 sets the first three for each process, ecosystem.config.js the last.
    others = {"NODE_APP_INSTANCE", "exec_mode", "pm_id", "BALANCER_SERVERS"}
    assert read - others == {*ENVIRONMENT, SLOWER}


def test_every_variable_that_makes_an_arm_is_refused_from_elsewhere():
    text = (SUITE / "ecosystem.config.js").read_text()
    set_there = set(re.findall(r"\b([A-Z]+(?:_[A-Z]+)+): '", text)) - {"BALANCER_SERVERS"}
    assert set_there
    assert set_there - {"NODE_ENV"} <= {*ENVIRONMENT}


def test_the_whole_design_is_measured_unless_something_else_is_wanted():
    assert chosen(DESIGN, wanted()) == DESIGN
    # In the order of the design.
    assert experiments(chosen(DESIGN, wanted(experiments=("pi", "kittens")))) == ["kittens", "pi"]


def test_an_experiment_that_the_design_does_not_have_is_refused_with_the_nearest():
    with pytest.raises(SetupError, match="experiments names 'kitten': did you mean 'kittens'"):
        chosen(DESIGN, wanted(experiments=("kitten",)))


@pytest.mark.parametrize(
    ("changes", "rounds"),
    [({"rounds": 3}, 3), ({"short": True}, 1), ({"short": True, "rounds": 2}, 2)],
)
def test_rounds_go_before_those_of_the_design_and_of_the_smoke(changes, rounds):
    assert {cell.rounds for cell in chosen(DESIGN, wanted(**changes))} == {rounds}


def test_jmeter_is_checked_with_autocannon_alone_and_not_against_nothing():
    crosscheck = [cell for cell in DESIGN if cell.experiment == "crosscheck"]
    assert {cell.arm for cell in crosscheck} == {JMETER, AUTOCANNON}
    assert without_missing_autocannon(DESIGN, "9.0.0") == (DESIGN, ())
    cells, reasons = without_missing_autocannon(DESIGN, None)
    assert [*cells] == [cell for cell in DESIGN if cell not in crosscheck]
    what = "autocannon is not installed, so that crosscheck is left out"
    assert reasons == (f"{what}: run `tollgate install`",)


def test_the_design_asks_apps_that_the_ecosystem_has_and_those_behind_the_balancer():
    declared = pm2.declared_apps()
    compared = ("base", "head")  # no arms of the study
    assert apps_of(DESIGN, declared) == [it for it in declared if not it.startswith(compared)]
    behind = [cell for cell in DESIGN if cell.arm == "three servers"]
    assert apps_of(behind, declared) == ["pi-1", "pi-2", "pi-3", "balancer"]


def test_no_app_is_started_that_nobody_asks_and_one_that_is_not_declared_is_named():
    declared = {name: pm2.App(name, 1, "fork", 1) for name in ("pi-1", "cluster", "fork", "nap")}
    cells = [cell for cell in DESIGN if cell.experiment == "kittens"]
    assert apps_of(cells, declared) == ["cluster", "fork"]
    with pytest.raises(SetupError, match=r"asks the app 'fork', .*did you mean 'forks'"):
        apps_of(DESIGN[:1], {"forks": pm2.App("forks", 1, "fork", 1)})


def test_the_labels_are_the_experiments_and_that_of_the_other_generators():
    assert labels_of(DESIGN) == {*experiments(DESIGN), "another generator"}
    crosscheck = [cell for cell in DESIGN if cell.experiment == "crosscheck"]
    assert labels_of([cell for cell in crosscheck if cell.arm != "jmeter"]) == {"another generator"}
    assert labels_of([cell for cell in crosscheck if cell.arm == "jmeter"]) == {"crosscheck"}


def test_criteria_on_what_is_not_measured_are_left_out_and_no_others():
    kept = ["fail of kittens>0%", "fail>0%", {"too slow": "avg-rt of pi>9s"}, "rss of worker>1GB"]
    kept.append("p95 off sum")  # unreadable
    gone = ["fail of calculate>0%", {"late": "p90 of sum>2s"}, "fail of another generator>0%"]
    reporting = [{"module": "verdict"}, {"criteria": [*gone, *kept]}]
    cells = [cell for cell in DESIGN if cell.experiment in ("kittens", "pi")]
    absent = labels_of(DESIGN) - labels_of(cells)
    made = OwnLoad()
    made.engine = SimpleNamespace(config={"reporting": reporting})
    made.leave_criteria_out(lambda criterion: criterion.label in absent)
    assert reporting[1]["criteria"] == kept
    assert parse(kept[0]).label == "kittens"
