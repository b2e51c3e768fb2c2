"""What the list of runs says of trends, and how it draws them."""

from dataclasses import replace

import pytest

from support import histories, listed_runs
from support.listed_runs import COMMIT, ENVIRONMENT, criterion
from tollgate.history.listed import read
from tollgate.history.trends import trends
from tollgate.report.pages.runs import texts
from tollgate.report.pages.runs.charts import charts

OLD, NEW = [20.0, 21.0] * 6, [40.0, 41.0] * 4


def found(folder):
    return trends(read(folder).runs)


def only(folder):
    """The only line of the newest trend, and its only step."""
    (line,) = found(folder)[0].lines
    (step,) = line.series.steps
    return line, step


def stepped(folder, *environments, **changes):
    """Runs of which the second half is slower, in environments that each begin at a run."""
    for at, value in enumerate(OLD + NEW):
        environment = [it for begin, it in environments if begin <= at][-1:] or [ENVIRONMENT]
        figures = {"fork": [criterion("sum", value, **changes)]}
        listed_runs.make(folder, at, figures, environment=environment[0])
    return only(folder)


def test_a_change_names_its_run_its_size_and_whether_it_is_for_the_worse(tmp_path):
    line, step = stepped(tmp_path)
    trend = found(tmp_path)[0]
    assert texts.first(trend, line, step) == read(tmp_path).runs[::-1][12]
    assert texts.moved(line.series, step) == "20.5 to 40.5 ms (+98 %)"
    assert texts.direction(line.series, step) == texts.WORSE


@pytest.mark.parametrize(
    ("condition", "which"), [(">", texts.WORSE), ("<", texts.BETTER), ("=", texts.MOVED)]
)
def test_which_way_is_worse_is_what_the_criterion_says(condition, which, tmp_path):
    line, step = stepped(tmp_path, condition=condition)
    assert texts.direction(line.series, step) == which


def test_a_record_that_does_not_say_what_fails_says_that_it_moved(tmp_path):
    line, step = stepped(tmp_path)
    measures = [replace(it, condition=None, limit=None) for it in line.series.measures]
    series = replace(line.series, measures=tuple(measures))
    assert (texts.direction(series, step), texts.limit(series)) == (texts.MOVED, "-")


def test_beside_a_change_stands_what_else_changed_there_and_no_more_than_is_known(tmp_path):
    commit, dirty = (ENVIRONMENT | {"commit": it} for it in ("f" * 40, f"{COMMIT}-dirty"))
    node = commit | {"versions": ENVIRONMENT["versions"] | {"node": "22.1.0"}}

    def what_else(name, *environments):
        return texts.what_else(*stepped(tmp_path / name, *environments))

    both = "commit 012345678 to fffffffff; node 20.20.2 to 22.1.0"
    assert what_else("at it", (12, node)) == both
    for name, begin in (("after it", 14), ("before", 10)):
        assert what_else(name, (begin, commit)) == (
            "a run or two from there: commit 012345678 to fffffffff"
        )
    assert what_else("long before", (5, node)).startswith("neither commit nor")
    assert what_else("same") == "neither commit nor versions, in the runs around it"
    assert "not known" in what_else("dirty", (0, dirty))


def test_the_limit_of_a_figure_is_one_by_which_the_run_can_fail(tmp_path):
    for at in range(2):
        both = [criterion("sum", 20.0), criterion("pi", 9.0, decides=False)]
        listed_runs.make(tmp_path, at, {"fork": both})
    limits = {it.name: texts.limit(it.series) for it in found(tmp_path)[0].lines}
    assert limits == {"p95 of sum": "> 250 ms", "p95 of pi": "-"}


def test_how_many_runs_it_takes_is_said(tmp_path):
    for at in range(12):
        figures = [criterion(f"label {name}", 20.0 + (at * 7 + name) % 11) for name in range(30)]
        listed_runs.make(tmp_path, at, {"fork": figures})
    lines = found(tmp_path)[0].lines
    assert {texts.unchanged(it) for it in lines} == {"too few runs to tell: 12 of 19"}
    assert texts.overview(found(tmp_path)) == (
        "Trends: too few comparable runs (19 are needed) to tell of 30."
    )


def test_an_execution_has_the_colour_of_its_name_in_every_chart(tmp_path):
    for at in range(12):
        varied, constant = criterion("sum", 20.0 + at % 3), criterion("pi", 9.0)
        fork = [varied, constant, criterion("search", 30.0 + at % 4)]
        cluster = [varied, criterion("pi", 9.0 + at % 3), criterion("search", 5.0)]
        listed_runs.make(tmp_path, at, {"cluster": cluster, "fork": fork})
    drawn = charts(found(tmp_path)[0])
    told_apart = {it.title: {each.label: each.colour for each in it.series} for it in drawn}
    assert told_apart == {
        "p95 of sum": {"cluster": 1, "fork": 0},
        "p95 of pi": {"cluster": 1},
        "p95 of search": {"fork": 0},
    }


def test_comparisons_are_shown_as_changes_against_their_anchor(tmp_path):
    changes = [0.001 * (at % 3) for at in range(20)] + [0.041 + 0.001 * (at % 3) for at in range(8)]
    for run, record in zip(
        listed_runs.series(tmp_path, changes, kind="compare"),
        histories.nights(changes),
        strict=True,
    ):
        listed_runs.keep(run, record)
    line, step = only(tmp_path)
    assert texts.moved(line.series, step) == "+0.1 % to +4.2 %"
    assert texts.direction(line.series, step) == texts.WORSE
    assert texts.limit(line.series) == "> +5.0 %"
    assert texts.newest(line.series) == ("+4.2 %", "+2.2 % to +6.2 %")
    assert texts.all_runs(line.series) == "0.0 % to +4.3 %"
    assert "28 runs of compare against 1a2b3c4 (v1.2), " in texts.about(found(tmp_path)[0])
    (chart,) = charts(found(tmp_path)[0])
    assert chart.y.label == "%"
    assert chart.series[0].y[-1] == pytest.approx(4.2)
    assert [it.y[0] for it in chart.series[1:]] == pytest.approx([0.1, 4.2])
