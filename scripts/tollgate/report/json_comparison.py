"""A comparison in verdict.json: the models of its part, and its content. Pure."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field

from tollgate.base.fields import Amount, Count, Interval, Positive, Text, Whole, ends
from tollgate.compare import words
from tollgate.compare.model import SHARES, Finding
from tollgate.compare.pace import Pace
from tollgate.compare.processes import ProcessSpread
from tollgate.compare.result import Comparison
from tollgate.report.json_model import Model, content
from tollgate.workers.background_cpu import BackgroundCpu

Metric = Literal["typical", "p50", "p95", "p99", "mean", "stalls", "errors"]


class SideEntry(Model):
    """One of the two."""

    name: Literal["base", "head"]
    """Its name."""
    told: str
    """Which code it is, e.g. `1a2b3c4 (merge base with origin/main)`."""
    revision: str | None
    """SHA of the commit; null where no commit holds it or a URL was given."""
    url: str | None
    """Where it was asked; null where PM2 ran it."""


class SamplesEntry(Model):
    """Requests of each side."""

    base: Count
    """Requests that went to base."""
    head: Count
    """Requests that went to head."""


class SpreadEntry(Model):
    """How much the processes of each side differ in the typical request of a label: of each process
    the ratio to all of base's, less 1; null where it has too few samples."""

    label: str
    """The label."""
    base: list[float | None]
    """Of base's processes."""
    head: list[float | None]
    """Of head's processes."""


class SettingsEntry(Model):
    """What the gate promises: modules.compare."""

    effect: Positive
    """The smallest rise of a response time that matters, as a share of it."""
    typical_effect: Positive
    """The smallest rise of the typical request's time that matters, as a share of it."""
    error_effect: Positive
    """The smallest rise of the error rate that matters, a difference of shares."""
    stall_effect: Positive
    """The smallest rise of the share of stalled answers that matters, a difference of shares."""
    fail_from: Positive
    """The share of the effect from which an estimate can fail."""
    false_alarm: Positive
    """How often a candidate that is like the base may fail, over all that gates and all looks, as a
    share of runs."""
    miss: Positive
    """How often a metric may pass in spite of a rise as large as the effect, as a share of runs."""
    budget_s: Positive
    """After how many seconds of measuring looking ends."""
    gates: Annotated[list[Metric], Field(min_length=1)]
    """The metrics that decide; the others are informational."""
    labels: list[str]
    """The labels whose metrics decide; empty for all."""
    fail_fast: bool
    """Whether a decided FAIL ended the measuring: what was open then is INCONCLUSIVE."""


class FindingEntry(Model):
    """One metric of one label. What is said stands as of the look that decided it."""

    label: str
    """The label."""
    metric: Metric
    """The metric."""
    gates: bool
    """Whether it has a say in the verdict."""
    verdict: Literal["PASS", "FAIL", "IMPROVED", "INCONCLUSIVE", "TOLD"]
    """FAIL: worse beyond doubt. PASS: a rise as large as the effect is ruled out. IMPROVED:
    better beyond doubt, which passes. INCONCLUSIVE: the time was too short to tell. TOLD: it has
    no say."""
    reason: str
    """Why, in words; may be empty where it has no say."""
    unit: Literal["ms", "share"]
    """Of base and head: `ms`, or `share` for errors and stalls, a share of 1."""
    base: float | None
    """What base gave; null without samples."""
    head: float | None
    """What head gave; null without samples."""
    change: float | None
    """How much more head takes: of times head / base - 1, of shares head - base; null where it is
    not known."""
    limit_ms: Positive | None
    """Of stalls: beyond how many ms an answer counts. Null of other metrics, and where it is not
    known."""
    interval: Interval | None
    """Ends of the repeated interval of the change, which holds at all looks together. The low end
    misses the truth in `false_alarm` of all runs at most, with everything else that gates; the high
    end in `miss` of them. Null where it is not known, and an end where it has no bound."""
    samples: SamplesEntry
    """Requests of the label in all seconds that count."""
    decided_s: Positive | None
    """After how many seconds of measuring it was decided; null where it was not."""
    more_s: Positive | None
    """About how many seconds more would decide it; null where that is not known."""
    message_line: Text
    """All of it in one line, e.g. `p95 of sum: head 5.31 ms against base 4.42 ms, +20.1 % (at least
    +17.2 %, at most +23.4 %)`."""


