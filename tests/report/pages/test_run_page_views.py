"""What charts and tables of a run's page say of executions whose samples are known to the last."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from support import pages
from support.executions import counts, execution
from support.forecasts import facts, mixed
from support.watched_workers import watched, worker
from tollgate.base.paths import SUITE
from tollgate.forecast.check import check_forecast
from tollgate.judge.engines import shared_s
from tollgate.judge.facts import JudgeSettings, LabelData, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.record import manifest
from tollgate.report.pages.kit.assemble import Head, render
from tollgate.report.pages.kit.names import full, readable
from tollgate.report.pages.run import criteria, over_time, spread, surroundings, workers
from tollgate.report.pages.run.intended import Intended
from tollgate.report.pages.run.view import View
from tollgate.stats.counts import Counts

#: Two names that differ in their middle alone, which is what gives way.
ALIKE = [f"GET /api/v2/customers/{which}/orders/by-number-and-date" for which in ("eu", "us")]


def labelled(*labels, **changes):
    made = execution(**changes)
    return View(replace(made, labels={(it.name, False): it for it in labels}), "fork", 0)


def page_of(run=Path("run"), **sections):
    """The page of a run that has these sections alone, in place of all others."""
    record = manifest.Manifest("check", "2026-11-20T23:08:20+00:00", [], {}, {}, [])
    nothing = ("study", "comparison", "capacity", "headline", "criteria", "failed", "spread")
    nothing += ("slowest", "workers", "command")
    none_of = ("judged", "failures", "over_time", "forecasts", "engines")
    empty = {
        **dict.fromkeys(nothing),
        **dict.fromkeys(none_of, ()),
        "record": record,
        "more_failures": 0,
        "report_command": surroundings.report_command(run),
        "logs": (),
        "is_here": {}.get,
        "shared_s": shared_s,
    }
    return render("run/page.html.jinja", Head("t", "k", "s", "PASS"), **empty | sections)


def text_of(**sections):
    """What can be read of it."""
    return pages.text_of(page_of(**sections))


def mixed_plan():
    """A label that follows a schedule and answers in 100 ms, and one in a closed loop at 2 s."""
    second = np.arange(60)
    quick, slow = np.full(60, 100), np.full(60, 2000)
    open_model = LabelData("A", Counts.of(second, quick), Counts.of(second, quick))
    return labelled(open_model, LabelData("B", Counts.of(second, slow)))


def test_of_a_mixed_plan_the_title_says_whose_percentiles_are_shown_and_the_note_who_is_left_out():
    view = mixed_plan()
    assert over_time.percentiles([view]) == [50, 100]
    for p, name in ((50, "p50"), (95, "p95"), (100, "slowest")):
        chart = over_time.percentile([view], [], p)
        assert chart.title == f"{name}, scheduled requests"
        assert "Left out are 60 requests that follow no schedule: B." in chart.note
        assert np.nanmax([each.y for each in chart.series]) == 100


def test_percentiles_of_all_requests_are_called_that():
    second, took = np.arange(60), np.full(60, 2000)
    alone = labelled(LabelData("B", Counts.of(second, took)))
    chart = over_time.percentile([alone], [], 95)
    assert chart.title == "p95, all requests"
    assert chart.note == "A point stands for 9 s, exactly counted."
    beside = over_time.percentile([mixed_plan(), alone], [], 95)
    assert beside.title == "p95, scheduled requests"
    assert "Where an execution has no schedule at all, none are left out." in beside.note


def died(measured_s):
    """A generator that sent for 10 s of the 60 s that its schedule has."""
    sent = Counts.of(np.arange(10), np.full(10, 20))
    made = labelled(LabelData("nap", sent, sent), measured_s=measured_s)
    return replace(made, intended=Intended(np.arange(60), np.ones(60, np.int64)))


def test_what_was_never_sent_counts_where_nobody_said_how_long_to_measure():
    kinds = [(it.low, it.kind) for it in workers.spans([died(30.0)])]
    assert kinds == [(30.0, "uncounted")]
    assert workers.spans([died(None)]) == []
    assert workers.spans([died(30.0), died(None)]) == []


def watched_view(*series):
    return View(execution(resources=watched(*series)), "fork", 0)


def charts_of(view):
    return {it.title: it for it in workers.content([view], []).charts}


def test_requests_and_restarts_of_workers_are_said_to_have_the_warm_up_in_them():
    made = execution(resources=watched(worker([80] * 60)), warmup_s=20.0, measured_s=40.0)
    verdict = judge(MeasuredRun((made,))).executions[0]
    assert verdict.workers[0].requests == 59 * 20
    text = text_of(workers=workers.content([View(made, "fork", 0)], []), judged=[verdict])
    assert "requests and restarts with those of the warm-up" in text
    assert "1,180" in text


def test_one_more_is_one():
    series = [worker([80] * 60, str(at)) for at in range(workers.MOST_DRAWN + 1)]
    assert "1 more worker is in the table below." in charts_of(watched_view(*series))["CPU"].note
    made = execution(*(f"p{50 + at} of search>1ms" for at in range(criteria.MOST_CHARTS + 1)))
    verdict = judge(MeasuredRun((made,)))
    found = criteria.failures([View(made, "fork", 0)], verdict.executions, JudgeSettings(), [])
    text = text_of(failures=found[0], more_failures=found[1])
    assert "Each with its limit, over time. 1 more is in the table above." in text


def test_a_table_says_what_its_cells_are_of_their_period():
    charts = charts_of(watched_view(worker([80] * 60)))
    captions = {title: chart.numbers.caption for title, chart in charts.items()}
    assert "equal periods, of which it is the most; workers.jsonl" in captions["Memory"]
    assert "equal periods, of which it is the most; workers.jsonl" in captions["Event-loop delay"]
    assert "equal periods, of which it is the mean; workers.jsonl" in captions["CPU"]
    throughput = over_time.throughput([labelled(LabelData("nap", counts()))], [])
    assert "equal periods, exactly counted; kpi.jtl" in throughput.numbers.caption


def steps_text(steps, missed):
    """Said of an execution of so many steps of a forecast, of which the last were not kept to."""
    made = facts(*[mixed(50)] * (steps - missed), *[mixed(5)] * missed)
    view = View(execution(forecast=made), "fork", 0)
    judged = SimpleNamespace(forecast=check_forecast(made, 0.02, 0.95))
    return text_of(forecasts=[(view, judged)])


def test_a_cut_table_of_steps_says_so_and_has_what_was_missed():
    text = steps_text(250, 20)
    assert "the first 200 of 250 steps, missed ones before all others; verdict.json has all" in text
    assert "every target and step" not in text
    assert all(f" s{at} missed " in text for at in range(230, 250))
    assert " s180 " not in text
    whole = steps_text(12, 2)
    assert "fork: every target and step" in whole
    assert whole.index(" s0 held ") < whole.index(" s11 missed ")
    assert "verdict.json" not in whole


def instant():
    """Nine of ten requests took less than a millisecond, which JMeter writes as 0."""
    took = np.where(np.arange(1000) % 10 == 0, 7, 0)
    return labelled(LabelData("health", Counts.of(np.arange(1000) * 60 // 1000, took)))


def test_what_took_less_than_a_millisecond_is_not_said_to_have_taken_half_of_one():
    _, chart = spread.content([instant()]).charts
    assert (chart.y.least, min(chart.series[0].y)) == (1.0, 0.5)
    assert "less than 1 ms is drawn at 0.5" in chart.note
    slow = labelled(LabelData("nap", counts()))
    _, other = spread.content([slow]).charts
    assert other.note == ""


@pytest.mark.needs("chromium")
def test_the_readout_of_what_took_less_than_a_millisecond_says_below_1(tmp_path):
    path = tmp_path / "index.html"
    path.write_text(page_of(spread=spread.content([instant()])))
    seen = pages.look(path, "--press", "ArrowRight@[data-chart='1']")
    assert pages.problems(seen) == []
    assert "of all requests: 0\nfork service: below 1 ms" in seen["text"]


def test_names_that_differ_in_the_middle_are_told_apart_by_their_titles():
    assert readable(ALIKE[0]) == readable(ALIKE[1])
    took = Counts.of(np.arange(60), np.full(60, 20))
    found = spread.content([labelled(*(LabelData(name, took) for name in ALIKE))])
    shown = page_of(spread=found)
    # In the titles of its two charts and in the table of all.
    assert [shown.count(f'title="{name}"') for name in ALIKE] == [3, 3]
    assert full("nap") == ""
    assert len(full("x" * 100_000)) == 500


@pytest.mark.parametrize("where", ["reports/20261101T080000Z-check", "my runs/one"])
def test_the_report_is_made_again_from_where_the_run_stands(where, tmp_path):
    for run, shown in ((SUITE / where, where), (tmp_path / where, str(tmp_path / where))):
        quoted = shown if " " not in where else f"'{shown}'"
        assert f"tollgate report {quoted} " in text_of(run=run)
