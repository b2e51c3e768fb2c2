"""Several engines' measurements as one."""

import numpy as np
import pytest

from tollgate.forecast.model import ForecastFacts, LoadStep, StepFacts
from tollgate.judge.engines import together
from tollgate.judge.facts import (
    EngineFacts,
    ExecutionFacts,
    LabelData,
    MeasuredExecution,
    MeasuredRun,
)
from tollgate.judge.judgement import judge
from tollgate.schedule.model import ScheduleFacts
from tollgate.stats.counts import Counts


def counts(seed, of=200):
    random = np.random.default_rng(seed)
    return Counts.of(
        random.integers(0, 20, of), random.integers(1, 500, of), random.random(of) < 0.9
    )


def part(seed, name="visit", **fields):
    label = LabelData(name, counts(seed), counts(seed + 100), lateness=counts(seed + 200))
    return MeasuredExecution("shop", {(name, False): label}, measured_s=20.0, **fields)


def rows(counts):
    """Every sample by itself."""
    columns = (counts.second, counts.elapsed_ms, counts.ok)
    return sorted(zip(*(np.repeat(it, counts.n).tolist() for it in columns), strict=True))


def test_the_samples_of_a_label_are_those_of_all_engines():
    parts = [part(seed) for seed in range(5)]
    (label,) = together(parts).labels.values()
    for kind in ("service", "response", "lateness"):
        every = [it for each in parts for it in rows(getattr(each.labels["visit", False], kind))]
        assert rows(getattr(label, kind)) == sorted(every)


def test_a_label_that_some_engines_did_not_send_is_there_all_the_same():
    whole = together([part(1), part(2, "rare"), part(3)])
    assert [it.service.total for it in whole.labels.values()] == [400, 200]


def test_what_one_engine_does_not_know_is_not_known_of_the_whole():
    lacking = MeasuredExecution("shop", {("visit", False): LabelData("visit", counts(9))})
    (label,) = together([part(1), lacking]).labels.values()
    assert (label.response, label.service.total) == (None, 400)


def forecast(tps, sent, reached=True):
    step = LoadStep("07:00", 0.0, 10.0, tps, {"sum": 1.0})
    return ForecastFacts("f.csv", 1.0, 1.0, (StepFacts(step, sent, reached),), 1.0, ((tps, tps),))


def test_a_forecast_is_held_against_what_all_engines_sent():
    parts = [
        part(1, forecast=forecast(3.0, {"sum": 30})),
        part(2, forecast=forecast(2.0, {"sum": 18, "pi": 2}, reached=False)),
    ]
    found = together(parts).forecast
    (step,) = found.steps
    assert (step.forecast, step.sent_by_label, step.reached) == (50.0, {"sum": 48, "pi": 2}, False)
    assert found.timeline == ((5.0, 5.0),)


def test_notes_are_told_once():
    facts = ExecutionFacts(notes=("the load is twice the plan's",), url="http://a:80")
    whole = together([part(1, facts=facts), part(2, facts=facts)]).facts
    assert (whole.notes, whole.url) == (facts.notes, facts.url)


def engine(number, from_s=100.0, **facts):
    execution = part(number, facts=ExecutionFacts(**facts.pop("facts", {})), **facts)
    return EngineFacts(f"{number}/2", execution, from_s, from_s + 20, 200, 20, 1.0, 2.0, 3.0)


LATE = ScheduleFacts(("visit",), 200, 200, measured=200, generator_far_late=50)
FAULTS = {
    "late": ({"schedules": (LATE,)}, "the generator sent 50 of 200 requests of visit"),
    "dead": ({"facts": {"generator_exit": 3}}, "ran out of memory"),
    "unreadable": ({"facts": {"jtl_error": "line 7"}}, "line 7"),
    "cut off": ({"facts": {"cut_off_line": 9}}, "line 9"),
    "set back": ({"facts": {"machine_problems": ("the clock was set back",)}}, "the clock"),
    "begun later": ({"from_s": 103.0}, "began to measure 3 s after engine 1/2"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_one_engine_breaks_the_run_by_its_name(fault):
    given, expected = FAULTS[fault]
    sound = engine(1)
    whole = together([part(1), part(2)], [sound, engine(2, **given)])
    reasons = judge(MeasuredRun((whole,))).executions[0].reasons
    told = [it.text for it in reasons if it.verdict == "INVALID"]
    assert any(text.startswith("engine 2/2") and expected in text for text in told)
    assert not any(text.startswith("engine 1/2") for text in told)


def test_a_sealed_share_has_no_verdict_and_tells_what_is_wrong_with_it():
    broken = part(1, schedules=(LATE,))
    verdict = judge(MeasuredRun((broken,), share="2/3"))
    assert (verdict.verdict, verdict.exit_code, verdict.share) == ("INCONCLUSIVE", 0, "2/3")
    (execution,) = verdict.executions
    assert execution.reasons == ()
    assert any("the generator sent 50" in it for it in execution.warnings)
    assert judge(MeasuredRun((broken,), share="2/3", is_sealed=False)).exit_code == 4
