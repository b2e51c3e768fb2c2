"""Whether a run is exported: OpenTelemetry's own variables say. Imports nothing of it, so that runs
without them do not pay for that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

_PROTOCOL = "http/protobuf"
#: What the specification calls an exporter by OTLP, and OpenTelemetry's SDK for Python.
_OTLP, _NONE = ("otlp", "otlp_proto_http"), "none"
#: Seconds between two messages, by default and at least. OpenTelemetry's default of a minute is too
#: long for loads of some minutes.
USUAL_S, SHORTEST_S = 5.0, 1.0


@dataclass(frozen=True)
class Wanted:
    """What the variables ask for. problem: why metrics, or with these the events, are not sent as
    they ask; empty for nothing."""

    metrics: bool = False
    logs: bool = False
    every_s: float = USUAL_S
    problem: str = ""


def wanted(environment: Mapping[str, str]) -> Wanted:
    """By the names of OpenTelemetry's specification, "OTLP Exporter Configuration" and "SDK
    Environment Variables"."""

    def value(name: str) -> str:
        return environment.get(name, "").strip()

    both = value("OTEL_EXPORTER_OTLP_ENDPOINT")
    is_off = value("OTEL_SDK_DISABLED").lower() == "true"
    if is_off or value("OTEL_METRICS_EXPORTER").lower() == _NONE:
        return Wanted()
    if not (both or value("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")):
        return Wanted()
    if problem := _problem(value, "METRICS"):
        return Wanted(problem=problem)
    logs = both or value("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT")
    has_logs = bool(logs) and value("OTEL_LOGS_EXPORTER").lower() != _NONE
    problem = _problem(value, "LOGS") if has_logs else ""
    has_logs = has_logs and not problem
    every_ms = value("OTEL_METRIC_EXPORT_INTERVAL")
    every_s = max(int(every_ms) / 1000, SHORTEST_S) if every_ms.isdecimal() else USUAL_S
    return Wanted(True, has_logs, every_s, problem)


def _problem(value: Callable[[str], str], signal: str) -> str:
    """Why a signal can't be sent as its variables say, empty if it can."""
    exporters = value(f"OTEL_{signal}_EXPORTER")
    if exporters and not {*_OTLP} & {it.strip() for it in exporters.split(",")}:
        return (
            f"OTEL_{signal}_EXPORTER is {exporters!r}, and Tollgate sends by OTLP: add otlp to it, "
            "or set it to none"
        )
    names = (f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    name = next(filter(value, names), names[1])  # that of the signal goes before
    if (protocol := value(name)) in ("", _PROTOCOL):
        return ""
    return (
        f"{name} is {protocol!r}, and Tollgate sends {_PROTOCOL}: set it to that, and the endpoint "
        "to the port for it, mostly 4318"
    )
