"""Only comparable runs stand on one line, and what a trend is to show is no condition for it."""

import json

import pytest

from support import listed_runs
from support.listed_runs import COMMIT, ENVIRONMENT, criterion
from tollgate.history.read import read
from tollgate.history.trends import NEWEST, SHOWN, trends
from tollgate.report.pages.runs import texts
from tollgate.report.pages.runs.charts import charts

#: Environment variables that change the JVM of the generator, or Node.
SURROUNDINGS = (
    *("HEAP", "JVM_ARGS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"),
    *("LD_PRELOAD", "NODE_EXTRA_CA_CERTS"),
)
FIGURES = {"fork": [criterion("sum", 20.0)]}


def found(folder):
    return trends(read(folder).runs)


def edit_record(run, edit):
    """Change run.json of a run: edit gets what it holds."""
    record = json.loads((run / "run.json").read_text())
    edit(record)
    (run / "run.json").write_text(json.dumps(record))


def of_plans(plans):
    return {"environment": ENVIRONMENT | {"plans": plans}}


def lengths(folder):
    return [len(it.runs) for it in found(folder)]


def versions(**changed):
    return ENVIRONMENT | {"versions": ENVIRONMENT["versions"] | changed}


SHOWN_BY_A_TREND = {
    "commit": {"environment": ENVIRONMENT | {"commit": "f" * 40}},
    "node": {"environment": versions(node="22.1.0")},
    "jmeter": {"environment": versions(jmeter="5.7")},
    "system": {"environment": ENVIRONMENT | {"os": "Linux 7.0 x86_64"}},
    "port": {"properties": {"jmeterengine.nongui.port": "4446"}},
    "choice": {"environment": ENVIRONMENT | {"variables": {"MODE": "both", "BASE": "main"}}},
}


@pytest.mark.parametrize("changed", SHOWN_BY_A_TREND.values(), ids=SHOWN_BY_A_TREND)
def test_what_a_trend_is_to_show_keeps_runs_on_one_line(changed, tmp_path):
    listed_runs.make(tmp_path, 0, FIGURES)
    listed_runs.make(tmp_path, 1, FIGURES, **changed)
    assert lengths(tmp_path) == [2]


def test_files_of_the_run_itself_keep_runs_on_one_line(tmp_path):
    for at in range(2):
        listed_runs.make(tmp_path, at, FIGURES, properties={"blocks": "{run}/blocks.csv"})
    assert lengths(tmp_path) == [2]


def test_a_property_whose_value_has_the_runs_name_in_it_is_kept(tmp_path):
    for at, (name, measured) in enumerate([("30", "30"), ("60", "60"), ("90", "30")]):
        run = listed_runs.make(tmp_path, at, FIGURES, properties={"blocks": "{run}/blocks.csv"})
        text = (run / "run.json").read_text().replace(f"/{run.name}/", f"/{name}/")
        (run / "run.json").write_text(text)
        sent = {"measured": measured, "feed": "/data/300.csv"}
        edit_record(run, lambda it, sent=sent: it["executions"][0]["properties"].update(sent))
        run.rename(tmp_path / name)
    (trend,) = found(tmp_path)
    assert [it.name for it in trend.runs] == ["30", "90"]


CHANGES_FIGURES = {
    "kind": {"kind": "soak"},
    "cpu": {"environment": ENVIRONMENT | {"cpu": "Intel Xeon"}},
    "cores": {"environment": ENVIRONMENT | {"cores": 4}},
    "plan": of_plans({"check.jmx": "c" * 64, "sum.jmx": "b" * 64}),
    "fragment": of_plans({"check.jmx": "a" * 64, "sum.jmx": "c" * 64}),
    "no plan": of_plans({}),
    "length": {"properties": {"measured": "60"}},
    "schedule": {"properties": {"schedule": "rate(2/sec) pause(5 s)"}},
    **{
        name: {"environment": ENVIRONMENT | {"variables": {name: "400"}}}
        for name in ("INJECT_DELAY_MS", *SURROUNDINGS)
    },
    "nobody knows whether slowed": {
        "environment": {name: it for name, it in ENVIRONMENT.items() if name != "variables"}
    },
}


@pytest.mark.parametrize("changed", CHANGES_FIGURES.values(), ids=CHANGES_FIGURES)
def test_what_would_change_the_figures_by_itself_keeps_runs_apart(changed, tmp_path):
    listed_runs.make(tmp_path, 0, FIGURES)
    listed_runs.make(tmp_path, 1, FIGURES, **changed)
    assert lengths(tmp_path) == []


