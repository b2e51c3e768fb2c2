"""What the live page shows of decisions and of workers, whatever the names are."""

import json
from dataclasses import replace

import pytest

from support.capacities import trial
from support.compare_findings import ALL_KINDS, SETTINGS
from support.judged import LABELS, on_label
from support.searching import record_of
from tollgate.compare.model import OPEN, Gate
from tollgate.judge.facts import JudgeSettings
from tollgate.judge.judgement import judge
from tollgate.live import view
from tollgate.live.view import HEADINGS, Snapshot


def rows_of(section):
    """Each row of the only table of a section, its cells by their headings."""
    sections = {view.CRITERIA: section}
    (shown,) = json.loads(Snapshot("now", sections=sections).to_json())["sections"]
    (table,) = shown["tables"]
    headings = [heading for heading, _ in table["columns"]]
    return [dict(zip(headings, row, strict=True)) for row in table["rows"]]


def badges(section):
    return [next(it["badge"] for it in row.values() if "badge" in it) for row in rows_of(section)]


@pytest.mark.parametrize("label", LABELS)
def test_no_name_becomes_markup_or_breaks_a_snapshot(label):
    (execution,) = judge(on_label(label), JudgeSettings()).executions
    section = view.criteria(label, execution.criteria, (), 30.0)
    sections = {view.CRITERIA: section, view.FAILURES: [label]}
    text = Snapshot(label, sections=sections).to_json()
    assert text.isascii()
    assert not {"<", ">", "&", "\n", "\r"} & set(text)
    json.loads(text)


def test_before_the_first_look_each_criterion_is_open():
    section = view.criteria("fork", (), ["p95 of sum>1s", "fail of sum>0%"], None)
    assert badges(section) == ["open", "open"]


def test_an_open_criterion_says_how_far_it_is():
    (execution,) = judge(on_label("sum"), JudgeSettings()).executions
    (result, *_) = execution.criteria
    known = {"verdict": "INCONCLUSIVE", "samples": 412, "samples_needed": 1648}
    changed = type(result)(**{**vars(result), **known})
    (row,) = rows_of(view.criteria("fork", [changed], (), 30.0))
    assert row["samples, of about"] == {"text": "412 of 1,648 (25 %)"}


def test_a_comparison_has_the_interval_of_each_finding():
    gate = Gate(SETTINGS, (60.0, 90.0), ALL_KINDS)
    rows = rows_of(view.comparison(gate))
    assert len(rows) == len(ALL_KINDS)
    failed = next(it for it in rows if it["metric"] == {"text": "p95"})
    assert failed["change"] == {"text": "+20.1 %"}
    assert failed["at least"] == {"text": "+17.0 %"}
    assert (failed["verdict"]["badge"], failed["verdict"]["tone"]) == ("FAIL", "bad")
    (line,) = view.comparison(Gate(SETTINGS))
    assert line == "The samples have not been looked at yet"


def test_an_open_finding_says_why_and_for_how_much_longer_it_will_be():
    open_ = replace(ALL_KINDS[0], verdict=OPEN, reason="cannot tell", more_s=90.0)
    (row,) = rows_of(view.comparison(Gate(SETTINGS, (60.0,), (open_,))))
    assert row["verdict"]["badge"] == "open"
    assert row["verdict"]["small"] == "cannot tell, about 90 s more"


def test_trials_stand_with_the_newest_first_and_what_they_kept():
    trials = [trial(50.0), trial(110.0, over=300, number=2), trial(70.0, number=3, sound=False)]
    _, *section = view.capacity("fork", "search 4", trials, record_of())
    assert badges(section) == ["not sound", "FAIL", "PASS"]
    assert [row["trial"]["text"] for row in rows_of(section)] == ["3", "2", "1"]


def test_a_worker_has_what_was_seen_of_it_and_a_dash_for_what_was_not():
    line = {"cpu": 12.5, "rss": 64 << 20, "restarts": 1, "loopDelayP50": 0.4}
    (row,) = rows_of(view.workers({("fork", 0): line}))
    assert row["RSS, MB"] == {"text": "64"}
    assert row["loop delay p95, ms"] == {"text": "-"}
    assert row["restarts"] == {"text": "1"}


def test_sections_stand_in_the_order_of_the_page():
    sections = {name: [name] for name in reversed(HEADINGS)}
    shown = json.loads(Snapshot("now", sections=sections).to_json())["sections"]
    assert [it["id"] for it in shown] == [*HEADINGS]
    assert [it["lines"] for it in shown] == [[name] for name in HEADINGS]
