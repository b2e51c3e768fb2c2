"""`tollgate export`: a run that has ended, with its own times."""

from collections import Counter

import pytest
from google.rpc.status_pb2 import Status
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from support import free_port, run_folder
from support.archived import unpacked
from support.collector import assert_quantiles, collecting
from support.command import tollgate
from support.growing_jtl import GrowingRun
from support.http_server import Handler, serving
from tollgate.export import events


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return unpacked("check-pass", tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The same run, to read its rows from."""
    return GrowingRun(unpacked("check-pass", tmp_path_factory.mktemp("rows")))


def spans_s(run):
    """When each execution's first sample began and its last one ended."""
    found = {}
    for place, of in enumerate(run.of):
        starts = [(int(it["timeStamp"]), int(it["elapsed"])) for it in run.rows(place)]
        ends = [start + elapsed for start, elapsed in starts]
        found[of.planned.name] = min(it for it, _ in starts) / 1000, max(ends) / 1000
    return found


def test_a_finished_run_is_exported_whole_with_the_times_at_which_it_was(folder, run):
    with collecting() as collector:
        code, out, _ = tollgate("export", folder, "--otlp", collector.url)
    assert code == 0
    for place, of in enumerate(run.of):
        name, rows = of.planned.name, run.rows(place)
        assert f"{name}: exported {len(rows):,} of {len(rows):,} samples" in out
        for label, count in Counter(it["label"] for it in rows).items():
            assert collector.total("tollgate.requests", execution=name, label=label) == count
        for (label,), times in run.times_s(place, "label").items():
            (point,) = collector.of(
                "tollgate.service_time", execution=name, label=label, result="ok"
            )
            assert_quantiles(point, times, label)
    first, last = (
        pick(it[which] for it in spans_s(run).values()) for which, pick in ((0, min), (1, max))
    )
    times = [at / 1e9 for name, _, at, _ in collector.history if name == "tollgate.requests"]
    assert first <= min(times)
    assert max(times) == pytest.approx(last)
    assert len(set(times)) > 10
    assert [it.event_name for it in collector.events][-1] == events.VERDICT


class _Store(Handler):
    """Takes metrics that are no older than those it has, as a store without a window does."""

    def respond(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/v1/metrics":
            return self.answer(200, b"", Content_Type="application/x-protobuf")
        self.server.messages += 1
        if self.server.messages <= self.server.refused:
            why = "out of order sample\n"
            if self.server.is_protobuf:
                why = Status(message="out of order sample").SerializeToString()
                return self.answer(400, why, Content_Type="application/x-protobuf")
            return self.answer(400, why, Content_Type="text/plain; charset=utf-8")
        assert body
        return self.answer(200, b"", Content_Type="application/x-protobuf")


@pytest.mark.parametrize("is_protobuf", [False, True])
@pytest.mark.parametrize("refused", [3, 10_000])
def test_a_refusal_is_told_with_its_reason_and_later_points_are_sent(folder, refused, is_protobuf):
    with serving(_Store, messages=0, refused=refused, is_protobuf=is_protobuf) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        code, out, problem = tollgate("export", folder, "--otlp", url)
    reason = "the collector answered 400 Bad Request: out of order sample"
    if refused == 3:
        assert (code, "exported 0 of" in out) == (0, False)
        assert problem == f"tollgate: {url}: earlier points in time are not taken: {reason}\n"
    else:
        assert (code, out.count("exported 0 of")) == (1, 2)
        assert problem == f"tollgate: {url}: {reason}\n"


def moments_of(text):
    """The families of each moment, by their names, in order of time. Prometheus's parser for Python
    loses points of a histogram that follow others of the same series."""
    lines = text.splitlines(keepends=True)
    times = sorted({it.split()[-1] for it in lines if not it.startswith("#")}, key=float)
    for at in times:
        kept = "".join(it for it in lines if it.startswith("#") or it.split()[-1] == at)
        yield float(at), {it.name: it for it in text_string_to_metric_families(kept)}


def test_openmetrics_text_has_the_same_counts_and_can_be_read_by_prometheus(folder, run, tmp_path):
    file = tmp_path / "run.om"
    assert tollgate("export", folder, "--openmetrics", file)[0] == 0
    (_, first), *_, (at, last) = moments_of(file.read_text())
    assert at == pytest.approx(max(end for _, end in spans_s(run).values()))
    assert len(first["tollgate_requests"].samples) <= len(last["tollgate_requests"].samples)
    for place, of in enumerate(run.of):
        newest = {
            it.labels["tollgate_label"]: it.value
            for it in last["tollgate_requests"].samples
            if it.labels["tollgate_execution"] == of.planned.name
        }
        assert newest == Counter(it["label"] for it in run.rows(place))
    times = last["tollgate_service_time_seconds"]
    assert (times.type, times.unit) == ("histogram", "seconds")
    final = {it.labels["le"]: it.value for it in times.samples if is_bucket_of_sum(it, run)}
    values = run.times_s(0, "label")["sum",]
    for end, count in final.items():
        assert count == sum(it <= float(end) * (1 + 1e-5) for it in values)


def is_bucket_of_sum(sample, run):
    labels, name = sample.labels, run.of[0].planned.name
    of = labels["tollgate_execution"], labels["tollgate_label"]
    return sample.name.endswith("_bucket") and of == (name, "sum")


def test_a_collector_that_is_not_there_is_an_error_that_names_it(folder, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    monkeypatch.setattr("tollgate.cli.export.TAKEN_S", 1.5)
    url = f"http://127.0.0.1:{free_port()}"
    code, out, problem = tollgate("export", folder, "--otlp", url)
    assert code == 1
    assert "exported 0 of" in out
    assert problem == f"tollgate: {url}: the collector can't be reached\n"


@pytest.mark.parametrize("url", ["127.0.0.1:4318", "ftp://a"])
def test_what_is_no_url_is_refused_with_one_that_is(folder, url):
    code, _, problem = tollgate("export", folder, "--otlp", url)
    assert code == 1
    assert problem == f"tollgate: --otlp is {url!r}: write a URL, such as http://127.0.0.1:4318\n"


def test_samples_that_have_changed_since_the_run_are_not_exported(tmp_path):
    run_folder.make(tmp_path)
    run_folder.spoil(tmp_path, run_folder.recorded().replace(b",true,", b",false,", 1), sealed=True)
    with collecting() as collector:
        code, _, problem = tollgate("export", tmp_path, "--otlp", collector.url)
    assert code == 1
    assert "has changed since the run ended" in problem
    assert collector.messages == 0


@pytest.mark.parametrize(("name", "count"), [("looks-fail", 12), ("plan-stop-after", 2)])
def test_what_failed_once_the_load_was_ended_is_no_failure(tmp_path, name, count):
    folder = unpacked(name, tmp_path)
    with collecting() as collector:
        assert tollgate("export", folder, "--otlp", collector.url)[0] == 0
    assert collector.total("tollgate.requests", result="cut") == count
    assert collector.total("tollgate.requests", result="failed") == 0
