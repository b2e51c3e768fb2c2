"""Comparisons of which head is slower: what says so, and the function that made it so."""

import re
import signal

import pytest

import support
from e2e.comparing import CHEAP_SUMS, LIGHT, SHORT, assert_nothing_left

pytestmark = [pytest.mark.long, pytest.mark.alone]


def settings(*gate):
    every_10_s = ("first=10", "every=10")
    return [*(f"modules.compare.{each}" for each in (*gate, *every_10_s)), *LIGHT, SHORT[0]]


def test_twice_the_work_fails_by_the_label_that_gates_whatever_ends_the_profile(compare, project):
    gate = settings("gates=p50", "labels=sum", "effect=5%", "budget=400", "profile=true")
    run = compare(*gate, BASE="HEAD", HEAD_INJECT_WORK_PERCENT="100")
    run.until("Profiling base and head")
    support.wait_until((run.folder / "profile" / "schedule.json").exists, "the load is on")
    stood = (run.folder / "verdict.json").read_text()
    ended = run.signal(signal.SIGINT).end()
    assert (run.folder / "verdict.json").read_text() == stood
    assert ended.code == ended.verdict["exit_code"] == 3, ended.output
    assert f"\n{ended.verdict['verdict']}: " in ended.output
    assert "Traceback" not in ended.output
    number, change = r"[\d.]+", r"\+[\d.]+ %"
    line = (
        rf"FAIL compare: p50 of sum: head {number} ms against base {number} ms, {change} "
        rf"\(at least {change}, at most {change}\): worse beyond doubt"
    )
    assert re.fullmatch(line, ended.reasons())
    assert re.search(line, ended.output)
    compared = ended.execution["comparison"]
    assert (compared["injected"], compared["control"]) == ({"work_percent": 100.0}, False)
    [finding] = [it for it in compared["findings"] if it["gates"]]
    assert finding["metric"] == "p50"
    assert 0 < finding["interval"][0] < finding["interval"][1]
    assert "Head is worse than base: p50 of sum +" in ended.page
    assert not (ended.folder / "why.json").exists()
    assert_nothing_left(run, project)


AURORA = "app/targets/search/carriers/aurora.js"
SORTS_AGAIN = """const again = JSON.parse(raw).result.offers;
  for (let times = 0; times < 50000; times += 1) {
    again.sort((a, b) => (times % 2 ? 1 : -1) * (a.fare.amount < b.fare.amount ? -1 : 1));
  }
  return JSON.parse(raw)"""


def test_of_a_commit_that_sorts_again_and_again_the_function_that_does_is_named_first(
    compare, project
):
    text = (project.root / AURORA).read_text()
    project.commit(text.replace("return JSON.parse(raw)", SORTS_AGAIN, 1), AURORA)
    run = compare(*settings("gates=p50", "budget=200"), *CHEAP_SUMS, BASE="HEAD~1")
    try:
        ended = run.end()
        assert_nothing_left(run, project)
    finally:
        project.git("reset", "--quiet", "--hard", "HEAD~1")
    assert ended.code == 3, ended.output
    why = ended.json("why.json")
    assert (why["problem"], why["outcome"]) == ("", "computing")
    named = [it for it in why["functions"] if it["own"]["moved"] == "more"]
    assert ("toTickets", AURORA) in [(it["name"], it["file"]) for it in named]
    names = re.findall(r"^- `(.*)", (ended.folder / "verdict.md").read_text(), re.MULTILINE)
    assert names[0].startswith(f"toTickets ({AURORA}:")
