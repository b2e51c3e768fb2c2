"""What verdict.json, the table and the summary say of the workers."""

import json
from dataclasses import replace

import numpy as np
import pytest

from support.executions import counts, execution
from support.golden import check_file
from support.watched_workers import MIB, leaking, reborn, watched, worker
from tollgate.judge.facts import MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.report.console import verdict_table
from tollgate.report.json_model import to_json
from tollgate.report.json_verdict import to_dict
from tollgate.report.junit import to_junit
from tollgate.report.markdown import to_markdown
from tollgate.workers.model import Reload, WorkerOutage

LEAK = "rss-slope of worker>20MB/min"


def run_of(*criteria, resources, **changes):
    made = execution(*criteria, service=counts(3000, 120), resources=resources, **changes)
    return MeasuredRun((made,))


def content(run):
    return json.loads(to_json(to_dict(judge(run), run, "soak", {})))["executions"][0]


SOAK = run_of(
    LEAK,
    "restarts>0",
    "p95 of search>250ms",
    resources=watched(leaking(60), leaking(0, name="1", seed=2), watching_cpu=0.012),
)


def test_verdict_json_holds_what_was_seen_of_each_worker():
    told = content(SOAK)
    first, second = told["workers"]
    assert (first["worker"], second["worker"]) == ("0", "1")
    assert first["pids"] == [100]
    assert first["requests"] == 119 * 20
    assert first["rss_slope"]["unit"] == "bytes/s"
    assert first["rss_slope"]["value"] == pytest.approx(MIB, rel=0.05)
    assert first["rss_slope"]["low"] < first["rss_slope"]["value"] < first["rss_slope"]["high"]
    assert 0 < first["time_left_s"] < 400
    of_cpu = ("cpu_percent", "loop_delay_p50_ms", "loop_delay_p95_ms")
    assert [first[name] for name in of_cpu] == [10, 2, 9]
    assert (told["memory_limit_bytes"], told["watching"]) == (512 * MIB, 0.012)
    assert told["criteria"][0]["worker"] == "0"
    assert told["criteria"][2]["worker"] is None


def test_requests_of_processes_that_followed_one_another_add_up():
    requests = np.concatenate([np.arange(50, 110), np.arange(3, 63)])
    series = reborn([[80] * 60, [80] * 60], requests=requests)
    (told,) = content(run_of(LEAK, resources=watched(series)))["workers"]
    assert told["requests"] == 59 + 62
    assert (told["pids"], told["restarts"]) == ([100, 101], 1)


def test_what_nobody_could_tell_is_null():
    silent = worker([80] * 5, requests=np.nan, cpu=np.nan, loop_delay_p50=np.nan)
    (told,) = content(run_of("p95>1s", resources=watched(silent, limit_mb=None)))["workers"]
    unknown = ("requests", "cpu_percent", "loop_delay_p50_ms", "rss_slope", "time_left_s")
    assert all(told[name] is None for name in unknown)


def test_a_run_without_workers_has_an_empty_list():
    told = content(run_of("p95>1s", resources=watched()))
    assert (told["workers"], told["outages"], told["reloads"]) == ([], [], [])
    assert told["watching"] is None


def test_outages_and_reloads_are_in_verdict_json_with_what_they_cost():
    outages, reloads = (WorkerOutage("0", 100, 60.0, None, lost=3),), (Reload(30.0, 31.5, 0),)
    seen = replace(watched(reborn([[80] * 60, [80] * 60])), outages=outages, reloads=reloads)
    told = content(run_of("p95>1s", resources=seen))
    outage = {"worker": "0", "pid": 100, "from_s": 60, "to_s": None, "planned": False, "lost": 3}
    assert told["outages"] == [outage]
    assert told["reloads"] == [{"from_s": 30, "to_s": 31.5, "lost": 0, "problem": ""}]


def test_a_soak_reads_like_the_golden_files():
    verdict = judge(SOAK)
    check_file("render/soak.txt", verdict_table(verdict) + "\n")
    check_file("render/soak.md", to_markdown(verdict, "soak"))
    check_file("render/soak.xml", to_junit(verdict, "soak"))


def test_workers_are_shown_where_a_criterion_or_a_change_of_processes_is_about_them():
    def shown(run):
        return "worker 0: RSS" in verdict_table(judge(run))

    assert shown(run_of("restarts>0", resources=watched(leaking(0))))
    assert not shown(run_of("p95>1s", resources=watched(leaking(0))))
    assert shown(run_of("p95>1s", resources=watched(reborn([[80] * 60, [80] * 60]))))
    assert not shown(run_of("restarts>0", resources=watched()))


def test_the_name_of_a_junit_case_does_not_depend_on_which_worker_was_worst():
    calm, leaky = leaking(0, name="0"), leaking(60, name="1", seed=2)
    for workers in ((leaky, calm), (calm, leaky)):
        xml = to_junit(judge(run_of(LEAK, resources=watched(*workers))), "soak")
        assert 'name="rss-slope of worker&gt;20MB/min"' in xml
        assert "rss-slope of worker 1 = " in xml
