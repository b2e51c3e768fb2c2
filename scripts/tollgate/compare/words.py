"""Findings of a comparison in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tollgate.base.text import format_duration, format_number, some_of
from tollgate.compare.model import (
    CPU,
    IMPROVED,
    INFORMATIONAL,
    METRICS,
    OPEN,
    PASS,
    SHARES,
    STALLS,
    TAIL,
    Finding,
)
from tollgate.compare.pace import FIXED, MEASURED, UNSEEN, Pace
from tollgate.compare.power import Power, foretold, rise_by_threads
from tollgate.compare.record import CompareRecord
from tollgate.compare.result import Comparison
from tollgate.compare.unlike import UnlikeAnswers
from tollgate.workers.background_cpu import CALM, BackgroundCpu

UNKNOWN = "-"
#: Digits after the point beyond which no reader distinguishes two numbers.
_MOST_DIGITS = 6
#: Metrics that a short text names.
_NAMED = 3


def name(finding: Finding) -> str:
    """`p95 of sum`."""
    return f"{finding.metric} of {finding.label}"


def value(finding: Finding, measured: float | None) -> str:
    """One side's value with its unit: `4.42 ms`, `0.52 %`."""
    if measured is None:
        return UNKNOWN
    if finding.metric in SHARES:
        return f"{format_number(100 * measured)} %"
    return f"{format_number(measured)} ms"


def change(finding: Finding, amount: float | None, effect: float) -> str:
    """A change: `+20.1 %`, of error rates `+0.52 points`. Never rounded onto none, nor onto the
    effect (a share), which it is held against."""
    if amount is None:
        return UNKNOWN
    digits, unit = (2, "points") if finding.metric in SHARES else (1, "%")
    percent, limits = 100 * amount, (0.0, 100 * effect)
    while digits < _MOST_DIGITS:
        text = f"{percent:+.{digits}f}"
        if not any(float(text) == limit != percent for limit in limits):
            break
        digits += 1
    return f"{text} {unit}" if float(text) else f"{text.lstrip('+-')} {unit}"


def interval(finding: Finding, effect: float) -> str:
    """`at least +17.2 %, at most +23.4 %`; empty where nothing can be said."""
    if finding.low is None or finding.high is None:
        return ""
    low, high = (change(finding, end, effect) for end in (finding.low, finding.high))
    return f"at least {low}, at most {high}"


def line(finding: Finding, effect: float) -> str:
    """`p95 of sum: head 5.31 ms against base 4.42 ms, +20.1 % (at least +17.2 %, at most ...)`."""
    base, head = value(finding, finding.base), value(finding, finding.head)
    text = f"{name(finding)}: head {head} against base {base}"
    if finding.limit_ms is not None:
        text += f" of answers beyond {format_number(finding.limit_ms)} ms"
    if finding.change is None:
        return text
    ends = interval(finding, effect)
    return f"{text}, {change(finding, finding.change, effect)}" + (f" ({ends})" if ends else "")


def reason(finding: Finding) -> str:
    """Why, and how much more measuring would decide it, where that is known."""
    if finding.more_s is None:
        return finding.reason
    return f"{finding.reason}, about {format_duration(_rounded(finding.more_s))} more"


def effect_of(comparison: Comparison, finding: Finding) -> float:
    """The smallest change of its metric that matters, a share of 1."""
    return comparison.gate.settings.effect_of(finding.metric, finding.base)


def verdict(finding: Finding) -> str:
    """Its verdict as a table has it: `FAIL`, `PASS, improved`, `informational`, `open`."""
    if finding.verdict == IMPROVED:
        return f"{PASS}, improved"
    if finding.verdict == OPEN:
        return "open"
    if finding.verdict == INFORMATIONAL:
        return "not decided" if finding.gates else "informational"
    return finding.verdict


