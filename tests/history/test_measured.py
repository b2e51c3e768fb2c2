"""What a run that compares nothing leaves in the history: its values, and what has to be the same
of comparable runs."""

from dataclasses import replace

import pytest

from support.capacities import BOTH, RUNS, searching
from support.executions import execution
from support.listed_runs import BEGIN, COMMIT, ENVIRONMENT
from tollgate.gather.judged import Judged
from tollgate.history.make import record_of
from tollgate.judge.facts import JudgeSettings, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.record import manifest

#: Environment variables that change the JVM of the generator, or Node.
SURROUNDINGS = (
    *("HEAP", "JVM_ARGS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"),
    *("LD_PRELOAD", "NODE_EXTRA_CA_CERTS"),
)
SENT = {"warmup": "5", "measured": "30", "host": "127.0.0.1"}
FORK = execution("p95 of search>250ms", name="fork")


def record(
    folder,
    *executions,
    kind="check",
    environment=ENVIRONMENT,
    properties=(),
    verdict=None,
    latency="response",
    **changes,
):
    """What a run of a folder leaves. verdict: by default judge's. changes: of what was planned of
    each execution."""
    folder.mkdir(parents=True, exist_ok=True)
    measured = MeasuredRun(executions or (FORK,))
    own = {name: value.format(run=folder) for name, value in dict(properties).items()}
    planned = [
        manifest.Execution(
            **{"name": each.name, "plan": f"plan/{kind}.jmx", "jtl": "", "properties": SENT | own},
            **{"targets": [{"name": each.name, "mode": each.name, "instances": 2}]} | changes,
        )
        for each in measured.executions
    ]
    made = manifest.Manifest(kind, BEGIN.isoformat(), [], {}, environment, planned)
    manifest.write(made, folder)
    settings = JudgeSettings(latency=latency)
    return record_of(folder, Judged(made, measured, settings, verdict or judge(measured)))


def setups(folder, *changes):
    """Those of the first execution of runs, each with its changes."""
    records = [record(folder / f"{at}", **each) for at, each in enumerate(changes)]
    return [each.executions[0].setup for each in records]


def versions(**changed):
    return {"environment": ENVIRONMENT | {"versions": ENVIRONMENT["versions"] | changed}}


def of_plans(plans):
    return {"environment": ENVIRONMENT | {"plans": plans}}


SHOWN_BY_A_TREND = {
    "commit": {"environment": ENVIRONMENT | {"commit": "f" * 40}},
    "node": versions(node="22.1.0"),
    "jmeter": versions(jmeter="5.7"),
    "system": {"environment": ENVIRONMENT | {"os": "Linux 7.0 x86_64"}},
    "port of JMeter": {"properties": {"jmeterengine.nongui.port": "4446"}},
    "port": {"properties": {"port": "3001"}},
    "choice": {"environment": ENVIRONMENT | {"variables": {"MODE": "both", "BASE": "main"}}},
    "a file of the run's own": {"properties": {"blocks": "{run}/blocks.csv"}},
}


@pytest.mark.parametrize("changed", SHOWN_BY_A_TREND.values(), ids=SHOWN_BY_A_TREND)
def test_what_a_trend_is_to_show_keeps_runs_on_one_line(changed, tmp_path):
    properties = {"properties": {"blocks": "{run}/blocks.csv"}} if "blocks" in str(changed) else {}
    one, other = setups(tmp_path, properties, changed)
    assert one == other


CHANGES_FIGURES = {
    "kind": {"kind": "soak"},
    "cpu": {"environment": ENVIRONMENT | {"cpu": "Intel Xeon"}},
    "cores": {"environment": ENVIRONMENT | {"cores": 4}},
    "plan": of_plans({"check.jmx": "c" * 64, "sum.jmx": "b" * 64}),
    "fragment": of_plans({"check.jmx": "a" * 64, "sum.jmx": "c" * 64}),
    "length": {"properties": {"measured": "60"}},
    "schedule": {"properties": {"schedule": "rate(2/sec) pause(5 s)"}},
    "times": {"latency": "service"},
    "instances": {"targets": [{"name": "fork", "mode": "fork", "instances": 4}]},
    **{
        name: {"environment": ENVIRONMENT | {"variables": {name: "400"}}}
        for name in ("INJECT_DELAY_MS", *SURROUNDINGS)
    },
}


@pytest.mark.parametrize("changed", CHANGES_FIGURES.values(), ids=CHANGES_FIGURES)
def test_what_would_change_the_figures_by_itself_keeps_runs_apart(changed, tmp_path):
    one, other = setups(tmp_path, {}, changed)
    assert one != other


def test_of_a_run_whose_plan_is_not_known_nothing_is_kept(tmp_path):
    assert record(tmp_path, **of_plans({})).executions == ()


