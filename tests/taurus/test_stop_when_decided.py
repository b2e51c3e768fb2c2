"""The service `stop-when-decided` on Taurus's configuration, without Taurus's engine."""

import logging
from types import SimpleNamespace

import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from tollgate.taurus.shared import under_way
from tollgate.taurus.stop_when_decided import StopWhenDecided

PLAN = {"script": "plans/check.jmx"}


@pytest.fixture
def prepared(caplog):
    """Prepares the service over a configuration; returns the scenario and the schedule of looks."""
    caplog.set_level(logging.INFO)

    def prepare(budget="4m", forecast=None, scenario=None, modules=None, **properties):
        service = StopWhenDecided()
        service.log = logging.getLogger("stop-when-decided")
        service.settings = BetterDict.from_dict({} if budget is None else {"budget": budget})
        config = {
            "execution": [{"scenario": "fork"}],
            "scenarios": {"fork": scenario or dict(PLAN)},
            "modules": {"jmeter": {"properties": properties}, **(modules or {})},
        }
        service.engine = SimpleNamespace(config=BetterDict.from_dict(config))
        execution = under_way(service.engine).executions["fork"]
        execution.forecast = forecast
        service.prepare()
        return service.engine.config["scenarios"]["fork"], execution.interim

    return prepare


FOLLOWS = {"forecast": {"path": "x"}, "scenario": {**PLAN, "properties": {"measured": 1440}}}


@pytest.mark.parametrize(
    ("given", "least_s", "budget_s", "measured"),
    [
        ({"warmup": 5, "measured": 30}, 30.0, 240.0, 240),
        ({"warmup": 5, "measured": 300}, 300.0, 300.0, 300),
        (FOLLOWS | {"warmup": 5, "measured": 30}, 30.0, 240.0, 1440),
        ({"budget": 60}, 30.0, 60.0, None),  # a plan of somebody's own
    ],
)
def test_a_plan_with_a_length_to_be_set_runs_as_long_as_the_budget_or_as_it_was_to_measure(
    prepared, given, least_s, budget_s, measured
):
    scenario, interim = prepared(**given)
    assert (interim.least_s, interim.budget_s) == (least_s, budget_s)
    assert scenario["properties"].get("measured", None) == measured


def test_the_run_says_how_long_it_takes_at_most_and_jmeter_writes_samples_at_once(prepared, caplog):
    scenario, _ = prepared(warmup=5, measured=30)
    assert scenario["properties"]["jmeter.save.saveservice.autoflush"] == "true"
    assert "at most 4 min 15 s in all" in caplog.text


@pytest.mark.parametrize("budget", [None, "off", False])
def test_without_a_budget_nothing_changes(prepared, budget):
    assert prepared(budget=budget, measured=30) == (PLAN, None)


@pytest.mark.parametrize("budget", ["soon", 0, -1, True, "4 weeks", "", "0.5s"])
def test_what_is_no_budget_is_refused(prepared, budget):
    with pytest.raises(TaurusConfigError) as refused:
        prepared(budget=budget, measured=30)
    assert repr(budget) in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("kind", [{"compare": {"budget": "10m"}}, {"study": {"design": "x.csv"}}])
def test_kinds_that_end_themselves_take_no_budget(prepared, kind):
    with pytest.raises(TaurusConfigError, match="off"):
        prepared(modules=kind, measured=0)


@pytest.mark.parametrize(
    ("asked_s", "still", "text"),
    [
        (245.0, [], "40 of at most 245 s"),
        (245.0, ["p95>1s"], "40 of at most 245 s, open: p95>1s"),
        (0.0, list("abcde"), "40 s, open: a, b, c and 2 more"),
    ],
)
def test_the_progress_line_names_what_is_open(asked_s, still, text):
    service = StopWhenDecided()
    service.watches = {"fork": SimpleNamespace(decider=SimpleNamespace(last=object(), open=still))}
    assert service.position("fork", asked_s, 40.2) == text
    assert service.position("cluster", asked_s, 40.2) is None
