"""What a gate may say after each look: fail, pass, improved, or go on. Pure.

A metric of a label
- FAILS if the low end of its repeated interval is above no change, and the estimate is nearer to
  the smallest effect that matters than to none (`fail_from`). Were the estimate to be as large as
  the effect, up to a third of the regressions that are exactly as large would never fail.
- PASSES if the high end is below that effect: whatever there is, it is smaller.
- has IMPROVED if the interval lies below no change, and the estimate as far below as above.
- is OPEN otherwise, and INCONCLUSIVE where the time is up.

What was decided stays, but for a later failure, which outweighs a pass, and an improvement, which
adds to one: the intervals hold at all looks together.

False alarms. Low ends share one error over all gating metrics and labels: Holm's procedure (1979),
by looks as Maurer and Bretz do it (2013, "Multiple testing in group sequential trials using
graphical approaches"): of m hypotheses each is tested at 1/m of the error, and once one is refused
for good, the others at 1/(m - 1). A pass needs no such correction, since a run passes only where
everything does (Berger 1982, intersection-union test): a rise in any one metric is missed at most
at the rate of misses. That makes high ends less strict than low ones, and runs without a change
shorter.

Where more than a twentieth of one side's requests fail, its times are those of other work, and
only its errors can be judged. And both ends of an interval allow for JMeter's whole milliseconds
(compare/milliseconds.py), so that more samples alone may never decide.

Gating are p50, p95 and errors. p99 and mean are told: of a log-normal shape a p99 needs three
times the samples of a p95 for the same certainty, and one stall can move a mean by more than 5 %,
so that honest candidates would mostly end INCONCLUSIVE. They cost the others nothing of their
error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tollgate.compare.change import Change
from tollgate.compare.errors import error_rise, unlike_work
from tollgate.compare.estimates import mean_ratio, percentile_ratio
from tollgate.compare.findings import decided, measured, weighed
from tollgate.compare.model import (
    ERRORS,
    INCONCLUSIVE,
    METRICS,
    OPEN,
    PERCENTILES,
    Blocks,
    Gate,
    Settings,
)
from tollgate.stats import LEAST_STEP, nominal_level

Key = tuple[str, str]

# Before that, noise that lasts for some seconds can't be told from a change.
FIRST_S = 60.0


def look(gate: Gate, labels: Sequence[Blocks], at_s: float) -> Gate:
    """The gate after one more look at everything measured so far, `at_s` seconds of it.

    labels: the same ones at every look, for each is a part of the promise, those without a sample
    as well. ValueError if they are not, if there is none or one twice, if the look is not
    LEAST_STEP of the budget (compare/sequential.py) after the last one, or after the budget's end.
    """
    settings = gate.settings
    looks_s = (*gate.looks_s, at_s)
    changes = _changes(labels)
    if not changes or len(changes) < len(labels) * len(METRICS):
        raise ValueError(f"compare needs labels, each once, not {[each.label for each in labels]}")
    before = {finding.key: finding for finding in gate.findings}
    if before and before.keys() != changes.keys():
        now, then = ({label for label, _ in keys} for keys in (changes, before))
        raise ValueError(f"labels changed between looks: {sorted(now)} after {sorted(then)}")
    if unknown := set(settings.labels) - {label for label, _ in changes}:
        raise ValueError(f"labels that are to gate are not compared: {sorted(unknown)}")
    fractions = tuple(each / settings.budget_s for each in looks_s)
    family = [key for key in changes if settings.gating(*key)]
    refused = {key for key in family if key in before and before[key].refused}
    lows = _holm(changes, family, refused, fractions, settings)
    alone = nominal_level(fractions, settings.false_alarm)
    miss = nominal_level(fractions, settings.miss)
    unlike = {each.label for each in labels if unlike_work(each)}
    findings = []
    for key, change in changes.items():
        found = measured(key, change, lows.get(key, alone), miss)
        found = replace(found, gates=key in lows, refused=key in refused)
        if found.gates:
            found = decided(found, change, lows[key], miss, settings, at_s)
        is_like = key[1] == ERRORS or key[0] not in unlike
        findings.append(weighed(before.get(key), found, is_like))
    return Gate(settings, looks_s, tuple(findings))


def close(gate: Gate) -> Gate:
    """The gate when there is no more time: what is open is inconclusive."""
    return replace(
        gate,
        findings=tuple(
            replace(each, verdict=INCONCLUSIVE) if each.verdict == OPEN else each
            for each in gate.findings
        ),
    )


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


def _changes(labels: Sequence[Blocks]) -> dict[Key, Change]:
    changes: dict[Key, Change] = {}
    for blocks in labels:
        unlike = unlike_work(blocks)
        for metric in METRICS:
            if metric in PERCENTILES:
                change: Change = percentile_ratio(blocks, metric)
            else:
                change = error_rise(blocks) if metric == ERRORS else mean_ratio(blocks)
            if unlike and metric != ERRORS and not change.note:
                change = replace(change, note=unlike)
            changes[blocks.label, metric] = change
    return changes


def _holm(
    changes: dict[Key, Change],
    family: Sequence[Key],
    refused: set[Key],
    fractions: tuple[float, ...],
    settings: Settings,
) -> dict[Key, float]:
    """The one-sided level of each low end at this look. Adds to `refused` whose "no worse" goes."""
    levels: dict[Key, float] = {}
    while True:
        share = settings.false_alarm / max(1, len(family) - len(refused))
        level = nominal_level(fractions, share)
        levels.update((key, level) for key in family if key not in levels or key not in refused)
        fresh = {
            key
            for key in family
            if key not in refused and not changes[key].note and changes[key].low(level) > 0
        }
        if not fresh:
            return levels
        refused |= fresh
