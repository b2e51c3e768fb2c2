"""A collector of OpenTelemetry: takes its own messages over HTTP, and keeps the newest points."""

import math
import threading
import time
from contextlib import contextmanager, suppress

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from support import free_port
from support.http_server import Handler, _Server

CUMULATIVE = 2
PROTOBUF = "application/x-protobuf"


class _Receiver(Handler):
    def respond(self):
        self.close_connection = True  # a collector that is gone answers on no old connection
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.of.take(self, body)


class Collector:
    """points: the newest of each metric, by its name and then by its attributes. history: all
    points, as (name, attributes, time in ns, value). messages: how many of metrics were taken.
    delay_s, status, rejects, rejected_events: what it does with each message. held: what it waits
    for first."""

    def __init__(self, port=None):
        self.port = port or free_port()
        self.points, self.events, self.history, self.resources = {}, [], [], []
        self.messages, self.refused = 0, 0
        self.delay_s, self.status, self.rejects, self.held = 0.0, 200, 0, None
        self.rejected_events = 0
        self._server = self._thread = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        self._server = _Server(("127.0.0.1", self.port), _Receiver)
        self._server.of = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def stop(self):
        """Gone, with all that it was told kept, as on a disk."""
        if self._server:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = None

    def take(self, handler, body):
        if self.held:
            self.held.wait(30)
        time.sleep(self.delay_s)
        if self.status != 200:
            self.refused += 1
            handler.answer(self.status, b"<html>no</html>")
        elif handler.path == "/v1/metrics":
            self._take_metrics(ExportMetricsServiceRequest.FromString(body))
            answer = ExportMetricsServiceResponse()
            answer.partial_success.rejected_data_points = self.rejects
            self._answer(handler, answer)
        elif handler.path == "/v1/logs":
            self._take_logs(ExportLogsServiceRequest.FromString(body))
            answer = ExportLogsServiceResponse()
            answer.partial_success.rejected_log_records = self.rejected_events
            self._answer(handler, answer)
        else:
            handler.answer(404)

    @staticmethod
    def _answer(handler, answer):
        with suppress(BrokenPipeError):
            handler.answer(200, answer.SerializeToString(), Content_Type=PROTOBUF)

    def _take_metrics(self, request):
        self.messages += 1
        for resource in request.resource_metrics:
            self.resources.append(attributes_of(resource.resource))
            for metric in (it for scope in resource.scope_metrics for it in scope.metrics):
                kind = metric.WhichOneof("data")
                data = getattr(metric, kind)
                assert kind == "gauge" or data.aggregation_temporality == CUMULATIVE
                for point in data.data_points:
                    key = frozenset(attributes_of(point).items())
                    value = point if kind == "exponential_histogram" else number_of(point)
                    self.points.setdefault(metric.name, {})[key] = value
                    self.history.append((metric.name, key, point.time_unix_nano, value))

    def _take_logs(self, request):
        for resource in request.resource_logs:
            for record in (it for scope in resource.scope_logs for it in scope.log_records):
                self.events.append(record)

    def total(self, name, **attributes):
        """The values of all newest points that have these attributes, added up."""
        return sum(
            value.count if hasattr(value, "count") else value
            for value in self.of(name, **attributes)
        )

    def of(self, name, **attributes):
        wanted = {f"tollgate.{it}": value for it, value in attributes.items()}.items()
        return [it for key, it in self.points.get(name, {}).items() if key >= frozenset(wanted)]


def attributes_of(record):
    return {it.key: getattr(it.value, it.value.WhichOneof("value")) for it in record.attributes}


def number_of(point):
    return point.as_int if point.WhichOneof("value") == "as_int" else point.as_double


@contextmanager
def collecting(port=None):
    collector = Collector(port)
    collector.start()
    try:
        yield collector
    finally:
        if collector.held:
            collector.held.set()
        collector.stop()


def width(point):
    """How many times its lower end a bucket's upper end is."""
    return 2.0 ** (2.0**-point.scale)


def bucket_of_rank(point, rank):
    """The ends of the bucket that holds the value of this rank, from 1."""
    if rank <= point.zero_count:
        return 0.0, 0.0
    seen = point.zero_count
    for place, count in enumerate(point.positive.bucket_counts):
        seen += count
        if seen >= rank:
            index = point.positive.offset + place
            return width(point) ** index, width(point) ** (index + 1)
    raise AssertionError(f"{point.count} values have no rank {rank}")


def assert_quantiles(point, values, about=""):
    """Fails unless each quantile that at least ten values exceed lies in the bucket of the nearest
    rank; returns by how much the buckets' middles deviate from them. values: all, sorted."""
    deviations = []
    assert point.count == len(values), about
    tolerance = 1 + 1e-9  # at the end of a bucket logarithms round
    for p in (0.5, 0.9, 0.95, 0.99, 0.999):
        if len(values) * (1 - p) < 10:
            continue
        rank = math.ceil(len(values) * p)
        low, high = bucket_of_rank(point, rank)
        assert low / tolerance <= values[rank - 1] <= high * tolerance, (about, p)
        deviations.append(abs((low + high) / 2 - values[rank - 1]) / (values[rank - 1] or 1))
    return deviations
