"""The dashboard and the alert rules of deploy/ in a real Prometheus and a real VictoriaMetrics:
what queries answer is what the runs' own files and verdicts have."""

import json
import math
import re
import urllib.parse
import urllib.request
from collections import Counter, defaultdict
from itertools import pairwise

import pytest
import yaml

import support
from support import prometheus, victoria_metrics
from support.archived import unpacked
from support.command import tollgate
from support.growing_jtl import GrowingRun
from tollgate.gather.judged import judged
from tollgate.stats.exponential import FINEST

pytestmark = [pytest.mark.services, pytest.mark.needs("apt-get")]

DASHBOARD = support.ROOT / "deploy" / "grafana" / "tollgate.json"
RULES = support.ROOT / "deploy" / "prometheus" / "tollgate.rules.yml"
#: Both modes and a PASS; a FAIL with limits of percentiles; a worker that died, and requests lost.
RUNS = ("check-pass", "criteria", "check-invalid")
#: How many times its lower end a bucket's upper end is, with the digits that the store keeps.
WIDTHS = {"prometheus": 2.0 ** (1 / 16) * 1.0001, "victoria": 2.0 ** (2.0**-FINEST) * 1.001}
PANELS = [it for it in json.loads(DASHBOARD.read_text())["panels"] if it["type"] != "row"]


class Known:
    """A run, and what its files say. times: sorted service times in s by (execution, label)."""

    def __init__(self, name, folder):
        self.name, self.folder = name, unpacked(name, folder / name)
        run = GrowingRun(unpacked(name, folder / f"{name}-rows"))
        names = [it.planned.name for it in run.of]
        self.rows = {each: run.rows(place) for place, each in enumerate(names)}
        self.times = {
            (each, label): times
            for place, each in enumerate(names)
            for (label,), times in run.times_s(place, "label").items()
        }
        rows = [row for its in self.rows.values() for row in its]
        starts = [int(it["timeStamp"]) / 1000 for it in rows]
        self.began_s = min(starts)
        self.ended_s = max(it.ended for it in run.record.executions) + 1
        self.judged = judged(self.folder).verdict
        self.limits = {
            (it.name, each.label): each.limit / 1000
            for it in self.judged.executions
            for each in it.criteria
            if (each.subject, each.unit) == ("p95", "ms")
        }

    def has(self, query):
        """Whether it has anything of what a panel's query is about."""
        return bool(self.limits) or "quantile:text" not in query


class Store:
    """One that takes queries of PromQL."""

    def __init__(self, kind, url):
        self.kind, self._url = kind, url

    def series(self, query, run, at_s=None, **variables):
        """{labels: values} of an instant query, or else of one over the run's time, as Grafana asks
        with these variables."""
        texts = {"run": run.name, "execution": ".*", "label": ".*", "target": ".*", "window": "15s"}
        texts |= {"__range": f"{run.ended_s - run.began_s:.0f}s", "quantile": "0.95"} | variables
        query = query.replace("${quantile:text}", "p95")
        query = re.sub(r"\$(\w+)", lambda it: texts[it[1]], query)
        asked = {"query": query, "nocache": 1}
        if at_s:
            path, asked = "query", asked | {"time": at_s}
        else:
            path = "query_range"
            asked |= {"start": run.began_s, "end": run.ended_s, "step": "5s"}
        with urllib.request.urlopen(
            f"{self._url}/api/v1/{path}?{urllib.parse.urlencode(asked)}"
        ) as answer:
            results = json.load(answer)["data"]["result"]
        return {
            tuple(sorted(it["metric"].items())): [
                float(value) for _, value in it.get("values") or [it["value"]]
            ]
            for it in results
        }


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {name: Known(name, folder) for name in RUNS}


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    return prometheus.commands(tmp_path_factory.mktemp("prometheus"))


@pytest.fixture(scope="module")
def files(runs, tmp_path_factory):
    """The runs as OpenMetrics text."""
    folder = tmp_path_factory.mktemp("openmetrics")
    made = {name: folder / f"{name}.om" for name in runs}
    for name, run in runs.items():
        assert tollgate("export", run.folder, "--openmetrics", made[name])[0] == 0
    return made


