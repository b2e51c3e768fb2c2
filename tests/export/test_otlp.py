"""A run under way as a real collector sees it: the rows of the JTL, each once, whatever becomes of
the collector meanwhile."""

import socket
import threading
import time
from collections import Counter

import pytest

from support import free_port
from support.archived import unpacked
from support.collector import Collector, assert_quantiles, collecting
from support.growing_jtl import GrowingRun
from support.http_server import Handler, serving
from tollgate.export import live
from tollgate.export.events import started
from tollgate.export.live import LiveExport
from tollgate.export.otlp import Sender
from tollgate.judge.facts import Exported
from tollgate.record import manifest

#: Two executions one after the other, a comparison, a plan of somebody's own, an open model.
RUNS = ("check-pass", "compare-pass", "plan", "load", "soak")
RESULTS = {"true": "ok", "false": "failed"}


class Exporting:
    """A run whose JTL grows while it is exported. warned: what it said."""

    def __init__(self, folder, url, is_of_one=True):
        self.run, self.warned = GrowingRun(folder), []
        self.sender = Sender(url, warn=self.warned.append)
        self.export = LiveExport(folder, self.run.record, self.sender, self.warned.append)
        for of, samples in zip(self.run.of, self.run.samples, strict=True):
            self.export.follow(of, samples, is_of_one)

    def go(self, pieces=6, between=lambda _: None):
        """All of the run; between: is called behind each piece."""
        for number, _ in enumerate(self.run.grow(pieces)):
            self.export.offer([started(self.run.record, number)])
            between(number)
        self.export.end()
        return self

    def flush(self, *_):
        assert self.sender.flush(30)

    @property
    def of_rows(self):
        """(exported, of) of each execution."""
        return {
            of.planned.name: (self.export.rows[of.planned.name], len(self.run.rows(place)))
            for place, of in enumerate(self.run.of)
        }


@pytest.fixture
def exporting():
    """Begins to export an archived run; leaves no thread behind."""
    made = []

    def begin(folder, url, **more):
        made.append(Exporting(folder, url, **more))
        return made[-1]

    yield begin
    for each in made:
        each.sender.close()


def assert_complete(exporting, collector):
    """Fails unless the collector has each row of each label once, and the run knows it."""
    for place, of in enumerate(exporting.run.of):
        meant = Counter((it["label"], RESULTS[it["success"]]) for it in exporting.run.rows(place))
        for (label, result), count in meant.items():
            which = {"execution": of.planned.name, "label": label, "result": result}
            assert collector.total("tollgate.requests", **which) == count
            assert collector.total("tollgate.service_time", **which) == count
        assert collector.total("tollgate.requests", execution=of.planned.name) == meant.total()
    for exported, rows in exporting.of_rows.values():
        assert exported == rows


@pytest.mark.parametrize("name", RUNS)
def test_counts_are_those_of_the_jtl_and_quantiles_within_a_bucket_of_the_nearest_rank(
    tmp_path, exporting, name
):
    with collecting() as collector:
        run = exporting(unpacked(name, tmp_path), collector.url).go()
        assert_complete(run, collector)
        deviations = []
        for place, of in enumerate(run.run.of):
            fields = ("label", "success") + (("coin",) if name == "compare-pass" else ())
            for (label, success, *coin), times in by_side(run.run.times_s(place, *fields)).items():
                which = {"execution": of.planned.name, "label": label}
                which |= {"result": RESULTS[success]}
                which |= {"side": coin[0]} if coin else {}
                (point,) = collector.of("tollgate.service_time", **which)
                deviations += assert_quantiles(point, times, (label, success))
        assert run.warned == []
        print(f"{name}: {len(deviations)} quantiles, {max(deviations):.2%} apart at most")


