"""Rows and effects to what a README shows."""

import re
from dataclasses import replace

import pytest

from certification.conditions import Condition
from certification.effects import added, effects
from certification.rows import live_rows, resampled_row
from certification.table import Rows, to_markdown
from support.certified import (
    ENVIRONMENT,
    LOOKS,
    by_name,
    finding,
    finished,
    runs_of,
    steady,
    tables,
)
from tollgate.compare.estimates import percentile_ratio
from tollgate.compare.model import FAIL, PASS, GateSettings

AA = Condition("aa")
SETTINGS = GateSettings(budget_s=240.0)


def clock(handler, injected):
    return {"requests": 40, "handler": handler, "work": handler, "injected": injected}


def test_the_servers_clock_tells_what_was_added_and_which_share_of_the_answer_that_is():
    """A label that mostly waits gets hardly slower by more work."""
    probes = [{"sum": clock(10.0, 0.4), "search": clock(60.0, 0.03)}, {"sum": clock(14.0, 0.8)}]
    runs = [finished(number, "work-5", clock=it) for number, it in enumerate(probes, 1)]
    found = added(runs, "sum")
    assert (found.ms, found.share) == (pytest.approx(0.6), pytest.approx(0.05))
    assert added(runs, "search").share == pytest.approx(0.0005)
    assert added(runs, "kittens") is None
    assert added([finished(1, clock={"sum": clock(0.0, 0.0)})], "sum") is None


def test_the_effect_over_all_runs_holds_the_truth_in_its_interval():
    samples = runs_of(1.08, 6)
    runs = [finished(n, "work-10") for n in range(1, 7)]
    (found,) = effects(Condition("work", 10), runs, samples, seed=1)
    p50 = found.changes["p50"]
    assert list(found.changes) == ["p50", "p95"]
    assert p50.low < 0.08 < p50.high < p50.low + 0.04
    assert p50.share == pytest.approx(0.08, abs=0.015)
    (few,) = effects(Condition("work", 10), runs[:3], samples[:3], seed=1)
    assert few.changes["p50"].low is None


def test_what_whole_milliseconds_hide_is_what_the_gate_allows_for():
    (blocks,) = made = runs_of(1.05, 1)[0]
    (found,) = effects(Condition("work", 5), [finished(1)], [made], seed=1)
    for metric, change in found.changes.items():
        assert change.hidden == pytest.approx(percentile_ratio(blocks, metric).coarse, rel=0.1)
    assert 0 < found.changes["p50"].hidden < 0.05


def test_long_runs_count_in_an_effect_by_their_seconds_and_not_by_the_run():
    samples = [steady(50, 60, seconds=20), steady(50, 50, seconds=200)]
    (found,) = effects(Condition("work", 5), [finished(1), finished(2)], samples, seed=1)
    assert found.changes["p50"].share == pytest.approx(0.0, abs=0.02)


def test_the_tables_say_which_runs_are_live_and_which_are_resampled():
    made = runs_of(1.0, 4)
    neighbour = {"burns": "a core", "cpu_s": 45.0, "seconds": 90.0}
    environment = {**ENVIRONMENT, "commit": "0" * 40 + "-dirty"}
    runs = [
        finished(1),
        finished(2, "aa+noise", neighbour=neighbour),
        finished(3, began="2026-11-20T23:00:00+00:00", environment=environment),
        finished(4),
    ]
    resampled = resampled_row(AA, made * 3, SETTINGS, LOOKS, 10, 1)
    live = live_rows(runs, by_name(runs, made), SETTINGS)
    rows = Rows(live, [resampled], effects(AA, runs, made, seed=1))
    shown, method = tables(to_markdown(runs, {"": rows}, ["Left out: 1 run."]))
    gate, simpler, resampled, effect = shown.values()
    assert list(shown) == [
        "The gate, live runs",
        "FAIL of two simpler gates, live runs",
        "The gate, resampled runs",
        "How much slower head really was",
    ]
    none, whole = "0 of 3 (0 to 70.8 %)", "3 of 3 (29.2 to 100 %)"
    assert f"| nothing (A/A) | none | {none} | {whole} | - | - | 60 s | 0.00 % |" in gate
    assert "| nothing (A/A) | noisy | 0 of 1 " in gate
    assert f"| none | {none} | " in simpler
    assert "| 12 pairs of processes, 855 s |" in resampled
    assert "| nothing (A/A) | none | search | 2.00 ms: 4.0 % | " in effect
    assert "4 live runs, 2026-11-20 to 2026-11-21, " in method
    assert "The neighbour burns a core: 50% of a core over all." in method
    assert "Machine of 4 runs: Some CPU, 2 of 2 cores, 8 GiB" in method
    assert "commit 1a2b3c4d5e6f; 000000000000-dirty." in method
    assert method.endswith("Left out: 1 run.\n")
    for table in shown.values():
        assert len({line.count("|") for line in table.split("\n")}) == 1
        assert table.split("\n")[0].count("|") <= 9
    assert re.search(r"\| \d\.\d %, \d\.\d % \|$", effect, re.MULTILINE)