@pytest.fixture(scope="module", params=["prometheus", "victoria"])
def store(request, runs, tmp_path_factory):
    """Has all runs: Prometheus by OpenMetrics, VictoriaMetrics by OTLP."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "prometheus":
        tools, files = request.getfixturevalue("tools"), request.getfixturevalue("files")
        with prometheus.holding(tools, folder, *files.values()) as made:
            yield Store(request.param, made.url)
        return
    command = victoria_metrics.build(tmp_path_factory.mktemp("victoria-metrics"))
    with victoria_metrics.running(command, folder) as made:
        for run in runs.values():
            assert tollgate("export", run.folder, "--otlp", made.url)[0] == 0
        made.values("up")  # which has it keep all it has taken
        yield Store(request.param, f"http://127.0.0.1:{made.port}")


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("panel", PANELS, ids=[it["title"] for it in PANELS])
def test_each_query_of_each_panel_has_the_runs_own_points_alone(store, runs, panel, name):
    run = runs[name]
    for target in panel["targets"]:
        at_s = run.ended_s if target["instant"] else None
        found = store.series(target["expr"], run, at_s)
        assert bool(found) == run.has(target["expr"])
        for labels in map(dict, found):
            assert labels["tollgate_run"] == name
            assert labels.get("tollgate_execution", "fork") in {*run.rows, "fork"}
        if "$window" not in target["expr"]:
            assert all(map(math.isfinite, (it for its in found.values() for it in its)))


def answers(store, run, title, which=0, **variables):
    """{values of labels without the run's: value} of a query that asks for one moment."""
    (panel,) = (it for it in PANELS if it["title"] == title)
    found = store.series(panel["targets"][which]["expr"], run, run.ended_s, **variables)
    return {
        tuple(value for name, value in labels if name != "tollgate_run"): values[-1]
        for labels, values in found.items()
    }


@pytest.mark.parametrize("name", RUNS)
def test_counts_and_the_verdict_are_those_of_the_run(store, runs, name):
    run = runs[name]
    assert answers(store, run, "Verdict") == {(run.judged.verdict,): 1}
    counts = {(it,): len(rows) for it, rows in run.rows.items()}
    assert answers(store, run, "Requests") == counts
    failed = {
        (it,): sum(row["success"] == "false" for row in rows) / len(rows)
        for it, rows in run.rows.items()
    }
    assert answers(store, run, "Failed requests") == pytest.approx(failed)
    expected = Counter(it["label"] for rows in run.rows.values() for it in rows)
    for label in ("sum", "search"):
        assert sum(answers(store, run, "Requests", label=label).values()) == expected[label]


@pytest.mark.parametrize("name", RUNS)
def test_the_table_of_criteria_is_that_of_the_verdict(store, runs, name):
    run = runs[name]
    results = [(it.name, each) for it in run.judged.executions for each in it.criteria]
    for which, value in enumerate(("observed", "limit")):
        expected = {
            (each.criterion, execution, each.unit, each.verdict): getattr(each, value)
            for execution, each in results
            if getattr(each, value) is not None
        }
        assert answers(store, run, "Criteria", which) == pytest.approx(expected)


@pytest.mark.parametrize("name", RUNS)
def test_quantiles_of_the_whole_run_are_within_a_bucket_of_the_nearest_rank(store, runs, name):
    run, width, compared = runs[name], WIDTHS[store.kind], 0
    for p in ("0.5", "0.9", "0.95", "0.99"):
        found = answers(store, run, "Service time of the whole run, $quantile", quantile=p)
        for (execution, label), times in run.times.items():
            if len(times) * (1 - float(p)) >= 10:
                nearest = times[math.ceil(len(times) * float(p)) - 1]
                assert nearest / width <= found[execution, label] <= nearest * width, (label, p)
                compared += 1
    assert compared > 8


@pytest.mark.parametrize("name", RUNS)
def test_requests_a_second_add_up_and_limits_are_the_criterias(store, runs, name):
    run = runs[name]
    panels = {it["title"]: [each["expr"] for each in it["targets"]] for it in PANELS}
    a_second = defaultdict(float)
    for labels, values in store.series(panels["Requests a second"][0], run).items():
        a_second[dict(labels)["tollgate_execution"]] += 5 * sum(values)
    for execution, rows in run.rows.items():
        # What came before the first point has no rate, and a window covers three steps.
        assert 0.5 * len(rows) < a_second[execution] < 1.3 * len(rows)
    limits = store.series(panels["Response time, $quantile"][1], run)
    found = {
        (dict(labels)["tollgate_execution"], dict(labels).get("tollgate_label", "")): values[-1]
        for labels, values in limits.items()
    }
    assert found == pytest.approx(run.limits)
    due = store.series(panels["Not sent, of those due"][1], run)
    intended = sum(len(its) for its in run.rows.values())
    assert sum(values[-1] for values in due.values()) <= intended * 1.2


#: Of the alerts, which a run has when its verdict is there.
FIRES = {
    "check-pass": (),
    "criteria": ("TollgateRunFailed",),
    "check-invalid": ("TollgateRunUndecided", "TollgateRequestsFail", "TollgateWorkerRestarted"),
}
#: The interval of the rules.
EVERY_S = 15
LATE = [
    {"series": f'tollgate_lateness_seconds_bucket{{tollgate_run="late",le="{le}"}}', "values": it}
    for le, it in (("0.1", "0x150"), ("1.0", "0+1x150"), ("+Inf", "0+1x150"))
]


def wrong(promtool, folder, series, at_s, alerts):
    """What promtool says of a test that these alerts alone fire at this second, empty for nothing
    wrong."""
    names = [it["alert"] for it in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]]
    asked = [
        {
            "expr": f'count(ALERTS{{alertname="{it}",alertstate="firing"}}) > bool 0',
            "eval_time": f"{at_s}s",
            "exp_samples": [{"labels": "{}", "value": 1}] if it in alerts else [],
        }
        for it in names
    ]
    cases = [{"interval": "1s", "input_series": series, "promql_expr_test": asked}]
    file = folder / "test.yml"
    test = {"rule_files": [str(RULES)], "evaluation_interval": "5s", "tests": cases}
    file.write_text(yaml.safe_dump(test))
    done = support.run(promtool, "test", "rules", file)
    return done.stdout + done.stderr if done.returncode else ""


