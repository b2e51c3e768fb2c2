"""The bad runs that Taurus's own gate lets pass with exit code 0. Each is a run of the real bzt."""

import pytest

from e2e.bzt_run import Run, only
from e2e.many_labels import plan_of_many_labels

SHORT = {"warmup": 1, "measured": 6}
#: Whether the generator kept up is not what is asked here.
NO_BUDGET = {"verdict": {"missing-share": 0.5}}
#: So many searches that no machine is too noisy to tell: every one of them takes 50 ms.
MANY_SEARCHES = {"search_rate": 60, "search_threads": 100, "think": 0, "think_spread": 0}


def finished(tmp_path, criteria, **properties):
    config = only("fork", criteria, **SHORT | properties)
    config["modules"] |= NO_BUDGET
    return Run(tmp_path, config=config).end()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """One run of three executions, the last of which a criterion stops."""
    folder = tmp_path_factory.mktemp("false-passes")
    config = only("searches", [], **SHORT)
    config["~execution"] = [{"scenario": name} for name in ("searches", "many", "flush")]
    check = {"script": "plans/check.jmx", "target": "fork"}
    kept, continues = "p50.7 of search>1ms", "avg-rt of sum>0.001ms for 2s, continue as failed"
    plan = plan_of_many_labels(folder, good=150, bad="item wrong")
    config["scenarios"] = {
        "searches": {**check, "criteria": [kept, continues], "properties": MANY_SEARCHES},
        "many": {
            **{"script": str(plan), "target": "fork"},
            "criteria": ["fail of item wrong>0%", "fail of item 7>0%"],
            "properties": {"warmup": 0, "measured": 0},
        },
        # The run is over before Taurus has read its first second.
        "flush": {**check, "criteria": ["avg-rt of sum>0.001ms for 1s, stop as failed"]},
    }
    config["modules"] |= NO_BUDGET
    ended = Run(folder, config=config).end()
    assert ended.code == 3, ended.output
    return ended


def verdict_on(ran, name):
    (found,) = [each for each in ran.verdict["executions"] if each["name"] == name]
    assert found["verdict"] == "FAIL"
    return found


def test_a_criterion_that_trips_only_in_the_last_flush_fails_the_run(ran):
    texts = [each["text"] for each in verdict_on(ran, "flush")["reasons"]]
    assert any("avg-rt of sum" in text for text in texts)


def test_a_percentile_that_taurus_does_not_keep_and_what_stops_no_run_are_judged(ran):
    percentile, mean = verdict_on(ran, "searches")["criteria"]
    assert (percentile["verdict"], mean["verdict"]) == ("FAIL", "FAIL")
    assert percentile["observed"] > 50


def test_a_label_among_more_than_a_hundred_and_twenty_five_is_judged_by_itself(ran):
    verdicts = {it["label"]: it["verdict"] for it in verdict_on(ran, "many")["criteria"]}
    assert verdicts == {"item wrong": "FAIL", "item 7": "PASS"}


def test_a_misspelt_label_is_refused_before_any_load_with_the_nearest_name(tmp_path):
    ended = finished(tmp_path, ["p95 of serach>1000ms"])
    assert ended.code == 1
    assert "'serach'" in ended.error()
    assert "'search'" in ended.error()
    assert not list(ended.folder.glob("kpi*.jtl"))


def test_a_lower_bound_on_a_time_is_refused_before_any_load_with_what_it_meant(tmp_path):
    ended = finished(tmp_path, ["p95 of search<250ms"])
    assert ended.code == 1
    assert "'p95 of search>250ms'" in ended.error()
    assert not list(ended.folder.glob("kpi*.jtl"))


def test_a_stop_as_non_failed_hides_no_later_stop_as_failed(tmp_path):
    ended = finished(
        tmp_path,
        [
            "hits of sum>0 for 1s, stop as non-failed",
            "avg-rt of sum>0.001ms for 1s, stop as failed",
        ],
    )
    assert ended.code != 0
    assert ended.verdict["verdict"] in ("FAIL", "INVALID")


def test_a_run_in_which_every_request_fails_fails_though_no_criterion_says_so(tmp_path):
    config = only("fork", ["p95 of calculate>1000ms"], response_timeout=50, **SHORT)
    ended = Run(tmp_path, config=config, INJECT_DELAY_MS="2000").end()
    assert ended.code != 0
    assert "every request of calculate failed" in ended.reasons()
