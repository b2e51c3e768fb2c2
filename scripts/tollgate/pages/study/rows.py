"""What the page of a run shows of a study, as plain rows for its template. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tollgate.pages.kit.bars import BarSegment, IntervalBar, Scale, parts
from tollgate.pages.kit.tables import Column, Table, numeric
from tollgate.study.model import (
    CROSSCHECK,
    DESCRIBED,
    ArmComparison,
    CellResult,
    Check,
    Claim,
    Estimate,
    StudyResult,
)
from tollgate.study.words import METRIC_NAMES, interval, number, tone, users

Row = TypeVar("Row")
Item = TypeVar("Item")
#: Rows below the names of what they belong to.
Groups = Sequence[tuple[str, Sequence[Row]]]


@dataclass(frozen=True)
class Figure:
    """A value with its 95 % interval, empty where there is none. note: why not."""

    value: str
    interval: str
    note: str = ""

    @classmethod
    def of(cls, estimate: Estimate) -> Figure:
        within = interval(estimate)
        return cls(number(estimate.value), within, "" if within else estimate.note)


@dataclass(frozen=True)
class ClaimRow:
    """A published claim. measured: with its unit; what: what that is. reason: of the answer."""

    system: str
    claim: str
    published: str
    measured: Figure
    what: str
    answer: str
    tone: str
    reason: str


@dataclass(frozen=True)
class RatioRow:
    """name: of what is compared, e.g. `10 users`."""

    name: str
    bar: IntervalBar
    ratio: Figure


@dataclass(frozen=True)
class Forest:
    """A forest plot of ratios. groups: by pair of arms."""

    caption: str
    scale: Scale
    groups: Groups[RatioRow]


@dataclass(frozen=True)
class CheckRows:
    """Another load generator's figures over JMeter's."""

    tool: str
    agreement: str
    tone: str
    reason: str
    ratios: Sequence[RatioRow]


@dataclass(frozen=True)
class Checks:
    """experiment: whose blocks JMeter and the other load generators took by turns."""

    experiment: str
    scale: Scale
    tools: Sequence[CheckRows]


@dataclass(frozen=True)
class WorkersRow:
    """How the requests of a cell were distributed over its workers. busiest: share of a block."""

    users: str
    parts: Sequence[BarSegment]
    requests: str
    busiest: str


@dataclass(frozen=True)
class CellRow:
    """counts, metrics: by the heading of their column. held_by: what held the throughput; why."""

    users: str
    counts: dict[str, str]
    metrics: dict[str, Figure]
    held_by: str
    why: str


@dataclass(frozen=True)
class Cells:
    """columns: (heading, CSS class). experiments: the rows of each by arm."""

    columns: Sequence[tuple[str, str]]
    experiments: Groups[tuple[str, Sequence[CellRow]]]


def claims(study: StudyResult) -> list[ClaimRow]:
    """The published figure beside the measured one, the answer and why."""
    return [
        ClaimRow(
            system=it.system,
            claim=it.claim,
            published=it.published,
            measured=_measured(it),
            what=it.what,
            answer=it.answer,
            tone=tone(it.answer),
            reason=it.reason,
        )
        for it in study.claims
    ]


def _measured(claim: Claim) -> Figure:
    value = number(claim.measured.value)
    has_unit = claim.unit and claim.unit != "ratio" and value != "-"
    return Figure(f"{value} {claim.unit}" if has_unit else value, interval(claim.measured))


def ratios(study: StudyResult, metric: str) -> list[Forest]:
    """A forest plot of each experiment's ratios."""
    return [
        _forest(name, found, metric)
        for name, found in _grouped(study.comparisons, lambda it: it.experiment)
    ]


def _forest(experiment: str, found: Sequence[ArmComparison], metric: str) -> Forest:
    known = [it for it in found if metric in it.ratios]
    scale = Scale.of(it.ratios[metric] for it in known)
    groups = [
        (pair, [_ratio(users(it.users), it.ratios[metric], scale) for it in rows])
        for pair, rows in _grouped(known, lambda it: f"{it.arm} / {it.baseline}")
    ]
    return Forest(f"{experiment}, {METRIC_NAMES[metric]}", scale, groups)


def _ratio(name: str, ratio: Estimate, scale: Scale) -> RatioRow:
    return RatioRow(name, IntervalBar.of(ratio, scale), Figure.of(ratio))


def checks(study: StudyResult) -> Checks | None:
    """Other load generators beside JMeter; None without any."""
    if not study.checks:
        return None
    scale = Scale.of(ratio for it in study.checks for ratio in it.ratios.values())
    return Checks(CROSSCHECK, scale, [_check(it, scale) for it in study.checks])


def _check(found: Check, scale: Scale) -> CheckRows:
    return CheckRows(
        tool=f"{found.tool} {found.version}".strip(),
        agreement=found.agreement,
        tone=tone(found.agreement),
        reason=found.reason,
        ratios=[_ratio(METRIC_NAMES[of], it, scale) for of, it in found.ratios.items()],
    )


def workers(study: StudyResult) -> Groups[tuple[str, Sequence[WorkersRow]]]:
    """How the requests of each arm with several workers were distributed, by experiment and arm."""
    several = [it for it in study.cells if len(it.workers) > 1 and it.requests]
    return _by_experiment(several, _workers_of)


def _workers_of(found: CellResult) -> WorkersRow:
    counts = dict(sorted(found.workers.items()))
    total = sum(counts.values())
    return WorkersRow(
        users=users(found.cell.users),
        parts=parts([count / total for count in counts.values()]),
        requests=", ".join(f"{name}: {count:,}" for name, count in counts.items()),
        busiest="-" if found.busiest is None else f"{found.busiest:.0%}",
    )


def cells(study: StudyResult) -> Cells | None:
    """Every metric of every cell; None without any."""
    if not study.cells:
        return None
    row = _cell(study.cells[0])
    numbers = [(heading, "number") for heading in (*row.counts, *row.metrics)]
    columns = [("users", "term"), *numbers, ("held by", "wide")]
    return Cells(columns, _by_experiment(study.cells, _cell))


def _cell(found: CellResult) -> CellRow:
    return CellRow(
        users=users(found.cell.users),
        counts={
            "blocks": f"{found.blocks:,}",
            "requests": f"{found.requests:,}",
            "failed": f"{found.failed:,}",
        },
        metrics={
            METRIC_NAMES[metric]: Figure.of(found.metrics.get(metric, Estimate(None)))
            for metric in DESCRIBED
        },
        held_by=found.bottleneck.who,
        why="; ".join((found.bottleneck.reason, *(f"left out: {it}" for it in found.left_out))),
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


def _by_experiment(
    found: Iterable[CellResult], row: Callable[[CellResult], Row]
) -> Groups[tuple[str, Sequence[Row]]]:
    return [
        (experiment, [(arm, list(map(row, of_arm))) for arm, of_arm in _grouped(mine, _arm)])
        for experiment, mine in _grouped(found, lambda it: it.cell.experiment)
    ]


def _arm(found: CellResult) -> str:
    return found.cell.arm


def _grouped(items: Iterable[Item], key: Callable[[Item], str]) -> list[tuple[str, list[Item]]]:
    """By key, in the order in which the keys come."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.items())
