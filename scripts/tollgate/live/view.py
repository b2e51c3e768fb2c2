"""What the live page shows of a run by now, as data. Pure.

The page is a frame with an empty place for each section. Tables are those of reports
(report/table.py); live.js writes their cells as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tollgate.base.text import format_duration, format_number, json_without_markup, one_line
from tollgate.capacity.model import Limit, Trial
from tollgate.capacity.record import CapacityRecord
from tollgate.compare.model import Gate
from tollgate.criteria.subjects import MIB
from tollgate.judge.verdicts import FAIL, INCONCLUSIVE, PASS, CriterionResult
from tollgate.live.state import LAST_S, LabelByNow, LiveSamples
from tollgate.report.pages.kit.names import readable
from tollgate.report.pages.kit.tones import tone
from tollgate.report.table import CODE, VERDICT, Column, Table, TableCell, numeric
from tollgate.report.tables import criteria_table, findings_table
from tollgate.schedule.growing_samples import SIDES, Key
from tollgate.stats.counts import Counts
from tollgate.workers.latest import Looks

#: Sections of the page, by id; it shows those of its run.
CRITERIA, COMPARISON, CAPACITY = "criteria", "comparison", "capacity"
REQUESTS, FAILURES, SCHEDULE, WORKERS = "requests", "failures", "schedule", "workers"
HEADINGS = {
    COMPARISON: "Base and head",
    CAPACITY: "Trials",
    CRITERIA: "Criteria",
    REQUESTS: "Requests",
    FAILURES: "Failures",
    SCHEDULE: "Schedule",
    WORKERS: "Workers",
}
PERCENTILES = (50, 95, 99)
#: Rows of a table of labels, and of failures.
MOST_LABELS, MOST_FAILURES = 100, 20
OPEN = "open"
_NONE = "-"


#: What a section shows: lines, and tables below them.
Shown = str | Table
Sections = Mapping[str, Sequence[Shown]]


@dataclass(frozen=True)
class Snapshot:
    """All that the page shows. answer: a badge, in its tone. sections: by their ids. is_over:
    whether nothing follows. has_page: whether the run's own page then has the address of this
    one."""

    sentence: str
    answer: str = "running"
    tone: str = "unsure"
    sections: Sections = field(default_factory=dict)
    is_over: bool = False
    has_page: bool = False

    def to_json(self) -> str:
        """One line. Nothing in it looks like markup, wherever it is put."""
        data = {
            "sentence": self.sentence,
            "answer": self.answer,
            "tone": self.tone,
            "isOver": self.is_over,
            "hasPage": self.has_page,
            "sections": [
                _section(id_, self.sections[id_]) for id_ in HEADINGS if id_ in self.sections
            ],
        }
        return json_without_markup(data)


def _section(id_: str, shown: Sequence[Shown]) -> dict[str, Any]:
    lines = [one_line(each) for each in shown if isinstance(each, str)]
    tables = [_table(each) for each in shown if isinstance(each, Table)]
    return {"id": id_, "lines": lines, "tables": tables}


def _table(table: Table) -> dict[str, Any]:
    places = [at for at, it in enumerate(table.columns) if not it.kind.startswith("bar")]
    return {
        "caption": table.caption,
        "kind": table.kind,
        "columns": [[table.columns[at].heading, table.columns[at].kind] for at in places],
        "rows": [[_cell(row[at]) for at in places] for row in table.rows],
    }


def _cell(cell: str | TableCell) -> dict[str, str]:
    """Only what there is."""
    if isinstance(cell, str):
        return {"text": one_line(cell)}
    parts = {"text": cell.text, "badge": cell.badge, "note": cell.note, "small": cell.small}
    shown = {name: one_line(text) for name, text in parts.items() if text}
    return shown | ({"tone": tone(cell.badge), "title": cell.title} if cell.badge else {})


ByNow = Mapping[Key, LabelByNow]


def execution(name: str, samples: LiveSamples) -> Iterator[tuple[str, list[Shown]]]:
    """What the samples of an execution show, by the id of a section."""
    by_now = samples.by_now()
    yield REQUESTS, requests(name, by_now, samples.measured_s)
    yield FAILURES, failures(name, samples)
    yield SCHEDULE, schedule(name, samples, by_now)


def requests(name: str, by_now: ByNow, measured_s: float) -> list[Shown]:
    """Each label of an execution, the newest seconds beside all of the measuring."""
    columns = [
        Column("label", CODE),
        *numeric("requests", "failed", "/s"),
        *numeric(*(f"p{it}, ms" for it in PERCENTILES)),
        *numeric(*(f"last {LAST_S} s: {it}" for it in ("failed", "/s"))),
        *numeric(*(f"last {LAST_S} s: p{it}, ms" for it in PERCENTILES)),
    ]
    rows = [_label(*it, measured_s) for it in [*by_now.items()][:MOST_LABELS]]
    caption = f"{readable(name)}, since the warm-up: {format_duration(measured_s)}"
    more = len(by_now) - MOST_LABELS
    lines = [f"{more} more labels are not shown"] if more > 0 else []
    return [*lines, Table(caption, columns, rows, "cards")]


def _label(key: Key, label: LabelByNow, measured_s: float) -> tuple[str | TableCell, ...]:
    kind = "transaction, " if key.is_transaction else ""
    basis = kind + ("response time" if label.responds else "service time")
    return (
        TableCell(_named(key), note=basis),
        f"{label.sent.total:,}",
        f"{label.sent.errors:,}",
        _rate(label.sent.total, measured_s),
        *_percentiles(label.times),
        f"{label.sent_last.errors:,}",
        _rate(label.sent_last.total, min(LAST_S, measured_s)),
        *_percentiles(label.times_last),
    )


def _named(key: Key) -> str:
    return readable(key.label) + (f", {SIDES[key.side]}" if key.side >= 0 else "")


def _rate(count: int, seconds: float) -> str:
    return format_number(count / seconds) if seconds else _NONE


def _percentiles(counts: Counts, which: Iterable[float] = PERCENTILES) -> Iterator[str]:
    for each in which:
        yield format_number(counts.percentile(each)) if counts.total else _NONE


def failures(name: str, samples: LiveSamples) -> list[Shown]:
    """What failed, with what was said of it, the most frequent first."""
    most = samples.failures.most_common(MOST_FAILURES)
    if not most:
        return [f"{readable(name)}: no request has failed"]
    columns = [Column("label", CODE), Column("code", CODE), Column("message"), *numeric("failed")]
    rows = [
        (readable(label), readable(code) if code else _NONE, message or _NONE, f"{n:,}")
        for (label, code, message), n in most
    ]
    caption = f"{readable(name)}: failed requests, those of the warm-up as well"
    return [Table(caption, columns, rows, "cards")]


def schedule(name: str, samples: LiveSamples, by_now: ByNow) -> list[Shown]:
    """What was due and sent by now, and how late the requests of each label were."""
    if not samples.joins:
        return [f"{readable(name)}: it is not known when each request was due"]
    columns = [Column("requests of", CODE), *numeric("due", "answered", "not sent, or under way")]
    rows = [
        (readable(labels), f"{due:,}", f"{sent:,}", f"{max(0, due - sent):,}")
        for labels, due, sent in samples.by_schedule()
    ]
    late = [Column("label", CODE), *numeric("p50, ms", "p99, ms", "most, ms")]
    lateness = [
        (_named(key), *_percentiles(label.lateness, (50, 99, 100)))
        for key, label in by_now.items()
        if label.lateness.total
    ]
    caption = f"{readable(name)}: lateness, from due until sent, since the warm-up"
    return [
        Table(f"{readable(name)}: all since the start", columns, rows, "cards"),
        Table(caption, late, lateness[:MOST_LABELS], "cards"),
    ]


def workers(looks: Looks) -> list[Shown]:
    """The last look at each worker."""
    columns = [
        Column("worker", CODE),
        *numeric("CPU, % of a core", "RSS, MB", "loop delay p50, ms", "loop delay p95, ms"),
        *numeric("restarts"),
    ]
    rows = []
    for (app, worker), line in looks.items():
        rss = line.get("rss")
        cpu, *delays = (_number(line.get(it)) for it in ("cpu", "loopDelayP50", "loopDelayP95"))
        memory = f"{rss / MIB:.0f}" if rss else _NONE
        restarts = str(line.get("restarts", _NONE))
        rows.append((f"{readable(app)} {worker}", cpu, memory, *delays, restarts))
    if not rows:
        return ["No worker has been seen yet, or none is watched"]
    return [Table("As last seen", columns, rows, "cards")]


def criteria(
    name: str, results: Sequence[CriterionResult], undecided: Sequence[str], at_s: float | None
) -> list[Shown]:
    """What the last look decided. undecided: the criteria that wait for the first look, or for the
    end. at_s: when that look was, in seconds of measuring; None before it."""
    if not results and not undecided:
        return []
    if at_s is None:
        waiting = [(readable(it), TableCell(badge=OPEN)) for it in undecided]
        columns = [Column("criterion", CODE), Column("verdict", VERDICT)]
        return [Table(f"{readable(name)}: nothing has been decided yet", columns, waiting)]
    table = criteria_table(results, has_looks=True)
    rows = [(*row, _needed(it)) for row, it in zip(table.rows, results, strict=True)]
    columns = [*table.columns, *numeric("samples, of about")]
    decided = [it for it in results if it.decides and it.verdict in (PASS, FAIL)]
    count = sum(it.decides for it in results)
    caption = f"{readable(name)} after {at_s:g} s of measuring: {len(decided)} of {count} decided"
    return [Table(caption, columns, rows, "cards")]


def _needed(result: CriterionResult) -> str:
    """How far an open one is: `412 of 1,300 (32 %)`."""
    if result.verdict != INCONCLUSIVE or not result.samples_needed:
        return ""
    share = f"{100 * result.samples / result.samples_needed:.0f} %"
    return f"{result.samples:,} of {result.samples_needed:,} ({share})"


def comparison(gate: Gate) -> list[Shown]:
    """The intervals of each finding as of the last look."""
    if not gate.looks_s:
        return ["The samples have not been looked at yet"]
    findings = [replace(it, label=readable(it.label)) for it in gate.findings]
    decided = [it.decided for it in gate.findings if it.gates]
    caption = (
        f"After {gate.looks_s[-1]:g} s of at most {gate.settings.budget_s:g}: {sum(decided)} of "
        f"{len(decided)} decided. Intervals hold at all looks together"
    )
    return [findings_table(caption, findings, gate.settings, {})]


def capacity(
    name: str, position: str, trials: Sequence[Trial], record: CapacityRecord
) -> list[Shown]:
    """The trials of a search, the newest first."""
    line = f"{readable(name)}: {position}"
    if not trials:
        return [line]
    columns = [
        *numeric("trial"),
        Column("purpose"),
        *numeric("asked, /s", "sent, /s", "n", *(f"p{it}, ms" for it in PERCENTILES)),
        Column("outcome", VERDICT),
    ]
    rows = [
        (
            str(trial.ask.number),
            trial.ask.purpose,
            *map(format_number, (trial.ask.rate, trial.achieved)),
            f"{trial.n:,}",
            *map(_number, (trial.p50_ms, trial.p95_ms, trial.p99_ms)),
            TableCell(badge=_outcome(trial, record.settings.limits)),
        )
        for trial in reversed(trials)
    ]
    caption = f"{readable(name)}: trials within {' and '.join(record.limits)}"
    return [line, Table(caption, columns, rows, "cards")]


def _outcome(trial: Trial, limits: tuple[Limit, ...]) -> str:
    if not trial.sound:
        return "not sound"
    return PASS if trial.keeps(limits) else FAIL


def _number(value: float | None) -> str:
    return _NONE if value is None else format_number(value)
