"""Which request is slow, and when: the head, each label over time, failures, what is folded."""

import re
from dataclasses import replace

import numpy as np
import pytest

from support import pages, run_folder
from support.archived import unpacked
from support.executions import execution
from support.run_pages import charts_of, text_of, two_modes
from tollgate.gather.judged import judged
from tollgate.judge.facts import JudgeSettings, LabelData, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.report.pages.run import criteria, failures, headline, over_time, slowest, spread
from tollgate.report.pages.run.grid import percentile_for, points_for
from tollgate.report.pages.run.view import View
from tollgate.report.pages.run.write import write
from tollgate.report.table import split
from tollgate.samples.failures import read_failures
from tollgate.samples.slowest import MOST, SlowRequest
from tollgate.stats.counts import Counts


def view_of(*labels, name="fork", **changes):
    made = execution(measured_s=60.0, **changes)
    return View(replace(made, labels={(it.name, False): it for it in labels}), name, 0)


def label(name, per_second, took=20, slow_at=None, failed=0):
    """So many requests a second for a minute, which take 20 ms, in one second ten times that."""
    second = np.repeat(np.arange(60), per_second)
    elapsed = np.where(second == slow_at, 10 * took, took)
    return LabelData(name, Counts.of(second, elapsed, np.arange(len(second)) >= failed))


def cells(table):
    return [[str(cell) for cell in row] for row in table.rows]


def test_the_head_has_the_rate_and_the_p95_of_each_label_the_slowest_first_and_when_it_was_that():
    fork = view_of(label("quick", 10), label("slow", 2, took=90, slow_at=40))
    table = headline.table([fork])
    assert [it.heading for it in table.columns] == ["request", "requests/s", "p95", "slowest from"]
    assert cells(table)[0][:3] == ["slow", "2", "90 ms"]
    assert cells(table)[1][:3] == ["quick", "10", "20 ms"]
    minutes, seconds = map(int, cells(table)[0][3].split(":"))
    assert minutes == 0
    assert 40 - 20 < seconds <= 40  # where the point begins that holds second 40
    beside = headline.table([fork, view_of(label("quick", 5, took=200), name="cluster")])
    assert [it.heading for it in beside.columns][1:5] == [
        "fork, requests/s",
        "fork, p95",
        "cluster, requests/s",
        "cluster, p95",
    ]
    assert cells(beside)[0][:5] == ["quick", "10", "20 ms", "5", "200 ms"]
    assert cells(beside)[0][5].endswith(" in cluster")
    assert cells(beside)[1][3:5] == ["-", "-"]


def test_more_executions_than_two_have_rows_of_their_own_and_many_rows_are_cut():
    three = [view_of(label("home", 1 + at), name=f"plan{at}") for at in range(3)]
    assert [row[:2] for row in cells(headline.table(three))] == [
        ["plan0: home", "1"],
        ["plan1: home", "2"],
        ["plan2: home", "3"],
    ]
    many = headline.table([view_of(*(label(f"l{at}", 1) for at in range(20)))])
    assert len(many.rows) == headline.MOST_ROWS
    assert many.caption.endswith("; 12 more below")


def test_failed_requests_have_a_column_and_few_requests_have_no_p95():
    rare = LabelData("rare", Counts.of([1, 2, 3], [5, 6, 70], [True, True, False]))
    table = headline.table([view_of(rare, label("home", 10, failed=7))])
    by_name = {row[0]: row for row in cells(table)}
    assert by_name["rare"][1:3] + by_name["rare"][4:] == ["0.05", "70 ms", "1"]
    assert by_name["home"][4] == "7"
    (p95,) = (row[2] for row in table.rows if str(row[0]) == "rare")
    assert p95.small == "slowest of 3"


@pytest.mark.parametrize(
    ("total", "percentile", "points"),
    [(39, 100, 16), (239, 100, 16), (240, 90, 8), (480, 95, 8), (2400, 99, 8), (10**6, 99, 120)],
)
def test_the_percentile_of_a_point_has_requests_beyond_it(total, percentile, points):
    assert percentile_for(total) == percentile
    assert points_for(total, percentile, 120) == points


