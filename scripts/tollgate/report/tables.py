"""The tables and lines that console, Markdown and page show of an execution. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tollgate.base.text import one_line
from tollgate.compare import words
from tollgate.compare.model import IMPROVED, METRICS, Finding, GateSettings
from tollgate.compare.power import Power
from tollgate.judge.verdicts import (
    FAIL,
    INCONCLUSIVE,
    LOOKS,
    ORDER,
    PASS,
    CriterionResult,
    ExecutionVerdict,
)
from tollgate.report import capacity
from tollgate.report.table import (
    CODE,
    INFORMATIONAL,
    VERDICT,
    Bar,
    Column,
    Table,
    TableCell,
    numeric,
)
from tollgate.report.text import decided, forecast_line, interval, limit, observed, worker_lines

_CAPTION = (
    "The run fails if one of these is true. The bar reaches to what was observed, on a scale that "
    "puts every limit at the same place; the thin line is the interval that holds the true value. "
    "Counts and shares are exact."
)


#: Of base and of head by label; empty where they are not counted yet.
Samples = Mapping[str, tuple[int, int]]


def content(execution: ExecutionVerdict, worst_first: bool = False) -> Iterator[Table | list[str]]:
    """What was compared, searched for and asked, and what was seen of workers and the machine."""
    if comparison := execution.comparison:
        findings = comparison.gate.findings
        findings = sorted(findings, key=_weight) if worst_first else findings
        yield [*words.sides(comparison.record)]
        if power := comparison.record.power:
            yield power_table(power)
        yield findings_table("", findings, comparison.gate.settings, comparison.samples)
        noise = words.noise(comparison) if comparison.is_control else ()
        cpu = (it.line for it in comparison.cpu_by_label)
        yield [words.course(comparison), *words.processes(comparison), *cpu, *noise]
    if execution.capacity:
        yield [*capacity.lines(execution.capacity)]
    if results := execution.criteria:
        results = by_severity(results) if worst_first else results
        yield criteria_table(results, bool(execution.course))
    exported = [execution.exported.line] if execution.exported else []
    forecast = [forecast_line(execution.forecast)] if execution.forecast else []
    if seen := [*forecast, *worker_lines(execution), *execution.background_lines, *exported]:
        yield seen


def by_severity(results: Iterable[CriterionResult]) -> list[CriterionResult]:
    """The worst first, and what has no say beside what passes. Python's sort is stable: criteria of
    one verdict stay in the order of taurus.yml."""

    def goodness(result: CriterionResult) -> int:
        return -ORDER.index(result.verdict if result.decides else PASS)

    return sorted(results, key=goodness)


def _weight(finding: Finding) -> int:
    """The worst weighs least, and what has no say most."""
    if not finding.gates:
        return 4
    return {FAIL: 0, INCONCLUSIVE: 1, IMPROVED: 2}.get(finding.verdict, 3)


def criteria_table(results: Sequence[CriterionResult], has_looks: bool) -> Table:
    """has_looks: whether some execution was looked at more than once."""
    interval_name = max((it.interval_name for it in results), key=len)
    columns = [
        Column("criterion", CODE),
        Column("verdict", VERDICT),
        *numeric("observed", "limit"),
        Column("against the limit", "bar narrow", "limit"),
        *numeric(interval_name, "n"),
        *(numeric("decided") if has_looks else ()),
    ]
    rows = [_criterion(it)[: len(columns)] for it in results]
    return Table(_CAPTION, columns, rows, "cards criteria")


def _criterion(result: CriterionResult) -> tuple[str | TableCell, ...]:
    basis = "" if result.basis in ("samples", LOOKS) else result.basis
    worker = "" if result.worker is None else f"worker {result.worker}"
    about = one_line(", ".join(filter(None, (basis, result.window, worker))))
    reason = one_line(result.reason) if result.verdict != PASS else ""
    return (
        TableCell(one_line(result.criterion), note=about, small=reason),
        TableCell(badge=result.verdict if result.decides else INFORMATIONAL),
        observed(result) + _over(result),
        limit(result),
        TableCell(bar=_against_limit(result)),
        interval(result),
        f"{result.samples:,}",
        decided(result),
    )


def _over(result: CriterionResult) -> str:
    """By how much a violated limit was missed."""
    if result.verdict != FAIL or not result.limit or result.observed is None:
        return ""
    return f" ({100 * (result.observed / result.limit - 1):+.0f} %)"


def _against_limit(result: CriterionResult) -> Bar:
    """Multiples of the limit; of a limit of nothing there is something, or there is nothing."""
    verdict = result.verdict if result.decides else INFORMATIONAL
    if result.observed is None:
        return Bar(None, verdict=verdict)
    if not result.limit:
        return Bar(float("inf") if result.observed else 0.0, verdict=verdict)
    ends = (result.low, result.high)
    low, high = (None if end is None else end / result.limit for end in ends)
    return Bar(result.observed / result.limit, low, high, verdict)


def findings_table(
    caption: str,
    findings: Sequence[Finding],
    settings: GateSettings,
    samples: Samples,
    scale: object = None,
) -> Table:
    """Head against base. scale: of the changes, where they are drawn: kit/bars.py: Ruler."""
    columns = [
        Column("label", CODE),
        Column("metric"),
        *numeric("base", "head"),
        Column("at least, change, at most", "bar", scale),
        *numeric("change", "at least", "at most"),
        Column("verdict", VERDICT),
    ]
    rows = [_finding(it, settings, samples) for it in findings]
    return Table(caption, columns, rows, "cards", is_grouped=True)


def power_table(powers: Sequence[Power]) -> Table:
    """What a comparison will probably find, a row a label."""
    by_label: dict[str, dict[str, Power]] = {}
    for power in powers:
        by_label.setdefault(power.label, {})[power.metric] = power
    metrics = [name for name in METRICS if any(it.metric == name for it in powers)]
    columns = [
        Column("least rise found in", CODE),
        *numeric("requests a side", *metrics),
        Column("can't be decided"),
    ]
    rows = [
        (
            label,
            f"{next(iter(own.values())).requests:,}",
            *(
                words.rise(own[metric]) if metric in own and own[metric].rise is not None else "-"
                for metric in metrics
            ),
            ", ".join(it.metric for it in own.values() if not it.can_pass),
        )
        for label, own in by_label.items()
    ]
    return Table("What this comparison can find, as known before the load", columns, rows, "cards")


def _finding(
    finding: Finding, settings: GateSettings, samples: Samples
) -> tuple[str | TableCell, ...]:
    effect, verdict = settings.effect_of(finding.metric, finding.base), words.verdict(finding)
    base, head = samples.get(finding.label, (0, 0))
    counted = f"{base:,} requests to base, {head:,} to head" if samples else ""
    return (
        TableCell(finding.label, small=counted),
        finding.metric,
        words.value(finding, finding.base),
        words.value(finding, finding.head),
        TableCell(bar=Bar(finding.change, finding.low, finding.high, verdict)),
        *(
            words.change(finding, each, effect)
            for each in (finding.change, finding.low, finding.high)
        ),
        TableCell(badge=verdict, small=words.reason(finding) if finding.gates else finding.reason),
    )
