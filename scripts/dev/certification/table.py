"""The certification as Markdown: its tables, and what these rest on. Pure.

Each table answers one question and has few columns, so that it can be read where a README is read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from certification.conditions import Condition
from certification.effects import LEAST_ADDED, METRICS, Added, Change, Effect
from certification.found import WITHIN_S, Found
from certification.resample import FEWEST_PAIRS, SEGMENT_S
from certification.rows import OLDEST_S, Resampled, Row, promised
from certification.store import Run
from tollgate.compare.model import FAIL, PASS

_TIMES = (
    "Times are medians of measuring, over all runs of a row, of which one that never got there "
    "counts as longer than any: where half of them did not, a dash stands below FAIL, and `not "
    "decided` elsewhere."
)
_FOUND = (
    "Found in time: that metric of that label failed, no later than so many seconds of measuring. "
    f"A label of which less than {LEAST_ADDED * 100:g} % was added to the answers, by the server's "
    "own clock, is left out there. How much slower head really was: by JMeter's times, which have "
    "the network, the connection and the queue in them."
)
_SIMPLER = (
    "(a) fails if a label's p95 is more than 5 % above base's in the last run before it of the "
    f"same commit with the same neighbour or none; runs without one in the {OLDEST_S / 60:.0f} "
    "minutes before are left out. (b) fails if head's p95 in the second half of a run's seconds is "
    "more than 5 % above base's in the first. Both judge live runs of the same length, with half "
    "of the requests that a benchmark of one side alone would send in that time; (b) has all of "
    "them in A/A, where it takes those of both sides."
)
_RESAMPLED = (
    f"Resampled: the complete gate on runs put together from recorded seconds, {SEGMENT_S} s at a "
    "time; in A/A base and head change places at random. The intervals are those of drawing alone: "
    "of differences between processes it knows those of the recorded runs, and conditions with "
    f"fewer than {FEWEST_PAIRS} pairs of processes are left out."
)


def method(runs: Sequence[Run], resampled: bool, left_out: Sequence[str]) -> str:
    """A paragraph of lines. runs: those that are in the tables, at least one. left_out: a line for
    each kind of run that is not."""
    promise, environments = runs[-1].promise, [it.environment for it in runs if it.environment]
    lines = [
        f"{len(runs)} live runs, {_days(runs)}, conditions in random order, each with arrivals, "
        f"coin and neighbour of its own; BASE=HEAD, MODE={promise['mode']}, {promise['processes']} "
        "processes a side. In brackets: exact 95 % intervals (Clopper and Pearson). Their samples "
        "are judged by the gate of this version.",
        _promise(runs[-1]),
        "Noise of p95: the median size of its change in A/A, over labels and runs.",
        _TIMES,
        *([] if all(run.of.is_aa for run in runs) else [_FOUND]),
        *_noise(runs),
        _SIMPLER,
        *([_RESAMPLED] if resampled else []),
        *_machines(runs),
        f"Versions: {_all(_versions(it) for it in environments)}; commit "
        f"{_all(_commit(it['commit']) for it in environments)}.",
        *left_out,
    ]
    return "  \n".join(lines)


def _days(runs: Sequence[Run]) -> str:
    days = sorted({run.began[:10] for run in runs})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _promise(run: Run) -> str:
    promise = run.promise
    labels = ", ".join(promise["labels"]) or "all labels"
    settings = promised(run)[0]
    of = ", ".join(f"{settings.effect_of(it):.1%} of {it}" for it in settings.gates)
    return (
        f"The gate: effect {of}, of {labels}; "
        f"false alarms {promise['false_alarm']:.1%}, misses {promise['miss']:.1%}; first look "
        f"after {promise['first_s']:g} s, then every {promise['every_s']:g} s, at most "
        f"{promise['budget_s']:g} s."
    )


def _noise(runs: Sequence[Run]) -> list[str]:
    noisy = [run for run in runs if run.neighbour.get("cpu_s")]
    if not noisy:
        return []
    spent, seconds = (sum(run.neighbour[name] for run in noisy) for name in ("cpu_s", "seconds"))
    burns = _all(run.neighbour["burns"] for run in noisy)
    return [f"The neighbour burns {burns}: {spent / seconds:.0%} of a core over all."]


def _machines(runs: Sequence[Run]) -> list[str]:
    """A line for each that runs were on, with their number."""
    found = Counter(machine(run) for run in runs if run.environment)
    return [f"Machine of {n} runs: {named}." for named, n in found.items()]


def machine(run: Run) -> str:
    """What it ran on; `unknown` of one that was ended before it could say."""
    if not run.environment:
        return "unknown"
    environment = run.environment
    memory = environment["memory_bytes"] / 2**30
    cores = f"{run.cores} of {environment['cores']} cores"
    return f"{environment['cpu']}, {cores}, {memory:.0f} GiB, {environment['os']}"


def _versions(environment: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in environment["versions"].items())


def _commit(text: str) -> str:
    """Short, but never without the `-dirty` behind it."""
    revision, dash, dirty = text.partition("-")
    return revision[:12] + dash + dirty


def _all(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


NOTHING, NOT_DECIDED = "-", "not decided"
_OF = ("head has more", "neighbour")


@dataclass(frozen=True)
class Rows:
    """What runs of one machine gave: a row a condition, and an effect a label of it."""

    live: Sequence[Row]
    resampled: Sequence[Resampled] = ()
    effects: Sequence[Effect] = ()


def to_markdown(runs: Sequence[Run], machines: Mapping[str, Rows], left_out: Sequence[str]) -> str:
    """All tables, and what they rest on. left_out: a line for each kind of run that is not in."""
    parts = []
    for machine, rows in machines.items():
        parts += [f"### {machine}", *_tables(rows)] if len(machines) > 1 else _tables(rows)
    is_resampled = any(rows.resampled for rows in machines.values())
    parts.append(method(runs, is_resampled, left_out))
    return "\n\n".join(part for part in parts if part) + "\n"


def _tables(rows: Rows) -> list[str]:
    slight = {(it.condition, it.label) for it in rows.effects if it.is_slight}
    founds = (it for row in (*rows.live, *rows.resampled) for it in row.found)
    shown = [it for it in founds if (it.condition, it.label) not in slight]
    return [
        _live(rows.live),
        _simpler(rows.live),
        _found([it for it in shown if not it.condition.is_aa]),
        _resampled(rows.resampled),
        _effects(rows.effects),
    ]


def _live(rows: Sequence[Row]) -> str:
    times = ("FAIL after", "all decided after", "noise of p95")
    names = (*_OF, "FAIL", "PASS", "other verdicts", *times)
    cells = [
        (
            *_of(row.condition),
            row.failed,
            row.passed,
            _others(row.verdicts, but=(FAIL, PASS)) or NOTHING,
            _time(row.fail_s, NOTHING),
            _time(row.decided_s, NOT_DECIDED),
            NOTHING if row.noise is None else f"{100 * row.noise:.2f} %",
        )
        for row in rows
    ]
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
            f"{row.pairs} pairs of processes, {row.recorded_s:,} s",
        )
        for row in rows
    )
    names = (*_OF, "FAIL", "other verdicts", *times, "put together from")
    return _table("The gate, resampled runs", names, cells)


def _effects(effects: Sequence[Effect]) -> str:
    changes = (f"{metric}, base and change" for metric in METRICS)
    hidden = f"whole milliseconds hide, of {' and of '.join(METRICS)}"
    names = (*_OF, "label", "added, by the server's clock", *changes, hidden)
    cells = (
        (
            *_of(each.condition),
            each.label,
            _added(each.added),
            *(_change(each.changes[metric]) for metric in METRICS),
            ", ".join(f"{100 * each.changes[metric].hidden:.1f} %" for metric in METRICS),
        )
        for each in effects
    )
    return _table("How much slower head really was", names, cells)


def _of(condition: Condition) -> tuple[str, str]:
    return condition.text, "noisy" if condition.noisy else "none"


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
