"""What a gate may say after each look: fail, pass, improved, or go on. Pure.

A metric of a label, in this order,
- has IMPROVED if the interval lies below no change, and the estimate at least half of the smallest
  effect that matters below it (`fail_from`).
- PASSES if the high end is below that effect: whatever there is, it is smaller, also where it is
  worse beyond doubt.
- FAILS if the low end of its repeated interval is above no change, and the estimate is at least
  half of that effect. Were the estimate to be as large as the effect, up to a third of the
  regressions that are exactly as large would never fail.
- is OPEN otherwise, and INCONCLUSIVE where the time is up.

So a rise of less than the effect fails where it is first known to be one, and passes where it is
first known to be small: of +3.5 % at an effect of 5 % the first is true once 3.5 % are several
standard errors, and the second once 1.5 % are some two.

What was decided stays, but for a later failure, which outweighs a pass, and an improvement, which
adds to one: the intervals hold at all looks together. A pass of stalls and of tail is only as good
as the last look: a stall that had not yet come is in no interval.

Where each side has several processes, both a failure and an improvement need all of them
(compare/processes.py): until then the one stays OPEN, and the other is a pass.

False alarms. Low ends share one error over all gating metrics and labels: Holm's procedure (1979),
by looks as Maurer and Bretz do it (2013, "Multiple testing in group sequential trials using
graphical approaches"): of m hypotheses each is tested at 1/m of the error, and once one is refused
for good, the others at 1/(m - 1); one of stalls or tail counts as a tenth (WEIGHTS). A pass needs
no such correction, since a run passes only where everything does (Berger 1982, intersection-union
test): a rise in any one metric is missed at most at the rate of misses. That makes high ends less
strict than low ones, and runs without a change shorter.

Where more than a twentieth of one side's requests fail, its times are those of other work, and
only its errors can be judged. And both ends of an interval allow for JMeter's whole milliseconds
(compare/estimates.py), so that more samples alone may never decide.

Of a mix, all labels together are compared as well (compare/pooled.py): what slows every request a
little is found there first. And what its labels are too rare or too short for is known before the
load, by their numbers and times alone (compare/power.py): such a metric may fail, and where it is
open at the end it is informational. Nothing else would ever pass, and the choice knows nothing of
how head differs from base.

Gating are typical, p50, p95, tail, stalls and errors. cpu is informational unless it is named
(docs/compare-explained.md says why). p99 and mean are informational: of a log-normal
shape a p99 needs three times the samples of a p95 for the same certainty, and one stall can move a
mean by more than 5 %, so that honest candidates would mostly end INCONCLUSIVE. They cost the
others nothing of their error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tollgate.compare.change import MetricChange, as_share, change_of
from tollgate.compare.cpu import cpu_change
from tollgate.compare.model import (
    ALL_LABELS,
    CPU,
    ERRORS,
    FAIL,
    IMPROVED,
    INCONCLUSIVE,
    INFORMATIONAL,
    OF_ALL,
    OF_LABEL,
    OPEN,
    PASS,
    SHARES,
    STALLS,
    TAIL,
    Blocks,
    Finding,
    Gate,
    GateSettings,
)
from tollgate.compare.pooled import all_of, unlike_of
from tollgate.compare.processes import ProcessSpread, spread
from tollgate.compare.tail import FEW_TIMES, UNSURE, TailRise
from tollgate.stats.holm import holm
from tollgate.stats.sequential import LEAST_STEP, nominal_level

Key = tuple[str, str]
#: Computes how much the processes of each side differ in a metric.
SpreadOf = Callable[[], ProcessSpread | None]

# An extrapolation to more than so many times the samples is no figure.
_FAR = 20.0


def measured(key: Key, change: MetricChange, low_level: float, miss_level: float) -> Finding:
    """The finding without a decision. Levels: of the low and of the high end."""
    base, head = (None if math.isnan(it) else it for it in (change.base, change.head))
    finding = Finding(*key, False, INFORMATIONAL, change.note, base, head, limit_ms=change.limit_ms)
    if change.note:
        return finding
    ends = (change.value, change.low(low_level), change.high(miss_level))
    value, least, most = (as_share(key[1], it) for it in ends)
    return replace(finding, change=value, low=least, high=most)


def decided(
    finding: Finding,
    change: MetricChange,
    low_level: float,
    miss_level: float,
    settings: GateSettings,
    at_s: float,
) -> Finding:
    """The finding of a metric that gates. Levels: as of `measured`. at_s: when this look was."""
    if change.note:
        return replace(finding, verdict=OPEN, reason=f"cannot tell: {change.note}")
    effect = settings.change(finding.metric, change.base)
    enough = settings.fail_from * effect
    value, least, most = change.value, change.low(low_level), change.high(miss_level)
    if change.high(low_level) < 0 and value <= -enough:
        return replace(finding, verdict=IMPROVED, reason="better beyond doubt", at_s=at_s)
    if most < effect:
        reason = f"a rise of {amount(finding.metric, effect)} is ruled out"
        return replace(finding, verdict=PASS, reason=reason, at_s=at_s)
    if least > 0 and value >= enough:
        return replace(finding, verdict=FAIL, reason="worse beyond doubt", at_s=at_s)
    times = _times_longer(change, (least, most), effect, enough)
    more_s = max(1.0, at_s * (times - 1)) if times <= _FAR else None
    # Without coarse times, and the luck of processes, any estimate can be decided on.
    is_coarse = math.isinf(times) and not change.lasting
    reason = _too_coarse(change, effect) if is_coarse else _too_few(times)
    return replace(finding, verdict=OPEN, reason=reason, more_s=more_s, is_coarse=is_coarse)


def shared(finding: Finding, spread_of: SpreadOf) -> Finding:
    """The finding after a question to the processes, whether all of them bear it out."""
    if finding.verdict not in (FAIL, IMPROVED) or (spread_ := spread_of()) is None:
        return finding
    if finding.verdict == FAIL and not spread_.is_slower:
        reason = f"worse, but not every process of head is slower than every one of base: {spread_}"
        return replace(finding, verdict=OPEN, reason=reason, at_s=None)
    if finding.verdict == IMPROVED and not spread_.is_faster:
        return replace(finding, verdict=PASS, reason=f"better, but not in every process: {spread_}")
    return finding


def usual(finding: Finding, change: MetricChange, spread_of: SpreadOf, at_s: float) -> Finding:
    """The finding of tail after a question to base, whether it loses as much now and then."""
    if finding.verdict != OPEN or not isinstance(change, TailRise) or change.note:
        return finding
    is_usual = change.times_usual < 1 and change.low(UNSURE) <= 0
    if not is_usual and change.times_usual < FEW_TIMES and (each := spread_of()):
        is_usual = not each.is_slower
    if not is_usual:
        return finding
    reason = "of the size of what base itself loses in its slowest seconds"
    return replace(finding, verdict=PASS, reason=reason, at_s=at_s, more_s=None)


def _times_longer(
    change: MetricChange, ends: tuple[float, float], effect: float, enough: float
) -> float:
    """How many times as many samples would decide, were the estimate to stay as it is.

    ends: of the interval. effect: below which a metric can pass. enough: from which it can fail.
    """
    value, coarse = change.value, change.coarse
    # Of the variance, what more samples don't take away.
    lasting = change.lasting**2

    def times(reach: float, distance: float) -> float:
        """reach: how far chance alone makes the interval reach from the estimate."""
        left = (distance / reach) ** 2 - lasting if reach else math.inf
        return (1 - lasting) / left if left > 0 else math.inf

    to_pass = to_fail = math.inf
    if value < effect - coarse:
        to_pass = times(ends[1] - value - coarse, effect - coarse - value)
    if value >= enough and value > coarse:
        to_fail = times(value - coarse - ends[0], value - coarse)
    return min(to_pass, to_fail)


def _too_few(times: float) -> str:
    if math.isinf(times):
        return "cannot tell: processes of the same code differ by as much; more of a side may tell"
    if times > _FAR:
        return "cannot tell: far more samples would"
    return f"cannot tell: some {max(1.1, times):.2g} times as many samples would"


def _too_coarse(change: MetricChange, effect: float) -> str:
    """Nor would more samples, however many."""
    return (
        f"cannot tell: JMeter's whole milliseconds are too coarse for a rise of "
        f"{amount(change.metric, effect)}: nearly all times around {change.metric} are among those "
        f"of {change.among}, and it may be off by {amount(change.metric, change.coarse)}; give a "
        "request more work, or leave the label or metric out of modules.compare's labels or gates"
    )


def weighed(before: Finding | None, now: Finding, is_like: bool) -> Finding:
    """What stays: the first decision, but for a failure or an improvement after a pass, and a pass
    of stalls and tail. is_like: whether both sides did the same work; if they do no longer, what
    held of its times is void."""
    if before is None or not before.decided or now.verdict == FAIL != before.verdict:
        return now
    if before.verdict != FAIL and (not is_like or now.metric in (STALLS, TAIL)):
        return now
    if before.verdict == PASS and now.verdict == IMPROVED:
        return now
    return replace(before, refused=now.refused)


def amount(metric: str, change: float) -> str:
    """A change on its own scale, in words: `5.0 %`, or `0.10 percentage points` of shares."""
    if metric in SHARES:
        return f"{change * 100:.2f} percentage points"
    return f"{as_share(metric, change) * 100:.1f} %"


#: What a metric takes of the error, beside 1 of any other (the weights of Holm 1979). Each spell of
#: head alone halves the odds of stalls and tail, so that three or four more make up for a tenth; a
#: rise of a response time would be found later in every run.
WEIGHTS = {STALLS: 0.1, TAIL: 0.1}

#: The part of the error of a PASS that `errors` has as long as nothing has failed, at all looks
#: together: a look without a failure has none before it, so that another look makes no PASS
#: likelier. The rest is spent over the looks, for when something has failed. Spent over the looks
#: as well, a PASS would need 3,100 answers a side without a failure, instead of 2,100.
SPOTLESS = 0.75

# Before that, noise that lasts for some seconds can't be distinguished from a change.
FIRST_S = 60.0


@dataclass(frozen=True)
class _Compared:
    """A metric of a label as one look sees it."""

    change: MetricChange
    unlike: str
    """Why base and head did unlike work for it, which is noted at the change; empty for alike."""
    spread: SpreadOf


def look(gate: Gate, labels: Sequence[Blocks], at_s: float) -> Gate:
    """The gate after one more look at everything measured so far, `at_s` seconds of it.

    labels: the same ones at every look, for each is a part of the promise, those without a sample
    as well. ValueError if they are not, if there is none or one twice, if the look is not
    LEAST_STEP of the budget (stats/sequential.py) after the last one, or after the budget's end.
    """
    settings, looks_s = gate.settings, (*gate.looks_s, at_s)
    metrics = _compared(gate, labels)
    _check_labels(gate, metrics)
    before = {finding.key: finding for finding in gate.findings}
    fractions = tuple(second / settings.budget_s for second in looks_s)
    shares, refused = _shares(metrics, before, fractions, settings)
    findings = []
    for key, compared in metrics.items():
        change = compared.change
        low_level = nominal_level(fractions, shares.get(key, settings.false_alarm))
        high_level = miss_level(change, fractions, settings.miss)
        finding = measured(key, change, low_level, high_level)
        if key in shares:
            finding = replace(finding, gates=True, refused=key in refused)
            finding = decided(finding, change, low_level, high_level, settings, at_s)
            finding = shared(finding, compared.spread)
            finding = usual(finding, change, compared.spread, at_s)
        findings.append(weighed(before.get(key), finding, is_like=not compared.unlike))
    return replace(gate, looks_s=looks_s, findings=tuple(findings))


def _compared(gate: Gate, labels: Sequence[Blocks]) -> dict[Key, _Compared]:
    """Each metric of each label: those of all labels together first, CPU time last."""
    if not labels or len({blocks.label for blocks in labels}) < len(labels):
        names = [blocks.label for blocks in labels]
        raise ValueError(f"compare needs labels, each once, not {names}")
    pool = all_of(gate, labels)
    pairs: list[tuple[Blocks, str]] = [(pool, metric) for metric in OF_ALL] if pool else []
    pairs += [(blocks, metric) for blocks in labels for metric in OF_LABEL]
    changes: list[tuple[Key, MetricChange, SpreadOf]] = [
        ((blocks.label, metric), change_of(blocks, metric), partial(spread, blocks, metric))
        for blocks, metric in pairs
    ]
    if gate.has_cpu:
        cpu = cpu_change(labels, labels[0].cpu)
        changes.append(((ALL_LABELS, CPU), cpu.change, lambda: cpu.spread))
    metrics = {}
    for key, change, spread_of in changes:
        unlike = unlike_of(key, labels, pool)
        metrics[key] = _Compared(replace(change, note=change.note or unlike), unlike, spread_of)
    return metrics


def _check_labels(gate: Gate, metrics: Mapping[Key, _Compared]) -> None:
    """Raises ValueError where the labels are not those of the looks before, or lack one that is to
    gate."""
    before = {finding.key for finding in gate.findings}
    now, then = ({label for label, _ in keys} for keys in (metrics, before))
    if before and before != metrics.keys():
        raise ValueError(f"labels changed between looks: {sorted(now)} after {sorted(then)}")
    if unknown := set(gate.settings.labels) - now:
        raise ValueError(f"labels that are to gate are not compared: {sorted(unknown)}")


def _shares(
    metrics: Mapping[Key, _Compared],
    before: Mapping[Key, Finding],
    fractions: tuple[float, ...],
    settings: GateSettings,
) -> tuple[dict[Key, float], frozenset[Key]]:
    """(the share of the false alarms that each metric that gates has, those of which "no worse" is
    refused by now)"""
    weights = {key: WEIGHTS.get(key[1], 1.0) for key in metrics if settings.gating(*key)}
    refused = frozenset(key for key in weights if key in before and before[key].refused)

    def is_worse(key: Key, share: float) -> bool:
        change = metrics[key].change
        return not change.note and change.low(nominal_level(fractions, share)) > 0

    return holm(weights, settings.false_alarm, is_worse, refused)


def miss_level(change: MetricChange, fractions: tuple[float, ...], error: float) -> float:
    """The one-sided level of a high end at this look."""
    if change.metric != ERRORS:
        return nominal_level(fractions, error)
    if any(change.failed):
        return nominal_level(fractions, (1 - SPOTLESS) * error)
    return SPOTLESS * error


def close(gate: Gate) -> Gate:
    """The gate when there is no more time: what is open is inconclusive, but for what was foretold
    to be."""
    return replace(gate, findings=tuple(_closed(it, gate.foretold) for it in gate.findings))


def _closed(finding: Finding, foretold: frozenset[Key]) -> Finding:
    if finding.verdict != OPEN:
        return finding
    if finding.key not in foretold:
        return replace(finding, verdict=INCONCLUSIVE)
    reason = "too rare or too short, as was known before the load"
    return replace(finding, verdict=INFORMATIONAL, reason=reason, more_s=None)


def next_look_s(gate: Gate, every_s: float, first_s: float = FIRST_S) -> float | None:
    """When to look next, the budget's end being the last time; None if there is no more, or less
    of it left than two looks must be apart."""
    budget_s = gate.settings.budget_s
    if not gate.looks_s:
        return min(first_s, budget_s)
    last = gate.looks_s[-1]
    least_s = LEAST_STEP * budget_s * (1 - 1e-9)  # as sequential.py has it
    if gate.finished or budget_s - last < least_s:
        return None
    # A stump of a step before the end is joined to the last one.
    left_s = budget_s - (last + every_s)
    return budget_s if left_s <= every_s / 2 or left_s < least_s else last + every_s
