"""The service `export`: from the standard variables to what verdict.json and the page say."""

import json
import subprocess
import sys
import threading

import pytest

from support import free_port
from support.archived import unpacked
from support.collector import collecting
from support.command import tollgate
from support.onlooked_run import OnlookedRun
from tollgate.export import events, live
from tollgate.export.wanted import Wanted, wanted
from tollgate.report.pages.run import write as run_page
from tollgate.taurus.export import Export

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
METRICS = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run with these variables of OpenTelemetry's alone."""

    def of(name, **variables):
        for each in (ENDPOINT, METRICS, "OTEL_SDK_DISABLED"):
            monkeypatch.delenv(each, raising=False)
        for each, value in variables.items():
            monkeypatch.setenv(each, value)
        return OnlookedRun(unpacked(name, tmp_path), Export())

    return of


def test_verdict_json_and_the_page_say_how_many_samples_of_how_many_were_exported(run):
    with collecting() as collector:
        made = run("check-pass", **{ENDPOINT: collector.url}).begin().go()
    code, out, _ = tollgate("judge", "--json", made.folder)
    assert code == 0
    for place, execution in enumerate(json.loads(out)["executions"]):
        rows = len(made.grown.rows(place))
        assert execution["exported"] == {"samples": rows, "of": rows}
        assert not any("exported" in it for it in execution["warnings"])
    page = run_page.write(made.folder).read_text()
    assert f"exported {rows:,} of {rows:,} samples" in page


def test_decisions_and_the_verdict_are_events_with_their_times(run):
    with collecting() as collector:
        made = run("check-fail", **{ENDPOINT: collector.url}).begin().go()
    names = [it.event_name for it in collector.events]
    criteria = [it for each in made.known.judged.verdict.executions for it in each.criteria]
    assert names[0] == events.STARTED
    assert names.count(events.DECIDED) == len(criteria)
    assert names[-1] == events.VERDICT
    last = {it.key: it.value for it in collector.events[-1].attributes}
    assert last["tollgate.verdict"].string_value == "FAIL"
    assert last["tollgate.exit_code"].int_value == 3
    assert collector.events[-1].severity_text == "WARN"


def test_a_decision_of_a_look_has_the_moment_of_the_look(run):
    with collecting() as collector:
        made = run("looks-pass", **{ENDPOINT: collector.url}).begin().go()
    ends = [it.began + it.warmup + it.decided_s for it in made.record.executions]
    decided = [it for it in collector.events if it.event_name == events.DECIDED]
    assert decided
    assert max(it.time_unix_nano for it in decided) <= 1e9 * max(ends) + 1
    early = [it for it in collector.events if it.event_name == events.ENDED_EARLY]
    assert len(early) == len(ends)


def test_findings_of_a_comparison_are_decisions_too(run):
    with collecting() as collector:
        made = run("compare-fail", **{ENDPOINT: collector.url}).begin().go()
    (judged,) = made.known.judged.verdict.executions
    findings = judged.comparison.gate.findings
    told = [
        {it.key: it.value.string_value for it in each.attributes}
        for each in collector.events
        if each.event_name == events.DECIDED
    ]
    found = [(it["tollgate.label"], it["tollgate.metric"], it["tollgate.verdict"]) for it in told]
    assert found == [(it.label, it.metric, it.verdict) for it in findings]


def test_a_collector_that_is_gone_changes_no_verdict_and_the_difference_is_told(
    run, monkeypatch, caplog
):
    monkeypatch.setattr(live, "FLUSH_S", 0.5)
    monkeypatch.setattr(live, "ONCE_MORE_S", 0.1)
    url = f"http://127.0.0.1:{free_port()}"
    made = run("check-pass", **{ENDPOINT: url, "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}).begin().go()
    code, out, _ = tollgate("judge", "--json", made.folder)
    told = json.loads(out)
    assert (code, told["verdict"]) == (0, "PASS")
    for place, execution in enumerate(told["executions"]):
        rows = len(made.grown.rows(place))
        assert execution["exported"] == {"samples": 0, "of": rows}
        assert any(f"exported 0 of {rows:,} samples" in it for it in execution["warnings"])
    said = [it.getMessage() for it in caplog.records if it.name == "export"]
    assert [it for it in said if "can't be reached" in it] == said[:1]


def test_metrics_alone_have_no_events(run):
    with collecting() as collector:
        run("plan", **{METRICS: f"{collector.url}/v1/metrics"}).begin().go()
    assert collector.messages > 0
    assert collector.events == []


def test_an_export_that_breaks_ends_alone(run, monkeypatch, caplog):
    monkeypatch.setattr(live.LiveExport, "end", lambda *_: 1 / 0)
    with collecting() as collector:
        made = run("plan", **{ENDPOINT: collector.url}).begin().go()
    assert made.record.executions[0].exported is None
    assert made.known.judged.verdict.verdict == "PASS"
    said = [it.getMessage() for it in caplog.records if it.levelname == "WARNING"]
    assert len([it for it in said if it.startswith("export: division by zero")]) == 1


OFF = [
    {},
    {ENDPOINT: "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"},
    {ENDPOINT: "http://127.0.0.1:9", "OTEL_METRICS_EXPORTER": "none"},
    {"OTEL_SERVICE_NAME": "shop"},
    {ENDPOINT: "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
]


@pytest.mark.parametrize("variables", OFF)
def test_without_being_asked_or_by_another_protocol_a_run_exports_nothing(run, variables):
    before = set(threading.enumerate())
    made = run("plan", **variables).begin().go()
    assert made.service.export is None
    assert made.record.executions[0].exported is None
    assert made.known.samples == {}
    assert "otlp" not in {it.name for it in set(threading.enumerate()) - before}


def test_a_run_that_exports_nothing_does_not_import_opentelemetry():
    code = "import sys, tollgate.taurus.export as it; sys.exit('opentelemetry.sdk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_protocol_that_is_not_spoken_is_named_with_the_one_that_is():
    for other in ("otlp,console", "otlp_proto_http", "console, otlp"):
        both = {f"OTEL_{it}_EXPORTER": other for it in ("METRICS", "LOGS")}
        assert wanted({ENDPOINT: "http://h:4318", **both}) == wanted({ENDPOINT: "http://h:4318"})
    found = wanted({ENDPOINT: "http://h:4318", "OTEL_METRICS_EXPORTER": "prometheus"})
    assert not found.metrics
    assert "OTEL_METRICS_EXPORTER is 'prometheus'" in found.problem
    found = wanted({ENDPOINT: "http://h:4318", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "grpc"})
    assert (found.metrics, found.logs) == (True, False)
    assert "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL" in found.problem
    problem = wanted({ENDPOINT: "http://h:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}).problem
    assert "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc'" in problem
    assert "http/protobuf" in problem


@pytest.mark.parametrize(
    ("given", "every_s"), [("10000", 10.0), ("20", 1.0), ("often", 5.0), ("", 5.0)]
)
def test_the_interval_is_that_of_the_standard_variable(given, every_s):
    found = wanted({ENDPOINT: "http://h:4318", "OTEL_METRIC_EXPORT_INTERVAL": given})
    assert found == Wanted(True, True, every_s)
