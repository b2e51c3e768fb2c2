"""How fast a comparison asks, and when it may end."""

import logging
import os
import time
from types import SimpleNamespace

import pytest
from bzt.utils import BetterDict

from tollgate.base.paths import SUITE
from tollgate.compare import record
from tollgate.compare.pace import Cost, Pace
from tollgate.record import manifest
from tollgate.taurus import compare as service
from tollgate.taurus.pace import CostError
from tollgate.taurus.shared import under_way
from tollgate.workers.background_cpu import BackgroundCpuRecorder


def test_progress_says_that_the_run_may_end_before(compare):
    made = compare()
    made.prepare()
    position = under_way(made.engine).position
    assert position(None, 615, 20.4) == "20 of at most 615 s"
    assert position(None, 615, 700) == "615 of at most 615 s"


class Executor(SimpleNamespace):
    """What would run the plan."""

    __hash__ = object.__hash__

    def __init__(self, folder):
        super().__init__(
            properties=BetterDict.from_dict({"warmup": 15, "measured": 600}),
            original_jmx=str(SUITE / "plans" / "compare.jmx"),
            start_time=0.0,
            kpi_jtl=str(folder / "kpi.jtl"),
            process=SimpleNamespace(poll=lambda: None),
            is_over=False,
        )

    def set_properties(self, properties):
        self.properties.merge(properties)


@pytest.fixture
def begun(compare, tmp_path, monkeypatch):
    """Has a comparison begin on two cores, with the cost of a request or why it is unknown."""

    def begin(cost=None, recorder=None, **options):
        def cost_of(*_):
            if isinstance(cost, Exception):
                raise cost
            return cost

        monkeypatch.setattr(service, "cost_of", cost_of)
        monkeypatch.setattr(service, "usable_cores", lambda: 2)
        made = compare(**options)
        made.prepare()
        made.engine.provisioning = SimpleNamespace(executors=[Executor(tmp_path)])
        planned = manifest.Execution("compare", plan="p", jtl="j", properties={})
        known = {"started": "", "criteria": [], "settings": {}, "environment": {}}
        under_way(made.engine).manifest = manifest.Manifest(
            kind="compare", executions=[planned], **known
        )
        under_way(made.engine).background = recorder
        made.startup()
        return made, planned.properties, made.engine.provisioning.executors[0].properties

    return begin


def test_arrivals_come_as_fast_as_the_machine_can_carry(begun, tmp_path):
    made, told, given = begun(Cost(20.0, 6.0))
    assert told == {"period": "28", "search_lag": "25"}
    assert (given["period"], given["search_lag"]) == (28, 25)
    assert made.record.pace == Pace(28, 18, "measured", 2, 0.5, Cost(20.0, 6.0))
    assert record.read(tmp_path) == made.record
    [execution] = under_way(made.engine).manifest.executions
    assert execution.properties == told
    made.shutdown()
    assert record.read(tmp_path).background_cpu == ()  # nobody records it
    assert begun(Cost(20.0, 6.0), **{"cpu-share": "80%"})[0].record.pace.period_ms == 18


def test_what_others_take_is_recorded_until_the_end(begun, tmp_path):
    recorder = BackgroundCpuRecorder((os.getpid(),), logging.getLogger())
    recorder.start()
    made, *_ = begun(Cost(20.0, 6.0), recorder=recorder)
    assert made.decider.background_cpu == recorder.shares
    made.decider.background_cpu = lambda _from_s, seconds: (0.25,) * seconds
    [watch] = made.watches.values()
    watch.origin_s = lambda: time.time() - made.decider.warmup_s - 3.5
    made.shutdown()
    assert not recorder._thread.is_alive()
    assert record.read(tmp_path).background_cpu == (0.25,) * 3


def test_rates_that_somebody_has_set_stay(begun):
    made, told, _ = begun(AssertionError("not to be measured"), properties={"period": "40"})
    assert (made.record.pace.period_ms, made.record.pace.why, told) == (40, "fixed", {})


def test_a_cost_that_can_t_be_measured_changes_no_rate(begun, caplog):
    made, told, _ = begun(CostError("JMeter ended too early"))
    assert (made.record.pace.period_ms, made.record.pace.why, told) == (18, "unknown", {})
    assert "JMeter ended too early" in caplog.text


def test_the_labels_looked_at_are_those_of_the_plan(begun, tmp_path):
    made, *_ = begun(Cost(1.0, 1.0))
    assert made.decider.warmup_s == 15
    assert made.decider.lag_s == 8
    assert "sum" in made.decider.labels
    assert made.check() is False
    made.decider.record = record.CompareRecord(**{**vars(made.record), "decided_s": 60.0})
    assert made.check() is True
    assert record.read(tmp_path).decided_s == 60.0
