"""What the trends show: the changes of all, and each with its table and charts. Pure."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence

from tollgate.pages.kit.assemble import Section
from tollgate.pages.kit.parts import (
    Child,
    Column,
    Group,
    Row,
    badge,
    details,
    element,
    listing,
    paragraph,
    table,
)
from tollgate.pages.runs import words
from tollgate.pages.runs.changes import Change
from tollgate.pages.runs.charts import charts
from tollgate.pages.runs.rows import link
from tollgate.pages.runs.sparkline import sparkline
from tollgate.pages.runs.trends import SHOWN, Line, Trend

#: Charts of a page, so that it stays fast: tables have the lines of all trends shown.
MOST_CHARTS = 12
_NUMBER = "number"
#: Runs on either side of a change among which it may have happened as well.
_NEAR = 3
#: Lines of a trend that change at the same run, from which on it is said that many do.
_MANY = 3


def changes(found: Sequence[Trend]) -> list[Child]:
    """Every change of every trend, the newest first."""
    moved = [
        (trend, line, change) for trend in found for line in trend.lines for change in line.changes
    ]
    if not moved:
        return []
    at = {id(it[2]): it[1].points[it[2].at].at for it in moved}
    moved.sort(key=lambda it: (words.time_of(it[0].runs[at[id(it[2])]]), it[1].name), reverse=True)
    columns = (
        *(Column("since", "term"), Column("figure"), Column("from, to", _NUMBER)),
        Column("which is"),
        Column("what else changed there", "wide"),
    )
    rows = [_change(*it) for it in moved]
    many = [paragraph(text, kind="note") for text in _together(found)]
    return [table("Newest first", columns, rows, kind="cards"), *many, paragraph(_NOT_WHY)]


_NOT_WHY = (
    "A mark says that figures moved there, beyond what chance explains, and not why. On a shared "
    "machine the same load of the same code can differ by a factor of two from one hour to the "
    "next. To learn whether it was the code, let both revisions run at the same time: "
    "./scripts/run -compare."
)


def _change(trend: Trend, line: Line, change: Change) -> Row:
    at = line.points[change.at].at
    run = trend.runs[at]
    around = [trend.runs[it.at] for it in line.points[change.at - _NEAR : change.at + _NEAR]]
    what = element("span", line.name, element("span", _where(trend, line), class_="small"))
    return (
        link(run, words.time_of(run)),
        what,
        words.moved(line, change),
        badge(words.direction(line, change), words.tone_of(line, change)),
        words.differences(around),
    )


def _where(trend: Trend, line: Line) -> str:
    return f"{trend.kind}, {line.execution}"


def _together(found: Sequence[Trend]) -> list[str]:
    """What moves nearly all figures at once is seldom the code of one of them."""
    texts = []
    for trend in found:
        tested = [it for it in trend.lines if it.is_searched]
        at = Counter(it.points[change.at].at for it in tested for change in it.changes)
        for place, count in sorted(at.items()):
            if count >= _MANY and count > len(tested) / 2:
                when = words.time_of(trend.runs[place])
                texts.append(
                    f"{count} of the {len(tested)} figures of {trend.kind} moved at the run of "
                    f"{when} UTC: what moves most of them at once is the machine or a version more "
                    "often than the code of one target."
                )
    return texts


def sections(found: Sequence[Trend]) -> list[Section]:
    """A section for each of the newest trends."""
    made, left = [], MOST_CHARTS
    for number, trend in enumerate(found[:SHOWN]):
        drawn = charts(trend)[:left]
        left -= len(drawn)
        made.append(Section(f"trend-{number}", _heading(trend, found), [*_content(trend), *drawn]))
    return made


def more(found: Sequence[Trend]) -> str | None:
    """What of the trends is not drawn."""
    rest = len(found) - SHOWN
    what = "1 older trend is" if rest == 1 else f"{rest} older trends are"
    return f"{what} not shown, to keep the page fast." if rest > 0 else None


def _heading(trend: Trend, found: Sequence[Trend]) -> str:
    """Told apart by the time of its newest run where it is not the only one of its kind."""
    alike = [it for it in found if it.kind == trend.kind]
    name = f"Trend of {trend.kind}"
    return name if len(alike) == 1 else f"{name}, until {words.time_of(trend.runs[-1])}"


def _content(trend: Trend) -> list[Child]:
    first, last = trend.runs[0], trend.runs[-1]
    out = f"; {trend.left_out} left out as INVALID or interrupted" if trend.left_out else ""
    setting = (
        f"{len(trend.runs)} runs of {trend.plan} on {trend.machine}, {words.time_of(first)} to "
        f"{words.time_of(last)} UTC{out}. Same plan, same load, same targets."
    )
    constant = [it for it in trend.lines if it.is_constant]
    varied = [it for it in trend.lines if not it.is_constant]
    found: list[Child] = [setting]
    if varied:
        found.append(_table(trend, varied))
    if constant:
        names = [f"{line.name} ({line.execution}): {words.newest(line)[0]}" for line in constant]
        count = f"{len(names)} figure{'' if len(names) == 1 else 's'}"
        found.append(details(f"{count} with the same value in every run", listing(names)))
    return found


def _table(trend: Trend, lines: Sequence[Line]) -> ET.Element:
    columns = (
        *(Column("figure"), Column("trend, oldest first", "line"), Column("newest", _NUMBER)),
        *(
            Column("all runs", _NUMBER),
            Column("fails if", _NUMBER),
            Column("what is shown", "wide"),
        ),
    )
    rows: list[Row] = []
    for execution in dict.fromkeys(it.execution for it in lines):
        rows.append(Group((execution,)))
        rows += [_row(trend, it) for it in lines if it.execution == execution]
    return table("Each figure from run to run", columns, rows, kind="cards")


def _row(trend: Trend, line: Line) -> Row:
    newest, within = words.newest(line)
    small = element("span", within, class_="small") if within else None
    return (
        line.name,
        sparkline(line, len(trend.runs)),
        element("span", newest, small),
        words.spread(line),
        words.limit(line),
        _shown(trend, line),
    )


def _shown(trend: Trend, line: Line) -> Child:
    if not line.changes:
        return element("span", words.unchanged(line), class_="small")
    parts: list[Child] = []
    for change in line.changes:
        run = trend.runs[line.points[change.at].at]
        mark = badge(words.direction(line, change), words.tone_of(line, change))
        since = link(run, f"since {words.time_of(run)}")
        parts.append(element("div", mark, f" {words.moved(line, change)} ", since))
    return element("div", *parts)
