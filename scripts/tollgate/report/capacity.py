"""What a search for capacity found, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tollgate.base.text import format_interval, format_number
from tollgate.capacity.model import Result, Scaling, Searched, Trial
from tollgate.capacity.model import scaling as capacity_scaling
from tollgate.judge.verdicts import ExecutionVerdict

LEAKS = "Trials of some seconds find no leak, and nothing else that only time shows: -soak does."


def lines(searched: Searched) -> Iterator[str]:
    """The capacity, how it was tried, and the generator."""
    result = searched.result
    labels = ", ".join(searched.of)
    yield f"capacity of {labels} {limits(searched)}: {estimate(result)}"
    if result.holdout:
        yield f"held out: {holdout(result.holdout, searched)}"
    if searched.trials:
        rates = [each.ask.rate for each in searched.trials]
        ends_of = f"{format_number(min(rates))} to {format_number(max(rates))}/s"
        drift = [] if result.drift is None else [f"drift {100 * result.drift:+.1f} %"]
        yield "; ".join([f"{len(rates)} trials from {ends_of}", *ends(result), *drift])
    if searched.ceiling_trials:
        most = max(each.generator_cpu for each in (*searched.ceiling_trials, *searched.trials))
        ceiling = format_number(searched.ceiling)
        yield f"the generator's own ceiling: {ceiling}/s, at most {format_number(most)} cores"


def limits(searched: Searched) -> str:
    """`within the limits p95>250ms and fail>0.1%`."""
    limits = "limits" if len(searched.limits) > 1 else "limit"
    return f"within the {limits} {' and '.join(searched.limits)}"


def estimate(result: Result) -> str:
    """`131/s (95 % CI 127-135, 3 % either way)`."""
    if result.estimate is None or result.low is None or result.high is None:
        return "not found"
    half = f"{100 * (result.half_width or 0):.1f} % either way"
    interval = format_interval(result.low, result.high)
    return f"{format_number(result.estimate)}/s (95 % CI {interval}, {half})"


def holdout(trial: Trial, searched: Searched) -> str:
    """What came of the minute below the interval."""
    at = f"{format_number(trial.ask.seconds)} s at {format_number(trial.achieved)}/s"
    p50, p95, p99 = map(format_number, (trial.p50_ms, trial.p95_ms, trial.p99_ms))
    times = f"p50 {p50}, p95 {p95}, p99 {p99} ms"
    return f"{at} {outcome(trial, searched)}: {times}, n={trial.n}"


def outcome(trial: Trial, searched: Searched) -> str:
    """`kept the limits`, or what was wrong with a trial."""
    if not trial.sound:
        return "say nothing of the service"
    if trial.grew:
        return "let the queue grow"
    broken = " and ".join(searched.broken(trial))
    return f"broke {broken}" if broken else "kept the limits"


def ends(result: Result) -> list[str]:
    """`last pass 90/s` and `first failure 110/s`, as far as they are known."""
    rates = (("last pass", result.last_pass), ("first failure", result.first_fail))
    return [f"{name} {format_number(rate)}/s" for name, rate in rates if rate is not None]


def scaling(executions: Sequence[ExecutionVerdict]) -> Scaling | None:
    """Of two executions with a capacity each, such as cluster / fork."""
    searched = [it for it in executions if it.capacity]
    if len(searched) != 2:
        return None
    one, other = searched
    return capacity_scaling(other.name, other.capacity.result, one.name, one.capacity.result)


def scaling_line(executions: Sequence[ExecutionVerdict]) -> Iterator[str]:
    """`cluster / fork: 3.1 times as much (95 % CI 2.9-3.3)`, where both are known."""
    if ratio := scaling(executions):
        ends = format_interval(*ratio.interval)
        times = format_number(ratio.value)
        yield f"{ratio.of} / {ratio.to}: {times} times as much (95 % CI {ends})"
