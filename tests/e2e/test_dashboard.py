"""JMeter's dashboards as the report service draws them: all at once, from the files of one run."""

import json
import random
import re

import pytest

import support
from support import pages
from tollgate.report.dashboard import Drawing

COLUMNS = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,"
    "failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)
#: Executions of one run and the files that Taurus gives them. JMeter takes the second for a
#: further piece of the first when both are in sight of it.
EXECUTIONS = {"fork": "kpi.jtl", "cluster": "kpi-1.jtl"}
SAMPLES = {"fork": 400, "cluster": 600}


def write_jtl(path, label, count):
    """Ten seconds of samples, one in fifty failed."""
    chance = random.Random(count)
    rows = [COLUMNS]
    for number in range(count):
        start, ms = 1_790_000_000_000 + number * 10_000 // count, chance.randrange(2, 90)
        status, ok = ("500,Broken", "false") if number % 50 == 0 else ("200,OK", "true")
        begins = f"{start},{ms},{label},{status},{label} 1-1,text,{ok},,512,128,5,5"
        rows.append(f"{begins},http://127.0.0.1:3001/{label},{ms},0,1")
    path.write_text("\n".join(rows) + "\n")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run whose dashboards have been drawn in parallel."""
    folder = tmp_path_factory.mktemp("run")
    for name, jtl in EXECUTIONS.items():
        write_jtl(folder / jtl, f"sum-{name}", SAMPLES[name])
    drawings = [Drawing(folder, name, folder / jtl) for name, jtl in EXECUTIONS.items()]
    assert [drawing.finish() for drawing in drawings] == ["", ""]
    return folder


every_execution = pytest.mark.parametrize("name", EXECUTIONS)


@every_execution
def test_a_dashboard_counts_the_samples_of_its_own_execution_only(run, name):
    statistics = json.loads((run / "dashboard" / name / "statistics.json").read_text())
    counted = {label: row["sampleCount"] for label, row in statistics.items()}
    assert counted == {f"sum-{name}": SAMPLES[name], "Total": SAMPLES[name]}
    assert statistics["Total"]["errorCount"] == SAMPLES[name] // 50


@every_execution
def test_a_dashboard_draws_about_one_point_a_second(run, name):
    graphs = (run / "dashboard" / name / "content" / "js" / "graph.js").read_text()
    (hits,) = re.findall(r'data: (\{"result": .*"title": "Hits Per Second"\}\}),', graphs)
    (series,) = json.loads(hits)["result"]["series"]
    assert 9 <= len(series["data"]) <= 11


@every_execution
def test_drawing_leaves_nothing_but_the_dashboard(run, name):
    assert (run / "dashboard" / name / "index.html").exists()
    assert {entry.name for entry in (run / "dashboard").iterdir()} == {*EXECUTIONS}
    assert " ERROR " not in (run / f"jmeter-dashboard-{name}.log").read_text()
    assert {entry.name for entry in run.glob("*.jtl")} == {*EXECUTIONS.values()}


@pytest.mark.long
@pytest.mark.needs("chromium")
@every_execution
def test_every_page_of_a_dashboard_renders_without_an_error(run, name):
    home = run / "dashboard" / name
    files = [home / "index.html", *sorted((home / "content" / "pages").glob("*.html"))]
    seen = pages.look_at_all(files, "--offline")
    assert [pages.problems(page) for page in seen] == [[]] * len(files)
    assert len(files) > 1
    assert all(page["title"] for page in seen)


@pytest.mark.needs("chromium")
def test_the_browser_tells_of_each_kind_of_problem(tmp_path):
    page = tmp_path / "broken.html"
    page.write_text(
        "<title>broken</title><script>console.error('said')</script>"
        "<script>throw new Error('thrown')</script><img src='missing.png'>"
        "<img src='http://elsewhere.invalid/tracker.png'>"
    )
    picture = tmp_path / "broken.png"
    seen = pages.look(page, "--offline", "--screenshot", picture, "--viewport", "400x300")
    assert (seen["title"], seen["pageErrors"]) == ("broken", ["Error: thrown"])
    assert "said" in seen["consoleErrors"]
    failed = " ".join(seen["failedRequests"])
    assert all(it in failed for it in ("missing.png", "elsewhere.invalid"))
    assert picture.stat().st_size > 0


def test_a_file_that_cannot_be_drawn_is_named_with_the_log(tmp_path):
    jtl = tmp_path / "kpi.jtl"
    jtl.write_text("this is no JTL\n")
    pages.close()
    problem = Drawing(tmp_path, "fork", jtl).finish()
    assert problem.endswith("(see jmeter-dashboard-fork.log)")
    assert not (tmp_path / "dashboard" / "fork" / "index.html").exists()
    assert support.ours() == []
