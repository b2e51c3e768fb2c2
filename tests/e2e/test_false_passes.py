"""The bad runs that Taurus's own gate lets pass with exit code 0. Each is a run of the real bzt."""

import pytest

from e2e.bzt_run import LENIENT, Run, only
from e2e.many_labels import plan_of_labels

TRIPS = "avg-rt of sum>0.001ms"
#: A search takes 50 ms.
SEARCHES = [("search", "/search?origin=PAR&destination=LYS&date=2026-03-14"), ("sum", "/sum/9")]
SEARCHES *= 1000
MANY = [*((f"item {number}", f"/sum/{number}") for number in range(150)), ("item wrong", "/sum/x")]
#: Of each execution: what its threads ask one after another, so that no busy machine falls behind;
#: how many they are; and the criteria. The last is over before Taurus has read its first second.
EXECUTIONS = {
    "searches": (SEARCHES, 10, ["p50.7 of search>1ms", f"{TRIPS} for 2s, continue as failed"]),
    "many": (MANY, 1, ["fail of item wrong>0%", "fail of item 7>0%"]),
    "flush": ([("sum", "/sum/1000000")] * 1500, 1, [f"{TRIPS} for 1s, stop as failed"]),
}


def finished(tmp_path, *criteria):
    config = only("fork", criteria, {"verdict": LENIENT}, warmup=1, measured=6)
    return Run(tmp_path, config=config).end()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """One run of the executions, the last of which a criterion stops."""
    folder = tmp_path_factory.mktemp("false-passes")
    config = only("fork", [], warmup=0, measured=0) | {"scenarios": {}}
    config["~execution"] = [{"scenario": name} for name in EXECUTIONS]
    for name, (asked, threads, criteria) in EXECUTIONS.items():
        plan = plan_of_labels(folder / f"{name}.jmx", asked, threads)
        config["scenarios"][name] = {"script": plan, "target": "fork", "criteria": criteria}
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


def test_a_lower_bound_on_a_time_is_refused_before_any_load_with_what_it_meant(tmp_path):
    ended = finished(tmp_path, "p95 of search<250ms")
    assert ended.code == 1
    assert "'p95 of search>250ms'" in ended.error()
    assert not list(ended.folder.glob("kpi*.jtl"))


@pytest.mark.long
def test_a_stop_as_non_failed_hides_no_later_stop_as_failed(tmp_path):
    trips = f"{TRIPS} for 1s, stop as failed"
    ended = finished(tmp_path, "hits of sum>0 for 1s, stop as non-failed", trips)
    assert ended.code != 0
    assert ended.verdict["verdict"] in ("FAIL", "INVALID")


@pytest.mark.long
def test_a_run_in_which_every_request_fails_fails_though_no_criterion_says_so(tmp_path):
    config = only("fork", ["p95 of calculate>1000ms"], response_timeout=50, warmup=1, measured=6)
    ended = Run(tmp_path, config=config, INJECT_DELAY_MS="2000").end()
    assert ended.code != 0
    assert "every request of calculate failed" in ended.reasons()
