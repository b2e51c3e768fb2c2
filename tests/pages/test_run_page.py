"""The page of a run: what it says, whatever became of the run, and what a browser makes of it."""

from __future__ import annotations

import html
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from support import pages, run_folder
from tollgate.base.paths import ROOT
from tollgate.judge.facts import LabelData
from tollgate.pages.run import over_time, surroundings, workers
from tollgate.pages.run.intended import intended
from tollgate.pages.run.view import View, colours
from tollgate.pages.run.write import judged, to_html, write
from tollgate.run import manifest
from tollgate.stats.counts import Counts
from tollgate.workers.model import WorkerSeries

ATTACK = "<script>alert(1)</script>"
#: fork's and cluster's colours in page.css; a screen rounds some pixels by one.
PALETTE = {"light": ((31, 111, 209), (196, 86, 11)), "dark": ((106, 169, 255), (245, 154, 76))}
LATE = ("p95 of nap>45ms", "p50 of nap>1s", "fail of nap>0%")


def two_modes(folder: Path, *criteria: str, **changes: object) -> Path:
    """The folder of a run of two executions, fork and cluster, with the same samples."""
    made = run_folder.make(folder, criteria or run_folder.HOLDS, name="fork", **changes)
    fork = made.executions[0]
    fork.targets = [{"name": "fork", "mode": "fork", "instances": 1, "memory_limit": None}]
    target = {"name": "cluster", "mode": "cluster", "instances": 2, "memory_limit": None}
    shutil.copyfile(folder / run_folder.JTL, folder / "kpi-1.jtl")
    cluster = replace(fork, name="cluster", jtl="kpi-1.jtl", targets=[target])
    manifest.seal(cluster, folder)
    made.executions.append(cluster)
    manifest.write(made, folder)
    watch(folder)
    return folder


def watch(folder: Path) -> None:
    """What was seen of one worker of fork and two of cluster, each second."""
    lines = []
    for second in range(1795223295, 1795223316):
        for app, worker in (("fork", 0), ("cluster", 0), ("cluster", 1)):
            look = {"time": second * 1000, "app": app, "worker": worker, "pid": 70 + worker}
            look |= {"status": "online", "restarts": 0, "rss": 64_000_000, "heap": 9_000_000}
            look |= {"cpu": 12.5, "loopDelayP50": 0.4, "loopDelayP95": 1.5}
            lines.append(json.dumps(look | {"requests": (second - 1795223295) * 15}))
    (folder / "workers.jsonl").write_text("\n".join(lines) + "\n")


def text_of(path: Path) -> str:
    shown = re.sub("<[^>]*>", " ", path.read_text().split("<script")[0])
    return " ".join(html.unescape(shown).split())


def charts_of(path: Path) -> dict[str, dict]:
    data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', path.read_text(), re.S)
    return {chart["title"]: chart for chart in json.loads(data[1])}


def drawn(found: dict[str, int], colour: tuple[int, int, int]) -> int:
    """How many pixels have about this colour."""
    told = ((tuple(map(int, name.split(","))), count) for name, count in found.items())
    return sum(n for it, n in told if max(abs(a - b) for a, b in zip(it, colour, strict=True)) < 3)


def test_it_says_the_verdict_first_and_then_every_criterion_with_limit_interval_and_n(tmp_path):
    text = text_of(write(two_modes(tmp_path)))
    assert text.index("All 4 criteria hold.") < text.index(" Criteria ")
    assert "610 requests in fork and cluster, warm-up included; none failed." in text
    verdict = judged(tmp_path).verdict
    for result in (it for each in verdict.executions for it in each.criteria):
        assert result.criterion in text
        assert f"{result.samples:,}" in text


def test_a_violated_criterion_is_drawn_over_time_with_its_limit_and_the_fault_is_told(tmp_path):
    page = write(two_modes(tmp_path, *LATE))
    text = text_of(page)
    assert "2 of 6 criteria do not hold; the fault is the service's." in text
    chart = charts_of(page)["p95 of nap>45ms"]
    assert (chart["limit"], chart["tone"]) == (45, "wrong")
    assert {each["label"] for each in chart["series"]} == {"fork", "cluster"}
    assert max(value or 0 for value in chart["series"][0]["y"]) > 45