def beyond(comparison: Comparison, is_short: bool = False) -> str:
    """What a PASS does not say: `not decided, as was known before the load: p95 of find;
    informational, and worse beyond doubt: mean of sum +288.0 % (at least +90.0 %)`; empty for
    nothing. is_short: counts many metrics that it would name."""
    passed = (it for it in comparison.gating if it.metric in (STALLS, TAIL) and it.verdict == PASS)
    parts = {
        "worse beyond doubt, by less than what matters": _ends(comparison, passed, "low"),
        "of the size of what base itself loses in its slowest seconds": _ends(
            comparison, comparison.as_usual, "high"
        ),
        "informational, and worse beyond doubt": _ends(comparison, comparison.beyond, "low"),
    }
    worse = (f"{why}: {', '.join(findings)}" for why, findings in parts.items() if findings)
    return "; ".join(filter(None, (_undecided(comparison, is_short), *worse)))


def _ends(
    comparison: Comparison, findings: Iterable[Finding], end: Literal["low", "high"]
) -> list[str]:
    """`mean of sum +288.0 % (at least +90.0 %)`, each; those of low ends that lie above no
    change."""
    bound = {"low": "at least", "high": "at most"}[end]
    texts = []
    for finding in findings:
        effect, least_or_most = effect_of(comparison, finding), getattr(finding, end)
        if least_or_most > 0:
            by = change(finding, least_or_most, effect)
            changed = change(finding, finding.change, effect)
            texts.append(f"{name(finding)} {changed} ({bound} {by})")
    return texts


def unlike(comparison: Comparison) -> str:
    """`head answers something else: list (304 in 0 % of base's answers and 100 % of head's; 12,210
    bytes in base and 212 in head)`; empty where it does not."""
    labels = [f"{it.label} ({'; '.join(_otherwise(it))})" for it in comparison.unlike]
    return f"head answers something else: {some_of(labels, _NAMED)}" if labels else ""


def _otherwise(answers: UnlikeAnswers) -> Iterator[str]:
    for code in answers.codes[:_NAMED]:
        base, head = (format_number(100 * share) for share in (code.base, code.head))
        yield f"{code.code} in {base} % of base's answers and {head} % of head's"
    if sizes := answers.sizes:
        yield f"{sizes.base:,.0f} bytes in base and {sizes.head:,.0f} in head"


def _undecided(comparison: Comparison, is_short: bool) -> str:
    """By metric: `not decided, as was known before the load: p50 (list, find), p95 (list)`."""
    if is_short and (many := len(comparison.undecided)) > _NAMED:
        return f"not decided, as was known before the load: {many} metrics"
    labels: dict[str, list[str]] = {}
    for finding in comparison.undecided:
        labels.setdefault(finding.metric, []).append(finding.label)
    metrics = ", ".join(f"{metric} ({', '.join(names)})" for metric, names in labels.items())
    return f"not decided, as was known before the load: {metrics}" if metrics else ""


def sides(record: CompareRecord) -> Iterator[str]:
    """A line on each side, on what slowed head on purpose, on the labels, on the pace, and on
    other processes."""
    for side in (record.base, record.head):
        yield f"{side.name}: {side.description}"
    if record.injected:
        slowed = (f"HEAD_INJECT_{it.upper()}={by:g}" for it, by in record.injected.items())
        yield f"head was slowed on purpose: {', '.join(slowed)}"
    if record.coin != "arrival":
        each = "thread" if record.is_by_thread else "iteration of a thread"
        yield f"requests were assigned once per {each}"
    if record.left_out:
        yield left_out(record.left_out)
    if record.pace:
        yield pace(record.pace, record.weights)
    if background := BackgroundCpu.of(record.background_cpu):
        yield _background_cpu(background)


#: Of an app of which base and head are made.
SIDED = "${SIDE} stands in its settings, so that base and head differ in more than their code"


def coin(record: CompareRecord, lasting: str, threads: int) -> str:
    """What is assigned to a side, of a user's own plan, and what that costs. lasting: what keeps
    state between iterations of a thread. threads: of each side."""
    if not record.is_by_thread:
        return "requests are assigned once per iteration of a thread, which begins its own session"
    looks = record.first_s, record.every_s
    rise = format_number(100 * rise_by_threads(threads, record.settings, looks, 0.01))
    return (
        f"requests are assigned once per thread, because {lasting} keeps state between "
        f"iterations: {threads} threads a side are {threads} observations. For each percent by "
        f"which threads differ (standard deviation), a rise has to be {rise} % to be found in 80 "
        "of 100 runs, however long it is measured: more threads find less"
    )


