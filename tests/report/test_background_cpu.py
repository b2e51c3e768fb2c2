"""What other processes took of the cores while an execution measured: informational, and said in
every output."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from support.executions import execution
from support.watched_workers import worker
from tollgate.judge.facts import MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.report.console import verdict_table
from tollgate.report.json_verdict import to_dict
from tollgate.report.markdown import to_markdown
from tollgate.workers.background_cpu import BackgroundCpu, BackgroundCpuRecorder
from tollgate.workers.model import Resources

TAKEN = BackgroundCpu(share=0.25, seconds=70, disturbed_s=31)
LINE = (
    "Background CPU load: other processes used 25 % of the cores on average, more than 12.5 % in "
    "31 of 70 s"
)


def run_with(background):
    resources = Resources(workers=(worker([80] * 30),), background_cpu=background)
    return MeasuredRun((execution("p50 of search>9s", resources=resources),))


def test_it_is_said_on_the_console_in_markdown_and_for_programs_and_changes_no_verdict():
    run, quiet = run_with(TAKEN), run_with(None)
    verdict = judge(run)
    assert verdict.verdict == judge(quiet).verdict
    assert verdict.executions[0].background_lines == [LINE]
    assert verdict_table(verdict).count(LINE) == 1
    assert to_markdown(verdict, "check").count("Background CPU load") == 1
    [entry] = to_dict(verdict, run, "check", {})["executions"]
    assert entry["background_cpu"] == {"share": 0.25, "seconds": 70, "disturbed_s": 31}


def test_a_run_that_has_no_record_of_it_says_nothing():
    verdict = judge(run_with(None))
    assert verdict.executions[0].background_lines == []
    assert "Background" not in verdict_table(verdict) + to_markdown(verdict, "check")


@given(st.lists(st.none() | st.floats(0, 1), max_size=90), st.integers(0, 30))
def test_the_record_holds_the_seconds_behind_the_warm_up(shares, warmup):
    asked = []

    def answer(from_s, seconds):
        asked.append((from_s, seconds))
        return tuple(shares[warmup:])

    recorder = SimpleNamespace(shares=answer)
    found = BackgroundCpuRecorder.used(recorder, 1000.0 + warmup, 1000.0 + len(shares))
    assert asked == [(1000.0 + warmup, max(0, len(shares) - warmup))]
    known = [it for it in shares[warmup:] if it is not None]
    if not known:
        assert found is None
        return
    assert (found.seconds, found.disturbed_s) == (len(known), sum(it >= 0.125 for it in known))
    assert abs(found.share - np.mean(known)) < 1e-4
