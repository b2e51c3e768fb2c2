"""The page of a run: what it says, whatever became of the run, and what a browser makes of it."""

import html
import re
from dataclasses import replace

import pytest

from support import pages, run_folder
from support.run_pages import charts_of, text_of, two_modes
from tollgate.gather.judged import judged
from tollgate.record import manifest
from tollgate.report.pages.run.intended import intended
from tollgate.report.pages.run.write import to_html, write
from tollgate.report.text import fail_bound, unadjusted

ATTACK = "<script>alert(1)</script>"

LATE = ("p95 of nap>45ms", "p50 of nap>1s", "fail of nap>0%")


def test_it_says_the_verdict_first_and_then_every_criterion_with_limit_interval_and_n(tmp_path):
    text = text_of(write(two_modes(tmp_path)))
    assert text.index("All 4 criteria hold.") < text.index(" Criteria ")
    assert "610 requests in fork and cluster, warm-up included; none failed." in text
    assert "Violated and undecided" not in text
    for result in (it for each in judged(tmp_path).verdict.executions for it in each.criteria):
        assert result.criterion in text
        assert f"{result.samples:,}" in text


def test_a_violated_criterion_is_drawn_and_the_bound_that_decides_it_is_behind_a_click(tmp_path):
    path = write(two_modes(tmp_path, *LATE))
    assert "2 of 6 criteria do not hold; the fault is the service's." in text_of(path)
    chart = charts_of(path)["p95 of nap>45ms"]
    assert (chart["limit"], chart["tone"]) == (45, "wrong")
    assert {each["label"] for each in chart["series"]} == {"fork", "cluster"}
    assert max(value or 0 for value in chart["series"][0]["y"]) > 45
    page, known = path.read_text(), judged(tmp_path)
    folds = re.findall("<details>.*?</details>", page, re.S)
    (shown,) = (it for it in folds if "decides FAIL" in it[:100])
    cells = [html.unescape(it) for it in re.findall("<t[dh][^>]*>([^<]*)</t", shown)]
    result = known.verdict.executions[0].criteria[0]
    at = cells.index(f"fork: {result.criterion}")
    assert cells[at + 1 : at + 3] == [fail_bound(result), unadjusted(result)]
    ids = re.findall(r'<section id="(\w+)"', to_html(tmp_path, known))
    assert ids == ["criteria", "broken", "time", "spread", "slowest", "machines", "environment"]


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


def test_a_generator_that_died_is_seen_by_what_it_did_not_send(tmp_path):
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


def test_what_came_after_a_decision_or_an_interruption_was_not_intended(tmp_path):
    known = judged(two_modes(tmp_path))
    planned, execution = known.record.executions[0], known.run.executions[0]
    decided = replace(execution, comparison=object(), measured_s=3.0)
    assert intended(tmp_path, planned, decided).seconds.max() == 4
    cut = replace(execution, facts=replace(execution.facts, interrupted=True, ended_s=4.0))
    assert intended(tmp_path, planned, cut).seconds.max() < 4


def test_lint_is_told_and_tables_below_charts_tell_the_warm_up_from_what_is_judged(tmp_path):
    noticed = "sampler 'nap' has no response timeout"
    run_folder.make(tmp_path, lint=[noticed])
    path = write(tmp_path)
    assert f"What was noticed of the plan nap-alone: {noticed}" in text_of(path)
    rows = re.findall(r">(\d+:\d+(?:, warm-up)?)<", path.read_text())
    assert {"0:00, warm-up", "0:02"} <= set(rows)
    assert "0:00" not in rows
    assert "0:02, warm-up" not in rows


NO_SAMPLES = {
    b"": "the file is empty",
    run_folder.recorded().split(b"\n")[0] + b"\n": "no samples",
    b"<?xml version='1.0'?>\n": "only CSV is read",
}


@pytest.mark.parametrize(("jtl", "words"), NO_SAMPLES.items(), ids=NO_SAMPLES.values())
def test_a_run_without_samples_has_a_page_with_the_reason_on_top(tmp_path, jtl, words):
    run_folder.make(tmp_path)
    run_folder.spoil(tmp_path, jtl)
    text = text_of(write(tmp_path))
    assert text.index("INVALID") < text.index("The measurement is broken") < text.index(words)
    assert "No request was recorded." in text


