"""What is decided of a comparison by its samples so far, and a line on each look at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tollgate.compare import samples, words
from tollgate.compare.decide import next_look_s
from tollgate.compare.looks import judge_blocks
from tollgate.compare.model import FAIL, OPEN, Finding, Gate
from tollgate.compare.record import CompareRecord
from tollgate.samples.store import Store

#: So many findings are named in a line.
NAMED = 3
_COARSE = (
    "JMeter's whole milliseconds are too coarse for all that is open: unless its estimates change, "
    "more time will not decide it"
)


#: CPU ms by process in each of so many seconds from a moment on, None where not known.
UsedMs = Callable[[float, int], tuple[tuple[float | None, ...], ...]]


@dataclass(eq=False)
class ComparisonDecider:
    """Decides a comparison at each look, as the verdict will when the run has ended."""

    record: CompareRecord
    labels: Sequence[str]
    """All that are compared."""
    warmup_s: float
    lag_s: float
    """Between a look's moment and the look, so that everything sent until then has been answered or
    given up, and written down: what is still missing would be what is slow."""
    background_cpu: Callable[[float, int], tuple[float | None, ...]] | None = None
    """The background CPU load, as BackgroundCpuRecorder.shares; None where it is not recorded."""
    used_ms: UsedMs | None = None
    """That of the processes, as WorkerCpuRecorder.used_ms; None where it is not recorded."""
    origin_s: float = 0.0
    """When JMeter began, in seconds since the epoch; 0 for not known."""
    gate: Gate = field(init=False)

    def __post_init__(self) -> None:
        self.gate = self.record.first_gate

    @property
    def every_s(self) -> float:
        return self.record.every_s

    @property
    def is_decided(self) -> bool:
        """Whether the run may end."""
        return self.record.decided_s is not None

    def due_at(self, origin_s: float) -> float | None:
        self.origin_s = origin_s
        due_s = self._due_s()
        return None if due_s is None else origin_s + self.warmup_s + due_s + self.lag_s

    def _due_s(self) -> float | None:
        """The next look, in seconds of measuring; None behind the last one."""
        if self.is_decided:
            return None
        return next_look_s(self.gate, self.record.every_s, self.record.first_s)

    def look(self, store: Store) -> str | None:
        """A line on what was seen."""
        due_s, most_s = self._due_s(), self.record.settings.budget_s + self.lag_s
        processes, by_thread = self.record.processes, self.record.is_by_thread
        read = samples.read(store, self.labels, self.warmup_s, most_s, processes, by_thread)
        # JMeter writes in blocks, so that the file may be behind the clock.
        if read.seconds < due_s + self.lag_s:
            return None
        self.note_cpu(self.origin_s, int(due_s))
        self.gate = judge_blocks(self.record, read.blocks, due_s, live=True)
        if self.gate.finished:
            self.record = replace(self.record, decided_s=self.gate.looks_s[-1])
        return look_text(self.gate)

    def note_cpu(self, origin_s: float, seconds: int) -> None:
        """Put into the record what both sides and others used in the first seconds of measuring.
        origin_s: when JMeter began, in seconds since the epoch."""
        window = origin_s + self.warmup_s, seconds
        if self.background_cpu:
            self.record = replace(self.record, background_cpu=self.background_cpu(*window))
        if self.used_ms and self.record.cpu:
            cpu = replace(self.record.cpu, used_ms=self.used_ms(*window))
            self.record = replace(self.record, cpu=cpu)

    def note_until(self, origin_s: float, now_s: float) -> None:
        """note_cpu of what a run that ends now has measured. Both since the epoch."""
        measured_s = min(now_s - origin_s - self.warmup_s, self.record.settings.budget_s)
        self.note_cpu(origin_s, int(max(0, measured_s)))


def look_text(gate: Gate) -> str:
    """`60 s of at most 600: 13 of 15 decided; FAIL p50 of sum +19.8 % (at least ...); open ...`."""
    awaited = (it for it in gate.findings if it.decided or it.key not in gate.foretold)
    gating = [it for it in awaited if it.gates]
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


def _text(state: str, finding: Finding, gate: Gate) -> str:
    if finding.change is None:
        return f"{state} {words.name(finding)}"
    effect = gate.settings.effect_of(finding.metric)
    change = words.change(finding, finding.change, effect)
    ends = words.interval(finding, effect)
    return f"{state} {words.name(finding)} {change}{f' ({ends})' if ends else ''}"


def _few(texts: Sequence[str]) -> list[str]:
    more = len(texts) - NAMED
    return [*texts[:NAMED], *([f"and {more} more"] if more > 0 else [])]