def test_a_run_that_passes_has_no_chart_of_what_went_wrong(tmp_path):
    assert "Violated and undecided" not in text_of(write(two_modes(tmp_path)))


def test_what_was_sent_stands_beside_what_the_schedule_meant_to_send(tmp_path):
    two_modes(tmp_path)
    chart = charts_of(write(tmp_path))["Throughput"]
    rates = {each["label"]: sum(filter(None, each["y"])) for each in chart["series"]}
    facts = judged(tmp_path).run.executions[0].schedules[0]
    assert rates["fork sent"] == pytest.approx(305)
    assert rates["fork intended"] == pytest.approx(facts.intended)


def test_lateness_and_the_times_from_the_intended_start_are_the_judges_own(tmp_path):
    execution = judged(two_modes(tmp_path)).run.executions[0]
    nap = execution.labels["nap", False]
    assert nap.lateness.total == nap.response.total
    waited = nap.response.elapsed_ms @ nap.response.n - nap.lateness.elapsed_ms @ nap.lateness.n
    assert waited == nap.service.elapsed_ms @ nap.service.n


def test_a_generator_that_died_is_seen_by_what_it_did_not_send(tmp_path) -> None:
    header, *rows = run_folder.recorded().splitlines(keepends=True)
    began = min(int(row.split(b",")[0]) for row in rows)
    early = [row for row in rows if int(row.split(b",")[0]) < began + 5_000]
    run_folder.make(tmp_path, exit_code=137)
    run_folder.spoil(tmp_path, header + b"".join(early))
    (facts,) = judged(tmp_path).run.executions[0].schedules
    assert facts.sent < facts.intended
    chart = charts_of(write(tmp_path))["Throughput"]
    sent, meant = (each["y"] for each in chart["series"])
    assert sum(filter(None, meant)) == pytest.approx(facts.intended)
    late = [(a, b) for a, b in zip(sent, meant, strict=True)][-3:]
    assert all(a == 0 and b > 20 for a, b in late)


def test_a_comparison_that_was_decided_meant_to_send_no_more(tmp_path) -> None:
    two_modes(tmp_path)
    known = judged(tmp_path)
    decided = replace(known.run.executions[0], comparison=object(), measured_s=3.0)
    assert intended(tmp_path, known.record.executions[0], decided).seconds.max() == 4


def hour(execution, *workers: WorkerSeries) -> View:
    """A second more than an hour of an execution, a request each second."""
    counts = Counts.of(np.arange(3601), np.full(3601, 7))
    labels = {("nap", False): LabelData("nap", counts, None, None)}
    resources = replace(execution.resources, workers=workers)
    return View(replace(execution, labels=labels, resources=resources), "fork", 0)


def worker(name: str, rss: float = 64e6) -> WorkerSeries:
    """An hour of it; its RSS and event-loop delay were ten times as much in one second."""
    second = np.arange(3601.0)
    spike = np.where(second == 1801, 10.0, 1.0)
    same = np.full(3601, 1.0)
    ids = np.zeros(3601, np.int64)
    return WorkerSeries(
        name, second, ids, ids, rss * spike, same, same, same, 2 * spike, np.cumsum(same)
    )


def test_the_last_point_is_in_sight_though_its_time_is_hardly_begun(tmp_path) -> None:
    run_folder.make(tmp_path)
    view = hour(judged(tmp_path).run.executions[0])
    chart = over_time.throughput([view], [])
    assert view.grid.width > 1
    assert chart.x.high >= chart.series[0].x[-1]


def test_a_spike_of_memory_or_delay_is_not_averaged_away(tmp_path) -> None:
    run_folder.make(tmp_path)
    view = hour(judged(tmp_path).run.executions[0], worker("0"))
    found = workers.content([view], [SimpleNamespace(workers=())], [])
    charts = {it.title: it for it in found.charts}
    for title, most in {"Memory": 640e6 / 2**20, "Event-loop delay": 20}.items():
        assert max(filter(None, charts[title].series[0].y)) == pytest.approx(most, rel=1e-3)
        assert "s, of which it is the most." in charts[title].note
    assert "s, of which it is the mean." in charts["CPU"].note
    unit, measure, _ = workers.MEASURES["rss"]
    assert (unit, np.nanmax(measure(worker("0"), view.grid))) == ("MB", 640e6 / 2**20)


