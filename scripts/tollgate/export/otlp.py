"""Sends to a collector by OTLP over HTTP, in a thread of its own.

A collector that is slow, gone or wrong costs no sample: each message has all since the run began,
so that only the newest waits to be sent, and whatever was missed comes with the next. Events wait
until they are acknowledged, the newest of them where there are too many.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import requests
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExportResult
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData

from tollgate.base.text import printable

#: Events that wait at most.
MOST_EVENTS = 1000
#: Seconds before a message that failed is sent once more while the run waits for it.
_AGAIN_S = 0.5

Response = type[ExportMetricsServiceResponse] | type[ExportLogsServiceResponse]


class _Session(requests.Session):
    """problem: why the last message was not taken, empty if it was. is_final: whether it would not
    be taken when it is sent once more (OTLP, "Failures", and "Partial Success"). is_of_points: and
    another one may be, for its points alone are refused. The SDK takes any
    answer below 400 for a success, that of a login page as well, and does not read how much was
    rejected."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.problem, self.is_final = "", False
        self.is_of_points = False
        self._response = response

    def request(self, *args: Any, **kwargs: Any) -> requests.Response:
        """See requests.Session."""
        try:
            answer = super().request(*args, **kwargs)
        except Exception as problem:
            self.problem, self.is_final = _in_words(problem), False
            raise
        self.problem = self._problem_of(answer)
        self.is_final = bool(self.problem) and answer.status_code not in _AGAIN
        self.is_of_points = self.is_final and answer.status_code in (200, 400)
        return answer

    def _problem_of(self, answer: requests.Response) -> str:
        if not 200 <= answer.status_code < 300:
            why = _reason(answer)
            return (
                f"the collector answered {answer.status_code} {answer.reason}{why and f': {why}'}"
            )
        try:
            partial = self._response.FromString(answer.content).partial_success
        except DecodeError:
            return "what answered is no OTLP collector"
        rejected = getattr(partial, _REJECTED[self._response])
        why = f": {partial.error_message}" if partial.error_message else ""
        return f"the collector rejected {rejected} of it{why}" if rejected else ""


#: Characters of a collector's reason, at most.
_LONGEST = 200
#: Answers after which the same message may be taken.
_AGAIN = (408, 429, *range(500, 600))
_REJECTED = {
    ExportMetricsServiceResponse: "rejected_data_points",
    ExportLogsServiceResponse: "rejected_log_records",
}


def _reason(answer: requests.Response) -> str:
    """Why the collector refuses a message, such as `out of bounds`: as OTLP has it ("Failures"), or
    a line of text; empty where it says neither."""
    kind = answer.headers.get("Content-Type", "")
    if kind.startswith("application/x-protobuf"):
        try:
            return printable(Status.FromString(answer.content).message)[:_LONGEST]
        except DecodeError:
            return ""
    text = answer.text.strip() if kind.startswith("text/plain") else ""
    return printable(text.partition("\n")[0])[:_LONGEST]


def _in_words(problem: Exception) -> str:
    if isinstance(problem, requests.Timeout):
        return "the collector did not answer in time"
    # With no time left for another try, requests refuses the time-out that it is given.
    if isinstance(problem, (requests.ConnectionError, ValueError)):
        return "the collector can't be reached"
    return next(iter(str(problem).splitlines()), type(problem).__name__)


@dataclass(frozen=True)
class Message:
    """Metrics, and how many rows of each execution's JTL are in them."""

    metrics: MetricsData
    rows: Mapping[str, int]


class Sender:
    """acknowledged: the rows in what the collector has taken last. problem: why it has not taken
    the last message, empty if it has or there was none."""

    def __init__(
        self,
        endpoint: str | None = None,
        with_logs: bool = True,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """endpoint: without /v1/metrics; by default the standard variables say, as for all else,
        such as OTEL_EXPORTER_OTLP_TIMEOUT. warn: is called with the first problem of metrics, and
        of events."""
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # said here, and once
        base = endpoint and endpoint.rstrip("/")
        self._sessions = _Session(ExportMetricsServiceResponse), _Session(ExportLogsServiceResponse)
        self._metrics = OTLPMetricExporter(base and f"{base}/v1/metrics", session=self._sessions[0])
        self._logs = None
        if with_logs:
            self._logs = OTLPLogExporter(base and f"{base}/v1/logs", session=self._sessions[1])
        self.acknowledged: Mapping[str, int] = {}
        self.problem = ""
        self._warn, self._warned = warn, set[str]()
        self._newest: Message | None = None
        self._is_sent, self._is_over = True, False
        self._events: deque[ReadableLogRecord] = deque(maxlen=MOST_EVENTS)
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True, name="otlp").start()

    def offer(self, message: Message, events: Iterable[ReadableLogRecord] = ()) -> None:
        """Have it sent, in the place of an older one that still waits. Returns at once."""
        with self._changed:
            self._newest, self._is_sent = message, False
            self._events.extend(events if self._logs else ())
            self._changed.notify_all()

    def flush(self, seconds: float) -> bool:
        """Whether the newest message is taken within this time; until then it is sent again, unless
        it never will be."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while (left_s := deadline - time.monotonic()) > 0:
                if self._is_sent and not self.problem:
                    return True
                if self._is_sent and self._sessions[0].is_final:
                    return False
                if self._is_sent and self._newest:
                    self._is_sent = False
                    self._changed.wait(min(left_s, _AGAIN_S))
                    self._changed.notify_all()
                self._changed.wait(left_s)
        return False

    @property
    def may_take_others(self) -> bool:
        """Whether the points of the last message alone are refused."""
        return self._sessions[0].is_of_points

    def close(self) -> None:
        """Send nothing more, and wait for no answer."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        self._metrics.shutdown()
        if self._logs:
            self._logs.shutdown()  # type: ignore[no-untyped-call]

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_over or not self._is_sent)
                message, events = self._newest, list(self._events)
            if self._is_over or message is None:
                return
            taken = self._metrics.export(message.metrics) is MetricExportResult.SUCCESS
            problem = self._problem("metrics", taken, self._sessions[0])
            if not problem:
                self.acknowledged = message.rows
            if not problem or self._sessions[0].is_final:  # there is a collector
                self._send(events)
            with self._changed:
                self.problem = problem
                self._is_sent = self._newest is message
                self._changed.notify_all()

    def _send(self, events: list[ReadableLogRecord]) -> None:
        if not events or not self._logs:
            return
        taken = self._logs.export(events) is LogRecordExportResult.SUCCESS
        if not self._problem("events", taken, self._sessions[1]) or self._sessions[1].is_final:
            with self._changed:
                for _ in events:
                    self._events.popleft()

    def _problem(self, signal: str, taken: bool, session: _Session) -> str:
        """Why the last message was not taken, empty if it was."""
        problem = session.problem or ("" if taken else "it could not be sent")
        if problem and not self._warned & {signal, problem}:  # one warning of one address
            self._warned |= {signal, problem}
            self._warn(f"{signal}: {problem}")
        return problem
