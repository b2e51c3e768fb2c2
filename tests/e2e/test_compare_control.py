"""A comparison of HEAD with itself, which must pass, whose profile names nothing, and which is
exported while it measures."""

import os
import re

import pytest

from e2e.bzt_run import Run, assert_on_the_page_of_the_job
from e2e.comparing import SHORT, assert_nothing_left, cache_of
from e2e.exported import assert_exported, variables
from support.collector import collecting

pytestmark = [pytest.mark.long, pytest.mark.alone]


@pytest.fixture(scope="module")
def collector():
    with collecting() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def control(project, collector, tmp_path_factory):
    """The command of the CI job, of HEAD with itself in cluster mode; it ends itself."""
    env = {"XDG_CACHE_HOME": str(cache_of(project)), "BASE": "HEAD", "MODE": "cluster"}
    env |= variables(collector)
    folder = tmp_path_factory.mktemp("control")
    more = ("modules.compare.budget=180", "modules.compare.profile=true")
    more += ("modules.compare.false-alarm=0.1%",)  # also how often a function may be named
    more += ("modules.compare.cpu-share=1%",)  # the slowest pace, on whatever machine
    # Stalls, which a busy machine causes on both sides, take longer than the budget to be decided.
    more += ("modules.compare.gates=typical,p50,p95,errors",)
    run = Run(folder, *SHORT, *more, job="compare", root=project.root, **env)
    return run, run.end()


def test_the_control_passes_and_ends_before_its_time_is_up_and_leaves_nothing(control, project):
    run, ended = control
    assert ended.outcome == (0, "PASS"), ended.output
    assert_on_the_page_of_the_job(ended, "compare", run.log.parent)
    assert_nothing_left(run, project)
    told = ended.json("compare.json")
    assert 10 <= told["decided_s"] < 180
    assert (told["mode"], told["execution"]) == ("cluster", "compare")
    assert told["base"]["revision"] == told["head"]["revision"]
    assert len(told["background_cpu"]) == told["decided_s"]
    assert ended.execution["comparison"]["background_cpu"]["seconds"] > 0
    assert told["cpu"]["workers"] == os.cpu_count()
    assert [len(row) for row in told["cpu"]["used_ms"]] == [told["decided_s"]] * 2
    assert "this is the control, which must pass" in ended.output
    assert f"Compare: {told['decided_s']:g} s of at most 180: 8 of 8 decided" in ended.output


def test_it_leaves_the_changes_that_decide_against_its_anchor_for_the_history(control):
    _, ended = control
    [execution] = ended.json("history.jsonl")["executions"]
    assert execution["anchor"]["revision"] == execution["head"]["revision"]
    decide = [it for it in ended.execution["comparison"]["findings"] if it["gates"]]
    found = {(it["label"], it["metric"]): it for it in execution["measures"]}
    assert {*found} == {(it["label"], it["metric"]) for it in decide}
    for it in decide:
        assert found[it["label"], it["metric"]]["value"] == pytest.approx(it["change"], rel=1e-5)


def test_the_pace_is_what_the_machine_can_carry_and_the_schedule_that_of_the_pace(control):
    _, ended = control
    [execution] = ended.json("run.json")["executions"]
    assert [execution["properties"][it] for it in ("period", "search_lag")] == ["64", "57"]
    pace = ended.execution["comparison"]["pace"]
    assert (pace["period_ms"], pace["usual_ms"], pace["why"]) == (64, 18, "measured")
    assert min(pace["cost"]["service_ms"], pace["cost"]["generator_ms"]) > 0
    assert "one of each label every 64 ms" in ended.output
    assert ended.reasons() == ""


def test_both_sides_ran_in_the_same_mode_with_as_many_workers(control):
    _, ended = control
    [execution] = ended.json("run.json")["executions"]
    assert re.search(rf"coin_seed={execution['properties']['coin_seed']}\b", ended.output)
    base, head = execution["targets"]
    assert (base.pop("name"), head.pop("name")) == ("base", "head")
    assert base == head
    assert (base["mode"], base["instances"]) == ("cluster", os.cpu_count())


def test_of_the_control_nothing_is_named_by_what_its_workers_computed(control):
    _, ended = control
    why = ended.json("why.json")
    assert (why["problem"], why["outcome"]) == ("", "unchanged")
    assert [it for it in why["functions"] if it["own"]["moved"] == "more"] == []
    for side in ("base", "head"):
        assert len(list((ended.folder / "profile" / side).glob("*.jsonl"))) == os.cpu_count()


def test_the_control_is_exported_row_for_row_and_by_sides(control, collector):
    _, ended = control
    assert_exported(ended, collector, {"compare": "kpi.jtl"})
    for side, name in enumerate(("base", "head")):
        count = sum(int(row["coin"]) % 2 == side for row in ended.samples)
        assert collector.total("tollgate.requests", side=name) == count