def test_workers_of_one_execution_do_not_look_the_same(tmp_path) -> None:
    run_folder.make(tmp_path)
    view = hour(judged(tmp_path).run.executions[0], *(worker(str(at)) for at in range(6)))
    chart = workers.content([view], [SimpleNamespace(workers=())], []).charts[0]
    assert len({each.draw for each in chart.series}) == len(chart.series) == workers.MOST_DRAWN
    assert "2 more workers are in the table below." in chart.note
    known = (ROOT / "scripts/tollgate/pages/kit/scales.js").read_text()
    assert all(f"'{each.draw}'" in known for each in chart.series)


def test_the_worker_that_did_not_hold_is_drawn_however_many_there_are(tmp_path) -> None:
    two_modes(tmp_path, "rss of worker>100MB")
    record = manifest.read(tmp_path)
    record.executions[1].targets[0]["instances"] = 7
    manifest.write(record, tmp_path)
    path = tmp_path / "workers.jsonl"
    looks = [json.loads(line) for line in path.read_text().splitlines()]
    for at in range(2, 7):
        mine = [it for it in looks if (it["app"], it["worker"]) == ("cluster", 1)]
        heavy = 200_000_000 if at == 6 else 64_000_000
        looks += [it | {"worker": at, "pid": 70 + at, "rss": heavy} for it in mine]
    looks.sort(key=lambda it: it["time"])
    path.write_text("".join(json.dumps(look) + "\n" for look in looks))
    chart = charts_of(write(tmp_path))["rss of worker>100MB"]
    drawn = [each["label"] for each in chart["series"]]
    assert drawn == ["fork 0", "cluster 6", "cluster 0", "cluster 1", "cluster 2"]


def test_what_was_noticed_of_the_plan_is_told(tmp_path) -> None:
    noticed = "sampler 'nap' has no response timeout"
    run_folder.make(tmp_path, lint=[noticed])
    text = text_of(write(tmp_path))
    assert f"What was noticed of the plan nap-alone: {noticed}" in text


def test_tables_below_charts_tell_the_warm_up_from_what_is_judged(tmp_path) -> None:
    run_folder.make(tmp_path)
    rows = re.findall(r">(\d+:\d+(?:, warm-up)?)<", write(tmp_path).read_text())
    assert {"0:00, warm-up", "0:02"} <= set(rows)
    assert "0:00" not in rows
    assert "0:02, warm-up" not in rows


def test_arrivals_that_an_interruption_cut_off_are_not_intended(tmp_path):
    two_modes(tmp_path)
    known = judged(tmp_path)
    execution = known.run.executions[0]
    facts = replace(execution.facts, interrupted=True, ended_s=4.0)
    cut = intended(tmp_path, known.record.executions[0], replace(execution, facts=facts))
    assert cut.seconds.max() < 4


@pytest.mark.parametrize(
    ("jtl", "words"),
    [
        (b"", "the file is empty"),
        (run_folder.recorded().split(b"\n")[0] + b"\n", "no samples"),
        (b"<?xml version='1.0'?>\n", "only CSV is read"),
    ],
)
def test_a_run_without_samples_has_a_page_with_the_reason_on_top(tmp_path, jtl, words) -> None:
    run_folder.make(tmp_path)
    run_folder.spoil(tmp_path, jtl)
    text = text_of(write(tmp_path))
    assert text.index("INVALID") < text.index("The measurement is broken") < text.index(words)
    assert "No request was recorded." in text


def test_a_run_that_was_interrupted_before_it_began_has_a_page(tmp_path) -> None:
    started = "2026-11-20T23:08:20+00:00"
    record = manifest.Manifest("check", started, [], {}, {}, [], interrupted=True)
    manifest.write(record, tmp_path)
    text = text_of(write(tmp_path))
    assert "interrupted" in text
    assert "No criterion was stated" in text


def test_samples_that_are_not_the_runs_own_give_no_page(tmp_path) -> None:
    run_folder.make(tmp_path)
    run_folder.spoil(tmp_path, run_folder.recorded() + b"\n", sealed=True)
    with pytest.raises(manifest.ManifestError, match="has changed since the run ended"):
        write(tmp_path)