def test_samples_of_two_engines_are_counted_without_a_schedule_that_is_of_neither(
    tmp_path, exporting
):
    """As a controller has them: in one file, with two starts of JMeter."""
    folder = unpacked("load", tmp_path)
    (planned,) = manifest.read(folder).executions
    path = folder / planned.jtl
    header, *rows = path.read_text().splitlines()
    at = header.replace('"', "").split(",").index("TESTSTART.MS")
    for number, row in enumerate(rows[1::2]):
        cells = row.split(",")
        cells[at] = str(int(cells[at]) + 40)
        rows[2 * number + 1] = ",".join(cells)
    path.write_text("\n".join([header, *rows]) + "\n")
    with collecting() as collector:
        run = exporting(folder, collector.url, is_of_one=False).go()
        assert_complete(run, collector)
        assert "tollgate.response_time" not in collector.points


def by_side(times):
    """The same with base and head in place of the coin, which names a process."""
    found = {}
    for (label, success, *coin), values in times.items():
        side = [("base", "head")[int(coin[0]) % 2]] if coin else []
        found.setdefault((label, success, *side), []).extend(values)
    return {key: sorted(values) for key, values in found.items()}


def test_response_times_of_labels_with_a_schedule_are_all_there_and_no_shorter(tmp_path, exporting):
    with collecting() as collector:
        run = exporting(unpacked("check-pass", tmp_path), collector.url).go()
        for key, response in collector.points["tollgate.response_time"].items():
            service = collector.points["tollgate.service_time"][key]
            assert response.count == service.count
            assert response.sum >= service.sum
        due, sent, missing = (
            collector.total(f"tollgate.schedule.{it}") for it in ("due", "sent", "not_sent")
        )
        assert due == sent + missing
        assert 0 < sent <= collector.total("tollgate.lateness")
        assert_complete(run, collector)


def test_no_total_ever_falls_and_each_point_has_all_since_the_run_began(tmp_path, exporting):
    with collecting() as collector:
        run = exporting(unpacked("check-pass", tmp_path), collector.url)
        run.go(between=run.flush)
        last = {}
        for name, key, at, value in collector.history:
            if name in ("tollgate.requests", "tollgate.received"):
                assert value >= last.get((name, key), (0, 0))[1]
            assert at >= last.get((name, key), (0, 0))[0]
            last[name, key] = at, value
        assert collector.messages >= 12


def test_workers_and_the_run_are_described(tmp_path, exporting):
    with collecting() as collector:
        exporting(unpacked("check-pass", tmp_path), collector.url).go()
        targets = {dict(it)["tollgate.target"] for it in collector.points["tollgate.worker.cpu"]}
        assert targets == {"fork", "cluster"}
        assert all(it > 1e6 for it in collector.points["tollgate.worker.memory"].values())
        (resource, *_) = collector.resources
        assert resource["service.name"] == "tollgate"
        assert resource["tollgate.run.kind"] == "check"


def test_a_users_own_resource_goes_before(tmp_path, exporting, monkeypatch):
    monkeypatch.setenv("OTEL_SERVICE_NAME", "shop-load")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=ci,host.name=h1")
    with collecting() as collector:
        exporting(unpacked("plan", tmp_path), collector.url).go()
        (resource, *_) = collector.resources
        found = [resource[it] for it in ("service.name", "host.name", "tollgate.run.kind")]
        assert found == ["shop-load", "h1", "plan"]
        assert resource["deployment.environment.name"] == "ci"


def test_a_collector_that_is_killed_in_the_middle_and_comes_back_misses_nothing(
    tmp_path, exporting
):
    with collecting() as collector:
        run = exporting(unpacked("check-pass", tmp_path), collector.url)

        def between(number):
            if number == 2:
                run.flush()
                collector.stop()
            if number == 8:
                collector.start()

        run.go(between=between)
        assert_complete(run, collector)
        assert len(run.warned) <= 1


