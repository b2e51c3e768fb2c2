"""The study's tables: claims, ratios, requests by worker, the cross-check, all figures. Pure."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from tollgate.pages.kit.bars import Scale, interval_bar, scale_head, shares_bar
from tollgate.pages.kit.parts import Child, Column, Group, Row, badge, details, element, table
from tollgate.study import (
    METRIC_NAMES,
    TOLD,
    CellResult,
    Claim,
    Comparison,
    Estimate,
    Study,
    interval,
    number,
    tone,
    users,
)

_NUMBER, _TERM = "number", "term"


def claims(study: Study) -> ET.Element:
    """The published figure beside the measured one, the answer and why."""
    columns = (
        *(
            Column("claim"),
            Column("published"),
            Column("measured here (95 % interval)"),
            Column("answer"),
        ),
        Column("because"),
    )
    rows = (
        (
            *(_claim(it), it.published, _measured(it)),
            *(badge(it.answer, tone(it.answer)), it.reason),
        )
        for it in study.claims
    )
    caption = (
        "Core counts differ: most answers are about a claim's direction, its size stands beside."
    )
    return table(caption, columns, rows, kind="cards")


def ratios(study: Study, metric: str) -> ET.Element:
    """A forest plot of each experiment's ratios."""
    experiments = dict.fromkeys(it.experiment for it in study.comparisons)
    plots = (
        _forest(name, [it for it in study.comparisons if it.experiment == name], metric)
        for name in experiments
    )
    return element("div", *plots, class_="tables")


def workers(study: Study) -> list[Child]:
    """How the requests of each arm with several workers were dealt."""
    several = [it for it in study.cells if len(it.workers) > 1 and it.requests]
    if not several:
        return []
    told = (
        "A cluster deals connections, not requests, and every block has new ones: with few users "
        "a worker may get most of a block, or all of it. The balancer of pi deals requests."
    )
    experiments = dict.fromkeys(it.cell.experiment for it in several)
    found = (
        _dealing(name, [it for it in several if it.cell.experiment == name]) for name in experiments
    )
    return [told, element("div", *found, class_="tables")]


def checks(study: Study) -> ET.Element:
    """Each other load generator's figures over JMeter's."""
    scale = Scale.of(ratio for it in study.checks for ratio in it.ratios.values())
    columns = (Column("figure"), *_ratio_columns(scale))
    rows: list[Row] = []
    for it in study.checks:
        name = f"{it.tool} {it.version}".strip()
        verdict = badge(it.agreement, tone(it.agreement))
        rows.append(Group((name, " ", verdict, " ", element("span", it.reason, class_="small"))))
        rows += [(METRIC_NAMES[of], *_ratio(ratio, scale)) for of, ratio in it.ratios.items()]
    return table("The tool's figure over JMeter's", columns, rows)


def arms(study: Study) -> list[Child]:
    """Every metric of every cell, a table an experiment to unfold."""
    return [
        details(name, _figures(name, [it for it in study.cells if it.cell.experiment == name]))
        for name in dict.fromkeys(it.cell.experiment for it in study.cells)
    ]


def outages(study: Study) -> list[Child]:
    """Each worker that died while it was measured, and what that cost."""
    if not study.outages:
        return ["None: every worker that began the run ended it."]
    columns = (
        *(Column("app"), Column("worker"), Column("died at, s", _NUMBER)),
        *(Column("back after, s", _NUMBER), Column("requests lost", _NUMBER), Column("during")),
    )
    caption = "Seconds into the run. Blocks in which a worker of the arm died are left out."
    return [table(caption, columns, [_outage(it) for it in study.outages])]


def _claim(claim: Claim) -> Child:
    return element("span", element("span", claim.system, class_="small"), claim.claim)


def _measured(claim: Claim) -> Child:
    value = element("span", _with_unit(number(claim.measured.value), claim.unit), class_="value")
    within = interval(claim.measured)
    told = f" ({within})" if within else None
    return element("span", value, told, element("span", claim.what, class_="small"))