def test_only_files_that_are_there_are_linked_and_none_outside_of_the_runs_folder(tmp_path) -> None:
    run = tmp_path / "run"
    run_folder.make(run)
    (tmp_path / "dashboard").mkdir()
    (tmp_path / "dashboard" / "index.html").write_text("another's")
    (run / "dashboard").mkdir()
    (run / "verdict.md").write_text("PASS")
    record = manifest.read(run)
    record.executions[0].name = "../.."
    names = [name for name, _ in surroundings.files_of(run, record)]
    assert names == ["kpi.jtl", "verdict.md", "run.json"]


def test_the_command_makes_the_same_kind_of_run_again(tmp_path) -> None:
    two_modes(tmp_path, properties={"measured": "60", "warmup": "5"})
    record = manifest.read(tmp_path)
    assert surroundings.again(record) is None
    assert "How it was started is unknown" in text_of(write(tmp_path))
    record.arguments = ["taurus.yml", "-compare", "-o", "modules.compare.effect=10%"]
    record.environment = {"variables": {"BASE": "v1.2", "HEAD_INJECT_DELAY_MS": "5"}}
    command = "./scripts/run -compare -o modules.compare.effect=10%"
    assert surroundings.again(record) == f"BASE=v1.2 HEAD_INJECT_DELAY_MS=5 {command}"
    manifest.write(record, tmp_path)
    assert f"HEAD_INJECT_DELAY_MS=5 {command}" in text_of(write(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["taurus.yml"], "./scripts/run"),
        (["taurus.yml", "-shop"], "./scripts/run -shop"),
        (["taurus.yml", "over.json", "-o", "a=b c"], "./scripts/run over.json -o 'a=b c'"),
        (["mine.yml", "-plan"], ".venv/bin/bzt mine.yml -plan"),
        (
            ["taurus.yml", "-o", "settings.artifacts-dir=/home/me/out", "-shop"],
            "./scripts/run -shop",
        ),
    ],
)
def test_the_command_is_what_was_typed_but_for_the_folder_of_the_run(arguments, command) -> None:
    record = manifest.Manifest("any", "", [], {}, {}, [], arguments=arguments)
    assert surroundings.again(record) == command


def planned(name: str, mode: str | None) -> manifest.Execution:
    targets = [{"name": name, "mode": mode}] if mode else []
    return manifest.Execution(name, "plan.jmx", "kpi.jtl", {}, targets)


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        (["fork", "cluster"], [0, 1]),
        (["cluster", "fork"], [1, 0]),
        (["cluster"], [1]),
        ([None], [0]),
        (["fork", "fork", None, "cluster"], [0, 2, 3, 1]),
    ],
)
def test_a_mode_has_the_same_colour_on_every_page(modes, expected) -> None:
    executions = [planned(f"execution {at}", mode) for at, mode in enumerate(modes)]
    assert colours(executions) == expected


def test_more_executions_than_colours_are_all_drawn() -> None:
    assert len(colours([planned(str(at), None) for at in range(20)])) == 20


def test_of_many_labels_the_busiest_have_charts_and_all_are_in_the_table(tmp_path) -> None:
    lines = run_folder.recorded().decode().splitlines()
    many = [line.replace(",nap,", f",item {at % 150},") for at, line in enumerate(lines)]
    run_folder.make(tmp_path, ("fail>0%",))
    run_folder.spoil(tmp_path, ("\n".join(many) + "\n").encode())
    page = write(tmp_path)
    text = text_of(page)
    assert "Of 150 labels the 12 busiest have a chart." in text
    assert all(f"item {at} " in text for at in range(150))
    assert sum(title.startswith("item") for title in charts_of(page)) == 12


@pytest.mark.parametrize("name", ["../../etc", "a/b", "'\"<b>", "\u202egnp.exe", "", "x" * 500])
def test_an_execution_may_have_any_name(tmp_path, name: str) -> None:
    run_folder.make(tmp_path, name=name)
    html = write(tmp_path).read_text()
    assert "<b>" not in html
    assert "\u202e" not in html
    assert "All 2 criteria hold." in html


