"""How JMeter's threads ended, by lines of its real logs."""

import json

import pytest

from support import jmx_text as jmx
from support.golden import FOLDER
from tollgate.gather.thread_ends import ends_by_place, thread_ends
from tollgate.plan.read import read_plan

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


AT = "2026-11-23 21:00:00,000 INFO o.a.j."
BEGUN = [line for line in LOGS["whole"] if "started" in line]
STOPPED_BEFORE = ["Stopping: a-b 2-7", "Thread started: a-b 2-7", "Thread finished: a-b 2-7"]
STOPPED_WITH = ["Thread started: a 1-1", "Thread finished: a 1-1", "Stopping: a 1-1"]
RESTARTED = [f"Thread {words}: a 1-1" for words in ("started", "is done", "finished", "started")]
OTHER = f"{AT}u.JSR223: Thread is done: users 1-1"


@pytest.mark.parametrize(
    ("lines", "ends"),
    [
        (BEGUN, {"users 1": {"Thread started": 2}}),
        ([f"{AT}t.JMeterThread: {line}" for line in STOPPED_BEFORE], {"a-b 2": {"Stopping": 1}}),
        ([f"{AT}t.JMeterThread: {line}" for line in STOPPED_WITH], {"a 1": {"Stopping": 1}}),
        (
            [f"{AT}t.JMeterThread: {line}" for line in RESTARTED],
            {"a 1": {"Thread is done": 1, "Thread started": 1}},
        ),
        ([f"{AT}JMeter: Running test (1)"], {}),
        ([*LOGS["exit"], OTHER], {"users 1": {"Thread started": 2}}),
    ],
)
def test_threads_that_go_on_or_were_stopped_before_and_what_others_log_are_told_apart(lines, ends):
    assert thread_ends(lines) == ends


def test_a_name_that_threads_of_two_groups_may_have_shows_for_certain_of_neither(tmp_path):
    first = jmx.group(jmx.sampler("a"), name="g")
    second = jmx.group(jmx.sampler("b"), name="g", kind="SetupThreadGroup")
    (tmp_path / "own.jmx").write_text(jmx.plan(first, second, jmx.group(name="h")))
    plan = read_plan(tmp_path / "own.jmx", {})
    ends = {"g 1": {"Thread is done": 3}, "h 2": {"Thread is done": 4}}
    assert set(ends_by_place(plan, ends)) == {0, 1, 2}
    assert ends_by_place(plan, ends, is_certain=True) == {2: {"Thread is done": 4}}
