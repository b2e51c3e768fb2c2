"""What the page of a study run says: the answers first, then all that they rest on. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tollgate.page.assemble import Section
from tollgate.page.parts import Child, details
from tollgate.study import page_charts
from tollgate.study import page_tables as tables
from tollgate.study.model import CROSSCHECK, Study
from tollgate.study.series import Answers


def sections(study: Study, series: Sequence[Answers]) -> tuple[Section, ...]:
    """From the answers down to all figures; sections without content are left out."""
    found = (
        Section("claims", "Published claims, measured again", [tables.claims(study)]),
        Section("throughput", "Throughput over users", _throughput(study)),
        Section("scaling", "Does it scale?", _scaling(study)),
        Section("pi", "Every answer of pi", _pi(series)),
        Section("ratios", "Arm against arm", _ratios(study)),
        Section("workers", "Who got the requests", tables.workers(study)),
        Section("crosscheck", "Another load generator", _crosscheck(study)),
        Section("arms", "All figures", tables.arms(study)),
        Section("outages", "Workers that died", tables.outages(study)),
    )
    return tuple(section for section in found if section.content)


_RATIOS_TOLD = (
    "Throughput of an arm over that of another at the same number of users, measured by turns in "
    "the same rounds. Bars are 95 % intervals of a block bootstrap; one that crosses 1 can't tell."
)
_PI_TOLD = (
    "As the write-up shows it: a dot is an answer, at the time at which it came. Drag to zoom in, "
    "double-click to see all."
)
_THROUGHPUT_TOLD = "Requests answered a second, with 95 % intervals."
_SCALING_TOLD = (
    "Concurrency performance: the response time of one process under the fewest users, times the "
    "throughput. 1 (dotted) is what one process gives without a queue; above it an arm scales."
)


def _throughput(study: Study) -> list[Any]:
    charts = page_charts.throughput(study)
    return [_THROUGHPUT_TOLD, *charts] if charts else []


def _scaling(study: Study) -> list[Any]:
    charts = page_charts.performance(study)
    return [_SCALING_TOLD, *charts] if charts else []


def _ratios(study: Study) -> list[Child]:
    if not study.comparisons:
        return []
    means = tables.ratios(study, "mean")
    unfolded = details("The same for the mean response time: left of 1 is faster", means)
    return [_RATIOS_TOLD, tables.ratios(study, "throughput"), unfolded]


def _pi(series: Sequence[Answers]) -> list[Any]:
    charts = page_charts.answers(series)
    return [_PI_TOLD, *charts] if charts else []


def _crosscheck(study: Study) -> list[Child]:
    if not study.checks:
        return []
    told = (
        "The same server under the same load, JMeter and another generator by turns. "
        f"The blocks are those of the experiment {CROSSCHECK}."
    )
    return [told, tables.checks(study)]