def _with_unit(value: str, unit: str) -> str:
    return f"{value} {unit}" if unit and unit != "ratio" and value != "-" else value


def _forest(experiment: str, found: Sequence[Comparison], metric: str) -> ET.Element:
    scale = Scale.of(it.ratios[metric] for it in found if metric in it.ratios)
    rows: list[Row] = []
    for arm, baseline in dict.fromkeys((it.arm, it.baseline) for it in found):
        rows.append(Group((f"{arm} / {baseline}",)))
        rows += [
            (users(it.users), *_ratio(it.ratios[metric], scale))
            for it in found
            if (it.arm, it.baseline) == (arm, baseline) and metric in it.ratios
        ]
    caption = f"{experiment}, {METRIC_NAMES[metric]}"
    return table(caption, (Column("users", _TERM), *_ratio_columns(scale)), rows)


def _ratio_columns(scale: Scale) -> tuple[Column, ...]:
    bars = Column("95 % interval", "bar", scale_head(scale))
    return bars, Column("ratio, from, to", "number ratio")


def _ratio(ratio: Estimate, scale: Scale) -> tuple[Child, ...]:
    # A note may be long, and takes the place of the interval.
    note = None if interval(ratio) else element("span", ratio.note, class_="small note")
    return interval_bar(ratio, scale), element("span", _told(ratio), note)


def _dealing(experiment: str, found: Sequence[CellResult]) -> ET.Element:
    columns = (
        *(Column("users", _TERM), Column("requests of each worker", "bar")),
        Column("busiest of a block", _NUMBER),
    )
    rows: list[Row] = []
    for arm in dict.fromkeys(it.cell.arm for it in found):
        rows.append(Group((arm,)))
        rows += [_dealt(it) for it in found if it.cell.arm == arm]
    return table(experiment, columns, rows)


def _dealt(found: CellResult) -> Sequence[Child]:
    counts = dict(sorted(found.workers.items()))
    total = sum(counts.values())
    shares = [count / total for count in counts.values()]
    told = ", ".join(f"{name}: {count:,}" for name, count in counts.items())
    bar = element("div", shares_bar(shares), element("span", told, class_="small"))
    busiest = "-" if found.busiest is None else f"{found.busiest:.0%}"
    return users(found.cell.users), bar, busiest


def _told(estimate: Estimate) -> Child:
    within = interval(estimate)
    small = element("span", within, class_="small") if within else None
    return element("span", number(estimate.value), " ", small)


def _figures(name: str, cells: Sequence[CellResult]) -> ET.Element:
    columns = (
        *(Column("users", _TERM), Column("blocks", _NUMBER), Column("requests", _NUMBER)),
        Column("failed", _NUMBER),
        *(Column(METRIC_NAMES[metric], _NUMBER) for metric in TOLD),
        Column("held by", "wide"),
    )
    rows: list[Row] = []
    for arm in dict.fromkeys(it.cell.arm for it in cells):
        rows.append(Group((arm,)))
        rows += [_figures_of(it) for it in cells if it.cell.arm == arm]
    return table(f"{name}: figures with their 95 % intervals", columns, rows)


def _figures_of(found: CellResult) -> Sequence[Child]:
    counts = (found.blocks, found.requests, found.failed)
    why = "; ".join((found.bottleneck.reason, *(f"left out: {it}" for it in found.left_out)))
    return (
        *(users(found.cell.users), *(f"{count:,}" for count in counts)),
        *(_told(found.metrics.get(metric, Estimate(None))) for metric in TOLD),
        element("span", found.bottleneck.who, element("span", why, class_="small")),
    )


def _outage(found: dict) -> Sequence[Child]:
    back = found.get("to_s")
    lost = found.get("lost")
    gone = "did not come back" if back is None else number(max(back - found["from_s"], 0.0))
    return (
        *(str(found.get("app", "")), f"{found.get('worker', '')} (pid {found.get('pid', '?')})"),
        *(number(found["from_s"]), gone, "unknown" if lost is None else f"{lost:,}"),
        str(found.get("experiment", "")),
    )
