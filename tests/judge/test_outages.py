import math
from dataclasses import replace

import pytest

from support.executions import counts, verdict_on
from support.watched_workers import reborn
from tollgate.judge.workers import events_left
from tollgate.workers.model import Reload, Resources, WorkerCount, WorkerEvent, WorkerOutage

CRITERION = "p95 of search>250ms"
DIED = WorkerOutage("1", 4711, 19.2, 20.44)


def verdict_of(**resources):
    return verdict_on(CRITERION, response=counts(), resources=Resources(**resources))


def texts(verdict):
    return [f"{it.verdict} ({it.fault}) {it.text}" for it in verdict.reasons]


def text_of(**outage):
    """The one reason of a run in which a worker was missing."""
    [text] = texts(verdict_of(outages=(replace(DIED, **outage),)))
    return text


LOST = {None: "", 0: "; 0 requests were lost", 1: "; one request was lost"}
LOST[3] = "; 3 requests were lost"


@pytest.mark.parametrize(("lost", "told"), LOST.items())
def test_a_worker_that_died_is_told_with_when_how_long_and_what_it_cost(lost, told):
    assert text_of(lost=lost) == (
        "INVALID (service) search-fork: worker 1 (pid 4711) died and was started again 19.2 s into "
        f"the execution; PM2 had it back after 1.24 s{told}"
    )


def test_a_worker_that_did_not_come_back_or_whose_successor_was_there_before_is_told():
    assert text_of(to_s=None, lost=40).endswith(
        "worker 1 (pid 4711) died 19.2 s into the execution and did not come back; "
        "40 requests were lost"
    )
    reloaded = text_of(to_s=18.7, lost=0)
    assert "19.2 s into the execution; its successor was online before; 0 requests" in reloaded


def test_an_outage_that_was_planned_is_nothing_bad():
    planned = replace(DIED, planned=True, lost=0)
    verdict = verdict_of(outages=(planned,), reloads=(Reload(19.0, 21.0, 0),))
    assert (verdict.verdict, texts(verdict)) == ("PASS", [])


def test_a_reload_that_lost_requests_fails_the_run():
    reloads = (Reload(20.0, 22.0, 3), Reload(40.0, 42.0, 0), Reload(60.0, 61.0, 1))
    verdict = verdict_of(reloads=reloads)
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 3)
    assert texts(verdict) == [
        "FAIL (service) search-fork: the reload 20.0 s into the execution lost 3 requests",
        "FAIL (service) search-fork: the reload 60.0 s into the execution lost one request",
    ]


def test_a_reload_that_does_not_come_off_fails_the_run():
    failed = Reload(20.0, 140.0, 0, "`pm2 reload` did not end within 120 s: see pm2.log")
    assert texts(verdict_of(reloads=(failed,))) == [
        "FAIL (service) search-fork: the reload 20.0 s into the execution failed: `pm2 reload` did "
        "not end within 120 s: see pm2.log"
    ]


def test_reloads_that_lost_nothing_are_told_without_a_say():
    def warnings(*reloads):
        return verdict_of(reloads=reloads).executions[0].warnings

    one, many = Reload(20.04, 22.0, 0), (Reload(20.0 * it, 20.0 * it + 2, 0) for it in range(1, 8))
    said = "of the target lost no request:"
    assert warnings(one) == (f"one reload {said} 20.0 s into the execution",)
    assert warnings(*many) == (
        f"7 reloads {said} 20.0, 40.0, 60.0, 80.0, 100.0 s and 2 more into the execution",
    )
    assert warnings(Reload(20.0, 22.0, None)) == ()  # nobody counted its losses


def test_an_event_gives_way_to_the_outage_of_the_same_process_and_to_no_other():
    death = WorkerEvent("1", 4711, "worker 1 (pid 4711) died")
    others = (
        WorkerEvent("1", 47112, "worker 1 (pid 47112) died"),
        WorkerEvent("11", 4711, "worker 11 (pid 4711) was gone"),
    )
    assert events_left((death, *others), [DIED]) == others
    assert events_left((death, *others), []) == (death, *others)


def test_a_reload_that_never_ended_fails_the_run_and_is_not_called_clean():
    verdict = verdict_of(reloads=(Reload(20.0, math.inf, 0),))
    assert texts(verdict) == [
        "FAIL (service) search-fork: the reload 20.0 s into the execution did not end: see pm2.log"
    ]
    assert verdict.executions[0].warnings == ()


def judged_with(criterion, outage=DIED, there=2):
    series = reborn([[80] * 20, [80] * 20], name="1")
    return verdict_on(
        criterion,
        service=counts(400, 40),
        measured_s=40.0,
        resources=Resources(workers=(series,), outages=(outage,)),
        facts={"workers": (WorkerCount(2, 1, there),)},
    )


def test_where_a_criterion_is_about_restarts_it_judges_a_death_and_the_death_is_told():
    verdict = judged_with("restarts of worker>0")
    assert verdict.verdict == "FAIL"
    assert any("4711" in line and "died" in line for line in verdict.executions[0].warnings)
    assert judged_with("restarts of worker>1").verdict == "PASS"


def test_a_death_is_invalid_without_such_a_criterion_or_if_the_worker_did_not_come_back():
    assert judged_with("fail>0%").verdict == "INVALID"
    gone = replace(DIED, to_s=None)
    assert judged_with("restarts of worker>1", gone).verdict == "INVALID"


@pytest.mark.parametrize("there", [1, 3])
def test_a_judged_restart_does_not_excuse_workers_that_never_were_there_or_too_many(there):
    verdict = judged_with("restarts of worker>5", there=there)
    assert verdict.verdict == "INVALID"
    assert texts(verdict)[0].endswith(f"{there} workers served where 2 were asked for")


def test_a_criterion_that_is_only_reported_does_not_excuse_a_death():
    assert judged_with("restarts of worker>9, continue as non-failed").verdict == "INVALID"
