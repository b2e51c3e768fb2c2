"""What the page of a run shows of its workers over time."""

import json
from dataclasses import replace

import numpy as np
import pytest

from support import run_folder
from support.run_pages import charts_of, text_of, two_modes
from tollgate.base.paths import SUITE
from tollgate.gather.judged import judged
from tollgate.judge.facts import LabelData
from tollgate.record import manifest
from tollgate.report.pages.run import over_time, workers
from tollgate.report.pages.run.view import View
from tollgate.report.pages.run.write import write
from tollgate.stats.counts import Counts
from tollgate.workers.background_cpu import BackgroundCpu
from tollgate.workers.model import WorkerSeries


@pytest.fixture
def hour(tmp_path):
    """A second more than an hour of an execution with these workers, a request each second."""

    def view(*workers):
        counts = Counts.of(np.arange(3601), np.full(3601, 7))
        labels = {("nap", False): LabelData("nap", counts, None, None)}
        run_folder.make(tmp_path)
        execution = judged(tmp_path).run.executions[0]
        resources = replace(execution.resources, workers=workers)
        return View(replace(execution, labels=labels, resources=resources), "fork", 0)

    return view


def edit_looks(run, edit):
    """Change what was seen of the workers: edit gets the looks and returns others."""
    path = run / "workers.jsonl"
    looks = edit([json.loads(line) for line in path.read_text().splitlines()])
    path.write_text("".join(json.dumps(look) + "\n" for look in looks))


def worker(name, rss=64e6):
    """An hour of it; its RSS and event-loop delay were ten times as much in one second."""
    second = np.arange(3601.0)
    spike = np.where(second == 1801, 10.0, 1.0)
    same = np.full(3601, 1.0)
    ids = np.zeros(3601, np.int64)
    return WorkerSeries(
        name, second, ids, ids, rss * spike, same, same, same, 2 * spike, np.cumsum(same)
    )


def test_the_last_point_is_in_sight_though_its_time_is_hardly_begun(hour):
    view = hour()
    chart = over_time.throughput([view], [])
    assert view.grid.width > 1
    assert chart.x.high >= chart.series[0].x[-1]


def test_a_spike_of_memory_or_delay_is_not_averaged_away(hour):
    view = hour(worker("0"))
    charts = {it.title: it for it in workers.content([view], []).charts}
    for title, most in {"Memory": 640e6 / 2**20, "Event-loop delay": 20}.items():
        assert np.nanmax(charts[title].series[0].y) == pytest.approx(most, rel=1e-3)
        assert "s, of which it is the most." in charts[title].note
    assert "s, of which it is the mean." in charts["CPU"].note
    rss = workers.MEASURES["rss"]
    assert (rss.unit, np.nanmax(rss.values(worker("0"), view.grid))) == ("MB", 640e6 / 2**20)


def test_workers_of_one_execution_do_not_look_the_same(hour):
    chart = workers.content([hour(*(worker(str(at)) for at in range(6)))], []).charts[0]
    assert len({each.draw for each in chart.series}) == len(chart.series) == workers.MOST_DRAWN
    assert "2 more workers are in the table below." in chart.note
    known = (SUITE / "scripts/tollgate/report/pages/kit/scales.js").read_text()
    assert all(f"'{each.draw}'" in known for each in chart.series)


def test_the_worker_that_did_not_hold_is_drawn_however_many_there_are(tmp_path):
    two_modes(tmp_path, "rss of worker>100MB")
    record = manifest.read(tmp_path)
    record.executions[1].targets[0]["instances"] = 7
    manifest.write(record, tmp_path)

    def more(looks):
        mine = [it for it in looks if (it["app"], it["worker"]) == ("cluster", 1)]
        for at in range(2, 7):
            rss = 200_000_000 if at == 6 else 64_000_000
            looks += [it | {"worker": at, "pid": 70 + at, "rss": rss} for it in mine]
        return sorted(looks, key=lambda it: it["time"])

    edit_looks(tmp_path, more)
    chart = charts_of(write(tmp_path))["rss of worker>100MB"]
    drawn = [each["label"] for each in chart["series"]]
    assert drawn == ["fork 0", "cluster 6", "cluster 0", "cluster 1", "cluster 2"]


def test_each_workers_own_count_of_requests_is_drawn_as_a_rate(tmp_path):
    series = charts_of(write(two_modes(tmp_path)))["Requests answered"]["series"]
    assert [each["label"] for each in series] == ["fork 0", "cluster 0", "cluster 1"]
    assert all(set(each["y"]) - {None} == {15} for each in series)


def test_a_worker_that_died_is_named_and_marked_on_every_chart_over_time(tmp_path):
    def born_again(look):
        is_new = (look["app"], look["worker"]) == ("cluster", 1) and look["time"] >= 1795223305000
        return look | ({"pid": 99, "restarts": 1} if is_new else {})

    two_modes(tmp_path)
    edit_looks(tmp_path, lambda looks: map(born_again, looks))
    page = write(tmp_path)
    assert "cluster: worker 1 (pid 71) died and was started again" in text_of(page)
    timed = [chart for chart in charts_of(page).values() if chart["sync"]]
    assert len(timed) > 6
    for chart in timed:
        spans = {span["label"]: span["kind"] for span in chart["spans"]}
        assert spans["cluster: worker 1 missing"] == "outage"
        assert spans["warm-up"] == "uncounted"


def test_a_reload_is_marked_and_told(tmp_path):
    two_modes(tmp_path)
    record = manifest.read(tmp_path)
    began = record.executions[0].began + 5
    record.reloads = [{"app": "cluster", "began": began, "ended": began + 2, "problem": ""}]
    manifest.write(record, tmp_path)
    page = write(tmp_path)
    assert "cluster: 0:0" in text_of(page)
    assert "all workers were reloaded in 2 s, 0 requests lost" in text_of(page)
    kinds = [span["kind"] for span in charts_of(page)["Throughput"]["spans"]]
    assert kinds.count("reload") == 1


def test_what_other_processes_took_is_said_of_each_execution_that_recorded_it(tmp_path):
    two_modes(tmp_path)
    assert "Background CPU load" not in text_of(write(tmp_path))
    record = manifest.read(tmp_path)
    record.executions[0].background_cpu = BackgroundCpu(0.25, 70, 31)
    manifest.write(record, tmp_path)
    assert manifest.read(tmp_path).executions[0].background_cpu == BackgroundCpu(0.25, 70, 31)
    line = "fork: Background CPU load: other processes used 25 % of the cores on average"
    text = text_of(write(tmp_path))
    assert line in text
    assert text.count("Background CPU load") == 1
