"""The certification as Markdown. Pure.

Each table answers one question and has few columns, so that it can be read where a README is read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from certification.conditions import Condition
from certification.effects import METRICS, Added, Change, Effect
from certification.found import WITHIN_S, Found
from certification.method import method
from certification.rows import Resampled, Row
from certification.store import Run
from tollgate.compare import FAIL, PASS

NOTHING, NOT_DECIDED = "-", "not decided"
_OF = ("head has more", "neighbour")


def to_markdown(
    runs: Sequence[Run],
    rows: Sequence[Row],
    resampled: Sequence[Resampled],
    effects: Sequence[Effect],
    left_out: Sequence[str],
) -> str:
    """All tables, and what they rest on. left_out: a line for each kind of run that is not in."""
    slight = {(it.condition, it.label) for it in effects if it.is_slight}
    founds = (it for row in (*rows, *resampled) for it in row.found)
    shown = [it for it in founds if (it.condition, it.label) not in slight]
    parts = [
        _live(rows),
        _simpler(rows),
        _found([it for it in shown if not it.condition.is_aa]),
        _resampled(resampled),
        _effects(effects),
        method(runs, rows, bool(resampled), left_out),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _live(rows: Sequence[Row]) -> str:
    names = (*_OF, "FAIL", "blocked in all", "FAIL after", "all decided after")
    cells = (
        (
            *_of(row.condition),
            row.failed,
            _blocked(row),
            _time(row.fail_s, NOTHING),
            _time(row.decided_s, NOT_DECIDED),
        )
        for row in rows
    )
    return _table("The gate, live runs", names, cells)


def _simpler(rows: Sequence[Row]) -> str:
    gates = ("this gate", "(a) stored baseline + 5 %", "(b) base first, then head: + 5 %")
    cells = ((*_of(row.condition), row.failed, row.baseline, row.sequential) for row in rows)
    return _table("FAIL of two simpler gates, live runs", (*_OF, *gates), cells)


def _found(founds: Sequence[Found]) -> str:
    within = (f"{metric} FAIL within {most_s:g} s" for metric, most_s in WITHIN_S.items())
    # sorted() keeps the order of what is alike: live runs come first.
    ordered = sorted(founds, key=lambda it: (it.condition.noisy, it.condition, it.label))
    cells = (
        (*_of(it.condition), it.label, it.kind, *(it.rates[metric] for metric in WITHIN_S))
        for it in ordered
    )
    return _table("Found in time", (*_OF, "label", "runs", *within), cells)


def _resampled(rows: Sequence[Resampled]) -> str:
    times = ("all decided after", "95 % of runs after")
    cells = (
        (
            *_of(row.condition),
            row.failed,
            _others(row.verdicts, but=(FAIL,)) or NOTHING,
            _time(row.decided_s, NOT_DECIDED),
            _time(row.most_s, NOT_DECIDED),
            f"{row.runs} runs, {row.recorded_s:,} s",
        )
        for row in rows
    )
    names = (*_OF, "FAIL", "other verdicts", *times, "put together from")
    return _table("The gate, resampled runs", names, cells)


def _effects(effects: Sequence[Effect]) -> str:
    changes = (f"{metric}, base and change" for metric in METRICS)
    names = (*_OF, "label", "added, by the server's clock", *changes)
    cells = (
        (
            *_of(each.condition),
            each.label,
            _added(each.added),
            *(_change(each.changes[metric]) for metric in METRICS),
        )
        for each in effects
    )
    return _table("How much slower head really was", names, cells)


def _of(condition: Condition) -> tuple[str, str]:
    return condition.told, "noisy" if condition.noisy else "none"


def _blocked(row: Row) -> str:
    others = _others(row.verdicts, but=(FAIL, PASS))
    return f"{row.blocked.hits:,} of {row.blocked.n:,}{f' ({others})' if others else ''}"


def _others(verdicts: Counter[str], but: Iterable[str]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in sorted(verdicts.items()) if name not in but)


def _time(seconds: float | None, never: str) -> str:
    if seconds is None:
        return NOTHING
    return f"{seconds:.0f} s" if math.isfinite(seconds) else never


def _added(added: Added | None) -> str:
    return NOTHING if added is None else f"{added.ms:.2f} ms: {added.share * 100:.1f} %"


def _change(change: Change) -> str:
    text = f"{change.base_ms:.1f} ms {_signed(change.share)} %"
    if change.low is None or change.high is None:
        return text
    return f"{text} ({_signed(change.low)} to {_signed(change.high)})"


def _signed(share: float) -> str:
    """In per cent, and none without a sign."""
    text = f"{share * 100:+.1f}"
    return text if float(text) else text[1:]


def _table(title: str, names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Empty without rows."""
    lines = [_line(row) for row in rows]
    head = [f"**{title}**", "", _line(names), "|" + " --- |" * len(names)]
    return "\n".join([*head, *lines]) if lines else ""


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