def test_as_many_instances_are_another_target(tmp_path):
    for at in range(3):
        run = listed_runs.make(tmp_path, at, FIGURES)
    edit_record(run, lambda it: it["executions"][0]["targets"][0].update(instances=4))
    (trend,) = found(tmp_path)
    assert [len(it.points) for it in trend.lines] == [2]


def test_runs_before_and_after_a_change_of_instances_are_told_apart(tmp_path):
    for at in range(4):
        run = listed_runs.make(tmp_path, at, FIGURES | {"cluster": FIGURES["fork"]})
        if at >= 2:
            edit_record(run, lambda it: it["executions"][1]["targets"][0].update(instances=4))
    for trend in found(tmp_path):
        assert [it.execution for it in trend.lines] == ["fork", "cluster"]
    assert lengths(tmp_path) == [2, 2]


def test_an_execution_has_the_colour_of_its_mode_in_every_chart(tmp_path):
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


def test_a_service_without_a_target_is_known_by_its_address(tmp_path):
    for at in range(2):  # each on a port of its own
        run = listed_runs.make(tmp_path, at, FIGURES)
        record = (run / "run.json").read_text()
        (run / "run.json").write_text(record.replace('"targets"', '"no targets"'))
    assert lengths(tmp_path) == []


def test_a_run_of_several_plans_is_compared_with_runs_of_the_very_same(tmp_path):
    for at, digest in enumerate("cdd"):
        plans = of_plans(ENVIRONMENT["plans"] | {"other.jmx": digest * 64})
        listed_runs.make(tmp_path, at, FIGURES, **plans)
    assert lengths(tmp_path) == [2]


def with_folders(digests):
    names = ("check.jmx", "a/login.jmx", "b/login.jmx")
    return of_plans({name: it * 64 for name, it in zip(names, digests, strict=True)})


def test_two_fragments_of_one_name_are_two(tmp_path):
    listed_runs.make(tmp_path, 0, FIGURES, **with_folders("abc"))
    listed_runs.make(tmp_path, 1, FIGURES, **with_folders("abd"))
    assert lengths(tmp_path) == []
    listed_runs.make(tmp_path, 2, FIGURES, **with_folders("abc"))
    assert lengths(tmp_path) == [2]


def test_a_run_that_kept_the_names_of_its_plans_alone_is_comparable_with_a_later_one(tmp_path):
    for at, fragment in enumerate(("sum.jmx", "fragments/sum.jmx")):
        plans = of_plans({"check.jmx": "a" * 64, fragment: "b" * 64})
        listed_runs.make(tmp_path, at, FIGURES, **plans)
    assert lengths(tmp_path) == [2]


def test_broken_and_interrupted_runs_are_no_points_but_are_counted(tmp_path):
    listed_runs.series(tmp_path, [20, 21, 22])
    listed_runs.make(tmp_path, 3, FIGURES, verdict="INVALID")
    listed_runs.make(tmp_path, 4, FIGURES, verdict="FAIL", exit_code=2)
    (trend,) = found(tmp_path)
    assert (len(trend.runs), trend.left_out) == (3, 2)


def test_a_limit_may_be_moved_and_the_line_goes_on_with_the_newest(tmp_path):
    for at, limit in enumerate([250.0, 100.0]):
        moved = criterion("sum", 20.0, limit=limit, criterion=f"p95 of sum>{limit}ms")
        listed_runs.make(tmp_path, at, {"fork": [moved]})
    (line,) = found(tmp_path)[0].lines
    assert (len(line.points), line.limit) == (2, 100.0)


def test_two_criteria_on_one_figure_are_one_line_and_a_window_is_another(tmp_path):
    windowed = criterion("sum", 40.0, criterion="p95 of sum>90ms for 10s", window="12-22 s")
    for at in range(2):
        both = [criterion("sum", 20.0), criterion("sum", 20.0, limit=90.0), windowed]
        listed_runs.make(tmp_path, at, {"fork": both})
    lines = found(tmp_path)[0].lines
    assert [it.name for it in lines] == ["p95 of sum", "p95 of sum>90ms for 10s"]


def test_response_time_and_service_time_are_not_one_line(tmp_path):
    for at, basis in enumerate(["response time", "service time"]):
        listed_runs.make(tmp_path, at, {"fork": [criterion("sum", 20.0, basis=basis)]})
    assert lengths(tmp_path) == []


def test_a_figure_that_a_run_lacks_leaves_a_gap(tmp_path):
    for at, value in enumerate([20.0, None, 22.0]):
        listed_runs.make(tmp_path, at, {"fork": [criterion("sum", value)]})
    (line,) = found(tmp_path)[0].lines
    assert [it.at for it in line.points] == [0, 2]


