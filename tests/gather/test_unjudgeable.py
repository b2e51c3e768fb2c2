"""What is refused before any load, because nobody could judge it afterwards."""

from dataclasses import replace

import pytest

from support import jmx_text as jmx
from support import run_folder
from support.forecasts import steps_of
from tollgate.forecast.model import Followed
from tollgate.gather.context import EvidenceError, contexts
from tollgate.record import manifest
from tollgate.record.interim_schedule import InterimSchedule


def forecast(*rates, **shares):
    steps = steps_of(*rates, length_s=4.0, from_s=2.0, shares=shares)
    return Followed("data/mine.csv", 1.0, 1440.0, steps)


def refusal(folder, *criteria, plan=None, **changes):
    """What the criteria of an execution are refused with, '' for nothing; no JTL is read."""
    plan = run_folder.follow(folder) if plan is None else plan
    made = run_folder.make(folder, criteria, **plan, **changes)
    (planned,) = made.executions
    (folder / planned.jtl).unlink()
    try:
        contexts(folder, made)
    except EvidenceError as error:
        return str(error)
    return ""


def test_a_criterion_on_a_target_that_the_forecast_never_asks_for_is_refused(tmp_path):
    def said(forecast, criterion="fail of nap>0%"):
        return refusal(tmp_path, criterion, forecast=forecast)

    assert said(forecast(30, nap=1.0)) == ""
    assert said(forecast(30, sum=1.0), "fail>0%") == ""
    assert said(forecast(30, sum=1.0)) == (
        "criterion 'fail of nap>0%': label 'nap': the forecast data/mine.csv has no column nap, "
        "so that it is never asked; add the column nap, or remove the criterion"
    )
    assert said(forecast(30, sum=1.0, nap=0.0)) == (
        "criterion 'fail of nap>0%': label 'nap': data/mine.csv gives nap no share in any step of "
        "this run; give nap a share, or remove the criterion"
    )
    asked, none = forecast(30, 0, sum=1.0).steps
    none = replace(none, shares={"nap": 1.0})  # of no requests at all
    followed = replace(forecast(30, sum=1.0), steps=(asked, none))
    assert "gives nap no share" in said(followed)


HOME = jmx.sampler("home")


@pytest.mark.parametrize(
    ("group", "is_refused"),
    [
        (jmx.plugin_group(HOME, kind="Arrivals"), True),
        (jmx.plugin_group(HOME, kind="FreeFormArrivals"), True),
        *((jmx.plugin_group(HOME), False), (jmx.open_group(HOME), False)),
        (jmx.open_group(HOME, seed=0), True),
    ],
)
def test_looks_that_could_not_tell_what_is_under_way_are_refused(tmp_path, group, is_refused):
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "own.jmx").write_text(jmx.plan(group))
    plan = {"plan": "plan/own.jmx", "measured": 0.0}
    assert refusal(tmp_path, "fail>0%", plan=plan) == ""
    line = refusal(tmp_path, "fail>0%", plan=plan, interim=InterimSchedule.of(30, 240))
    assert ("modules.stop-when-decided.budget" in line) == is_refused


def test_a_criterion_on_workers_of_no_target_is_refused(tmp_path):
    target = {"name": "nap", "mode": "fork", "instances": 1}
    assert refusal(tmp_path, "rss of worker>1GB", targets=[target]) == ""
    assert refusal(tmp_path, "rss of worker>1GB") == (
        "criterion 'rss of worker>1GB': label 'worker': nap-alone has no target, so its workers "
        "are not watched; name an app as its scenario's `target`, or remove it"
    )


@pytest.mark.parametrize("properties", [{}, {"schedule": "pause(7 s)"}])
def test_a_forecast_that_the_plan_does_not_follow_is_refused(tmp_path, properties):
    changes = {"properties": properties, "forecast": forecast(30, nap=1.0)}
    (line,) = refusal(tmp_path, "fail>0%", plan={}, **changes).splitlines()
    assert line.startswith("nap-alone: the plan plan/timer-run.jmx has no ")
    assert "${__P(schedule,...)}" in line


def test_a_plan_that_has_a_schedule_of_its_own_does_not_follow_the_forecast(tmp_path):
    plan = run_folder.follow(tmp_path)
    path = tmp_path / plan["plan"]
    path.write_text(path.read_text().replace("${__P(schedule,pause(9 s))}", "pause(9 s)"))
    changes = {"plan": plan, "forecast": forecast(30, nap=1.0)}
    assert "can't follow data/mine.csv" in refusal(tmp_path, "fail>0%", **changes)


def test_each_problem_is_told_in_a_line_of_its_own(tmp_path):
    criteria = "fail of nap>0%", "rss of worker>1GB"
    lines = refusal(tmp_path, *criteria, plan={}, forecast=forecast(30, sum=1.0)).splitlines()
    assert len(lines) == 3
    assert manifest.read(tmp_path).executions[0].forecast
