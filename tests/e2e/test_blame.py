"""Whose fault it is: a stalled service, a starved generator, a killed JMeter. Real processes."""

import contextlib
import os
import signal
import time

import psutil
import pytest

from e2e.bzt_run import Run, newest_look, only
from tollgate.gather import evidence
from tollgate.record import manifest

#: The 99th percentile sees one stall of a second if it is more than one request in a hundred, and
#: a hundred requests take so long at 12 a second.
MEASURED = 10


@pytest.mark.long
@pytest.mark.alone
def test_a_stalled_service_shows_in_response_time_alone_and_is_blamed_on_the_service(tmp_path):
    # One thread: while it waits for the stalled answer, nobody sends the requests that are due.
    slow = ["p50 of calculate>500ms"]
    config = only("fork", slow, warmup=2, measured=MEASURED, calculate_threads=1)
    run = Run(tmp_path, config=config)
    run.until("requests")
    jtl = run.folder / "kpi.jtl"
    while not (jtl.exists() and jtl.read_text().count("\n") > 100):
        time.sleep(0.05)
    [worker] = newest_look(run.folder, "fork")
    os.kill(worker["pid"], signal.SIGSTOP)
    time.sleep(1)  # the stall itself
    os.kill(worker["pid"], signal.SIGCONT)
    ended = run.end()

    gathered, _ = evidence.gather(ended.folder, manifest.read(ended.folder))
    [execution] = gathered.executions
    window = (execution.warmup_s, execution.warmup_s + execution.measured_s)
    label = execution.labels["calculate", False]
    # An arrival u seconds before the end of a stall of D waits u: of T seconds' arrivals one in a
    # hundred waits longer than D - T / 100.
    analytic_ms = 1000 * (1 - MEASURED / 100)
    assert abs(label.response.window(*window).percentile(99) - analytic_ms) < 250
    assert label.service.window(*window).percentile(97) < analytic_ms / 2
    [schedule] = [it for it in execution.schedules if "calculate" in it.labels]
    assert schedule.late_service >= 5
    assert schedule.late_service > schedule.late_generator


@pytest.mark.long
def test_a_starved_generator_makes_the_run_invalid_and_is_blamed(tmp_path):
    config = only("fork", ["p50 of calculate>1000ms"], warmup=1, measured=8)
    run = Run(tmp_path, config=config).until("requests")
    # Held down to a fraction of a core, as cpulimit does it.
    while run.process.poll() is None:
        for process in run.children("ApacheJMeter.jar"):
            with contextlib.suppress(psutil.NoSuchProcess):  # it may end at any moment
                process.suspend()
                time.sleep(2)
                process.resume()
        time.sleep(0.1)
    ended = run.end()
    assert ended.outcome == (4, "INVALID")
    faults = {it["fault"] for it in ended.verdict["reasons"] if it["verdict"] == "INVALID"}
    assert faults == {"generator"}
    [late] = [it for it in ended.execution["schedules"] if it["labels"] == ["calculate"]]
    assert late["generator_far_late"] > 1


def test_a_killed_jmeter_makes_the_run_invalid_and_leaves_nothing(tmp_path):
    config = only("fork", ["p50 of calculate>1000ms"], warmup=1, measured=30)
    run = Run(tmp_path, config=config).until("requests")
    [jmeter] = run.children("ApacheJMeter.jar")
    jmeter.kill()
    ended = run.end_cleanly()
    assert ended.outcome == (4, "INVALID")
    assert "JMeter" in ended.reasons()