def test_a_property_whose_value_has_the_runs_name_in_it_is_kept(tmp_path):
    def setup(name, measured):
        sent = {"blocks": "{run}/blocks.csv", "measured": measured, "feed": "/data/300.csv"}
        return record(tmp_path / name, properties=sent).executions[0].setup

    assert setup("30", "30") == setup("90", "30") != setup("60", "60")


def test_what_one_execution_met_keeps_the_others_of_its_run_apart_too(tmp_path):
    both = FORK, replace(FORK, name="cluster")
    two, other = (record(tmp_path / name, *both) for name in "ab")
    assert {each.setup for each in two.executions} == {each.setup for each in other.executions}
    alone = record(tmp_path / "c")
    assert alone.executions[0].setup != two.executions[0].setup


def test_a_service_without_a_target_is_known_by_its_address(tmp_path):
    ports = [{"targets": [], "properties": {"port": port}} for port in ("3000", "3001")]
    one, other = setups(tmp_path, *ports)
    assert one != other


def test_a_run_of_several_plans_is_compared_with_runs_of_the_very_same(tmp_path):
    plans = [of_plans(ENVIRONMENT["plans"] | {"other.jmx": digest * 64}) for digest in "cdd"]
    one, two, three = setups(tmp_path, *plans)
    assert one != two == three


def test_two_fragments_of_one_name_are_two(tmp_path):
    names = ("check.jmx", "a/login.jmx", "b/login.jmx")
    plans = [
        of_plans({name: digit * 64 for name, digit in zip(names, digits, strict=True)})
        for digits in ("abc", "abd", "abc")
    ]
    one, two, three = setups(tmp_path, *plans)
    assert one == three != two


def test_a_run_that_kept_the_names_of_its_plans_alone_is_comparable_with_a_later_one(tmp_path):
    plans = [
        of_plans({"check.jmx": "a" * 64, name: "b" * 64})
        for name in ("sum.jmx", "fragments/sum.jmx")
    ]
    one, other = setups(tmp_path, *plans)
    assert one == other


def measures(folder, *executions, **changes):
    return [each.measures for each in record(folder, *executions, **changes).executions]


def test_a_value_is_kept_with_what_its_criterion_fails_by(tmp_path):
    ((measure,),) = measures(tmp_path)
    assert (measure.label, measure.metric, measure.unit) == ("search", "p95", "ms")
    assert (measure.condition, measure.limit) == (">", 250.0)
    assert measure.low < measure.value < measure.high


def test_a_criterion_by_which_the_run_can_not_fail_leaves_no_limit(tmp_path):
    noted = "p95 of search>250ms, continue as non-failed"
    ((_, measure),) = measures(tmp_path, execution("fail of search>50%", noted))
    assert (measure.condition, measure.limit) == (">", None)


def test_two_criteria_on_one_value_are_one_measure_and_a_window_is_another(tmp_path):
    criteria = ("p95 of search>300ms", "p95 of search>250ms", "p95 of search>90ms for 10s")
    ((one, windowed),) = measures(tmp_path, execution(*criteria))
    assert (one.metric, one.limit) == ("p95", 250.0)
    assert windowed.metric == "p95 of search>90ms for 10s"


def test_of_two_criteria_on_one_value_that_counts_by_which_the_run_can_fail(tmp_path):
    noted = "p95 of search>100ms, continue as non-failed"
    ((one,),) = measures(tmp_path, execution("p95 of search>250ms", noted))
    assert one.limit == 250.0


def test_what_was_not_observed_is_not_kept(tmp_path):
    measured = MeasuredRun((execution("p95 of search>250ms", "p50 of search>250ms", name="fork"),))
    verdict = judge(measured)
    (judged,) = verdict.executions
    lost = replace(judged.criteria[0], observed=None, low=None, high=None)
    criteria = (lost, *judged.criteria[1:])
    spoiled = replace(verdict, executions=(replace(judged, criteria=criteria),))
    ((measure,),) = measures(tmp_path, *measured.executions, verdict=spoiled)
    assert measure.metric == "p50"


def test_a_capacity_is_a_value_with_the_limit_of_its_criterion(tmp_path):
    first, second = measures(tmp_path, *BOTH.executions, kind="capacity")
    for (measure,) in (first, second):
        assert measure.low < measure.value < measure.high
        assert (measure.metric, measure.unit) == ("capacity", "/s")
        assert measure.label == "sum until p95>250ms, fail>0.1%"
    assert (first[0].condition, first[0].limit) == ("<", 90)
    assert (second[0].condition, second[0].limit) == ("<", None)


def test_a_search_without_an_answer_leaves_none_and_other_criteria_stay(tmp_path):
    assert measures(tmp_path, *RUNS["a capacity below"].executions, kind="capacity") == []
    both = searching("fail of sum>50%", "capacity of fork<90/s")
    ((fail, capacity),) = measures(tmp_path, both, kind="capacity")
    assert (fail.metric, capacity.metric) == ("fail", "capacity")


def test_the_commit_is_that_of_the_suite(tmp_path):
    made = record(tmp_path)
    assert made.commit_of(made.executions[0]) == COMMIT
