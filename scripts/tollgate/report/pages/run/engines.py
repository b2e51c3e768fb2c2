"""The engines that sent the load of a merged run, each with what it sent. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from tollgate.base.text import format_duration, format_number
from tollgate.judge.engines import shared_s
from tollgate.judge.facts import EngineFacts
from tollgate.record.manifest import Manifest
from tollgate.report.pages.run.view import View
from tollgate.report.table import Column, Table, numeric

_SCHEDULES = numeric("meant", "sent", "missing", "late p99", "late by itself p99")


@dataclass(frozen=True)
class OneEngine:
    """href: of the page that its own run left, empty for none."""

    title: str
    machine: str
    href: str
    table: Table


@dataclass(frozen=True)
class Engines:
    """Those of one execution. shared: for how long all of them measured together."""

    shared: str
    table: Table
    engines: Sequence[OneEngine]


def content(views: Sequence[View], record: Manifest) -> list[Engines]:
    """One for each execution that several engines sent."""
    folders = [each["folder"] for each in record.engines]
    return [_engines(view, folders) for view in views if view.execution.engines]


def _engines(view: View, folders: Sequence[str]) -> Engines:
    engines = view.execution.engines
    both_s, longest_s = shared_s(engines)
    columns = numeric("began", "requests", "failed", "p50", "p95", "p99", "missing", "late p99")
    both = format_duration(both_s)
    return Engines(
        f"{view.name}: of {format_duration(longest_s)} all of them measured together for {both}.",
        Table(
            f"{view.name}: requests of the measured time, service times in ms, by engine",
            (Column("engine"), *columns),
            [_row(each) for each in engines],
            "cards",
        ),
        [
            OneEngine(f"Engine {each.name}", each.machine, f"{folder}/index.html", _schedules(each))
            for each, folder in zip(engines, folders, strict=True)
        ],
    )


def _row(engine: EngineFacts) -> tuple[str, ...]:
    schedules = engine.execution.schedules
    began = f"{datetime.fromtimestamp(engine.from_s, timezone.utc):%H:%M:%S.%f}"[:-5]
    late = max((it.lateness_p99_ms for it in schedules), default=math.nan)
    return (
        engine.name,
        began,
        f"{engine.requests:,}",
        f"{engine.failed:,}",
        *(_ms(it) for it in (engine.p50_ms, engine.p95_ms, engine.p99_ms)),
        f"{sum(it.missing for it in schedules):,}",
        _ms(late),
    )


def _schedules(engine: EngineFacts) -> Table:
    def rows() -> Iterator[tuple[str, ...]]:
        for it in engine.execution.schedules:
            counts = (f"{count:,}" for count in (it.intended, it.sent, it.missing))
            yield ", ".join(it.labels), *counts, _ms(it.lateness_p99_ms), _ms(it.generator_p99_ms)

    title = f"Engine {engine.name}: requests of its schedules, lateness in ms"
    return Table(title, (Column("labels"), *_SCHEDULES), list(rows()), "cards")


def _ms(value: float) -> str:
    return "" if math.isnan(value) else format_number(value)