class CostEntry(Model):
    """CPU time that one request of each label took, measured before the comparison began."""

    service_ms: Amount
    """Of base and head together, in ms."""
    generator_ms: Amount
    """Of JMeter, in ms."""


class PaceEntry(Model):
    """How fast arrivals came, of each label."""

    period_ms: Count
    """From one arrival to the next, in ms."""
    usual_ms: Count
    """As the plan has it, in ms."""
    why: Literal["measured", "fixed", "unseen", "unknown"]
    """By what the machine can carry (`measured`), by a property (`fixed`), or as the plan has it:
    the CPU time of services by URL is `unseen`, and `unknown` where measuring it failed."""
    cores: Count
    """As many as the run could use."""
    share: Amount
    """Of the cores, what base, head and JMeter may need together."""
    cost: CostEntry | None
    """Null where it was not measured."""


class ComparisonEntry(Model):
    """Base against head, asked at the same time under one load: each arrival went to one of the two
    by the toss of a fair coin."""

    base: SideEntry
    """What head is held against."""
    head: SideEntry
    """What is to be judged."""
    mode: Literal["fork", "cluster", "url"]
    """How PM2 ran both; `url` where it ran neither."""
    processes: Whole
    """Of each side that were asked by themselves. With more than one a FAIL of a response time
    needs every process of head to be slower than every one of base."""
    spreads: list[SpreadEntry]
    """How much these differ, by label; empty of a single process a side."""
    control: bool
    """Whether both were the same, A against A, so that all that differs is noise."""
    injected: dict[str, float]
    """By what head alone was slowed on purpose, by name, e.g. `work_percent`; empty for nothing."""
    settings: SettingsEntry
    """What the gate promises."""
    pace: PaceEntry | None
    """Null for a plan with rates of its own, and for runs of before there was a choice."""
    foreign: BackgroundCpu | None
    """Null with services by URL, and for runs of before it was recorded."""
    verdict: Literal["PASS", "FAIL", "INCONCLUSIVE"]
    """What the findings that gate come to. What makes the measurement itself doubtful is among the
    execution's reasons."""
    compared_s: Count
    """Whole seconds of measuring that count."""
    ended_itself_s: Amount | None
    """Seconds of measuring after which the run ended itself, for everything was decided or, with
    `fail_fast`, a metric had failed; null where it did not."""
    looks_s: list[Positive]
    """When the samples were looked at, in seconds of measuring."""
    findings: list[FindingEntry]
    """Every metric of every label, those without a say as well; the same ones in every run."""


def comparison_content(comparison: Comparison | None) -> dict[str, Any] | None:
    """An execution's `comparison` in verdict.json; None where nothing is compared."""
    if comparison is None:
        return None
    record, gate = comparison.record, comparison.gate
    return content(
        ComparisonEntry,
        record,
        base=content(SideEntry, record.base),
        head=content(SideEntry, record.head),
        spreads=[_spread(each) for each in comparison.spreads],
        control=comparison.is_control,
        settings=content(SettingsEntry, gate.settings),
        pace=_pace(record.pace),
        foreign=BackgroundCpu.of(record.foreign),
        verdict=gate.verdict,
        compared_s=comparison.seconds,
        ended_itself_s=record.decided_s,
        looks_s=gate.looks_s,
        findings=[_finding(each, comparison) for each in gate.findings],
    )


def _spread(spread: ProcessSpread) -> dict[str, Any]:
    sides = {"base": spread.base, "head": spread.head}
    levels = {name: [None if math.isnan(it) else it for it in of] for name, of in sides.items()}
    return content(SpreadEntry, spread, **levels)


def _pace(found: Pace | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return content(PaceEntry, found, cost=found.cost and content(CostEntry, found.cost))


def _finding(finding: Finding, comparison: Comparison) -> dict[str, Any]:
    base, head = comparison.samples.get(finding.label, (0, 0))
    return content(
        FindingEntry,
        finding,
        unit="share" if finding.metric in SHARES else "ms",
        interval=ends(finding.low, finding.high),
        samples={"base": base, "head": head},
        decided_s=finding.at_s,
        message_line=words.line(finding, words.effect_of(comparison, finding)),
    )