def test_what_is_at_hand_already_is_not_read_again(tmp_path) -> None:
    two_modes(tmp_path)
    known = judged(tmp_path)
    expected = write(tmp_path).read_text()
    assert write(tmp_path, known).read_text() == expected


@pytest.mark.needs("chromium")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 390)])
def test_a_browser_shows_it_from_disk_without_an_error_or_a_request(
    scheme: str, width: int, tmp_path: Path
) -> None:
    path = write(two_modes(tmp_path, *LATE))
    size = ("--viewport", f"{width}x900", "--colour-scheme", scheme)
    seen = pages.look(path, "--offline", "--full-page", *size)
    assert pages.problems(seen) == []
    assert seen["requests"] == [path.as_uri()]
    assert seen["tooWide"] == 0
    assert seen["drawnAfter"] > 0
    charts = charts_of(path)
    assert len(seen["colours"]) == len(charts) > 9
    for chart, found in zip(charts.values(), seen["colours"], strict=True):
        # Both modes sent the same, so that the one which is drawn last may cover the other.
        assert drawn(found, PALETTE[scheme][1]) > 50, chart["title"]


@pytest.mark.needs("chromium")
def test_a_label_that_is_a_script_stays_text_in_a_browser(tmp_path: Path) -> None:
    run_folder.make(tmp_path, ("fail>0%",), name=ATTACK)
    jtl = run_folder.recorded().replace(b",nap,", f",{ATTACK},".encode())
    run_folder.spoil(tmp_path, jtl)
    seen = pages.look(write(tmp_path), "--offline")
    assert pages.problems(seen) == []
    assert seen["text"].count(ATTACK) > 5


@pytest.mark.needs("chromium")
def test_charts_over_time_are_read_and_zoomed_together_by_keyboard(tmp_path: Path) -> None:
    path = write(two_modes(tmp_path))
    throughput = list(charts_of(path)).index("Throughput")
    plot = f"[data-chart='{throughput}']"
    press = [f"ArrowRight@{plot}"] * 3
    options = [word for each in press for word in ("--press", each)]
    plain, used = pages.look(path), pages.look(path, *options)
    assert re.search(r"0:02: fork sent [\d.]+ \(n \d+\), fork intended", used["text"])
    zoomed = pages.look(path, *options, "--press", f"+@{plot}")
    for number in (throughput, throughput + 1):
        assert zoomed["colours"][number] != plain["colours"][number]


def test_the_page_of_two_modes_has_every_section(tmp_path) -> None:
    known = judged(two_modes(tmp_path, *LATE))
    ids = re.findall(r'<section id="(\w+)"', to_html(tmp_path, known))
    assert ids == ["criteria", "broken", "time", "spread", "machines", "environment"]


def test_each_workers_own_count_of_requests_is_drawn_as_a_rate(tmp_path) -> None:
    chart = charts_of(write(two_modes(tmp_path)))["Requests answered"]
    assert [each["label"] for each in chart["series"]] == ["fork 0", "cluster 0", "cluster 1"]
    for each in chart["series"]:
        rates = [value for value in each["y"] if value is not None]
        assert set(rates) == {15}


def test_a_worker_that_died_is_named_and_marked_on_every_chart_over_time(tmp_path) -> None:
    two_modes(tmp_path)
    path = tmp_path / "workers.jsonl"
    looks = [json.loads(line) for line in path.read_text().splitlines()]
    for look in looks:
        if (look["app"], look["worker"]) == ("cluster", 1) and look["time"] >= 1795223305000:
            look |= {"pid": 99, "restarts": 1}
    path.write_text("".join(json.dumps(look) + "\n" for look in looks))
    page = write(tmp_path)
    assert "cluster: worker 1 (pid 71) died and was started again" in text_of(page)
    timed = [chart for chart in charts_of(page).values() if chart["sync"]]
    assert len(timed) > 6
    for chart in timed:
        spans = {span["label"]: span["kind"] for span in chart["spans"]}
        assert spans["cluster: worker 1 missing"] == "outage"
        assert spans["warm-up"] == "uncounted"


def test_a_reload_is_marked_and_told(tmp_path) -> None:
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