def test_a_label_over_time_says_when_it_was_slowest_and_by_which_percentile():
    busy, rare = label("busy", 8, slow_at=30), label("rare", 1, slow_at=50)
    (in_time, _, other, _) = spread.content([view_of(busy, rare)]).charts
    charts = {it.title: it for it in (in_time, other)}
    names = [series.label for series in charts["busy, over time"].series]
    assert names == ["fork p95 service", "fork p50 service"]  # 480 requests
    assert "fork p95 service 200 ms." in charts["busy, over time"].summary
    assert max(charts["busy, over time"].series[0].n) >= 60
    names = [series.label for series in charts["rare, over time"].series]
    assert names == ["fork slowest service", "fork p50 service"]  # 60 requests
    assert "fork slowest service 200 ms." in charts["rare, over time"].summary


def test_charts_of_all_requests_and_of_criteria_have_points_with_enough_requests():
    view = view_of(label("search", 8))
    median, high = (over_time.percentile([view], [], p) for p in over_time.percentiles([view]))
    assert (median.title, high.title) == ("p50, all requests", "p95, all requests")
    assert len(high.series[0].y) == 7
    assert max(high.series[0].n) == 72  # of which 4 are slower than the p95
    made = execution("p99 of search>1ms")
    verdict = judge(MeasuredRun((made,)))
    ([chart], _) = criteria.failures(
        [View(made, "fork", 0)], verdict.executions, JudgeSettings(), []
    )
    assert min(chart.series[0].n) >= 3000 / 10 * 0.5
    assert len(chart.series[0].y) <= 10


def test_rows_that_pass_are_folded_on_the_page_and_those_that_do_not_are_not(tmp_path):
    path = write(two_modes(tmp_path, "p95 of nap>45ms", "p50 of nap>1s", "fail of nap>0%"))
    table = criteria.table(judged(tmp_path).verdict.executions)
    open_, folded = split(table, "Criteria")
    assert [len(it.rows) for it in (open_, folded)] == [2, 4]
    assert (folded.caption, split(table)[1].caption) == ("Criteria: 4 PASS", "4 PASS")
    page = path.read_text()
    (fold,) = re.findall("<details><summary>Criteria: 4 PASS</summary>.*?</details>", page, re.S)
    assert fold.count("p50 of nap&gt;1s") == fold.count("fail of nap&gt;0%") == 2
    assert "p95 of nap&gt;45ms" not in fold


def failing(folder):
    """The recorded run with a failure in each of three seconds, of two kinds."""
    header, *rows = run_folder.recorded().decode().splitlines()
    at = header.split(",")
    said = {10: "took 17 ms", 11: "took 23 ms", 200: "<b>gone</b>"}
    for number, message in said.items():
        row = rows[number].split(",")
        row[at.index("success")] = "false"
        row[at.index("responseCode")] = "500"
        row[at.index("failureMessage")] = message
        rows[number] = ",".join(row)
    run_folder.make(folder, ("fail>0%",))
    run_folder.spoil(folder, ("\n".join([header, *rows]) + "\n").encode())
    return folder


def test_failures_are_told_by_message_and_second(tmp_path):
    found = read_failures(failing(tmp_path) / run_folder.JTL)
    assert [(it.label, it.code, it.message) for it in found] == [
        ("nap", "500", "took 17 ms"),
        *([("nap", "500", "took 23 ms")] if len(found) == 3 else []),
        ("nap", "500", "<b>gone</b>"),
    ]
    assert sum(it.n for it in found) == 3
    text = text_of(write(tmp_path))
    assert "500: took 17 ms" in text
    assert "500: <b>gone</b>" in text
    known = judged(tmp_path)
    views = [View(it, it.name, 0) for it in known.run.executions]
    table = failures.table(tmp_path, known.record, views)
    assert [row[1] for row in cells(table)] == ["2", "1"]
    assert re.fullmatch(r"\d:\d\d \((1|2)\)(, \d:\d\d \(1\))?", cells(table)[0][3])


