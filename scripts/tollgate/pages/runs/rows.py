"""What the page of a folder of runs shows, as plain rows for its template. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tollgate.judge import PASS
from tollgate.pages.kit.charts import Chart
from tollgate.pages.runs import texts
from tollgate.pages.runs.changes import Change
from tollgate.pages.runs.charts import charts, sparkline
from tollgate.pages.runs.model import Folder, Listed
from tollgate.pages.runs.trends import SHOWN, Line, Trend

#: Rows that stand open; the others are to be unfolded.
_OPEN = 25
#: Rows of the page at all: a browser shows so many at once without a pause.
MOST = 1_000
#: Charts of a page, so that it stays fast: tables have the lines of all trends shown.
MOST_CHARTS = 12
#: Kinds that runs.css has a rule for. Further ones share the last.
_KINDS = 8
#: Characters of a reason.
_REASON = 240
#: Runs on either side of a change among which it may have happened as well.
_NEAR = 3
#: Lines of a trend that change at the same run, from which on the page says that many do.
_MANY = 3


@dataclass(frozen=True)
class RunRow:
    """A run. page: the address of its own, None without one. css: the class of its kind, see
    runs.css. why: the first of its reasons. notes: second lines below that."""

    when: str
    page: str | None
    kind: str
    css: str
    verdict: str
    held: str
    why: str
    notes: Sequence[str]
    commit: str
    machine: str


@dataclass(frozen=True)
class RunTable:
    """machine: that of all runs; empty where each row has its own."""

    caption: str
    machine: str
    rows: Sequence[RunRow]


@dataclass(frozen=True)
class Runs:
    """All runs, newest first. kinds: (class, name) of those that can be chosen. earlier: to be
    unfolded. unlisted: how many more there are."""

    kinds: Sequence[tuple[str, str]]
    newest: RunTable
    earlier: RunTable
    unlisted: int


@dataclass(frozen=True)
class ChangeRow:
    """A figure that moved to another level. since, page: the first run on that level. levels: both,
    e.g. `11.1 to 16.9 ms (+52 %)`. versions: what else changed there."""

    since: str
    page: str | None
    figure: str
    where: str
    levels: str
    direction: str
    tone: str
    versions: str


@dataclass(frozen=True)
class FigureRow:
    """A figure from run to run. trend: (CSS class, path) of its drawing. unchanged: what is shown
    where there is no change."""

    name: str
    trend: Sequence[tuple[str, str]]
    newest: str
    interval: str
    spread: str
    limit: str
    unchanged: str
    changes: Sequence[ChangeRow]


@dataclass(frozen=True)
class TrendRows:
    """A trend. groups: its figures that vary, by execution. constant: the others, as texts."""

    heading: str
    setting: str
    groups: Sequence[tuple[str, Sequence[FigureRow]]]
    constant: Sequence[str]
    charts: Sequence[Chart]


def runs(folder: Folder) -> Runs:
    """The list of a folder's runs."""
    shown = folder.runs[:MOST]
    kinds = list(dict.fromkeys(it.kind for it in shown))
    place = {kind: f"kind-{min(at, _KINDS - 1)}" for at, kind in enumerate(kinds)}
    return Runs(
        _choices(kinds) if len(kinds) > 1 else (),
        _table("Newest first", shown[:_OPEN], place),
        _table("Earlier", shown[_OPEN:], place),
        len(folder.runs) - len(shown),
    )


def _choices(kinds: Sequence[str]) -> list[tuple[str, str]]:
    names = list(kinds[: _KINDS - 1])
    if rest := kinds[_KINDS - 1 :]:
        names.append(rest[0] if len(rest) == 1 else "other kinds")
    return [("kind-all", "all kinds"), *((f"kind-{at}", it) for at, it in enumerate(names))]


def _table(caption: str, shown: Sequence[Listed], place: dict[str, str]) -> RunTable:
    machines = {it.machine for it in shown}
    machine = machines.pop() if len(machines) == 1 else ""
    named = f"{caption}, all on {machine}" if machine else caption
    return RunTable(named, machine, [_run(it, place[it.kind]) for it in shown])


def _run(run: Listed, css: str) -> RunRow:
    why, notes = _why(run)
    return RunRow(
        when=texts.time_of(run),
        page=run.page,
        kind=run.kind,
        css=css,
        verdict=run.verdict or texts.NO_VERDICT,
        held=_held(run),
        why=why,
        notes=notes,
        commit=texts.version(run.versions["commit"]),
        machine=run.machine,
    )


