"""How fast a comparison asks, and when it may end."""

import json
import logging
import os
import time
from types import SimpleNamespace

import pytest
from bzt import ToolError
from bzt.utils import BetterDict

from tollgate.base.paths import SUITE
from tollgate.compare import record
from tollgate.compare.answers import Answer, Rehearsal
from tollgate.compare.pace import Cost, Pace
from tollgate.compare.record import CpuRecord
from tollgate.record import manifest
from tollgate.taurus import compare as service
from tollgate.taurus.rehearsal import RehearsalError
from tollgate.taurus.shared import under_way
from tollgate.workers.background_cpu import BackgroundCpuRecorder
from tollgate.workers.worker_cpu import WorkerCpuRecorder


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


def answers_of(**ok):
    """Thirty a side of each label; ok: of base and of head."""
    return tuple(
        Answer(label, coin, 0, 10, sides[coin % 2], f"http://127.0.0.1/{label}", "404 Not Found")
        for label, sides in ok.items()
        for coin in range(60)
    )


ANSWERS = answers_of(sum=(True, True), search=(True, True))


@pytest.fixture
def begun(compare, tmp_path, monkeypatch):
    """Has a comparison begin on two cores, with the cost of a request or why it is unknown."""

    def begin(cost=None, recorder=None, answers=ANSWERS, worker_cpu=None, **options):
        def rehearse(*given):
            if isinstance(cost, Exception):
                raise cost
            given[-1](answers)
            return Rehearsal(answers, cost)

        monkeypatch.setattr(service, "rehearse", rehearse)
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
        under_way(made.engine).worker_cpu = worker_cpu
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


#: As PM2 lists them, in an order of its own.
NAMES = [f"{side}{it}" for side in ("head", "base") for it in ("-3", "", "-4", "-2")]
IN_TURN = [f"{side}{it}" for it in ("", "-2", "-3", "-4") for side in ("base", "head")]


def test_the_cpu_time_of_each_process_is_noted_by_the_number_that_the_coin_has_for_it(
    begun, tmp_path, monkeypatch
):
    pids = {name: 1000 + it for it, name in enumerate(NAMES)}
    listed = [{"name": name, "pid": pid} for name, pid in pids.items()]
    monkeypatch.setattr(service.pm2, "workers", lambda: listed)
    recorder = WorkerCpuRecorder(tmp_path / "workers-cpu.jsonl", os.getpid(), logging.getLogger())
    spent = {str(pid): 0.001 * (1 + IN_TURN.index(name)) for name, pid in pids.items()}
    lines = [{"time": 50.0 + it, "cpu": {p: it * s for p, s in spent.items()}} for it in range(9)]
    recorder.path.write_text("".join(json.dumps(it) + "\n" for it in lines))
    made, *_ = begun(Cost(20.0, 6.0), worker_cpu=recorder)
    assert made.record.cpu == CpuRecord(workers=1)
    made.decider.note_cpu(53.0 - made.decider.warmup_s, 3)
    assert made.decider.record.cpu.used_ms == tuple((1.0 + it,) * 3 for it in range(8))
    # And is read at the edges of the seconds that are compared.
    made.decider.origin_s = 1234.25
    made.check()
    assert recorder.phase_s == 0.25


def test_rates_that_somebody_has_set_stay(begun):
    made, told, _ = begun(None, properties={"period": "40"})
    assert (made.record.pace.period_ms, made.record.pace.why, told) == (40, "fixed", {})


def test_a_cost_that_can_t_be_measured_changes_no_rate(begun, caplog):
    made, told, _ = begun(RehearsalError("JMeter ended too early"))
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


def test_what_will_probably_be_found_is_recorded_before_it_is_measured(begun, tmp_path):
    made, *_ = begun(Cost(20.0, 6.0))
    assert {(it.label, it.metric) for it in made.record.power} == {
        (label, metric) for label in ("sum", "search") for metric in made.record.settings.gates
    }
    # Of one of each label every 28 ms, half go to either side.
    assert {it.requests for it in made.record.power} == {600_000 // 28 // 2}
    assert record.read(tmp_path).power == made.record.power


def test_a_label_that_head_alone_answers_is_left_out_by_name(begun, tmp_path, caplog):
    made, *_ = begun(Cost(1.0, 1.0), answers=answers_of(sum=(True, True), search=(False, True)))
    assert made.decider.labels == ("sum",)
    assert record.read(tmp_path).left_out == ("search",)
    assert {it.label for it in made.record.power} == {"sum"}
    assert "search" in caplog.text


def test_a_label_that_head_alone_does_not_answer_is_compared_all_the_same(begun, caplog):
    made, *_ = begun(Cost(1.0, 1.0), answers=answers_of(sum=(True, True), search=(True, False)))
    assert made.decider.labels == ("sum", "search")
    assert "head does not answer 'search' rightly: http://127.0.0.1/search gave 404" in caplog.text


@pytest.mark.parametrize(
    ("ok", "said"),
    [
        ({"sum": (False, False)}, "base does not answer 'sum' rightly, and neither does head"),
        ({"sum": (False, True), "search": (False, True)}, "nothing is left"),
    ],
)
def test_what_base_does_not_answer_ends_the_run_before_it_is_measured(begun, ok, said):
    with pytest.raises(ToolError, match=f"^compare: .*{said}"):
        begun(Cost(1.0, 1.0), answers=answers_of(**ok))
