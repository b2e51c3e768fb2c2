"""The live page in Chromium: what a run sends, as text, through reloads and to its end."""

import json
import subprocess
import time
from pathlib import Path

import pytest

import support
from support import run_pages
from support.archived import unpacked
from support.growing_jtl import GrowingRun
from tollgate.live import view
from tollgate.live.server import LiveServer
from tollgate.live.state import LiveSamples
from tollgate.live.view import HEADINGS, Snapshot
from tollgate.report.pages.live.page import to_html
from tollgate.report.pages.run import write as run_page
from tollgate.report.table import CODE, Column, Table, TableCell, numeric

SCRIPT = Path(support.__file__).with_name("browser") / "watch-page.js"
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>"


class Window:
    """A browser's, with the page open."""

    def __init__(self, url, width=1280, scheme="light"):
        pipe = subprocess.PIPE
        command = ["node", SCRIPT, url, str(width), scheme]
        given = {"stdin": pipe, "stdout": pipe, "text": True, "env": support.environment()}
        self.process = subprocess.Popen(command, **given)

    def tell(self, *words):
        self.process.stdin.write(f"{' '.join(words)}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.communicate(timeout=support.PATIENCE)


@pytest.fixture
def server():
    made = LiveServer(*to_html("check", "2026-11-26 06:00", HEADINGS))
    made.start()
    yield made
    made.close()


@pytest.fixture
def window(server):
    opened = []

    def open_(**how):
        opened.append(Window(server.url, **how))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


def assert_accessible(page):
    found = page.tell("axe")
    assert found["violations"] == []
    assert found["passes"] > 5


def snapshot(sentence, rows, **more):
    columns = [Column("label", CODE), *numeric("requests")]
    table = Table("fork, since the warm-up", columns, rows, "cards")
    return Snapshot(sentence, sections={view.REQUESTS: [table]}, **more).to_json()


def test_a_label_that_is_markup_is_text_and_the_focus_stays_where_it_was(server, window):
    page = window()
    server.publish(snapshot("one", [(TableCell(EVIL), "1")]))
    page.tell("until", "one")
    page.tell("focus", "[data-live=requests] .scrolls")
    server.publish(snapshot("two", [(TableCell(EVIL), "2"), ("sum", "3")]))
    page.tell("until", "two")
    seen = page.tell("look")
    assert EVIL in seen["text"]
    assert (seen["markup"], seen["problems"], seen["stale"]) == (0, [], False)
    assert seen["focused"] == "fork, since the warm-up"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_survives_a_reload_and_fits_a_narrow_screen(server, window, scheme):
    page = window(width=400, scheme=scheme)
    server.publish(snapshot("one", [("sum", "1")]))
    page.tell("until", "one")
    page.tell("reload")
    page.tell("until", "one")
    assert page.tell("look")["tooWide"] == 0
    assert_accessible(page)


def test_it_shows_that_it_lost_the_run_and_keeps_what_it_had(server, window):
    page = window()
    server.publish(snapshot("one", [("sum", "1")]))
    page.tell("until", "one")
    server.close()
    page.tell("until", "No connection to the run since")
    seen = page.tell("look")
    assert seen["stale"]
    assert "sum" in seen["text"]


def test_it_becomes_the_page_of_the_run(server, window, tmp_path):
    folder = run_pages.two_modes(tmp_path)
    report = run_page.write(folder)
    page = window()
    server.publish(snapshot("one", [("sum", "1")]))
    page.tell("until", "one")
    server.end(snapshot("over", [("sum", "1")], is_over=True, has_page=True), report)
    page.tell("until", "Environment and files")
    seen = page.tell("look")
    assert seen["problems"] == []
    assert seen["title"] in report.read_text()
    assert_accessible(page)


def test_figures_at_the_end_are_on_the_page(server, window, tmp_path):
    run = GrowingRun(unpacked("check-pass", tmp_path))
    of = run.of[0]
    live = LiveSamples(of.plan, of.planned.warmup, of.planned.measured)
    run.samples[0].listen(live.take)
    page = window()
    for _ in run.grow(6):
        if live.newest_ms is not None:
            sections = dict(view.execution("fork", live))
            server.publish(Snapshot("running", sections=sections).to_json())
    live.end(ran_out=True)
    sections = dict(view.execution("fork", live))
    server.publish(Snapshot("all is there", sections=sections).to_json())
    page.tell("until", "all is there")
    text = page.tell("look")["text"]
    (table,) = sections[view.REQUESTS]
    for row in table.rows:
        for cell in row[1:]:
            assert str(cell) in text
    assert_accessible(page)


@pytest.mark.long
def test_ten_minutes_of_snapshots_do_not_grow_its_memory(server, window):
    page = window()
    heaps = []
    for number in range(300):  # one every two seconds of ten minutes
        rows = [(f"label {at}", f"{number * 1000 + at:,}") for at in range(30)]
        server.publish(snapshot(f"snapshot {number:03}", rows))
        if number % 100 == 50:
            page.tell("until", f"snapshot {number:03}")
            heaps.append(page.tell("look")["heap"])
        time.sleep(0.02)
    page.tell("until", "snapshot 299")
    heaps.append(page.tell("look")["heap"])
    assert heaps[-1] < heaps[0] + 500_000