def test_a_collector_that_is_started_late_has_all_from_the_beginning(
    tmp_path, exporting, monkeypatch
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")  # seconds, in the SDK for Python
    collector = Collector()
    run = exporting(unpacked("check-pass", tmp_path), collector.url)
    run.export.offer()
    wait_for(lambda: run.warned)
    try:
        run.go(between=lambda number: number == 9 and collector.start())
        assert_complete(run, collector)
        assert run.warned == ["metrics: the collector can't be reached"]
    finally:
        collector.stop()


def test_a_collector_that_answers_after_a_second_gets_fewer_messages_and_all_rows(
    tmp_path, exporting
):
    with collecting() as collector:
        collector.delay_s = 1.0
        run = exporting(unpacked("check-pass", tmp_path), collector.url).go(pieces=20)
        assert_complete(run, collector)
        assert collector.messages < 40
        assert run.warned == []


def test_offers_wait_for_no_answer_and_only_the_newest_is_held(tmp_path, exporting):
    with collecting() as collector:
        collector.held = threading.Event()
        run = exporting(unpacked("plan", tmp_path), collector.url)
        for _ in run.run.grow(30):
            run.export.offer()
        assert run.export.rows == {"plan": 0}
        assert collector.messages == 0
        collector.held.set()
        run.export.end()
        assert_complete(run, collector)
        assert collector.messages <= 3


class _Page(Handler):
    """What stands at many a wrong address."""

    def respond(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.status
        location = {"Location": "/login"} if status == 302 else {}
        self.answer(status, "<!DOCTYPE html><title>Welcome</title>", **location)


WRONG = {
    200: "metrics: what answered is no OTLP collector",
    302: "metrics: the collector answered 302 Found",
    404: "metrics: the collector answered 404 Not Found",
}


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(live, "FLUSH_S", 0.5)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("status", WRONG)
def test_a_wrong_address_is_said_once_and_nothing_counts_as_exported(tmp_path, exporting, status):
    with serving(_Page, status=status) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        run = exporting(unpacked("plan", tmp_path), url)
        run.go(between=lambda _: wait_for(lambda: run.warned))
        assert run.warned == [WRONG[status]]
        ((exported, rows),) = run.of_rows.values()
        assert (exported, rows) == (0, len(run.run.rows(0)))


@pytest.mark.usefixtures("impatient")
def test_a_collector_that_never_answers_holds_up_nothing_but_the_end(tmp_path, exporting):
    with socket.create_server(("127.0.0.1", free_port())) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        run = exporting(unpacked("plan", tmp_path), url).go()
        assert run.export.rows == {"plan": 0}


@pytest.mark.usefixtures("impatient")
def test_what_a_collector_rejects_is_not_exported(tmp_path, exporting):
    with collecting() as collector:
        collector.rejects = 3
        run = exporting(unpacked("plan", tmp_path), collector.url).go()
        assert run.warned == ["metrics: the collector rejected 3 of it"]
        assert run.export.rows == {"plan": 0}
        assert collector.events, "what becomes of metrics is nothing to events"


@pytest.mark.usefixtures("impatient")
def test_events_of_which_some_are_rejected_are_not_sent_again(tmp_path, exporting):
    with collecting() as collector:
        collector.rejected_events = 1
        run = exporting(unpacked("plan", tmp_path), collector.url)
        run.go(between=run.flush)
        sent = [it.SerializeToString() for it in collector.events]
        assert sent
        assert len({*sent}) == len(sent)
        assert run.warned == ["events: the collector rejected 1 of it"]


def test_what_a_collector_will_never_take_is_not_sent_again_and_again(tmp_path, exporting):
    with collecting() as collector:
        collector.status = 401
        exporting(unpacked("plan", tmp_path), collector.url).go()
        assert 1 <= collector.refused <= 2 * 7  # metrics and events, for each piece and the end


def test_samples_that_cannot_be_exported_leave_the_others_who_read_them_alone(tmp_path, exporting):
    with collecting() as collector:
        run = exporting(unpacked("plan", tmp_path), collector.url)
        heard = []
        run.run.samples[0].listen(lambda new: heard.extend(new.rows("SELECT label FROM samples")))
        (totals,) = run.export._totals.values()
        totals._number = lambda _: 1 / 0
        run.go()
        assert len(heard) == len(run.run.rows(0))
        assert len(run.warned) == 1
        assert "ZeroDivisionError" in run.warned[0]


def test_how_many_are_exported_is_said_with_the_number_of_all():
    assert Exported(20060, 20060).line == "exported 20,060 of 20,060 samples"


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