def left_out(labels: Sequence[str]) -> str:
    """The labels that are new."""
    return f"left out, for head alone answers it: {', '.join(labels)}"


def pace(pace: Pace, weights: Mapping[str, int]) -> str:
    """How fast arrivals came, and why: `arrivals: one of each label every 28 ms, in the plan 18 ms:
    ... `."""
    total = sum(weights.values())
    shares = (f"{100 * n / total:.0f} % {name}" for name, n in weights.items() if n)
    what = f"one every {pace.period_ms} ms, {', '.join(shares)}"
    if not weights:
        what = f"one of each label every {pace.period_ms} ms"
    slower = f", in the plan {pace.usual_ms} ms" if pace.period_ms != pace.usual_ms else ""
    return f"arrivals: {what}{slower}: {_why(pace)}"


def power(powers: Iterable[Power]) -> Iterator[str]:
    """What will probably be found of each label, and what can't be decided."""
    by_label: dict[str, list[Power]] = {}
    for each in powers:
        by_label.setdefault(each.label, []).append(each)
    for label, metrics in by_label.items():
        rises = [f"{it.metric} {rise(it)}" for it in metrics if it.rise is not None]
        what = f"in {label}, with some {metrics[0].requests} requests a side"
        few = [it.metric for it in metrics if not it.can_pass]
        yield f"will probably be found {what}: {', '.join(rises) or 'nothing'}" + (
            f"; too few or too short requests to decide {', '.join(few)}" if few else ""
        )


def undecidable(powers: Sequence[Power]) -> Iterator[str]:
    """What to do about what can't be decided, before it is measured."""
    open_ = [it for it in powers if not it.can_pass]
    free = foretold(powers)
    held = [f"{it.metric} of {it.label}" for it in open_ if (it.label, it.metric) not in free]
    todo = "raise modules.compare.budget, or leave it out of modules.compare.labels or gates"
    if held:
        names = ", ".join(held)
        yield f"will probably be INCONCLUSIVE, for too few or too short requests: {names}: {todo}"
    if len(held) < len(open_):
        yield (
            "what has too few or too short requests can fail the run, and can't keep it from PASS"
        )


def rise(power: Power) -> str:
    if power.metric in SHARES:
        return f"{100 * power.rise:+.2f} points"
    return f"{100 * power.rise:+.1f} %"


def _background_cpu(taken: BackgroundCpu) -> str:
    """`other processes took 26 % of the cores: more than 12.5 % in 75 of 150 s, which weigh less in
    p95`; time that went to other guests of the host is among it."""
    text = f"other processes took {format_number(100 * taken.share)} % of the cores"
    if not taken.disturbed_s:
        return text
    seconds = f"{taken.disturbed_s} of {taken.seconds} s"
    return f"{text}: more than {100 * CALM:g} % in {seconds}, which weigh less in p95"


def _why(pace: Pace) -> str:
    if pace.why == MEASURED:
        cost, needed = pace.cost, pace.cost.total_ms / pace.usual_ms / pace.cores
        text = (
            f"base and head took {format_number(cost.service_ms)} ms and JMeter "
            f"{format_number(cost.generator_ms)} ms of CPU for one, at {pace.usual_ms} ms "
            f"{100 * needed:.0f} % of {pace.cores} cores"
        )
        late = ", and this is the slowest pace" if pace.busy > pace.share else ""
        return f"{text}, of which they may take {100 * pace.share:g} %{late}"
    return {
        FIXED: "set by a property",
        UNSEEN: "the CPU time of services by URL can't be seen",
    }.get(pace.why, "what a request costs could not be measured")


def processes(comparison: Comparison) -> Iterator[str]:
    """How much the processes of a side differ, a line a label.

    `typical of sum by process, against base: base -0.6 to +0.5 %, head +4.2 to +5.4 %`.
    """
    for spread in comparison.spreads:
        yield f"{spread.metric} of {spread.label} by process, against all of base: {spread}"