def _held(run: Listed) -> str:
    verdicts = [it.verdict for each in run.executions for it in each.figures if it.decides]
    return f"{verdicts.count(PASS)} of {len(verdicts)}" if verdicts else "-"


def _why(run: Listed) -> tuple[str, list[str]]:
    """(why, notes) of a RunRow."""
    if run.verdict is None:
        why = run.problem or "it is still under way, or was ended before it could be judged"
        return why, []
    text = run.reasons[0] if run.reasons else ""
    text = text if len(text) <= _REASON else f"{text[:_REASON]}..."
    more = len(run.reasons) - 1
    if more > 0:
        text += f"; and {more} more"
    faults = f"the fault of the {' and the '.join(run.faults)}" if run.faults else ""
    return text, [it for it in (faults, run.problem) if it]


def changes(found: Sequence[Trend]) -> list[ChangeRow]:
    """Every change of every trend, the newest first."""
    moved = [
        _change(trend, line, change)
        for trend in found
        for line in trend.lines
        for change in line.changes
    ]
    return sorted(moved, key=lambda it: (it.since, it.figure), reverse=True)


def _change(trend: Trend, line: Line, change: Change) -> ChangeRow:
    run = trend.runs[line.points[change.at].at]
    around = [trend.runs[it.at] for it in line.points[change.at - _NEAR : change.at + _NEAR]]
    return ChangeRow(
        since=texts.time_of(run),
        page=run.page,
        figure=line.name,
        where=f"{trend.kind}, {line.execution}",
        levels=texts.moved(line, change),
        direction=texts.direction(line, change),
        tone=texts.tone_of(line, change),
        versions=texts.differences(around),
    )


def moved_together(found: Sequence[Trend]) -> list[str]:
    """What moves nearly all figures at once is seldom the code of one of them."""
    texts = []
    for trend in found:
        searched = [it for it in trend.lines if it.is_searched]
        at = Counter(it.points[change.at].at for it in searched for change in it.changes)
        for place, count in sorted(at.items()):
            if count >= _MANY and count > len(searched) / 2:
                when = texts.time_of(trend.runs[place])
                texts.append(
                    f"{count} of the {len(searched)} figures of {trend.kind} moved at the run of "
                    f"{when} UTC: what moves most of them at once is the machine or a version more "
                    "often than the code of one target."
                )
    return texts


def trend_rows(found: Sequence[Trend]) -> list[TrendRows]:
    """The newest trends, with so many charts that the page stays fast."""
    made, left = [], MOST_CHARTS
    for trend in found[:SHOWN]:
        drawn = charts(trend)[:left]
        left -= len(drawn)
        varied = [it for it in trend.lines if not it.is_constant]
        made.append(
            TrendRows(
                heading=_heading(trend, found),
                setting=_setting(trend),
                groups=[
                    (name, [_figure(trend, it) for it in varied if it.execution == name])
                    for name in dict.fromkeys(it.execution for it in varied)
                ],
                constant=[
                    f"{it.name} ({it.execution}): {texts.newest(it)[0]}"
                    for it in trend.lines
                    if it.is_constant
                ],
                charts=drawn,
            )
        )
    return made


def _heading(trend: Trend, found: Sequence[Trend]) -> str:
    """With the time of its newest run where it is not the only trend of its kind."""
    alike = [it for it in found if it.kind == trend.kind]
    name = f"Trend of {trend.kind}"
    return name if len(alike) == 1 else f"{name}, until {texts.time_of(trend.runs[-1])}"


def _setting(trend: Trend) -> str:
    out = f"; {trend.left_out} left out as INVALID or interrupted" if trend.left_out else ""
    return (
        f"{len(trend.runs)} runs of {trend.plan} on {trend.machine}, "
        f"{texts.time_of(trend.runs[0])} to {texts.time_of(trend.runs[-1])} UTC{out}. "
        "Same plan, same load, same targets."
    )


def _figure(trend: Trend, line: Line) -> FigureRow:
    newest, interval = texts.newest(line)
    return FigureRow(
        name=line.name,
        trend=sparkline(line, len(trend.runs)),
        newest=newest,
        interval=interval,
        spread=texts.spread(line),
        limit=texts.limit(line),
        unchanged=texts.unchanged(line),
        changes=[_change(trend, line, it) for it in line.changes],
    )