def test_rules_are_valid_and_fire_for_the_runs_that_they_are_about(tools, files, tmp_path):
    promtool, _ = tools
    assert support.run(promtool, "check", "rules", RULES).returncode == 0
    for name, file in files.items():
        assert wrong(promtool, tmp_path, *series_of(file), FIRES[name]) == ""
    assert wrong(promtool, tmp_path, LATE, 140, ["TollgateGeneratorLate"]) == ""


def test_a_percentile_above_its_limit_is_an_alert(tools, files, tmp_path):
    promtool, _ = tools
    series, at_s = series_of(files["criteria"])
    for each in series:
        if 'tollgate_criterion="p95 of search>' in each["series"]:
            each["values"] = each["values"].replace("400.0", "20.0")
    fires = ["TollgateOverLimit", *FIRES["criteria"]]
    assert wrong(promtool, tmp_path, series, at_s, fires) == ""


def series_of(file):
    """The series of OpenMetrics text as promtool's tests have them, each second of the run, and the
    second at which the rules have seen all of it."""
    lines = [it for it in file.read_text().splitlines() if not it.startswith("#")]
    points = defaultdict(dict)
    for line in lines:
        name, value, at = line.rsplit(" ", 2)
        points[name][round(float(at))] = value
    first = min(at for its in points.values() for at in its)
    last = max(at for its in points.values() for at in its)
    return [
        {"series": name, "values": " ".join([*_before(its, first), *_values(its)])}
        for name, its in points.items()
    ], last - first + EVERY_S


def _before(points, first):
    return ["_"] * (min(points) - first)


def _values(points):
    for (at, value), (following, _) in pairwise([*sorted(points.items()), (max(points) + 1, "")]):
        yield value
        yield from ["_"] * (following - at - 1)
