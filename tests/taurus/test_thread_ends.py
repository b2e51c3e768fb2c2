"""How JMeter's threads ended, by lines of its real logs."""

import json

import pytest

from support.golden import FOLDER
from tollgate.taurus.thread_ends import thread_ends

LOGS = json.loads((FOLDER / "thread-ends.json").read_text())
ENDS = {
    "whole": {"Thread is done": 2},
    "duration": {"Stopping because end time detected by thread": 2},
    "timer": {"Thread finished": 2},
    "throughput": {"Stopping because end time detected by thread": 2},
    "errtest": {"Shutdown Test detected by thread": 1, "Stopping": 1},
    "errnow": {"Stop Test Now detected by thread": 1, "Stopping": 1},
    "errthread": {"Stop Thread detected by thread": 2},
    "script": {"Stopping": 2},
    "ask": {"Stopping": 2},
    "prevstop": {"Stop Thread detected by thread": 2},
    "thrstop": {"Stopping": 2},
    "oom": {"Uncaught exception": 2},
    "flow": {"Stopping": 2},
    "flowall": {"Stopping": 2},
    "csv": {"Stop Thread seen for thread": 2},
    "break": {"Thread is done": 2},
    "exit": {"Thread started": 2},
}


@pytest.mark.parametrize("how", LOGS)
def test_each_end_of_a_thread_is_read_in_the_words_of_the_log(how):
    assert thread_ends(f"{line}\n" for line in LOGS[how]) == {"users 1": ENDS[how]}


def test_a_thread_that_goes_on_has_no_end():
    begun = [line for line in LOGS["whole"] if "started" in line]
    assert thread_ends(begun) == {"users 1": {"Thread started": 2}}


def test_a_thread_that_is_stopped_before_it_begins_and_a_log_without_threads_are_read():
    about = "2026-11-23 21:00:00,000 INFO o.a.j.t.JMeterThread: "
    lines = ["Stopping: a-b 2-7", "Thread started: a-b 2-7", "Thread finished: a-b 2-7"]
    assert thread_ends(about + line for line in lines) == {"a-b 2": {"Stopping": 1}}
    assert thread_ends(["2026-11-23 21:00:00,000 INFO o.a.j.JMeter: Running test (1)"]) == {}


def test_a_thread_that_finishes_before_jmeter_logs_that_it_stops_it_was_stopped():
    about = "2026-11-23 21:00:00,000 INFO o.a.j.t.JMeterThread: "
    lines = ["Thread started: a 1-1", "Thread finished: a 1-1", "Stopping: a 1-1"]
    assert thread_ends(about + line for line in lines) == {"a 1": {"Stopping": 1}}


def test_what_others_log_is_not_taken_for_a_thread():
    line = "2026-11-23 21:00:00,000 INFO o.a.j.u.JSR223: Thread is done: users 1-1"
    assert thread_ends([*LOGS["exit"], line]) == {"users 1": {"Thread started": 2}}
