"""Only comparable runs stand on one line, those of an earlier load on a line of their own."""

from dataclasses import replace

import pytest

from support import histories, listed_runs
from support.listed_runs import criterion
from tollgate.history import trends as module
from tollgate.history.listed import read
from tollgate.history.trends import NEWEST, SHOWN, trends

FIGURES = {"fork": [criterion("sum", 20.0)]}


def found(folder):
    return trends(read(folder).runs)


def lengths(folder):
    return [len(it.runs) for it in found(folder)]


def test_runs_of_another_load_are_a_trend_of_their_own(tmp_path):
    for at in range(5):
        listed_runs.make(tmp_path, at, FIGURES, setup="ab"[at % 2])
    assert lengths(tmp_path) == [3, 2]
    newest, other = found(tmp_path)
    assert [it.name for it in newest.runs] == [it.name for it in read(tmp_path).runs[::-2]]
    assert other.runs[-1].started < newest.runs[-1].started


def test_one_run_is_no_trend_and_a_copy_of_it_makes_none(tmp_path):
    run = listed_runs.make(tmp_path / "reports", 0, FIGURES)
    (tmp_path / "archive").mkdir()
    run.rename(tmp_path / "archive" / run.name)
    for name in ("once", "twice"):
        (tmp_path / "reports" / name).symlink_to(tmp_path / "archive" / run.name)
    assert len(read(tmp_path / "reports").runs) == 2
    assert found(tmp_path / "reports") == []


def test_executions_of_one_run_are_one_trend(tmp_path):
    for at in range(2):
        listed_runs.make(tmp_path, at, FIGURES | {"cluster": FIGURES["fork"]})
    (trend,) = found(tmp_path)
    assert [it.execution.name for it in trend.lines] == ["fork", "cluster"]


def test_broken_and_interrupted_runs_and_those_without_a_record_are_no_points(tmp_path):
    listed_runs.series(tmp_path, [20, 21, 22])
    listed_runs.make(tmp_path, 3, FIGURES, verdict="INVALID")
    (listed_runs.make(tmp_path, 4, FIGURES) / "history.jsonl").unlink()
    assert lengths(tmp_path) == [3]
    assert len(read(tmp_path).runs) == 5


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{oops", "history.jsonl:1 is no record of a run"),
        ("\n", "history.jsonl holds no record"),
        (histories.line(histories.record(1)), "is not of the run beside it"),
    ],
)
def test_a_broken_record_keeps_its_run_out_of_the_trend_and_is_told(content, problem, tmp_path):
    listed_runs.series(tmp_path, [20, 21, 22])
    broken = listed_runs.make(tmp_path, 3, FIGURES)
    (broken / "history.jsonl").write_text(content)
    assert lengths(tmp_path) == [3]
    newest, *others = read(tmp_path).runs
    assert problem in newest.problem
    assert {it.problem for it in others} == {""}


def test_a_limit_may_be_moved_and_the_line_goes_on_with_the_newest(tmp_path):
    for at, limit in enumerate([250.0, 100.0]):
        listed_runs.make(tmp_path, at, {"fork": [criterion("sum", 20.0, limit=limit)]})
    (line,) = found(tmp_path)[0].lines
    assert [it.limit for it in line.series.measures] == [250.0, 100.0]


def test_a_figure_that_a_run_lacks_leaves_a_gap(tmp_path):
    for at, names in enumerate(["sum", "pi", "sum"]):
        listed_runs.make(tmp_path, at, {"fork": [criterion(names, 20.0)]})
    (line,) = found(tmp_path)[0].lines
    assert (line.name, line.at) == ("p95 of sum", (0, 2))


def test_an_execution_that_a_run_lacks_leaves_a_gap_in_a_trend_of_several(tmp_path):
    for at, names in enumerate([("fork", "cluster"), ("cluster",), ("fork", "cluster")]):
        listed_runs.make(tmp_path, at, dict.fromkeys(names, FIGURES["fork"]))
    (trend,) = found(tmp_path)
    assert {it.execution.name: it.at for it in trend.lines} == {
        "fork": (0, 2),
        "cluster": (0, 1, 2),
    }


def test_a_trend_looks_back_on_so_many_runs_and_no_further(tmp_path):
    listed_runs.series(tmp_path, range(1, NEWEST + 6))
    (trend,) = found(tmp_path)
    assert len(trend.runs) == NEWEST
    assert trend.lines[0].series.values[-1] == NEWEST + 5


def test_comparisons_with_one_anchor_are_a_trend_of_their_changes(tmp_path):
    runs = listed_runs.series(tmp_path, [20.0, 21.0, 22.0], kind="compare")
    later = replace(histories.ANCHOR, description="9f8e7d6 (v1.3)", revision="9" * 40)
    for at, anchor in enumerate([histories.ANCHOR, later, later]):
        listed_runs.keep(
            runs[at], histories.record(at, histories.measure("sum", "p50", 0.01), anchor=anchor)
        )
    (trend,) = found(tmp_path)
    assert trend.executions[0].anchor == later
    assert [it.series.unit for it in trend.lines] == ["ratio"]


def test_plans_that_nobody_runs_any_more_do_not_hide_what_changes_now(tmp_path, monkeypatch):
    for at in range(2 * (SHOWN + 2)):
        figures = {"fork": [criterion("sum", 20.0 + at % 3)]}
        listed_runs.make(tmp_path, at, figures, kind=f"kind-{at // 2}")
    looked_at = []
    monkeypatch.setattr(module, "with_steps", lambda each, _: looked_at.append(each.kind) or each)
    assert len(found(tmp_path)) == SHOWN + 2
    assert looked_at == [f"kind-{at}" for at in range(SHOWN + 1, 1, -1)]


def test_a_line_is_short_where_no_step_can_be_found_among_so_few_runs(tmp_path):
    for at in range(12):
        figures = [criterion(f"label {name}", 20.0 + (at * 7 + name) % 11) for name in range(30)]
        listed_runs.make(tmp_path / "many", at, {"fork": figures})
    listed_runs.series(tmp_path / "one", [20.0 + at * 7 % 11 for at in range(13)])
    many, one = (found(tmp_path / name)[0].lines for name in ("many", "one"))
    assert {(it.is_short, it.execution.needed) for it in many} == {(True, 19)}
    assert [(it.is_short, it.execution.needed) for it in one] == [(False, 13)]
