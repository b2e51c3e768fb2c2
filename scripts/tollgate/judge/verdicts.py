"""What judge answers, and the one line that reports a result."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tollgate.base.text import format_interval, format_number
from tollgate.compare.result import Comparison
from tollgate.forecast.model import ForecastResult
from tollgate.judge.facts import InterimHistory, Searched
from tollgate.workers.background_cpu import BackgroundCpu
from tollgate.workers.processes import WorkerFacts

PASS, FAIL, INCONCLUSIVE, INVALID = "PASS", "FAIL", "INCONCLUSIVE", "INVALID"
# The worst comes last and beats the others: a broken measurement proves nothing, not even a FAIL.
ORDER = (PASS, INCONCLUSIVE, FAIL, INVALID)
EXIT_CODES = {PASS: 0, FAIL: 3, INCONCLUSIVE: 1, INVALID: 1}
EXIT_INTERRUPTED = 2
# The basis of what was seen of workers rather than of samples.
LOOKS = "looks"
# Whose fault a reason is.
GENERATOR, SERVICE, OPERATOR, MACHINE = "generator", "service", "operator", "machine"


@dataclass(frozen=True)
class Reason:
    """One line on why a verdict is not PASS, and whose fault that is."""

    verdict: str
    fault: str
    text: str


@dataclass(frozen=True)
class CriterionResult:
    """One criterion, judged. Values are in `unit`.

    observed is None where there were no samples. low and high are None where the value is a count,
    a share (%) of requests or a window's, which are exact; high is inf where the samples set no
    upper bound. decides is False for `as non-failed`: reported, but without a say. window: the
    worst seconds, `12-22 s`. worker: the one that decided, for a criterion on workers; `samples`
    are looks at it then. fault: whose fault it is, where the verdict alone does not say.
    decided_after_s: from which look on, in seconds of measuring, it has had this verdict; None
    without looks, and for one that is open. fail_bound: the bound that decides FAIL, farther out
    than the interval. unadjusted: the interval of a single look at a single estimate. is_repeated:
    whether low and high hold at all looks together.
    """

    criterion: str
    message: str | None
    label: str
    subject: str
    unit: str
    condition: str
    limit: float
    observed: float | None
    low: float | None
    high: float | None
    confidence: float
    samples: int
    samples_needed: int | None
    basis: str
    window: str | None
    decides: bool
    verdict: str
    reason: str
    worker: str | None = None
    fault: str | None = None
    decided_after_s: float | None = None
    fail_bound: float | None = None
    unadjusted: tuple[float, float] | None = None
    is_repeated: bool = False

    @property
    def interval_name(self) -> str:
        """`95 % CI`, or `95 % repeated CI` of one that holds at all looks together."""
        return f"{100 * self.confidence:g} %{' repeated' * self.is_repeated} CI"

    @property
    def line(self) -> str:
        """`p95 of search = 231 ms (limit 250 ms, 95 % CI 219-244, n=412)`."""
        name = self.subject + (f" of {self.label}" if self.label else "")
        name += f" {self.worker}" if self.worker is not None else ""
        if self.observed is None:
            missing = "not observed" if self.samples or self.basis == LOOKS else "no samples"
            return f"{name}: {missing} (limit {_with_unit(self.limit, self.unit)})"
        observed = format_number(self.observed, against=self.limit)
        parts = [f"limit {_with_unit(self.limit, self.unit)}"]
        if self.low is not None and self.high is not None:
            ends = format_interval(self.low, self.high, against=self.limit)
            parts.append(f"{self.interval_name} {ends}")
        if self.window:
            parts.append(f"worst in {self.window}")
        return f"{name} = {observed}{_unit(self.unit)} ({', '.join(parts)}, n={self.samples})"

    @property
    def told(self) -> str:
        """The line and the reason, as a Reason for this result says it."""
        return f"{self.line}: {self.reason}"


@dataclass(frozen=True)
class ExecutionVerdict:
    """One execution's verdict; reasons explain it, warnings do not change it. workers: what was
    seen of the target's. lint: what was noticed of the plan, which changes no verdict. course: of
    one that may end early. background_cpu: what others took of the cores, None where not known."""

    name: str
    verdict: str
    reasons: tuple[Reason, ...]
    warnings: tuple[str, ...]
    criteria: tuple[CriterionResult, ...]
    workers: tuple[WorkerFacts, ...] = ()
    forecast: ForecastResult | None = None
    comparison: Comparison | None = None
    lint: tuple[str, ...] = ()
    course: InterimHistory | None = None
    capacity: Searched | None = None
    background_cpu: BackgroundCpu | None = None

    @property
    def background_lines(self) -> list[str]:
        """What others took of the cores, at most one line; a comparison says it by itself."""
        return [self.background_cpu.line] if self.background_cpu and not self.comparison else []

    def named(self, reason: Reason) -> Reason:
        """One of these reasons as one of the run's: with this execution's name in front."""
        return replace(reason, text=f"{self.name}: {reason.text}")


@dataclass(frozen=True)
class RunVerdict:
    """The run's verdict. reasons: the run's own and those of all executions, worst first. share: of
    a share of a load, which is judged with all others alone, such as 2/3."""

    verdict: str
    exit_code: int
    reasons: tuple[Reason, ...]
    executions: tuple[ExecutionVerdict, ...]
    share: str = ""


def worst(verdicts) -> str:
    """The verdict that beats the others; PASS if there are none."""
    return max(verdicts, key=ORDER.index, default=PASS)


def _unit(unit: str) -> str:
    if unit.startswith("/"):
        return unit
    return "" if unit == "count" else f" {unit}"


def _with_unit(value: float, unit: str) -> str:
    return f"{format_number(value)}{_unit(unit)}"
