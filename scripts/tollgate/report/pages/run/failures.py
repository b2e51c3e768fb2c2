"""Failed requests by message and second."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tollgate.base.text import one_line
from tollgate.gather.early_decisions import judged_until_ms
from tollgate.record import manifest
from tollgate.report.pages.kit.names import readable
from tollgate.report.pages.run.lines import clock
from tollgate.report.pages.run.view import View
from tollgate.report.table import Column, Table, TableCell, numeric
from tollgate.samples.failures import FailedRequests, read_failures
from tollgate.stats.response_codes import short_code

#: Rows of the table; those with most requests.
MOST_ROWS = 20
#: Seconds of a row that are listed.
MOST_SECONDS = 8
#: How JMeter's assertions write two texts, `/` before each.
_COMPARED = re.compile(r"\s*/?\s*\*{6} (\w+)\s*: \[{3}(.*?)\]{3}\s*/?", re.S)
#: Characters of a message; all of it is in its title.
_LENGTH, _TITLE = 160, 500


def table(run: Path, record: manifest.Manifest, views: Sequence[View]) -> Table | None:
    """None where nothing failed. Raises JtlError."""
    groups: dict[tuple[str, str, str, str], list[FailedRequests]] = {}
    until_ms = {} if record.engines else judged_until_ms(run, record)
    for view, planned, jtls in zip(views, record.executions, _jtls(run, record), strict=True):
        failed = _failed(view, jtls, until_ms.get(planned.name)) if view.sent.errors else ()
        for requests in failed:
            key = (view.name, requests.label, requests.code, requests.alike)
            groups.setdefault(key, []).append(requests)
    if not groups:
        return None
    largest = sorted(groups.items(), key=lambda group: -_total(group[1]))[:MOST_ROWS]
    rows = [_row(*key[:3], alike) for key, alike in largest]
    shown = sum(_total(alike) for _, alike in largest)
    more = sum(view.sent.errors for view in views) - shown
    rest = f"; {more:,} more failed in other ways, or had no answer at the end" if more > 0 else ""
    caption = (
        "Failed requests by message and by second since the execution's start, warm-up "
        f"included{rest}"
    )
    columns = (Column("request"), *numeric("failed"), Column("message"), Column("seconds"))
    return Table(caption, columns, rows, "cards")


def _jtls(run: Path, record: manifest.Manifest) -> list[list[Path]]:
    """Of each execution, also of a merged run, those of its engines."""
    folders = [run / each["folder"] for each in record.engines]
    if not folders:
        return [[run / it.jtl] for it in record.executions]
    planned = [manifest.read(folder).executions for folder in folders]
    return [
        [folder / of[at].jtl for folder, of in zip(folders, planned, strict=True)]
        for at in range(len(record.executions))
    ]


def _failed(view: View, jtls: Iterable[Path], until_ms: int | None) -> Iterable[FailedRequests]:
    """Those that count as requests of the execution."""
    labels = view.execution.labels
    for requests in (it for jtl in jtls for it in read_failures(jtl, until_ms)):
        data = labels.get((requests.label, requests.is_transaction))
        if data and not data.is_transaction:
            yield requests


def _row(
    name: str, label: str, code: str, alike: Sequence[FailedRequests]
) -> tuple[str | TableCell, ...]:
    message = one_line(_COMPARED.sub(r"; \1 \2", alike[0].message))
    text = f"{short_code(code)}: {message}" if message else short_code(code)
    is_cut = len(text) > _LENGTH
    shown = f"{text[:_LENGTH]}\u2026" if is_cut else text
    by_second = Counter[int]()
    for requests in alike:
        by_second[requests.second] += requests.n
    listed = [f"{clock(at)} ({n:,})" for at, n in sorted(by_second.items())]
    more = f" and {len(listed) - MOST_SECONDS:,} more seconds" if listed[MOST_SECONDS:] else ""
    return (
        f"{name}: {readable(label)}",
        f"{_total(alike):,}",
        TableCell(shown, title=text[:_TITLE] if is_cut else ""),
        ", ".join(listed[:MOST_SECONDS]) + more,
    )


def _total(alike: Iterable[FailedRequests]) -> int:
    return sum(it.n for it in alike)
