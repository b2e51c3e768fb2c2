"""What an execution sent and what it got, second by second: charts that share their time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tollgate.base.text import some_of
from tollgate.report.pages.kit.charts import Chart, ChartSpan, Draw
from tollgate.report.pages.run.grid import MOST_POINTS, Grid, percentile_for, points_for
from tollgate.report.pages.run.intended import Intended
from tollgate.report.pages.run.lines import ChartLine, ChartText, Values, chart
from tollgate.report.pages.run.view import View
from tollgate.study.words import number

#: Labels without a schedule that are named.
_NAMES = 3
SLOWEST = "The slowest request of each point: there are too few for a percentile."
_RESPONSE = (
    "Response time counts from when a request was meant to be sent, service time (dashed) from "
    "when it was: where they part, requests waited."
)


def charts(views: Sequence[View], spans: Sequence[ChartSpan], latency: bool = True) -> list[Chart]:
    """From the load down to lateness; nothing where there are no samples. latency: also of the
    response times of all requests together, which mean little where arms take turns."""
    drawn = [throughput(views, spans)]
    has_latency = latency and any(view.grid for view in views)
    drawn += [percentile(views, spans, p) for p in percentiles(views)] if has_latency else []
    drawn += [errors(views, spans), lateness(views, spans)]
    return [each for each in drawn if each is not None]


def throughput(views: Sequence[View], spans: Sequence[ChartSpan]) -> Chart | None:
    """Requests sent a second, beside those that a schedule intended."""
    lines = []
    for view in views:
        lines.append(ChartLine(view, f"{view.name} sent", partial(_sent, view)))
        if view.intended is not None:
            intended = partial(_intended, view.intended)
            lines.append(ChartLine(view, f"{view.name} intended", intended, "dashed"))
    summary, note = "Requests sent; no schedule says how many were intended.", ""
    if any(view.intended for view in views):
        summary = "Requests sent, beside those that the schedule intended (dashed)."
        note = _unscheduled(views)
    return chart(ChartText("Throughput", summary, "requests/s", note), lines, spans)


def percentiles(views: Sequence[View]) -> list[int]:
    """The median, and the highest percentile that the requests bear."""
    return [50, percentile_for(min(view.service.total for view in views if view.grid))]


def percentile(views: Sequence[View], spans: Sequence[ChartSpan], p: int) -> Chart | None:
    """A percentile of response time beside that of service time; where there is no schedule, of
    service time alone. Requests without one are left out beside those that have one: the note says
    so."""
    lines = []
    for view in (view for view in views if view.grid):
        bins = view.grid.coarser(points_for(view.service.total, p, MOST_POINTS))
        if view.response is not None:
            lines.append(_percentile(view, "response", p, "response", "line", bins))
        style: Draw = "line" if view.response is None else "dashed"
        lines.append(_percentile(view, "service", p, "service", style, bins))
    responds = any(view.response for view in views)
    summary = _RESPONSE if responds else "Service time: no schedule says when requests were due."
    if p != 50:  # the first chart has said it
        summary = f"{p} % of the requests were at most as slow."
        summary = SLOWEST if p == 100 else summary
    left_out = _unscheduled(views)
    whose = "scheduled requests" if left_out else "all requests"
    if left_out and any(view.response is None for view in views):
        left_out += " Where an execution has no schedule at all, none are left out."
    return chart(ChartText(f"{name_of(p)}, {whose}", summary, "ms", left_out), lines, spans)


def name_of(p: int) -> str:
    """`p95`, `slowest`."""
    return "slowest" if p == 100 else f"p{p}"


def errors(views: Sequence[View], spans: Sequence[ChartSpan]) -> Chart | None:
    """Failed requests a second; None where none failed."""
    failed = sum(view.sent.errors for view in views)
    if not failed:
        return None
    total = sum(view.sent.total for view in views)
    lines = [ChartLine(view, f"{view.name} failed", partial(_failed, view)) for view in views]
    summary = f"{failed:,} of {total:,} requests failed, warm-up included."
    return chart(ChartText("Errors", summary, "failed requests/s"), lines, spans, tone="wrong")


def lateness(views: Sequence[View], spans: Sequence[ChartSpan]) -> Chart | None:
    """How much later than meant requests were sent."""
    lines, values = [], []
    for view in (view for view in views if view.lateness is not None):
        high = percentile_for(view.lateness.total)
        bins = view.grid.coarser(points_for(view.lateness.total, high, MOST_POINTS))
        lines.append(_percentile(view, "lateness", high, name_of(high), "line", bins))
        lines.append(_percentile(view, "lateness", 50, "p50", "dashed", bins))
        p99 = view.lateness.window(*view.window).percentile(99)
        values.append(f"{view.name} {number(p99)} ms")
    summary = f"Sent after it was meant to be. p99 of the measured time: {', '.join(values)}."
    return chart(ChartText("Lateness", summary, "ms"), lines, spans)


def _sent(view: View, grid: Grid) -> Values:
    # Where some were meant to be sent, only those: others beside them would hide what is missing.
    requests = view.binned("sent" if view.intended is None else "service", grid).n
    return requests / grid.lengths, requests


def _intended(intended: Intended, grid: Grid) -> Values:
    return intended.rates(grid), None


def _percentile(view: View, times: str, p: int, name: str, draw: Draw, bins: Grid) -> ChartLine:
    def values(grid: Grid) -> Values:
        binned = view.binned(times, grid)
        return binned.percentile(p), binned.n

    return ChartLine(view, f"{view.name} {name}", values, draw, bins)


def _failed(view: View, grid: Grid) -> Values:
    binned = view.binned("sent", grid)
    return binned.errors / grid.lengths, binned.n


def _unscheduled(views: Sequence[View]) -> str:
    """Names some of the requests that follow no schedule beside others that do; or empty."""
    scheduled = (view for view in views if view.scheduled)
    left_out = [it for view in scheduled for it in view.samplers if it.response is None]
    if not left_out:
        return ""
    names = sorted({it.name for it in left_out})
    requests, which = sum(it.service.total for it in left_out), some_of(names, _NAMES)
    return f"Left out are {requests:,} requests that follow no schedule: {which}."