def test_a_run_without_failures_reads_no_message(tmp_path, monkeypatch):
    monkeypatch.setattr(failures, "read_failures", None)
    assert "No request failed." in text_of(write(two_modes(tmp_path)))


def test_a_worker_that_died_is_seen_with_what_it_cost(tmp_path):
    path = write(unpacked("check-invalid", tmp_path))
    text = text_of(path)
    assert "code expected to equal; received Non HTTP response code: " in text
    assert "0:09 (5), 0:10 (3)" in text
    for title in ("Throughput", "calculate, over time"):
        marks = [it for it in charts_of(path)[title]["spans"] if it["kind"] == "outage"]
        assert [it["label"] for it in marks] == ["cluster: worker 1 missing"]


def test_a_reload_is_marked_in_the_charts_of_each_request(tmp_path):
    charts = charts_of(write(unpacked("stress-reload", tmp_path)))
    over = [it for title, it in charts.items() if title.endswith(", over time")]
    found = {mark["label"] for it in over for mark in it["spans"] if mark["kind"] == "reload"}
    assert over
    assert found == {"cluster: reload"}


def test_how_to_zoom_is_for_a_screen_alone(tmp_path):
    page = write(two_modes(tmp_path)).read_text()
    hints = re.findall(r"<(\w+)([^>]*)>[^<]*Drag to zoom", page)
    assert [attributes.strip() for _, attributes in hints] == ['class="screen"']
    (printed,) = re.findall(r"@media print \{.*", page, re.S)[:1]
    rules = re.findall(r"([^{}]+)\{\s*display: none;", printed[:600])
    assert any(".screen" in it and ".readout" in it for it in rules)


@pytest.mark.needs("chromium")
def test_on_a_narrow_screen_the_first_fold_comes_within_five_screens(tmp_path):
    path = write(unpacked("check-invalid", tmp_path))
    seen = pages.look(path, "--offline", "--viewport", "400x800")
    assert pages.problems(seen) == []
    assert seen["tooWide"] == 0
    assert 0 < seen["firstFold"] < 5 * 800


@pytest.mark.needs("chromium")
def test_the_readout_at_the_pointer_names_a_mark_between_two_points(tmp_path):
    path = write(unpacked("check-invalid", tmp_path))
    throughput = list(charts_of(path)).index("Throughput")
    seen = pages.look(path, *("--press", f"ArrowRight@[data-chart='{throughput}']") * 10)
    assert re.search(r"0:09\n(.*\n)*cluster: worker 1 missing", seen["text"])


@pytest.mark.parametrize(("percentile", "is_said"), [("p50", False), ("p99", True)])
def test_a_criterion_on_more_than_its_requests_bear_says_so(percentile, is_said, tmp_path):
    path = write(two_modes(tmp_path, f"{percentile} of nap>1ms"))  # 300 requests
    chart = charts_of(path)[f"{percentile} of nap>1ms"]
    assert ("too few requests" in chart["note"]) is is_said


def slow(took, trace="", side=-1, **changes):
    """A request that began at 2023-11-14 22:13:20.005 UTC."""
    its = {"label": "list", "ok": True, "code": "200"} | changes
    return SlowRequest(elapsed_ms=took, start_ms=1_700_000_000_005, trace=trace, side=side, **its)


def test_the_slowest_requests_of_all_executions_have_their_traces_where_one_is_known():
    fork = view_of(slowest=(slow(80), slow(30, ok=False, code="500")))
    table = slowest.table([fork, view_of(slowest=(slow(50, side=1),), name="cluster")])
    assert cells(table) == [
        ["fork: list", "80", "22:13:20.005", "200"],
        ["cluster, head: list", "50", "22:13:20.005", "200"],
        ["fork: list", "30", "22:13:20.005", "500, failed"],
    ]
    traced = slowest.table([fork, view_of(slowest=(slow(90, "a" * 32),), name="cluster")])
    assert [row[-1] for row in cells(traced)] == ["a" * 32, "-", "-"]
    assert len(slowest.table([view_of(slowest=(slow(1),) * 15)] * 2).rows) == MOST
    assert slowest.table([view_of()]) is None
