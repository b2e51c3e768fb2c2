"""The tables of a study as Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tollgate.markup import escaped, row
from tollgate.study.model import TOLD, CellResult, Check, Comparison, Curve, Estimate, UslFit
from tollgate.study.told import METRIC_NAMES, interval, number

#: Of two arms: p90 says nothing that p50 and p95 don't.
RATIOS = ("throughput", "mean", "p50", "p95", "p99", "block_max")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The cells are text; numbers and names alike are no markup."""
    lines = [row(tuple(headings)), row(["---"] * len(headings))]
    return lines + [row([escaped(cell) for cell in cells]) for cells in rows]


def arms(cells: Iterable[CellResult]) -> list[str]:
    """What was measured of each arm at each number of users."""
    metrics = [METRIC_NAMES[name] for name in TOLD]
    headings = (
        "arm",
        "users",
        "blocks",
        "requests",
        "failed",
        *metrics,
        "service, cores",
        "JMeter, cores",
        "held by",
    )
    return table(headings, (_arm(result) for result in cells))


def _arm(result: CellResult) -> tuple[str, ...]:
    counts = (result.cell.users, result.blocks, result.requests, result.failed)
    metrics = (told(result.metrics[name]) for name in TOLD)
    cores = (number(result.cpu[name]) for name in ("service", "generator"))
    return result.cell.arm, *map(number, counts), *metrics, *cores, result.bottleneck.who


def comparisons(compared: Iterable[Comparison]) -> list[str]:
    """Arm against baseline."""
    headings = ("arm / baseline", "users", *(METRIC_NAMES[it].split(",")[0] for it in RATIOS))
    rows = (
        (f"{it.arm} / {it.baseline}", str(it.users), *(told(it.ratios[name]) for name in RATIOS))
        for it in compared
    )
    return table(headings, rows)


def scaling(curves: Iterable[Curve]) -> Iterator[str]:
    """Throughput and concurrency performance over users, and the law fitted to them."""
    curves = [*curves]
    rows = (
        (curve.arm, str(it.users), told(it.throughput), told(it.concurrency_performance))
        for curve in curves
        for it in curve.points
    )
    yield from table(("arm", "users", "requests/s", "concurrency performance"), rows)
    yield ""
    yield from (f"- {escaped(f'{it.arm}: {usl_line(it.fit)}')}" for it in curves if it.fit)


def usl_line(fit: UslFit) -> str:
    """The parameters of the Universal Scalability Law, or why there are none."""
    if fit.note:
        return fit.note
    parameters = {
        "lambda": fit.throughput_of_one,
        "sigma": fit.contention,
        "kappa": fit.coherency,
        "users at the peak": fit.peak_users,
    }
    said = (f"{name} {_noted(found)}" for name, found in parameters.items())
    return f"Universal Scalability Law: {', '.join(said)}"


def _noted(found: Estimate) -> str:
    if found.value is None:
        return f"- ({found.note})"
    ends = ""
    if found.low is not None:
        ends = f"at least {_parameter(found.low)}"
        if found.high is not None:
            ends = f"{_parameter(found.low)} to {_parameter(found.high)}"
    inside = "; ".join(filter(None, [ends, found.note]))
    return f"{_parameter(found.value)} ({inside})" if inside else _parameter(found.value)


def _parameter(value: float) -> str:
    """kappa is often far below a thousandth."""
    return f"{value:.2g}" if 0 < abs(value) < 0.01 else number(value)


def workers(cells: Iterable[CellResult]) -> list[str]:
    """Who answered, so that uneven dealing is seen."""
    rows = (
        (result.cell.arm, str(result.cell.users), _shares(result.workers), _busiest(result))
        for result in cells
        if result.workers
    )
    return table(("arm", "users", "worker: requests", "busiest of a block"), rows)


def _busiest(result: CellResult) -> str:
    return "-" if result.busiest is None else f"{result.busiest:.0%}"


def _shares(workers: dict[str, int]) -> str:
    total = sum(workers.values())
    return ", ".join(
        f"{name}: {count:,} ({100 * count / total:.1f} %)" for name, count in workers.items()
    )


def checks(found: Iterable[Check]) -> list[str]:
    """Each tool's figures over JMeter's."""
    headings = ("tool", "version", "requests/s, tool / JMeter", "p50, tool / JMeter", "answer")
    rows = (
        (
            it.tool,
            it.version or "-",
            *(told(it.ratios.get(name, Estimate(None))) for name in ("throughput", "p50")),
            f"{it.agreement}: {it.reason}",
        )
        for it in found
    )
    return table(headings, rows)


def told(found: Estimate) -> str:
    """`1.86 (1.81 to 1.9)`; `-` where there is nothing."""
    ends = interval(found)
    return f"{number(found.value)} ({ends})" if ends else number(found.value)
