"""The CPU time of an answered request in real comparisons: what computes, and what waits."""

import pytest

from e2e.comparing import LIGHT, SHORT, assert_nothing_left

pytestmark = [pytest.mark.long, pytest.mark.alone]

#: Long enough for CPU time to be told by label.
TIMES = ("first=60", "every=30", "budget=150", "profile=false")


def compared(compare, *gate, **env):
    settings = (f"modules.compare.{it}" for it in (*TIMES, *gate))
    return compare(*SHORT, *settings, *LIGHT, BASE="HEAD", **env)


def of_cpu(ended):
    findings = ended.execution["comparison"]["findings"]
    return next(it for it in findings if it["metric"] == "cpu")


def test_twice_the_work_fails_by_its_cpu_time_alone_in_every_process(compare, project):
    run = compared(compare, "gates=cpu", "cpu-effect=10%", HEAD_INJECT_WORK_PERCENT="100")
    ended = run.end()
    assert_nothing_left(run, project)
    assert ended.code == 3, ended.output
    assert ended.reasons().startswith("FAIL compare: cpu of all labels: head ")
    found = of_cpu(ended)
    assert (found["label"], found["verdict"], found["unit"]) == ("all labels", "FAIL", "ms")
    assert 0.2 < found["interval"][0] < found["change"] < found["interval"][1] < 2
    told = ended.json("compare.json")["cpu"]
    assert (told["workers"], len(told["used_ms"])) == (1, 8)
    assert min(min(it for it in row if it is not None) for row in told["used_ms"]) >= 0
    [spread] = [it for it in ended.execution["comparison"]["spreads"] if it["metric"] == "cpu"]
    assert max(spread["base"]) < min(spread["head"])
    assert "CPU time of all processes of a side" in ended.page
    again = ended.judged_again("--json")
    assert again.returncode == 3


def test_a_head_that_awaits_is_told_from_one_that_computes(compare, project):
    gate = ("gates=typical", "typical-effect=5%", "fail-fast=false")
    run = compared(compare, *gate, HEAD_INJECT_DELAY_MS="40")
    ended = run.end()
    assert_nothing_left(run, project)
    assert ended.code == 3, ended.output
    told = {it["label"]: it for it in ended.execution["comparison"]["cpu_by_label"]}
    for label in ("sum", "search"):
        assert told[label]["outcome"] == "waiting"
        assert told[label]["rise_ms"] > 30
        assert told[label]["high_ms"] < told[label]["rise_ms"] / 2
    assert not of_cpu(ended)["gates"]
    assert "and head waits" in (ended.folder / "verdict.md").read_text()
    assert "and head waits" in ended.output
