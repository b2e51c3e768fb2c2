"""The service `live`: from a terminal to a page, and to the page of the run."""

import asyncio
import json
import os
import re
import sys
import threading
from contextlib import suppress

import aiohttp
import pytest
from bzt import TaurusConfigError

from support.archived import unpacked
from support.onlooked_run import OnlookedRun
from tollgate.live.state import LiveSamples
from tollgate.taurus.live import Live, is_wanted

ADDRESS = re.compile(r"^Live: (http://127\.0\.0\.1:\d+/[\w-]+/)\r?$", re.MULTILINE)


class Terminal:
    """A real one. stream: for standard output."""

    def __init__(self, monkeypatch):
        self._monkeypatch = monkeypatch
        self.ours, theirs = os.openpty()
        os.set_blocking(self.ours, False)
        self.stream = os.fdopen(theirs, "w")

    def begin(self, run):
        """Begin a run at it; returns what it shows."""
        with self._monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", self.stream)
            run.begin()
        with suppress(BlockingIOError):  # nothing was printed
            return os.read(self.ours, 1 << 16).decode()
        return ""


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("LIVE", raising=False)
    made = Terminal(monkeypatch)
    yield made
    made.stream.close()
    os.close(made.ours)


class Viewer(threading.Thread):
    """Has the page open. snapshots: what came. page: what its address had at the end."""

    def __init__(self, url):
        super().__init__()
        self.url, self.snapshots, self.page = url, [], ""
        self.is_there = threading.Event()
        self.start()
        assert self.is_there.wait(30)

    def run(self):
        asyncio.run(self._watch())

    async def _watch(self):
        async with aiohttp.ClientSession(read_bufsize=1 << 20) as client:
            async with client.get(f"{self.url}events") as answer:
                async for line in answer.content:
                    if line.startswith(b"data: "):
                        self.snapshots.append(json.loads(line[len(b"data: ") :]))
                        self.is_there.set()
            async with client.get(self.url) as answer:
                self.page = await answer.text()


def tables_of(snapshot, name):
    (section,) = (it for it in snapshot["sections"] if it["id"] == name)
    return section["tables"]


def test_at_a_terminal_a_run_shows_what_it_measures_and_at_the_end_its_own_page(tmp_path, terminal):
    run = OnlookedRun(unpacked("check-pass", tmp_path), Live())
    (url,) = ADDRESS.findall(terminal.begin(run))
    viewer = Viewer(url)
    run.go()
    viewer.join(30)
    last = viewer.snapshots[-1]
    assert (last["answer"], last["isOver"], last["hasPage"]) == ("PASS", True, True)
    assert viewer.page == (tmp_path / "index.html").read_text()
    sent = [sum(map(count_of, tables_of(last, "requests")[place]["rows"])) for place in (0, 1)]
    judged = run.known.judged.run.executions
    for place, execution in enumerate(judged):
        counts = [it.service.window(*execution.window).total for it in execution.labels.values()]
        assert sent[place] == sum(counts)
    assert [len(it["rows"]) for it in tables_of(last, "criteria")]
    assert tables_of(last, "workers")[0]["rows"]
    assert "live" not in {it.name for it in threading.enumerate()}


def count_of(row):
    return int(row[1]["text"].replace(",", ""))


def test_the_decision_of_a_look_ends_what_is_counted(tmp_path, terminal):
    run = OnlookedRun(unpacked("looks-pass", tmp_path), Live())
    viewer = Viewer(ADDRESS.findall(terminal.begin(run))[0])
    run.go()
    viewer.join(30)
    rows = tables_of(viewer.snapshots[-1], "requests")[0]["rows"]
    execution = run.known.judged.run.executions[0]
    counts = [it.service.window(*execution.window).total for it in execution.labels.values()]
    assert sum(map(count_of, rows)) == sum(counts)


def test_a_run_that_nobody_watches_ends_as_any_other(tmp_path, terminal):
    run = OnlookedRun(unpacked("plan", tmp_path), Live())
    assert ADDRESS.search(terminal.begin(run))
    run.go()
    assert run.service.server is None
    assert run.known.judged.verdict.verdict == "PASS"


def test_a_page_that_breaks_ends_alone(tmp_path, terminal, monkeypatch, caplog):
    monkeypatch.setattr(LiveSamples, "by_now", lambda _: 1 / 0)
    run = OnlookedRun(unpacked("plan", tmp_path), Live())
    assert ADDRESS.search(terminal.begin(run))
    run.go()
    assert run.known.judged.verdict.verdict == "PASS"
    said = [it.getMessage() for it in caplog.records if it.levelname == "WARNING"]
    assert len([it for it in said if it.startswith("live: division by zero")]) == 1


def nothing_is_open(run):
    assert run.service.server is None
    assert run.known.samples == {}
    assert "live" not in {it.name for it in threading.enumerate()}


def test_without_a_terminal_nothing_is_opened(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("CI", raising=False)
    run = OnlookedRun(unpacked("plan", tmp_path), Live()).begin()
    nothing_is_open(run)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("given", [{"LIVE": "off"}, {"CI": "true"}, {"CI": "1"}])
def test_in_ci_and_switched_off_nothing_is_opened_on_a_terminal_either(
    tmp_path, monkeypatch, terminal, given
):
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    run = OnlookedRun(unpacked("plan", tmp_path), Live())
    assert terminal.begin(run) == ""
    nothing_is_open(run)


@pytest.mark.parametrize("given", [{}, {"CI": "false"}, {"CI": ""}, {"LIVE": ""}])
def test_a_terminal_that_is_no_ci_has_a_page(given):
    assert is_wanted(given, on_terminal=True)
    assert not is_wanted(given, on_terminal=False)


def test_another_value_of_the_variable_is_refused_in_a_line():
    with pytest.raises(TaurusConfigError) as refused:
        is_wanted({"LIVE": "maybe"}, on_terminal=True)
    assert "LIVE is 'maybe': write off" in str(refused.value)
    assert "\n" not in str(refused.value)
