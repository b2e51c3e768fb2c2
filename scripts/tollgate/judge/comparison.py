"""A comparison as a part of its execution's verdict: reasons, warnings, and what is no accident.

- Samples of base and head that no fair coin would give make the run INVALID, whatever was found:
  somewhere some of one side were lost, and those are seldom like the others.
- So does a side that has no samples of a label, or base if its every request failed: nothing is
  left to compare with. Head failing all of a label is a failure, also where the label has no say.
- A run that ended itself before its samples decide is INCONCLUSIVE: an answer that came drop by
  drop, each in time, may have been longer under way than any timeout. If there was no look at that
  time at all, its record is wrong, and the run INVALID.
- How late the generator was has no limit here: the wait knows nothing of the coin, so that it hits
  both sides alike, and service times don't contain it. Arrivals that were not sent are counted as
  ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from tollgate.base.text import format_duration
from tollgate.compare import words
from tollgate.compare.errors import MOST_FAILED
from tollgate.compare.estimates import unfair
from tollgate.compare.model import CPU
from tollgate.compare.model import FAIL as WORSE
from tollgate.compare.record import CompareRecord
from tollgate.compare.result import NO_LOOK, Comparison, LabelCounts
from tollgate.compare.words import cases
from tollgate.judge.verdicts import (
    FAIL,
    GENERATOR,
    INCONCLUSIVE,
    MACHINE,
    OPERATOR,
    PASS,
    SERVICE,
    FaultName,
    Reason,
    invalid,
)

SIDES = ("base", "head")


def comparison_reasons(comparison: Comparison) -> Iterator[Reason]:
    """What keeps a comparison from PASS."""
    yield from _doubts(comparison)
    if not comparison.gate.looks_s:
        text = f"too short to compare: {comparison.seconds} s were measured"
        yield Reason(INCONCLUSIVE, MACHINE, text)
        return
    if comparison.record.answers == "same":
        yield from _unlike(comparison)
    broken = {each.label: list(_broken(each, comparison)) for each in comparison.counts}
    for reasons in broken.values():
        yield from reasons
    failing = {each.label for each in comparison.counts if _fails_often(each)}
    left_open = comparison.gate.left_open
    for finding, case in zip(comparison.gating, cases(comparison), strict=True):
        if case.verdict == WORSE:
            yield Reason(FAIL, SERVICE, case.line_with_reason)
        elif case.is_decided and not (
            case.holds or broken.get(finding.label) or finding in left_open
        ):
            # Where a side is broken that is the reason, and not what is uncertain about it.
            fault: FaultName = SERVICE if finding.label in failing else MACHINE
            yield Reason(INCONCLUSIVE, fault, case.line_with_reason)


def comparison_warnings(comparison: Comparison) -> Iterator[str]:
    """What a reader should know of the labels that have no say."""
    gating = {finding.label for finding in comparison.gating}
    for each in comparison.counts:
        if each.label not in gating:
            yield from (it.text for it in _unsound(each, comparison.record))
    if unlike := words.unlike(comparison):
        yield unlike
    if comparison.is_control:
        yield "base and head are the same: what differs between them is noise"
    elif comparison.is_same_code and comparison.record.is_sided:
        yield f"base and head are the same code, but not the same: {words.SIDED}"
    if comparison.gate.verdict == PASS and (beyond := words.beyond(comparison)):
        yield beyond


def _doubts(comparison: Comparison) -> Iterator[Reason]:
    if not comparison.doubt:
        return
    after = format_duration(comparison.record.decided_s or 0.0)
    ended = f"the run ended itself after {after} of measuring"
    if comparison.doubt == NO_LOOK:
        yield invalid(OPERATOR, f"{ended}, when there was no look: compare.json is wrong")
    else:
        text = f"{ended}, and the samples do not bear out that everything was decided by then"
        yield Reason(INCONCLUSIVE, MACHINE, text)


def _unlike(comparison: Comparison) -> Iterator[Reason]:
    """Times of unlike answers prove nothing, whichever side they speak for."""
    gating = {it.label for it in comparison.gating}
    if any(it.label in gating for it in comparison.unlike):
        yield invalid(
            SERVICE,
            f"{words.unlike(comparison)}; `answers: same` asks for the same, for times of unlike "
            "answers can't be compared: mend head, or set `answers: any` where that is meant",
        )


def _broken(counts: LabelCounts, comparison: Comparison) -> Iterator[Reason]:
    """What is wrong with a side as a whole, so that its figures mean nothing."""
    gating = comparison.gating
    if any(it.label == counts.label for it in gating):
        yield from _unsound(counts, comparison.record)
    elif any(it.metric == CPU for it in gating) and (  # which is that of all requests
        problem := unfair(*counts.totals, comparison.record.repeats)
    ):
        yield invalid(GENERATOR, f"{counts.label}: {problem}")
    failed, total = counts.failed[1], counts.totals[1]
    if total and failed == total:
        text = f"every request of {counts.label} to head failed (n={total})"
        yield Reason(FAIL, SERVICE, text)


def _unsound(counts: LabelCounts, record: CompareRecord) -> Iterator[Reason]:
    """Why the label's two sides can't be compared. A label that neither side was sent
    may be rare in a user's own plan: it is not decided."""
    label, (base, head) = counts.label, counts.totals
    empty = [side for side, n in zip(SIDES, counts.totals, strict=True) if not n]
    if empty and (record.coin == "arrival" or len(empty) == 1):
        yield invalid(GENERATOR, f"{label}: no samples of {' and '.join(empty)}")
    elif problem := unfair(base, head, record.repeats):
        yield invalid(GENERATOR, f"{label}: {problem}")
    if base and counts.failed[0] == base:
        text = f"every request of {label} to base failed (n={base}): nothing to compare head with"
        yield invalid(SERVICE, text)


def _fails_often(counts: LabelCounts) -> bool:
    """Whether either side fails so many requests that its times say nothing."""
    pairs = zip(counts.failed, counts.totals, strict=True)
    return any(failed > MOST_FAILED * total for failed, total in pairs)