def test_a_run_that_was_interrupted_before_it_began_has_a_page(tmp_path):
    started = "2026-11-20T23:08:20+00:00"
    record = manifest.Manifest("check", started, [], {}, {}, [], interrupted=True)
    manifest.write(record, tmp_path)
    text = text_of(write(tmp_path))
    assert "interrupted" in text
    assert "No criterion was stated" in text


def test_samples_that_are_not_the_runs_own_give_no_page(tmp_path):
    run_folder.make(tmp_path)
    run_folder.spoil(tmp_path, run_folder.recorded() + b"\n", sealed=True)
    with pytest.raises(manifest.ManifestError, match="has changed since the run ended"):
        write(tmp_path)


def test_of_many_labels_the_busiest_have_charts_and_all_are_in_the_table(tmp_path):
    lines = run_folder.recorded().decode().splitlines()
    many = [line.replace(",nap,", f",item {at % 150},") for at, line in enumerate(lines)]
    run_folder.make(tmp_path, ("fail>0%",))
    run_folder.spoil(tmp_path, ("\n".join(many) + "\n").encode())
    page = write(tmp_path)
    text = text_of(page)
    assert "Of 150 labels the 12 busiest have charts." in text
    assert all(f"item {at} " in text for at in range(150))
    assert sum(title.startswith("item") for title in charts_of(page)) == 2 * 12


@pytest.mark.parametrize("name", ["../../etc", "a/b", "'\"<b>", "\u202egnp.exe", "", "x" * 500])
def test_an_execution_may_have_any_name(tmp_path, name):
    run_folder.make(tmp_path, name=name)
    html = write(tmp_path).read_text()
    assert "<b>" not in html
    assert "\u202e" not in html
    assert "All 2 criteria hold." in html


def test_what_is_at_hand_already_is_not_read_again(tmp_path):
    two_modes(tmp_path)
    known = judged(tmp_path)
    expected = write(tmp_path).read_text()
    assert write(tmp_path, known).read_text() == expected


@pytest.mark.needs("chromium")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 390)])
def test_a_browser_shows_it_from_disk_without_an_error_or_a_request(scheme, width, tmp_path):
    path = write(two_modes(tmp_path, *LATE))
    seen = pages.look_from_disk(path, width, scheme)
    assert seen["drawnAfter"] > 0
    charts = charts_of(path)
    assert len(seen["colours"]) == len(charts) > 9
    for chart, found in zip(charts.values(), seen["colours"], strict=True):
        # Both modes sent the same, so that the one which is drawn last may cover the other.
        assert pages.pixels(found, pages.PALETTE[scheme][1]) > 50, chart["title"]


@pytest.mark.needs("chromium")
def test_a_label_that_is_a_script_stays_text_in_a_browser(tmp_path):
    run_folder.make(tmp_path, ("fail>0%",), name=ATTACK)
    jtl = run_folder.recorded().replace(b",nap,", f",{ATTACK},".encode())
    run_folder.spoil(tmp_path, jtl)
    seen = pages.look(write(tmp_path), "--offline")
    assert pages.problems(seen) == []
    assert seen["text"].count(ATTACK) > 5


@pytest.mark.needs("chromium")
def test_charts_over_time_are_read_and_zoomed_together_by_keyboard(tmp_path):
    path = write(two_modes(tmp_path))
    throughput = list(charts_of(path)).index("Throughput")
    plot = f"[data-chart='{throughput}']"
    options = ("--press", f"ArrowRight@{plot}") * 3
    plain, used = pages.look(path), pages.look(path, *options)
    read = r"0:02\nfork sent: [\d.]+ requests/s \(n \d+\)\nfork intended: [\d.]+ requests/s\n"
    assert re.search(read, used["text"])
    # It stands in the chart that the pointer is in, and in no other.
    assert len(re.findall("fork sent:", used["text"])) == 1
    zoomed = pages.look(path, *options, "--press", f"+@{plot}")
    for number in (throughput, throughput + 1):
        assert zoomed["colours"][number] != plain["colours"][number]
