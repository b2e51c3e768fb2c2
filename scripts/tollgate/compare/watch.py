"""The looks at a comparison that is under way: when, at what, and a line on each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tollgate.compare import samples, words
from tollgate.compare.decide import next_look_s
from tollgate.compare.interim import judge_blocks
from tollgate.compare.model import FAIL, OPEN, Finding, Gate
from tollgate.compare.record import CompareRecord
from tollgate.samples.layout import peek_test_start
from tollgate.samples.store import Growing

#: Seconds until the file is read again where JMeter has not got so far.
AGAIN_S = 2
#: So many findings are named in a line.
NAMED = 3
_COARSE = (
    "JMeter's whole milliseconds are too coarse for all that is open: unless its estimates change, "
    "more time will not decide it"
)


class Watch:
    """Looks at the samples whenever a look is due, as the verdict will when the run has ended."""

    def __init__(
        self,
        record: CompareRecord,
        jtl: Path,
        labels: Sequence[str],
        warmup_s: float,
        lag_s: float,
        now: Callable[[], float] = time.time,
        foreign: Callable[[float, int], tuple[float | None, ...]] | None = None,
    ) -> None:
        """labels: all that are compared. lag_s: between a look's moment and the look, so that
        everything sent until then has been answered or given up, and written down: what is still
        missing would be what is slow. now: seconds since the epoch. foreign: what
        others took, as ForeignRecorder.shares tells it; None where nobody looks."""
        self.record = record
        self.jtl = jtl
        self.samples = Growing(jtl)
        self.labels = labels
        self.warmup_s = warmup_s
        self.lag_s = lag_s
        self.now = now
        self.foreign = foreign
        self.gate = Gate(record.settings)
        self.not_before = 0.0
        self.began: float | None = None

    @property
    def is_decided(self) -> bool:
        """Whether the run may end."""
        return self.record.decided_s is not None

    def look(self) -> str | None:
        """A line on what was seen, None where no look is due. Raises JtlError; then the next call
        that does anything is the next look's."""
        due_s = next_look_s(self.gate, self.record.every_s, self.record.first_s)
        if due_s is None or self.is_decided or self.now() < self.not_before:
            return None
        self.not_before = self.now() + AGAIN_S
        if not self._has_begun():
            return None
        ready_at = self.began + due_s + self.lag_s
        if self.now() < ready_at:
            self.not_before = ready_at
            return None
        self.not_before = self.now() + self.record.every_s  # unless the file can be read
        budget_s = self.record.settings.budget_s
        with self.samples.read() as store:
            most_s = budget_s + self.lag_s
            found = samples.read(store, self.labels, self.warmup_s, most_s, self.record.processes)
        # JMeter writes in blocks, so that the file may be behind the clock.
        if found.seconds < due_s + self.lag_s:
            self.not_before = self.now() + AGAIN_S
            return None
        self.note_foreign(int(due_s))
        self.gate = judge_blocks(self.record, found.blocks, due_s, live=True)
        self.not_before = 0.0
        if self.gate.finished:
            self.record = replace(self.record, decided_s=self.gate.looks_s[-1])
        return look_text(self.gate)

    def note_foreign(self, seconds: int) -> None:
        """Put into the record what others took in the first seconds of measuring."""
        if self.foreign and self._has_begun():
            seconds = min(seconds, max(0, int(self.now() - self.began)))
            self.record = replace(self.record, foreign=self.foreign(self.began, seconds))

    def _has_begun(self) -> bool:
        """Whether it is known when measuring began: JMeter's file has it with the first sample."""
        if self.began is None and self.jtl.is_file() and self.jtl.stat().st_size:
            origin_ms = peek_test_start(self.jtl)
            if origin_ms is not None:
                self.began = origin_ms / 1000 + self.warmup_s
        return self.began is not None


def look_text(gate: Gate) -> str:
    """`60 s of at most 600: 13 of 15 decided; FAIL p50 of sum +19.8 % (at least ...); open ...`."""
    gating = [finding for finding in gate.findings if finding.gates]
    decided = sum(finding.decided for finding in gating)
    at = f"{gate.looks_s[-1]:g} s of at most {gate.settings.budget_s:g}"
    failed = [_text("FAIL", each, gate) for each in gating if each.verdict == FAIL]
    still = [each for each in gating if each.verdict == OPEN]
    open_ = [_text("open", each, gate) for each in still]
    parts = [f"{decided} of {len(gating)} decided", *_few(failed), *_few(open_)]
    if gate.left_open:
        parts.append("a FAIL ends the measuring (fail-fast)")
    elif still and all(each.is_coarse for each in still):
        parts.append(_COARSE)
    return f"Compare: {at}: {'; '.join(parts)}"


def _text(what: str, finding: Finding, gate: Gate) -> str:
    if finding.change is None:
        return f"{what} {words.name(finding)}"
    effect = gate.settings.effect_of(finding.metric)
    change = words.change(finding, finding.change, effect)
    ends = words.interval(finding, effect)
    return f"{what} {words.name(finding)} {change}{f' ({ends})' if ends else ''}"


def _few(texts: Sequence[str]) -> list[str]:
    more = len(texts) - NAMED
    return [*texts[:NAMED], *([f"and {more} more"] if more > 0 else [])]
