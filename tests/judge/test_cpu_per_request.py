"""`cpu-per-request of worker>5ms`: what all workers used for each answer."""

import numpy as np
import pytest

from support.executions import counts, result_of, verdict_on
from support.watched_workers import watched, worker
from tollgate.criteria.grammar import CriterionError, parse
from tollgate.stats.counts import Counts
from tollgate.workers.model import WorkerCpu

SECONDS = 120


def cpu(ms=200.0, pids=(100,), seconds=SECONDS, noise=0.0, seed=1, readings=None):
    """What was read of these workers, each of which uses so many ms a second."""
    rng = np.random.default_rng(seed)
    at_s = np.arange(-2.0, seconds + 2) if readings is None else np.array(readings, float)
    used = {
        pid: np.cumsum(ms / 1000 * np.exp(noise * rng.standard_normal(len(at_s)))) for pid in pids
    }
    return WorkerCpu(at_s, used)


def on(criterion="cpu-per-request of worker>5ms", found=None, n=6000, **changes):
    """The result of 50 answers a second of a worker with the pid 100."""
    resources = watched(worker([80] * SECONDS), cpu=cpu() if found is None else found)
    given = {"service": counts(n, SECONDS), "resources": resources, **changes}
    return result_of(criterion, **given)


def test_it_is_cpu_time_over_answers_with_an_interval():
    result = on(found=cpu(noise=0.1))
    assert (result.verdict, result.unit, result.worker) == ("PASS", "ms", None)
    assert result.observed == pytest.approx(4.0, rel=0.02)
    assert result.low < result.observed < result.high < 5.0
    assert result.samples == 6000
    assert on("cpu-per-request>3ms", found=cpu(noise=0.1)).verdict == "FAIL"
    near = on("cpu-per-request>4ms", found=cpu(noise=0.1))
    assert (near.verdict, near.samples_needed > 6000) == ("INCONCLUSIVE", True)


def test_all_workers_of_the_target_count_together_and_no_other_process_does():
    both = [worker([80] * SECONDS), worker([80] * SECONDS, name="1", pid=101)]
    both = watched(*both, cpu=cpu(pids=(100, 101, 9)))
    assert on(resources=both).observed == pytest.approx(8.0, rel=0.01)


def test_a_process_that_was_started_again_counts_with_the_one_before():
    pids = np.repeat([100, 101], SECONDS // 2)
    found = cpu(pids=(100, 101))
    at_s = found.at_s
    found.used_s[100][at_s > 60] = np.nan
    found.used_s[101] -= found.used_s[101][at_s == 59]  # it begins with nothing
    found.used_s[101][at_s < 60] = np.nan
    resources = watched(worker([80] * SECONDS, pid=pids), cpu=found)
    assert on(resources=resources).observed == pytest.approx(4.0, rel=0.02)


def test_processes_that_were_gone_before_they_were_read_let_nothing_pass():
    pids = np.where(np.arange(SECONDS) % 4, 100, 1000 + np.arange(SECONDS))
    lost = on(resources=watched(worker([80] * SECONDS, pid=pids), cpu=cpu()))
    assert (lost.verdict, "90 of 120 looks" in lost.reason) == ("INCONCLUSIVE", True)
    limit = "cpu-per-request>1ms"
    assert (
        on(limit, resources=watched(worker([80] * SECONDS, pid=pids), cpu=cpu())).verdict == "FAIL"
    )


def test_cheap_failures_make_no_request_cheap():
    failing = counts(6000, SECONDS, failed=3600)
    assert on(service=failing).verdict == "FAIL"
    assert "add 'fail>1%'" in on(service=failing).reason
    assert on(service=counts(6000, SECONDS, failed=60)).verdict == "PASS"


def test_neither_the_warm_up_nor_what_came_after_the_measured_time_counts():
    found = cpu()
    found.used_s[100][found.at_s >= 30] += 500.0
    changes = {"warmup_s": 40.0, "measured_s": 60.0}
    assert on(found=found, **changes).observed == pytest.approx(4.0, rel=0.01)


def test_a_mean_of_bins_is_one_of_seconds():
    """A run of many hours is counted in wider bins."""
    second = np.repeat(np.arange(0, SECONDS, 10), 500)
    service = Counts.of(second, np.full(len(second), 100), width=10)
    result = on(service=service, measured_s=float(SECONDS))
    assert result.observed == pytest.approx(4.0, rel=0.01)


INVALID = {
    "nobody watched": on(resources=watched(cpu=cpu())),
    "nothing recorded": on(resources=watched(worker([80] * SECONDS))),
    "nothing known": on(found=WorkerCpu()),
    "no samples": on(service=counts(0), measured_s=60.0),
}


@pytest.mark.parametrize("name", INVALID)
def test_what_was_not_recorded_or_not_asked_is_no_measurement(name):
    assert (INVALID[name].verdict, INVALID[name].observed) == ("INVALID", None)


def test_a_record_of_an_earlier_version_says_what_to_do():
    assert INVALID["nothing recorded"].reason.endswith("run it again")
    reason = verdict_on("cpu-per-request>5ms", resources=watched(worker([80] * 60))).reasons[0]
    assert (reason.verdict, reason.fault) == ("INVALID", "operator")


def test_of_a_part_of_the_seconds_nothing_passes_and_what_fails_does():
    readings = [*np.arange(-2.0, 60.0), *np.arange(90.0, 122.0)]
    found = cpu(readings=readings)
    found.used_s[100] = 0.2 * found.at_s
    half = on(found=found)
    assert (half.verdict, half.observed) == ("INCONCLUSIVE", pytest.approx(4.0, rel=0.05))
    assert "are needed" in half.reason
    assert on("cpu-per-request>1ms", found=found).verdict == "FAIL"


def test_a_few_seconds_say_nothing():
    short = on(service=counts(200, 4), measured_s=4.0)
    assert (short.verdict, "are needed" in short.reason) == ("INCONCLUSIVE", True)


@pytest.mark.statistics
def test_its_interval_holds_the_truth_as_often_as_it_says(repetitions):
    """Also where CPU time is read late at the edges of seconds, and requests come at random."""
    rng, repeated = np.random.default_rng(3), repetitions(400)
    missed = 0
    for _ in repeated:
        n = rng.poisson(50, SECONDS)
        used = 4.0 * n * np.exp(0.1 * rng.standard_normal(SECONDS))
        late = 0.2 * rng.random(SECONDS) * used
        used += np.concatenate([[0.0], late[:-1]]) - late
        found = WorkerCpu(np.arange(SECONDS + 1.0), {100: np.append(0.0, np.cumsum(used)) / 1000})
        second = np.repeat(np.arange(SECONDS), n)
        result = on(service=Counts.of(second, np.full(len(second), 9)), found=found)
        missed += not result.low <= 4.0 * np.exp(0.005) <= result.high
    assert missed <= repeated.most(0.08)


@pytest.mark.parametrize("text", ["cpu-per-request of sum>5ms", "cpu-per-request>5%"])
def test_it_is_about_workers_and_in_units_of_time(text):
    with pytest.raises(CriterionError):
        parse(text)


def test_it_is_read_like_the_other_criteria_on_workers():
    read = parse("cpu-per-request>0.005s")
    assert (read.subject, read.label, read.threshold, read.unit) == (
        *("cpu-per-request", "worker", 5.0, "ms"),
    )
    assert (read.is_of_workers, read.is_estimate, read.is_of_time) == (True, True, False)
    with pytest.raises(CriterionError, match="judged over the whole run"):
        parse("cpu-per-request>5ms for 10s")
