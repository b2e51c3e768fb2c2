"""The table of all runs, with a switch for their kinds that needs no script. Pure."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from tollgate.judge import PASS
from tollgate.pages.kit.parts import Child, Column, Row, badge, details, element, listing, table
from tollgate.pages.runs import words
from tollgate.pages.runs.model import Folder, Listed

#: Rows that stand open; the others are to be unfolded.
_OPEN = 25
#: Rows of the page at all: a browser shows so many at once without a pause.
MOST = 1_000
#: Kinds that runs.css has a rule for. Further ones share the last.
_KINDS = 8
_REASON = 240


def runs(folder: Folder) -> list[Child]:
    """The switch, the newest runs, and the earlier ones to unfold."""
    shown = folder.runs[:MOST]
    if not shown:
        return ["Start one with ./scripts/run."]
    kinds = list(dict.fromkeys(it.kind for it in shown))
    found: list[Child] = [_switch(kinds)] if len(kinds) > 1 else []
    found.append(_table("Newest first", shown[:_OPEN], kinds))
    if earlier := shown[_OPEN:]:
        found.append(details(f"{len(earlier):,} earlier", _table("Earlier", earlier, kinds)))
    if len(folder.runs) > MOST:
        more = len(folder.runs) - MOST
        found.append(f"{more:,} still earlier runs are not listed here, to keep the page fast.")
    return found


def other_folders(folder: Folder) -> list[Child]:
    """What stands among the runs and is none, or can't be read."""
    found: list[Child] = []
    if folder.unreadable:
        columns = (Column("folder"), Column("why", "wide"))
        found.append(table("Can't be read", columns, folder.unreadable))
    if count := len(folder.others):
        names = listing([element("code", name) for name in folder.others[:MOST]])
        folders = f"{count:,} folder{'' if count == 1 else 's'}"
        what = "no run.json and no verdict.json: no run, or one that was refused before it began"
        found.append(details(f"{folders} with {what}", names))
    return found


def link(run: Listed, text: str) -> Child:
    """A text that leads to the run's own page, where it has one."""
    return element("a", text, href=run.page) if run.page else text


def _switch(kinds: Sequence[str]) -> ET.Element:
    """Radio buttons, which runs.css acts on: `kind-0` are the runs of the first kind."""
    names = [("all", "all kinds")]
    names += [(str(at), kind) for at, kind in enumerate(kinds[: _KINDS - 1])]
    if len(kinds) >= _KINDS:
        rest = kinds[_KINDS - 1 :]
        names.append((str(_KINDS - 1), rest[0] if len(rest) == 1 else "other kinds"))
    labels = [
        element(
            "label",
            element("input", type="radio", name="kind", id=f"kind-{at}", checked=at == "all"),
            element("span", name),
        )
        for at, name in names
    ]
    return element("fieldset", element("legend", "Show"), *labels, class_="switch")


def _table(caption: str, shown: Sequence[Listed], kinds: Sequence[str]) -> ET.Element:
    columns = [
        *(Column("run, UTC", "term"), Column("kind"), Column("verdict")),
        *(Column("criteria that hold", "number"), Column("why", "wide")),
        Column("commit", "term"),
    ]
    machines = {it.machine for it in shown}
    if len(machines) == 1:
        caption += f", all on {machines.pop()}"
    else:
        columns.append(Column("machine"))
    rows = [_row(it)[: len(columns)] for it in shown]
    made = table(caption, columns, rows, kind="cards runs")
    place = {kind: min(at, _KINDS - 1) for at, kind in enumerate(kinds)}
    for row, run in zip(made.iterfind(".//tbody/tr"), shown, strict=True):
        row.set("class", f"kind-{place[run.kind]}")
    return made


def _row(run: Listed) -> Row:
    return (
        link(run, words.time_of(run)),
        run.kind,
        badge(run.verdict or words.NO_VERDICT, words.tone(run.verdict)),
        _held(run),
        _why(run),
        words.version(run.versions["commit"]),
        run.machine,
    )


def _held(run: Listed) -> str:
    verdicts = [it.verdict for each in run.executions for it in each.figures if it.decides]
    return f"{verdicts.count(PASS)} of {len(verdicts)}" if verdicts else "-"


def _why(run: Listed) -> Child:
    if run.verdict is None:
        return run.problem or "it is still under way, or was ended before it could be judged"
    text = run.reasons[0] if run.reasons else ""
    text = text if len(text) <= _REASON else f"{text[:_REASON]}..."
    more = len(run.reasons) - 1
    if more > 0:
        text += f"; and {more} more"
    faults = f"the fault of the {' and the '.join(run.faults)}" if run.faults else None
    small = [it for it in (faults, run.problem or None) if it]
    if not text and not small:
        return None
    return element("span", text, *(element("span", it, class_="small") for it in small))