def course(comparison: Comparison) -> str:
    """How it was decided: `decided after 120 s of at most 10 min, with 3 looks`; where a failure
    made an end, what was open then."""
    looks, budget_s = comparison.gate.looks_s, comparison.gate.settings.budget_s
    if not looks:
        return f"never looked at: {comparison.seconds} s were measured"
    times = "1 look" if len(looks) == 1 else f"{len(looks)} looks"
    left = ", ".join(map(name, comparison.gate.left_open))
    how = "decided" if comparison.is_decided else "ended by a FAIL" if left else "not decided"
    last, most = format_duration(looks[-1]), format_duration(budget_s)
    text = f"{how} after {last} of at most {most}, with {times}"
    return f"{text}; open then: {left}" if left else text


def promise(comparison: Comparison) -> str:
    """What the gate keeps to, and where that ends."""
    settings = comparison.gate.settings
    lasting_s = "half a minute" if comparison.spreads else "half a minute, or as long as it lives,"
    several = (
        " What a process is slow by as long as it lives is none: each side has "
        f"{comparison.record.processes}, and a FAIL of a time needs every one of head to be slower "
        "than every one of base."
    )
    return (
        "Intervals are repeated ones: they allow for all looks, and so are wider than the 95 % "
        f"interval of a single look. In at most {_of_runs(settings.false_alarm)} anything that "
        "gates and is no worse is found worse; a metric that has risen by what matters passes in "
        f"at most {_of_runs(settings.miss)}. Both hold for noise that lasts some seconds: what "
        f"slows one process for {lasting_s} can't be distinguished from a change."
        f"{several if comparison.spreads else ''}"
    )


def noise(comparison: Comparison) -> Iterator[str]:
    """Of base against itself: what a label's figures differ by without a reason.

    `noise of sum: p50 +0.4 %, +/- 0.9 %; p95 -0.8 %, +/- 2.1 %`: half of the interval's width.
    """
    for label in comparison.samples:
        own = [it for it in comparison.gate.findings if it.label == label]
        shown = [it for it in own if it.gates or it.metric in (*METRICS[:2], CPU)]
        parts = [_noise(it, effect_of(comparison, it)) for it in shown]
        if any(parts):
            yield f"noise of {label}: {'; '.join(filter(None, parts))}"


def _noise(finding: Finding, effect: float) -> str:
    if finding.low is None or finding.high is None:
        return ""
    half = 100 * (finding.high - finding.low) / 2
    width = f"{half:.2f} points" if finding.metric in SHARES else f"{half:.1f} %"
    return f"{finding.metric} {change(finding, finding.change, effect)}, +/- {width}"


def _of_runs(share: float) -> str:
    return f"{100 * share:g} of 100 runs"


def _rounded(seconds: float) -> float:
    """Upwards, to two digits or so: an extrapolation is no better than that."""
    step = 10.0 if seconds <= 120 else 60.0 if seconds <= 7200 else 1800.0
    return step * -(-seconds // step)


@dataclass(frozen=True)
class Case:
    """One test case. line: its figures; reason: why it came to this verdict. decided_after_s: when
    a look decided it, in seconds of measuring; None where none did."""

    name: str
    verdict: str
    line: str
    reason: str
    decided_after_s: float | None

    @property
    def line_with_reason(self) -> str:
        """As a reason for this case says it."""
        return f"{self.line}: {self.reason}"

    @property
    def holds(self) -> bool:
        return self.verdict in (PASS, IMPROVED)

    @property
    def is_decided(self) -> bool:
        """Whether it counts: what was not decided, as was foretold, neither holds nor fails."""
        return self.verdict != INFORMATIONAL


def cases(comparison: Comparison | None) -> list[Case]:
    """One for each label and metric that gates: the same ones whatever came out, as CI systems want
    it."""
    if comparison is None:
        return []
    return [_case(comparison, finding) for finding in comparison.gating]


def _case(comparison: Comparison, finding: Finding) -> Case:
    its_line = line(finding, effect_of(comparison, finding))
    case_name = f"{name(finding)}, head against base"
    return Case(case_name, finding.verdict, its_line, reason(finding), finding.at_s)