def test_a_trend_looks_back_on_so_many_runs_and_no_further(tmp_path):
    listed_runs.series(tmp_path, range(1, NEWEST + 6))
    (trend,) = found(tmp_path)
    assert len(trend.runs) == NEWEST
    assert trend.lines[0].values[-1] == NEWEST + 5


def test_a_change_names_its_run_its_size_and_whether_it_is_for_the_worse(tmp_path):
    runs = listed_runs.series(tmp_path, [20.0, 21.0] * 6 + [40.0, 41.0] * 4)
    (line,) = found(tmp_path)[0].lines
    (change,) = line.changes
    assert line.points[change.at].at == 12
    assert found(tmp_path)[0].runs[12].name == runs[12].name
    assert texts.moved(line, change) == "20.5 to 40.5 ms (+98 %)"
    assert texts.direction(line, change) == texts.WORSE


@pytest.mark.parametrize(
    ("condition", "which"), [(">", texts.WORSE), ("<", texts.BETTER), ("=", texts.MOVED)]
)
def test_which_way_is_worse_is_what_the_criterion_says(condition, which, tmp_path):
    for at in range(20):
        figure = criterion("sum", 20.0 if at < 10 else 40.0, condition=condition)
        listed_runs.make(tmp_path, at, {"fork": [figure]})
    (line,) = found(tmp_path)[0].lines
    assert texts.direction(line, line.changes[0]) == which


def differences(tmp_path, *environments):
    for at, environment in enumerate(environments):
        listed_runs.make(tmp_path, at, FIGURES, environment=environment)
    return texts.differences(read(tmp_path).runs[::-1])


def test_beside_a_change_stands_what_else_changed_there_and_no_more_than_is_known(tmp_path):
    commit, dirty = (ENVIRONMENT | {"commit": it} for it in ("f" * 40, f"{COMMIT}-dirty"))
    new = versions(node="22.1.0") | {"commit": "f" * 40}
    at_it = differences(tmp_path / "at it", ENVIRONMENT, ENVIRONMENT, new, new)
    assert at_it == "commit 012345678 to fffffffff; node 20.20.2 to 22.1.0"
    near = differences(tmp_path / "near", ENVIRONMENT, ENVIRONMENT, ENVIRONMENT, commit)
    assert near == "a run or two from there: commit 012345678 to fffffffff"
    assert differences(tmp_path / "same", ENVIRONMENT, ENVIRONMENT).startswith("neither commit nor")
    assert "not known" in differences(tmp_path / "dirty", dirty, dirty)


def test_the_limit_of_a_figure_is_one_by_which_the_run_can_fail(tmp_path):
    watched = criterion("sum", 20.0, limit=100.0, decides=False)
    for at in range(2):
        both = [criterion("sum", 20.0, decides=True), watched, criterion("pi", 9.0, decides=False)]
        listed_runs.make(tmp_path, at, {"fork": both})
    lines = {it.name: it for it in found(tmp_path)[0].lines}
    assert lines["p95 of sum"].limit == 250.0
    assert texts.limit(lines["p95 of pi"]) == "-"
    assert lines["p95 of pi"].condition == ">"


def test_plans_that_nobody_runs_any_more_do_not_hide_what_changes_now(tmp_path, monkeypatch):
    for at in range(10 * (SHOWN + 2)):
        figures = {"fork": [criterion("sum", 20.0 + at % 3)]}
        listed_runs.make(tmp_path, at, figures, kind=f"kind-{at // 10}")
    looked_at = []
    monkeypatch.setattr(
        "tollgate.history.trends.changes",
        lambda series: [looked_at.append(len(it)) or () for it in series],
    )
    assert len(found(tmp_path)) == SHOWN + 2
    assert looked_at == [10] * SHOWN


def test_a_line_is_too_short_where_not_even_the_clearest_change_could_be_told(tmp_path):
    for at in range(11):
        figures = [criterion(f"label {name}", 20.0 + (at * 7 + name) % 11) for name in range(30)]
        listed_runs.make(tmp_path, at, {"fork": figures})
    lines = found(tmp_path)[0].lines
    assert {texts.unchanged(it) for it in lines} == {"too few runs to tell: 11 of 15"}
    assert texts.overview(found(tmp_path)) == (
        "Trends: too few comparable runs (15 are needed) to tell of 30."
    )
    listed_runs.series(tmp_path / "one", [20.0 + at * 7 % 11 for at in range(11)])
    (line,) = found(tmp_path / "one")[0].lines
    assert texts.unchanged(line).startswith(
        "no change shown; in the newest runs even a clear one may"
    )
