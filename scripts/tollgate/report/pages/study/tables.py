"""The tables of a study on the page of its run. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from tollgate.report.pages.kit.bars import Scale
from tollgate.report.table import Bar, Cell, Column, Table, numeric
from tollgate.study.model import (
    CROSSCHECK,
    DESCRIBED,
    ArmComparison,
    CellResult,
    Claim,
    Estimate,
    StudyResult,
)
from tollgate.study.words import METRIC_NAMES, interval, number, users

Item = TypeVar("Item")
_CLAIMS = "Core counts differ: most answers are about a claim's direction, its size stands beside."


def claims(study: StudyResult) -> Table:
    """The published figure beside the measured one, the answer and why."""
    columns = (
        *(Column("claim"), Column("published")),
        Column("measured here (95 % interval)", "value"),
        *(Column("answer"), Column("because")),
    )
    rows = [
        (
            Cell(it.claim, small=it.system),
            it.published,
            Cell(_measured(it), note=_in_brackets(interval(it.measured)), small=it.what),
            Cell(badge=it.answer),
            it.reason,
        )
        for it in study.claims
    ]
    return Table(_CLAIMS, columns, rows, "cards")


def _measured(claim: Claim) -> str:
    value = number(claim.measured.value)
    has_unit = claim.unit and claim.unit != "ratio" and value != "-"
    return f"{value} {claim.unit}" if has_unit else value


def _in_brackets(text: str) -> str:
    return f"({text})" if text else ""


def ratios(study: StudyResult, metric: str) -> list[Table]:
    """A forest plot of each experiment's ratios."""
    return [
        _forest(name, [it for it in found if metric in it.ratios], metric)
        for name, found in _grouped(study.comparisons, lambda it: it.experiment)
    ]


def _forest(experiment: str, found: Sequence[ArmComparison], metric: str) -> Table:
    scale = Scale.of(it.ratios[metric] for it in found)
    rows = [
        (f"{it.arm} / {it.baseline}", users(it.users), *_ratio(it.ratios[metric])) for it in found
    ]
    columns = (Column("arms"), Column("users", "term"), *_ratio_columns(scale))
    return _by_group(f"{experiment}, {METRIC_NAMES[metric]}", columns, rows)


def _ratio_columns(scale: Scale) -> tuple[Column, ...]:
    return Column("95 % interval", "bar", scale), Column("ratio, from, to", "number ratio")


def _ratio(found: Estimate) -> tuple[Cell, Cell]:
    return Cell(bar=Bar(found.value, found.low, found.high)), _figure(found, found.note)


def _figure(found: Estimate, note: str = "") -> Cell:
    """A value with its interval. note: takes the place of an interval that is not known."""
    return Cell(number(found.value), small=interval(found) or note)


def _by_group(
    caption: str, columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]], kind: str = ""
) -> Table:
    """Those of a group together, in the order in which the groups come."""
    ordered = [row for _, group in _grouped(rows, lambda it: str(it[0])) for row in group]
    return Table(caption, columns, ordered, kind, is_grouped=True)


def checks(study: StudyResult) -> Table | None:
    """Other load generators beside JMeter; None without any."""
    if not study.checks:
        return None
    scale = Scale.of(ratio for it in study.checks for ratio in it.ratios.values())
    rows = [
        (Cell(f"{it.tool} {it.version}".strip(), it.agreement, small=it.reason), name, *_ratio(of))
        for it in study.checks
        for name, of in _named(it.ratios)
    ]
    columns = (Column("tool"), Column("figure"), *_ratio_columns(scale))
    caption = f"The tool's figure over JMeter's; the blocks are those of {CROSSCHECK}"
    return Table(caption, columns, rows, is_grouped=True)


def _named(found: Mapping[str, Estimate]) -> list[tuple[str, Estimate]]:
    return [(METRIC_NAMES[metric], it) for metric, it in found.items()]


def workers(study: StudyResult) -> list[Table]:
    """How the requests of each arm with several workers were distributed, a table an experiment."""
    several = [it for it in study.cells if len(it.workers) > 1 and it.requests]
    columns = (
        *(Column("arm"), Column("users", "term")),
        Column("requests of each worker", "bar"),
        Column("busiest of a block", "number"),
    )
    return [
        _by_group(name, columns, map(_workers_of, found))
        for name, found in _grouped(several, lambda it: it.cell.experiment)
    ]


def _workers_of(found: CellResult) -> tuple[str | Cell, ...]:
    counts = dict(sorted(found.workers.items()))
    shares = [count / sum(counts.values()) for count in counts.values()]
    requests = ", ".join(f"{name}: {count:,}" for name, count in counts.items())
    busiest = "-" if found.busiest is None else f"{found.busiest:.0%}"
    return found.cell.arm, users(found.cell.users), Cell(small=requests, bar=shares), busiest


def cells(study: StudyResult) -> list[tuple[str, Table]]:
    """(experiment, every metric of each of its cells)."""
    columns = (
        *(Column("arm"), Column("users", "term")),
        *numeric("blocks", "requests", "failed", *(METRIC_NAMES[it] for it in DESCRIBED)),
        Column("held by", "wide"),
    )
    return [
        (name, _by_group(f"{name}: figures with their 95 % intervals", columns, map(_cell, found)))
        for name, found in _grouped(study.cells, lambda it: it.cell.experiment)
    ]


def _cell(found: CellResult) -> tuple[str | Cell, ...]:
    why = "; ".join((found.bottleneck.reason, *(f"left out: {it}" for it in found.left_out)))
    return (
        found.cell.arm,
        users(found.cell.users),
        *(f"{count:,}" for count in (found.blocks, found.requests, found.failed)),
        *(_figure(found.metrics.get(metric, Estimate(None))) for metric in DESCRIBED),
        Cell(found.bottleneck.who, small=why),
    )


def outages(study: StudyResult) -> Table | None:
    """Each worker that died while it was measured, and what that cost; None without any."""
    if not study.outages:
        return None
    seconds = numeric("died at, s", "back after, s", "requests lost")
    columns = (Column("app"), Column("worker"), *seconds, Column("during"))
    caption = "Seconds into the run. Blocks in which a worker of the arm died are left out."
    return Table(caption, columns, [_outage(it) for it in study.outages])


def _outage(found: dict) -> tuple[str, ...]:
    back, lost = found.get("to_s"), found.get("lost")
    return (
        str(found.get("app", "")),
        f"{found.get('worker', '')} (pid {found.get('pid', '?')})",
        number(found["from_s"]),
        "did not come back" if back is None else number(max(back - found["from_s"], 0.0)),
        "unknown" if lost is None else f"{lost:,}",
        str(found.get("experiment", "")),
    )


def _grouped(items: Iterable[Item], key: Callable[[Item], str]) -> list[tuple[str, list[Item]]]:
    """By key, in the order in which the keys come."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.items())
