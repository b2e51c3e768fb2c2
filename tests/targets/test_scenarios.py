"""Executions with inline scenarios, and settings of `targets` and `verdict` before any load."""

import logging
from types import SimpleNamespace

import pytest
from bzt import TaurusConfigError, ToolError
from bzt.utils import BetterDict

from tollgate.targets import leftovers, lock
from tollgate.targets.scenarios import name_of, scenario_of, targets_of
from tollgate.taurus import verdict
from tollgate.taurus.targets import Targets
from tollgate.taurus.verdict import Verdict

CONFIG = BetterDict.from_dict({"scenarios": {"fork": {"script": "a.jmx"}, "empty": None}})


@pytest.mark.parametrize(
    ("scenario", "name", "script"),
    [
        ("fork", "fork", "a.jmx"),
        ("empty", "empty", None),
        ("plans/b.jmx", "plans/b.jmx", None),
        ({"script": "plans/b.jmx"}, "b.jmx", "plans/b.jmx"),
        ({"requests": []}, "inline scenario", None),
    ],
)
def test_an_execution_has_its_scenario_by_name_or_inline(scenario, name, script):
    execution = BetterDict.from_dict({"scenario": scenario})
    assert name_of(execution) == name
    assert scenario_of(CONFIG, execution).get("script", None) == script


def targets(scenario, **settings):
    made = Targets()
    made.log = logging.getLogger("targets")
    made.settings = BetterDict.from_dict({"class": "tollgate.taurus.targets.Targets", **settings})
    config = BetterDict.from_dict({"execution": [{"scenario": scenario}]})
    made.engine = SimpleNamespace(config=config)
    return made


@pytest.mark.parametrize(
    ("target", "names"),
    [
        *((None, []), ("", []), ("fork", ["fork"]), (["fork"], ["fork"])),
        (["pi-2", "balancer", "pi-2"], ["pi-2", "balancer"]),
    ],
)
def test_a_scenario_names_its_targets_by_one_name_or_by_a_list(target, names):
    assert targets_of({"target": target}, "study") == names


@pytest.mark.parametrize("target", [[], [None], ["fork", 3001], 3001, {"fork": 1}])
def test_a_target_that_is_no_name_is_refused(target):
    with pytest.raises(TaurusConfigError) as caught:
        targets_of({"target": target}, "study")
    assert str(caught.value).startswith(f"targets: scenario 'study' has target {target!r}: name an")


@pytest.fixture
def unheld(monkeypatch):
    """No run of this checkout is in the way of `prepare`."""
    monkeypatch.setattr(lock, "take_lock", lambda: None)
    monkeypatch.setattr(leftovers, "clean_up", list)


@pytest.mark.usefixtures("unheld")
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("reload-evry", r"'reload-evry'.*did you mean 'reload-every'"),
        ("reload-every", "no execution has a target in cluster mode"),
    ],
)
def test_a_timetable_of_reloads_that_nobody_can_follow_is_refused(setting, said):
    with pytest.raises(TaurusConfigError, match=said):
        targets({"target": "fork"}, **{setting: "5s"}).prepare()


@pytest.mark.usefixtures("unheld")
@pytest.mark.parametrize(
    ("variable", "told"),
    [
        ("PATH", "targets: node is not on PATH"),
        ("JMETER_HOME", r"targets: JMeter is not in {}/bin/jmeter: run scripts/bootstrap"),
    ],
)
def test_a_tool_that_is_missing_is_named_and_not_downloaded(tmp_path, monkeypatch, variable, told):
    monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    with pytest.raises(ToolError, match=told.format(tmp_path / "nowhere")):
        targets({"target": "fork"}).prepare()
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["warmup", "measured"])
def test_verdict_refuses_a_property_that_is_no_number(monkeypatch, name):
    monkeypatch.setattr(verdict.plan_copy, "copy", lambda *_: "plan/check.jmx")
    made = Verdict()
    made.engine = SimpleNamespace(artifacts_dir="reports")
    executor = SimpleNamespace(
        label="fork",
        properties={name: "60s"},
        original_jmx="plans/check.jmx",
        kpi_jtl="kpi.jtl",
        execution=BetterDict(),
        get_scenario=BetterDict,
    )
    with pytest.raises(TaurusConfigError, match=f"execution 'fork': the property {name} is '60s'"):
        made._planned(executor)