def test_a_label_that_hardly_got_slower_is_not_shown_as_one_that_was_not_found():
    """5 % more work of an answer that mostly waits is nothing to be found."""
    samples = [(replace(it, label="sum"), it) for (it,) in runs_of(1.0, 4)]
    findings = [finding(FAIL, "p50", "sum"), finding(PASS, "p50", "search")]
    probe = {"sum": clock(10.0, 0.5), "search": clock(60.0, 0.06)}
    condition = Condition("work", 5)
    runs = [finished(n, "work-5", FAIL, findings=findings, clock=probe) for n in range(1, 5)]
    resampled = resampled_row(condition, samples * 3, SETTINGS, LOOKS, 4, 1)
    found = effects(condition, runs, samples, seed=1)
    rows = Rows(live_rows(runs, {}, SETTINGS), [resampled], found)
    shown, _ = tables(to_markdown(runs, {"": rows}, []))
    lines = shown["Found in time"].split("\n")
    assert lines[0].endswith(
        "| typical FAIL within 300 s | p50 FAIL within 120 s | p95 FAIL within 600 s "
        "| cpu FAIL within 180 s |"
    )
    always, never = "4 of 4 (39.8 to 100 %)", "0 of 4 (0 to 60.2 %)"
    assert lines[2] == f"| 5 % work | none | sum | live | {never} | {always} | {never} | - |"
    assert [line.split(" | ")[2:4] for line in lines[2:]] == [["sum", "live"], ["sum", "resampled"]]
    # What became of it is told all the same: its answers wait for those that got slower.
    sums, searches = shown["How much slower head really was"].split("\n")[2:]
    assert sums.startswith("| 5 % work | none | sum | 0.50 ms: 5.0 % | ")
    assert searches.startswith("| 5 % work | none | search | 0.06 ms: 0.1 % | ")


def test_a_run_of_which_nobody_knows_the_machine_does_not_hide_that_of_the_others():
    runs = [finished(1), finished(2, verdict="INCONCLUSIVE", environment={}, exit_code=None)]
    text = to_markdown(runs, {"": Rows(live_rows(runs, {}, SETTINGS))}, [])
    assert "2 live runs" in text
    assert "Machine of 1 runs: Some CPU, 2 of 2 cores, 8 GiB, Linux 6 x86_64." in text


def test_without_enough_runs_there_is_no_resampled_table():
    runs = [finished(1)]
    shown, _ = tables(to_markdown(runs, {"": Rows(live_rows(runs, {}, SETTINGS))}, []))
    assert list(shown) == ["The gate, live runs", "FAIL of two simpler gates, live runs"]


def test_each_machine_has_tables_of_its_own_and_what_they_rest_on_is_said_once():
    runs = [finished(1), finished(2)]
    rows = {name: Rows(live_rows(runs[at : at + 1], {}, SETTINGS)) for at, name in enumerate("AB")}
    text = to_markdown(runs, rows, [])
    begins = [text.index(it) for it in ("### A\n", "### B\n", "2 live runs")]
    assert begins == sorted(begins)
    assert text.count("**The gate, live runs**") == 2
    assert text.count("| nothing (A/A) | none | 0 of 1 ") == 4
    assert "###" not in to_markdown(runs, {"A": rows["A"]}, [])
